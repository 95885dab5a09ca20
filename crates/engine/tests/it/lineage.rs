//! How sessions descend: default kinds, root, tip, cycles, archiving a chain.

use crate::support::{Fixed, begin, id, new, open, say};
use oneiro::{BranchRequest, Ending, ErrorKind, Lineage, NewSession, SessionPatch};
use oneiro_testkit::on_both_backends;

fn child(oneiro: &Fixed, name: &str, parent: &str, kind: Option<Lineage>) -> Option<Lineage> {
    let session = NewSession { parent_id: Some(id(parent)), lineage: kind, ..new(name) };
    oneiro.sessions().create(session).unwrap().lineage
}

fn end(oneiro: &Fixed, name: &str, reason: &str) {
    oneiro.sessions().end(&id(name), Ending::new(reason).unwrap()).unwrap();
}

fn tip(oneiro: &Fixed, name: &str) -> String {
    oneiro.sessions().tip(&id(name)).unwrap().to_string()
}

const CONTINUED: Option<Lineage> = Some(Lineage::Continuation);

on_both_backends! {
    fn a_child_of_a_compressed_session_continues_it_and_any_other_branches(space) {
        let oneiro = open(space);
        for (name, reason, want) in [("a", Some("compression"), Lineage::Continuation), ("b", Some("done"), Lineage::Branch), ("c", None, Lineage::Branch)] {
            begin(&oneiro, name);
            if let Some(reason) = reason {
                end(&oneiro, name, reason);
            }
            assert_eq!(child(&oneiro, &format!("{name}2"), name, None), Some(want));
        }
        assert_eq!(child(&oneiro, "d", "a", Some(Lineage::Reset)), Some(Lineage::Reset));
        let wrong = NewSession { lineage: Some(Lineage::Branch), ..new("e") };
        assert_eq!(oneiro.sessions().create(wrong).unwrap_err().kind(), ErrorKind::Invalid);
        let missing = NewSession { parent_id: Some(id("nobody")), ..new("e") };
        assert_eq!(oneiro.sessions().create(missing).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(oneiro.sessions().find(&id("e")).unwrap().is_none());
    }

    fn the_root_is_reached_through_every_kind_and_children_are_listed(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        child(&oneiro, "b", "a", Some(Lineage::Branch));
        child(&oneiro, "c", "b", Some(Lineage::Delegate));
        child(&oneiro, "d", "c", CONTINUED);
        child(&oneiro, "e", "a", Some(Lineage::Reset));
        for name in ["a", "b", "c", "d", "e"] {
            assert_eq!(oneiro.sessions().root(&id(name)).unwrap(), id("a"));
        }
        assert_eq!(oneiro.sessions().children(&id("a")).unwrap(), [id("b"), id("e")]);
        assert_eq!((tip(&oneiro, "a"), tip(&oneiro, "c")), ("a".into(), "d".into()));
    }

    fn the_tip_is_the_continued_then_the_live_then_the_latest_continuation(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        for (seconds, name) in [(1, "b1"), (2, "b2"), (3, "b3")] {
            oneiro.clock.set(seconds);
            child(&oneiro, name, "a", CONTINUED);
        }
        assert_eq!(tip(&oneiro, "a"), "b3");
        oneiro.clock.set(4);
        say(&oneiro, "b1", &["x"]);
        assert_eq!(tip(&oneiro, "a"), "b1");
        end(&oneiro, "b1", "done");
        assert_eq!(tip(&oneiro, "a"), "b3");
        end(&oneiro, "b3", "done");
        assert_eq!(tip(&oneiro, "a"), "b2");
        child(&oneiro, "c", "b3", CONTINUED);
        end(&oneiro, "c", "done");
        assert_eq!(tip(&oneiro, "a"), "c");
    }

    fn cycles_are_refused(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        child(&oneiro, "b", "a", None);
        child(&oneiro, "c", "b", None);
        for (name, parent) in [("a", "c"), ("a", "b"), ("a", "a")] {
            let session = NewSession { parent_id: Some(id(parent)), ..new(name) };
            let error = oneiro.sessions().create(session).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{name} under {parent}");
        }
        // A parent once given is not changed.
        begin(&oneiro, "d");
        child(&oneiro, "c", "d", None);
        assert_eq!(oneiro.sessions().root(&id("c")).unwrap(), id("a"));
    }

    fn archiving_applies_to_the_whole_chain_and_only_to_it(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        child(&oneiro, "b", "a", CONTINUED);
        child(&oneiro, "c", "b", CONTINUED);
        child(&oneiro, "branch", "b", Some(Lineage::Branch));
        let archived = |name: &str| oneiro.sessions().find(&id(name)).unwrap().unwrap().archived;
        for put_away in [true, false] {
            let patch = SessionPatch { archived: Some(put_away), ..SessionPatch::default() };
            oneiro.sessions().change(&id("b"), patch).unwrap();
            assert_eq!(["a", "b", "c", "branch"].map(archived), [put_away, put_away, put_away, false]);
        }
    }

    fn a_branch_starts_with_the_messages_of_its_parent(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let ids = say(&oneiro, "a", &["one", "two", "three"]);
        let request = |at| BranchRequest { at, id: None, title: None };
        let branch = oneiro.sessions().branch(&id("a"), request(Some(oneiro::MessageId(ids[1]).into()))).unwrap();
        assert_eq!((branch.message_count, branch.lineage, branch.parent_id), (2, Some(Lineage::Branch), Some(id("a"))));
        assert_eq!(crate::support::message_texts(&oneiro, branch.id.as_str(), true), ["one", "two"]);
        let whole = oneiro.sessions().branch(&id("a"), request(None)).unwrap();
        assert_eq!(whole.message_count, 3);
        begin(&oneiro, "there");
        let there = BranchRequest { id: Some(id("there")), ..BranchRequest::default() };
        assert_eq!(oneiro.sessions().branch(&id("a"), there).unwrap_err().kind(), ErrorKind::Conflict);
        let foreign = request(Some(oneiro.sessions().show(&whole.id, true).unwrap().messages[0].id.into()));
        assert_eq!(oneiro.sessions().branch(&id("a"), foreign).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
