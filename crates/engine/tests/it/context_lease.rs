//! One compaction to a session at a time, no matter who asks and what their clocks say; jobs in the
//! background and at once.

use crate::context_support::{
    Scripted, agent, assert_context_rules, begin, by_hand, gist, live, open_llm, peek, prose,
    until, user,
};
use crate::support::{Fixed, open};
use oneiro::{
    CompactRequest, ErrorKind, NewMessage, SessionId, SummaryLevel, Window, WindowRequest,
};
use oneiro_testkit::on_both_backends;
use serde_json::json;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn turns(from: u64, to: u64) -> Vec<NewMessage> {
    (from..to)
        .flat_map(|at| {
            [user(format!("Turn {at}. {}", prose(at, 100))), agent(prose(at + 500, 100))]
        })
        .collect()
}

/// A window that leaves nothing out: it may be asked for a few times, since one that compacts gives
/// up after a while.
fn settled(oneiro: &Fixed, id: &SessionId, budget: usize) -> Window {
    for _ in 0..40 {
        let window = oneiro
            .context()
            .window(id, &WindowRequest { budget, ..WindowRequest::default() })
            .unwrap();
        assert!(window.tokens <= budget);
        if window.omitted.messages == 0 {
            return window;
        }
    }
    panic!("messages stay out of the window, though they could be summarised");
}

const LONG: Duration = Duration::from_secs(60);

