//! Filling: the same month for the same seed, exactly once, and completed where a part is missing.

use crate::support::{NOW, dump, fill, filled, open, request, sessions_by_id};
use oneiro::{EraseTarget, SessionId};
use oneiro_demo::{SessionCounts, count_sessions};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};

fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

on_both_backends! {
    fn the_same_seed_and_end_make_the_same_month(space) {
        let first = dump(&filled(space, NOW));
        let again = TestSpace::new(space.backend);
        assert_eq!(first, dump(&filled(&again, NOW)));
        let other = TestSpace::new(space.backend);
        let mut seeded = request(NOW);
        seeded.seed += 1;
        let other = open(&other);
        oneiro_demo::fill(&other, seeded, &mut |_| {}).unwrap();
        assert_ne!(first, dump(&other));
    }

    fn it_is_filled_once(space) {
        let oneiro = open(space);
        let mut seen = Vec::new();
        let first = oneiro_demo::fill(&oneiro, request(NOW), &mut |at| seen.push(at)).unwrap();
        assert_eq!((first.sessions, first.messages), (first.all_sessions, first.all_messages));
        let stats = oneiro.stats().unwrap();
        assert_eq!(stats.sessions as usize, first.sessions);
        assert_eq!((stats.messages + stats.rewound) as usize, first.messages);
        let last = seen.last().unwrap();
        assert_eq!((last.sessions, last.of), (first.sessions, first.sessions));
        let before = dump(&oneiro);
        // A day later, too: the month that is there keeps its end.
        for now in [NOW, "2026-11-16T18:00:00Z"] {
            let again = fill(&oneiro, now);
            assert_eq!((again.sessions, again.messages), (0, 0));
            assert_eq!(again.all_messages, first.all_messages);
        }
        assert_eq!(before, dump(&oneiro));
    }

    fn what_is_missing_comes_back(space) {
        let oneiro = filled(space, NOW);
        let before = sessions_by_id(&oneiro);
        let mut gone = 0;
        // The middle of a chain, a session with a delegate, a branch.
        for session in ["demo-flat-2", "demo-japan-ferry", "demo-sluice-0-7-sharded"] {
            gone += oneiro.sessions().delete(&id(session)).unwrap().sessions.len();
        }
        assert_eq!(gone, 4);
        let view = oneiro.sessions().show(&id("demo-today-open"), false).unwrap();
        oneiro.erase(&EraseTarget::Message(view.messages.last().unwrap().id)).unwrap();
        let again = fill(&oneiro, "2026-11-20T07:00:00Z");
        assert_eq!(again.sessions, gone);
        let known = |session: &&serde_json::Value| {
            ["demo-flat-2", "demo-japan-ferry", "demo-japan-ferry-research",
                "demo-sluice-0-7-sharded"].contains(&session["id"].as_str().unwrap())
        };
        let messages = before.iter().filter(known);
        let messages: usize = messages.map(|session| session["messages"].as_array().unwrap().len()).sum();
        assert_eq!(again.messages, messages + 1);
        assert_eq!(before, sessions_by_id(&oneiro));
    }

    fn others_are_told_apart_and_left_alone(space) {
        let oneiro = open(space);
        oneiro.sessions().create(oneiro::NewSession::with_id(id("demo-flat-1-mine"))).unwrap();
        assert_eq!(count_sessions(&oneiro).unwrap(), SessionCounts { demo: 0, others: 1 });
        let filled = fill(&oneiro, NOW);
        assert_eq!(count_sessions(&oneiro).unwrap(), SessionCounts { demo: filled.sessions, others: 1 });
    }
}

#[test]
fn both_engines_hold_the_same_month() {
    let [one, other] = [Backend::Sqlite, Backend::Postgres].map(TestSpace::new);
    assert_eq!(dump(&filled(&one, NOW)), dump(&filled(&other, NOW)));
}
