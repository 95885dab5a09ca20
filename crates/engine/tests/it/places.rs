//! A message named by its place in its session, in a space whose ids belong to other sessions too.

use crate::support::{Fixed, begin, id, open, say};
use oneiro::{
    BranchRequest, ContextScope, EraseRequest, EraseTarget, ErrorKind, ExpandRequest, ExpandWhat,
    MessageId, MessageRef, RewindRequest, SessionFound, SessionSearchRequest,
};
use oneiro_testkit::on_both_backends;

fn named(text: &str) -> MessageRef {
    MessageRef::parse(text).unwrap()
}

/// `monday` with four messages, whose ids are not 1 to 4; the ids.
fn monday_among_others(oneiro: &Fixed) -> Vec<i64> {
    begin(oneiro, "other");
    say(oneiro, "other", &["first", "second", "third"]);
    begin(oneiro, "monday");
    let mut ids = say(oneiro, "monday", &["one", "two"]);
    say(oneiro, "other", &["fourth"]);
    ids.extend(say(oneiro, "monday", &["three", "four"]));
    ids
}

fn expanded(oneiro: &Fixed, what: &str, scope: ContextScope) -> oneiro::Result<Vec<i64>> {
    let what = ExpandWhat::parse(what)?;
    let request = ExpandRequest { what, scope, tokens: 1_000, cursor: None };
    let messages = oneiro.context().expand(&request)?.messages;
    Ok(messages.into_iter().map(|message| message.id.0).collect())
}

on_both_backends! {
    fn a_place_counts_all_messages_of_the_session_hidden_ones_too(space) {
        let oneiro = open(space);
        let ids = monday_among_others(&oneiro);
        let monday = id("monday");
        oneiro.sessions().rewind(&monday, MessageId(ids[1]).into()).unwrap();
        let resolve = |text: &str| oneiro.messages().resolve(&named(text), Some(&monday)).unwrap().0;
        for (index, want) in ids.iter().enumerate() {
            assert_eq!(resolve(&format!("monday#{}", index + 1)), *want);
            assert_eq!(resolve(&format!("#{}", index + 1)), *want);
        }
        let all: Vec<MessageId> = ids.iter().copied().map(MessageId).collect();
        let places = oneiro.messages().places(&monday, &all).unwrap();
        assert_eq!(places, [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(oneiro.messages().places(&id("other"), &all[..1]).unwrap(), [None]);
    }

    fn every_request_with_a_message_accepts_its_place(space) {
        let oneiro = open(space);
        let ids = monday_among_others(&oneiro);
        let monday = id("monday");
        assert_eq!(oneiro.messages().get(named("monday#3")).unwrap().id.0, ids[2]);
        assert!(oneiro.messages().pin(&monday, named("#2")).unwrap());
        assert_eq!(oneiro.messages().pinned(&monday).unwrap()[0].id.0, ids[1]);
        assert!(oneiro.messages().unpin(&monday, named("monday#2")).unwrap());
        let branch = BranchRequest { at: Some(named("#2")), ..BranchRequest::default() };
        assert_eq!(oneiro.sessions().branch(&monday, branch).unwrap().message_count, 2);
        for (session, around) in [(Some("monday"), "#3"), (None, "monday#3")] {
            let scroll = SessionSearchRequest {
                session: session.map(id),
                around: Some(named(around)),
                ..SessionSearchRequest::default()
            };
            let SessionFound::Scroll { messages, .. } = oneiro.search().sessions(&scroll).unwrap() else { panic!("{around}") };
            let anchor: Vec<i64> = messages.iter().filter(|one| one.anchor).map(|one| one.id.0).collect();
            assert_eq!(anchor, [ids[2]]);
        }
        let own = || ContextScope::Lineage(monday.clone());
        assert_eq!(expanded(&oneiro, "#2-3", own()).unwrap(), ids[1..3]);
        assert_eq!(expanded(&oneiro, "monday#2-#3", ContextScope::Space).unwrap(), ids[1..3]);
        assert_eq!(expanded(&oneiro, "monday#4", ContextScope::Space).unwrap(), ids[3..]);
        let rewind = RewindRequest { to: Some(named("#3")), turns: None };
        assert_eq!(oneiro.sessions().rewind(&monday, rewind).unwrap().target.id.0, ids[2]);
        let erase = EraseRequest { message: Some(named("monday#1")), ..EraseRequest::default() };
        let target = oneiro.erase_requested(&erase).unwrap();
        assert_eq!(target, EraseTarget::Message(MessageId(ids[0])));
        assert_eq!(oneiro.erase_target("monday#1").unwrap(), target);
    }

    fn the_error_for_a_place_beyond_the_end_has_the_number_of_messages(space) {
        let oneiro = open(space);
        monday_among_others(&oneiro);
        begin(&oneiro, "empty");
        for (place, count) in [("monday#5", "4 messages"), ("empty#1", "no messages")] {
            let error = oneiro.messages().get(named(place)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            let session = place.split('#').next().unwrap();
            assert!(error.message().contains(session) && error.message().contains(count), "{error}");
            assert!(error.remedy_text().is_some(), "{error}");
        }
        let nowhere = oneiro.messages().get(named("#3")).unwrap_err();
        assert!(nowhere.remedy_text().unwrap().contains("SESSION#3"), "{nowhere:?}");
        assert_eq!(oneiro.messages().get(named("tuesday#1")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    fn a_session_may_have_a_hash_in_its_id(space) {
        let oneiro = open(space);
        begin(&oneiro, "monday");
        say(&oneiro, "monday", &["zero", "zero", "zero"]);
        begin(&oneiro, "monday#3");
        let ids = say(&oneiro, "monday#3", &["one", "two"]);
        assert_eq!(oneiro.messages().get(named("monday#3#2")).unwrap().id.0, ids[1]);
        // A session and a message: which of them goes for good is not guessed.
        assert_eq!(oneiro.erase_target("monday#3").unwrap_err().kind(), ErrorKind::Conflict);
        let session = oneiro.erase_target("monday#3#3").unwrap_err();
        assert!(session.message().contains("2 messages"), "{session}");
    }

    fn an_erasure_needs_the_full_session_id_and_a_read_accepts_a_prefix(space) {
        let oneiro = open(space);
        let ids = monday_among_others(&oneiro);
        assert_eq!(oneiro.messages().get(named("mon#1")).unwrap().id.0, ids[0]);
        assert_eq!(oneiro.erase_target("mon#1").unwrap_err().kind(), ErrorKind::NotFound);
        let erase = EraseRequest { message: Some(named("mon#1")), ..EraseRequest::default() };
        assert_eq!(oneiro.erase_requested(&erase).unwrap_err().kind(), ErrorKind::NotFound);
    }

    fn a_place_in_a_session_out_of_scope_reveals_nothing(space) {
        let oneiro = open(space);
        monday_among_others(&oneiro);
        let own = || ContextScope::Lineage(id("other"));
        let error = |what: &str| expanded(&oneiro, what, own()).unwrap_err();
        for what in ["monday#1", "monday#9", "nobody#1"] {
            assert_eq!(error(what).message(), format!("there is no message {what} here"));
        }
    }
}
