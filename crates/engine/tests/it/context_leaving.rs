//! The hook before messages leave a window is called while they are still shown, and cannot stop
//! the compaction.

use crate::context_support::{agent, begin, live, open_options, peek, prose, shown_in, user};
use oneiro::{
    Error, Leaving, LeavingHook, NewMessage, Oneiro, Options, Result, SessionId, Window,
    WindowRequest,
};
use oneiro_testkit::on_both_backends;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

/// Records the calls, with what could be read of the messages at that moment.
#[derive(Default)]
struct Recorder {
    calls: Mutex<Vec<(Leaving, usize)>>,
    fails: bool,
}

impl LeavingHook for Recorder {
    fn before_leaving(&self, oneiro: &Oneiro, leaving: &Leaving) -> Result<()> {
        let stored = live(oneiro, &leaving.session_id);
        let readable = stored.iter().filter(|message| message.id <= leaving.last).count();
        self.calls.lock().unwrap().push((leaving.clone(), readable));
        if self.fails { Err(Error::internal("no room to learn")) } else { Ok(()) }
    }
}

fn turns(from: u64, to: u64) -> Vec<NewMessage> {
    (from..to).flat_map(|at| [user(prose(at, 100)), agent(prose(at + 500, 100))]).collect()
}

fn window(oneiro: &Oneiro, id: &SessionId, budget: usize) -> Window {
    oneiro.context().window(id, &WindowRequest { budget, ..WindowRequest::default() }).unwrap()
}

on_both_backends! {
    fn messages_are_read_before_a_step_takes_them_out(space) {
        let hook = Arc::new(Recorder::default());
        let oneiro = open_options(
            space,
            Options { leaving_hook: Some(Arc::clone(&hook) as _), ..Options::default() },
        );
        let id = begin(&oneiro, "s", turns(0, 40));
        let budget = peek(&oneiro, &id, 100_000).tokens * 100 / 80;
        let full = window(&oneiro, &id, budget);
        assert_eq!((full.omitted.messages, full.summaries.len()), (0, 0));
        oneiro.jobs().run(LONG).unwrap();
        let (leaving, readable) = hook.calls.lock().unwrap().first().unwrap().clone();
        assert_eq!((&leaving.session_id, leaving.budget), (&id, budget));
        assert_eq!(readable, 80, "every message was still there");

        // The window steps, and what it no longer shows was read before.
        oneiro.messages().append(&id, turns(100, 112)).unwrap();
        let request = WindowRequest { budget, explain: true, ..WindowRequest::default() };
        let stepped = oneiro.context().window(&id, &request).unwrap();
        let shown = shown_in(&stepped);
        let gone: Vec<_> = live(&oneiro, &id).into_iter().filter(|message| !shown.contains(&message.id.0)).collect();
        assert!(!gone.is_empty() && gone.iter().all(|message| message.id <= leaving.last));
    }

    fn a_window_with_room_calls_no_hook(space) {
        let hook = Arc::new(Recorder::default());
        let oneiro = open_options(
            space,
            Options { leaving_hook: Some(Arc::clone(&hook) as _), ..Options::default() },
        );
        let id = begin(&oneiro, "s", turns(0, 10));
        window(&oneiro, &id, 100_000);
        oneiro.jobs().run(LONG).unwrap();
        assert!(hook.calls.lock().unwrap().is_empty());
    }

    fn a_failed_hook_stops_no_compaction(space) {
        let hook = Arc::new(Recorder { fails: true, ..Recorder::default() });
        let oneiro = open_options(
            space,
            Options { leaving_hook: Some(Arc::clone(&hook) as _), ..Options::default() },
        );
        let id = begin(&oneiro, "s", turns(0, 40));
        window(&oneiro, &id, peek(&oneiro, &id, 100_000).tokens * 100 / 80);
        assert_eq!(oneiro.jobs().run(LONG).unwrap().failed, 0);
        assert_eq!(hook.calls.lock().unwrap().len(), 1);
        assert!(!oneiro.context().summaries(&id).unwrap().is_empty());
    }
}
