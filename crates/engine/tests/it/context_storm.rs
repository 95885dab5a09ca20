//! Five hundred sessions compacting in the background while eight writers append: nobody sees an
//! error, nothing is lost, everything is sound.

use crate::context_support::{agent, assert_nothing_lost, live, prose, user};
use crate::support::{id as sid, new, open};
use oneiro::{NewMessage, WindowRequest};
use oneiro_testkit::on_both_backends;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SESSIONS: usize = 500;
const WRITERS: usize = 8;

fn said(seed: usize) -> Vec<NewMessage> {
    let seed = seed as u64;
    vec![user(format!("Turn {seed}. {}", prose(seed, 160))), agent(prose(seed + 9_000, 160))]
}

on_both_backends! {
    fn five_hundred_sessions_compact_while_eight_write(space) {
        let oneiro = open(space);
        let name = |at: usize| sid(&format!("storm-{at}"));
        let first: Vec<NewMessage> = (0..10).flat_map(said).collect();
        for at in 0..SESSIONS {
            oneiro.messages().append_or_create(&name(at), first.clone(), new(name(at).as_str())).unwrap();
            // Past the soft threshold: a job is left for each.
            let request = WindowRequest { budget: 4_000, ..WindowRequest::default() };
            oneiro.context().window(&name(at), &request).unwrap();
        }
        assert_eq!(oneiro.stats().unwrap().jobs, SESSIONS as i64);
        let (writing, written) = (AtomicUsize::new(WRITERS), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (oneiro, writing, written, name) = (oneiro.oneiro.clone(), &writing, &written, &name);
                scope.spawn(move || {
                    for at in 0..SESSIONS / 4 {
                        let id = name((at * WRITERS + writer * 61) % SESSIONS);
                        written.fetch_add(oneiro.messages().append(&id, said(at)).unwrap().ids.len(), Ordering::SeqCst);
                    }
                    writing.fetch_sub(1, Ordering::SeqCst);
                });
            }
            for _ in 0..2 {
                let (oneiro, writing) = (open(space), &writing);
                scope.spawn(move || {
                    while writing.load(Ordering::SeqCst) > 0 || oneiro.stats().unwrap().jobs > 0 {
                        let ran = oneiro.jobs().run(Duration::from_secs(1)).unwrap();
                        assert_eq!(ran.failed, 0);
                    }
                });
            }
        });
        let mut messages = 0;
        let mut summarised = 0;
        for at in 0..SESSIONS {
            messages += live(&oneiro, &name(at)).len();
            summarised += usize::from(!oneiro.context().summaries(&name(at)).unwrap().is_empty());
        }
        assert_eq!(messages, SESSIONS * 20 + written.load(Ordering::SeqCst));
        assert_eq!(summarised, SESSIONS);
        // The check looks at all of them; everything of a few is expanded, too.
        for at in (0..SESSIONS).step_by(100) {
            assert_nothing_lost(&oneiro, &name(at));
        }
    }
}
