//! Delete and prune: delegates go along, others are orphaned, shared payloads stay.

use crate::support::{Fixed, assert_sound, begin, dump, id, new, open, say, user};
use oneiro::{Deleted, Ending, Lineage, NewSession, PruneRequest, Timestamp};
use oneiro_testkit::{on_both_backends, words};

fn child(oneiro: &Fixed, name: &str, parent: &str, kind: Lineage) {
    let session = NewSession { parent_id: Some(id(parent)), lineage: Some(kind), ..new(name) };
    oneiro.sessions().create(session).unwrap();
    say(oneiro, name, &["x"]);
}

fn request() -> PruneRequest {
    PruneRequest {
        ended_before: Timestamp::from_micros(i64::MAX),
        source: None,
        project: None,
        user_id: None,
        model: None,
        title: None,
        end_reason: None,
        min_messages: None,
        max_messages: None,
        archived: None,
        dry_run: false,
    }
}

fn names(deleted: &Deleted) -> (Vec<&str>, Vec<&str>, i64) {
    (
        deleted.sessions.iter().map(oneiro::SessionId::as_str).collect(),
        deleted.orphaned.iter().map(oneiro::SessionId::as_str).collect(),
        deleted.messages,
    )
}

on_both_backends! {
    fn deleting_a_session_deletes_delegates_and_orphans_other_children(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let ids = say(&oneiro, "a", &["x", "y"]);
        oneiro.sessions().rewind(&id("a"), oneiro::MessageId(ids[1]).into()).unwrap();
        child(&oneiro, "d", "a", Lineage::Delegate);
        child(&oneiro, "dd", "d", Lineage::Delegate);
        child(&oneiro, "db", "d", Lineage::Branch);
        child(&oneiro, "b", "a", Lineage::Branch);
        child(&oneiro, "c", "a", Lineage::Continuation);
        let deleted = oneiro.sessions().delete(&id("a")).unwrap();
        assert_eq!(names(&deleted), (vec!["a", "d", "dd"], vec!["b", "c", "db"], 4));
        for name in ["b", "c", "db"] {
            let orphan = oneiro.sessions().find(&id(name)).unwrap().unwrap();
            assert_eq!((orphan.parent_id, orphan.lineage, orphan.message_count), (None, None, 1));
        }
        let stats = oneiro.stats().unwrap();
        assert_eq!((stats.sessions, stats.messages, stats.rewound), (3, 3, 0));
        assert_sound(&oneiro);
    }

    fn payloads_are_deleted_with_their_last_message(space) {
        let oneiro = open(space);
        let (large, own) = (words(1, 20_000), words(2, 20_000));
        for name in ["a", "b"] {
            let session = NewSession { system_prompt: Some("same prompt".into()), ..new(name) };
            oneiro.sessions().create(session).unwrap();
            oneiro.messages().append(&id(name), vec![user(&large), user(&large)]).unwrap();
        }
        oneiro.messages().append(&id("a"), vec![user(&own)]).unwrap();
        assert_eq!(oneiro.stats().unwrap().payloads, 3);
        oneiro.sessions().delete(&id("a")).unwrap();
        assert_eq!(oneiro.stats().unwrap().payloads, 2);
        assert_eq!(crate::support::message_texts(&oneiro, "b", true), [large.clone(), large]);
        oneiro.sessions().delete(&id("b")).unwrap();
        assert_eq!(oneiro.stats().unwrap().payloads, 0);
    }

    fn a_dry_run_reports_what_a_prune_deletes(space) {
        let oneiro = open(space);
        begin(&oneiro, "old");
        let ids = say(&oneiro, "old", &["1", "2"]);
        oneiro.sessions().rewind(&id("old"), oneiro::MessageId(ids[1]).into()).unwrap();
        child(&oneiro, "delegate", "old", Lineage::Delegate);
        child(&oneiro, "branch", "old", Lineage::Branch);
        begin(&oneiro, "open");
        oneiro.sessions().end(&id("old"), Ending::new("done").unwrap()).unwrap();
        let before = dump(&oneiro);
        let dry = oneiro.sessions().prune(PruneRequest { dry_run: true, ..request() }).unwrap();
        assert_eq!(dump(&oneiro), before);
        let real = oneiro.sessions().prune(request()).unwrap();
        assert_eq!((dry.dry_run, real.dry_run, &dry.deleted), (true, false, &real.deleted));
        assert_eq!(names(&real.deleted), (vec!["old", "delegate"], vec!["branch"], 3));
        assert_eq!(oneiro.stats().unwrap().sessions, 2);
        assert_sound(&oneiro);
    }

    fn only_ended_sessions_that_match_every_filter_are_pruned(space) {
        let oneiro = open(space);
        for (seconds, name) in [(1, "a"), (2, "b"), (3, "c")] {
            oneiro.clock.set(seconds);
            let text = |text: &str| Some(format!("{text}-{name}"));
            oneiro.sessions().create(NewSession { source: text("s"), project: text("p"), user_id: text("u"), model: text("Model"), title: text("Title"), ..new(name) }).unwrap();
            say(&oneiro, name, &["x"].repeat(seconds as usize));
            if name != "c" {
                oneiro.sessions().end(&id(name), Ending::new(format!("r-{name}")).unwrap()).unwrap();
            }
        }
        let text = |text: &str| Some(text.to_owned());
        oneiro.clock.set(2);
        for (filter, want) in [
            (request(), &["a", "b"][..]),
            (PruneRequest { ended_before: oneiro.now(), ..request() }, &["a"]),
            (PruneRequest { source: text("s-a"), ..request() }, &["a"]),
            (PruneRequest { project: text("p-b"), ..request() }, &["b"]),
            (PruneRequest { user_id: text("u-c"), ..request() }, &[]),
            (PruneRequest { model: text("mODEL-b"), ..request() }, &["b"]),
            (PruneRequest { title: text("title"), ..request() }, &["a", "b"]),
            (PruneRequest { title: text("%"), ..request() }, &[]),
            (PruneRequest { end_reason: text("r-b"), ..request() }, &["b"]),
            (PruneRequest { min_messages: Some(2), ..request() }, &["b"]),
            (PruneRequest { max_messages: Some(1), ..request() }, &["a"]),
            (PruneRequest { archived: Some(true), ..request() }, &[]),
            (PruneRequest { source: text("s-a"), project: text("p-b"), ..request() }, &[]),
        ] {
            let found = oneiro.sessions().prune(PruneRequest { dry_run: true, ..filter.clone() }).unwrap();
            assert_eq!(names(&found.deleted).0, want, "{filter:?}");
        }
    }
}