on_both_backends! {
    // No double cover, and no double spend: a model is asked once for each summary.
    fn handles_and_threads_that_compact_at_once_do_the_work_once(space) {
        let llm = Scripted::new(|_, asked| Ok(gist(asked)));
        let one = open_llm(space, Arc::clone(&llm) as _);
        let two = open_llm(space, Arc::clone(&llm) as _);
        let id = begin(&one, "s", turns(0, 100));
        let goal = CompactRequest { until: Some(4_000), redo: false };
        std::thread::scope(|scope| {
            let all: Vec<_> = [&one, &one, &two, &two].into_iter().map(|oneiro| scope.spawn(|| oneiro.context().compact(&id, &goal))).collect();
            for done in all {
                match done.join().unwrap() {
                    Ok(done) => assert!(done.tokens_after <= 4_000, "{done:?}"),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}"),
                }
            }
        });
        assert_context_rules(&one, &id);
        let by_model = one.context().summaries(&id).unwrap().into_iter().filter(|s| s.level == SummaryLevel::Model).count();
        assert_eq!(llm.calls(), by_model, "the same was written twice");
    }

    fn while_one_compacts_another_does_not(space) {
        let (began_tx, began) = channel();
        let (go, wait) = channel::<()>();
        let (began_tx, wait) = (Mutex::new(began_tx), Mutex::new(wait));
        let slow = Scripted::new(move |number, asked| {
            if number == 1 {
                began_tx.lock().unwrap().send(()).unwrap();
                let _ = wait.lock().unwrap().recv_timeout(Duration::from_secs(30));
            }
            Ok(gist(asked))
        });
        let one = open_llm(space, slow);
        let id = begin(&one, "s", turns(0, 60));
        let quick = Scripted::good();
        let two = open_llm(space, Arc::clone(&quick) as _);
        // The clocks of two machines are never quite the same: a few seconds behind is no expiry.
        two.clock.set(-5);
        std::thread::scope(|scope| {
            let compacting = scope.spawn(|| until(&one, &id, 4_000));
            began.recv().unwrap();
            // A window that has outgrown its budget is answered without waiting for anybody.
            let window = two.context().window(&id, &WindowRequest { budget: 4_500, ..WindowRequest::default() }).unwrap();
            assert!(window.tokens <= 4_500 && window.summaries.is_empty());
            let busy = two.context().compact(&id, &CompactRequest { until: Some(4_000), redo: false });
            assert_eq!(busy.map(drop).unwrap_err().kind(), ErrorKind::Busy);
            assert_eq!(quick.calls(), 0);
            go.send(()).unwrap();
            assert_eq!(compacting.join().unwrap().stopped, "under");
        });
        assert_context_rules(&one, &id);
    }

    fn the_lease_of_a_dead_process_runs_out(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 100_000);
        let until_micros = crate::support::NOW.micros() + 120_000_000;
        by_hand(&oneiro, &format!("UPDATE contexts SET holder = 'dead', lease_until = {until_micros} RETURNING 1"));
        oneiro.clock.set(121);
        assert_eq!(until(&oneiro, &id, 4_000).stopped, "under");
        assert_context_rules(&oneiro, &id);
    }

    fn a_clock_that_steps_back_an_hour_does_not_lock_a_session(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 100_000);
        // Taken by somebody who died an hour from now.
        let until_micros = crate::support::NOW.micros() + 3_720_000_000;
        by_hand(&oneiro, &format!("UPDATE contexts SET holder = 'dead', lease_until = {until_micros} RETURNING 1"));
        assert_eq!(until(&oneiro, &id, 4_000).stopped, "under");
        oneiro.messages().append(&id, turns(100, 160)).unwrap();
        oneiro.clock.set(-3_600);
        assert_eq!(until(&oneiro, &id, 4_000).stopped, "under");
        assert_context_rules(&oneiro, &id);
    }

    fn past_the_soft_threshold_the_background_compacts(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 40));
        let size = peek(&oneiro, &id, 100_000).tokens;
        let budget = size * 100 / 80;
        let request = WindowRequest { budget, ..WindowRequest::default() };
        let window = oneiro.context().window(&id, &request).unwrap();
        assert!(window.summaries.is_empty() && window.omitted.messages == 0);
        assert_eq!(oneiro.jobs().list(None, 10).unwrap().items.len(), 1);
        oneiro.context().window(&id, &request).unwrap();
        assert_eq!(oneiro.jobs().list(None, 10).unwrap().items.len(), 1, "one job to a session");
        assert_eq!(oneiro.jobs().run(LONG).unwrap().failed, 0);
        assert!(!oneiro.context().summaries(&id).unwrap().is_empty());
        // What is prepared takes nothing away.
        assert_eq!(oneiro.context().window(&id, &request).unwrap().messages, window.messages);
        assert_context_rules(&oneiro, &id);
    }

    fn the_threshold_is_a_setting(space) {
        let oneiro = open(space);
        oneiro.settings().set("context_threshold", Some(json!(100))).unwrap();
        let id = begin(&oneiro, "s", turns(0, 40));
        let size = peek(&oneiro, &id, 100_000).tokens;
        oneiro.context().window(&id, &WindowRequest { budget: size * 100 / 95, ..WindowRequest::default() }).unwrap();
        assert!(oneiro.jobs().list(None, 10).unwrap().items.is_empty());
        oneiro.settings().set("context_threshold", Some(json!(20))).unwrap();
        oneiro.context().window(&id, &WindowRequest { budget: size * 3, ..WindowRequest::default() }).unwrap();
        assert_eq!(oneiro.jobs().list(None, 10).unwrap().items.len(), 1);
    }

    // What outgrew the window is summarised before any of it would be dropped.
    fn past_the_hard_threshold_the_window_itself_compacts(space) {
        let llm = Scripted::good();
        let oneiro = open_llm(space, Arc::clone(&llm) as _);
        let id = begin(&oneiro, "s", turns(0, 60));
        let window = settled(&oneiro, &id, 6_000);
        assert!(!window.summaries.is_empty());
        assert_eq!(llm.calls(), 0, "nobody waits for a model");
        // What was made in haste is rewritten in the background, and what took too long is done.
        oneiro.jobs().run(LONG).unwrap();
        assert!(llm.calls() > 0);
        assert_context_rules(&oneiro, &id);
    }

    // What the caller adds to every prompt counts for the compaction, too.
    fn tools_count_when_a_window_compacts(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        let tools: Vec<_> = (0..60).map(|at| json!({"name": format!("tool_{at}"), "description": prose(at, 40)})).collect();
        let patch = oneiro::SessionPatch { model_config: Some(Some(json!({"tools": tools}))), ..oneiro::SessionPatch::default() };
        oneiro.sessions().change(&id, patch).unwrap();
        settled(&oneiro, &id, 8_000);
    }

    // Without pressure nothing is rewritten.
    fn a_window_with_room_compacts_nothing(space) {
        let llm = Scripted::good();
        let oneiro = open_llm(space, Arc::clone(&llm) as _);
        let id = begin(&oneiro, "s", turns(0, 40));
        for at in 0..5 {
            oneiro.messages().append(&id, turns(100 + at, 101 + at)).unwrap();
            oneiro.context().window(&id, &WindowRequest::default()).unwrap();
            oneiro.jobs().run(LONG).unwrap();
        }
        assert_eq!((llm.calls(), oneiro.context().summaries(&id).unwrap().len()), (0, 0));
    }

    fn idle_sessions_are_compacted_where_the_space_asks_for_it(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 150));
        oneiro.clock.set(3_600);
        oneiro.jobs().run(LONG).unwrap();
        assert!(oneiro.context().summaries(&id).unwrap().is_empty(), "nobody asked");
        oneiro.settings().set("idle_compact_after", Some(json!(30))).unwrap();
        // Short sessions before it, with nothing worth compacting, do not stand in its way.
        for at in 0..80 {
            begin(&oneiro, &format!("short-{at}"), vec![user("hi")]);
        }
        by_hand(&oneiro, "UPDATE sessions SET active_minute = active_minute - 60 WHERE id <> 's' RETURNING 1");
        for minute in 0..4 {
            oneiro.clock.set(3_600 + minute * 60);
            oneiro.jobs().run(LONG).unwrap();
        }
        assert!(!oneiro.context().summaries(&id).unwrap().is_empty());
        assert_context_rules(&oneiro, &id);
        oneiro.clock.set(3_600 + 600);
        let ran = oneiro.jobs().run(LONG).unwrap();
        assert_eq!((ran.done, ran.failed), (0, 0), "they are tried again and again");
    }

    fn a_job_of_a_session_that_is_gone_is_done(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        oneiro.context().window(&id, &WindowRequest { budget: 16_000, ..WindowRequest::default() }).unwrap();
        assert_eq!(oneiro.jobs().list(None, 10).unwrap().items.len(), 1);
        oneiro.sessions().delete(&id).unwrap();
        assert_eq!(oneiro.jobs().run(LONG).unwrap().failed, 0);
        assert!(live(&open(space), &begin(&oneiro, "t", Vec::new())).is_empty());
    }
}
