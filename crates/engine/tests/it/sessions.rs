//! Create, end, reopen, change and find sessions.

use crate::support::{NOW, assert_sound, begin, id, message_texts, new, open, say, user};
use oneiro::host::{MessageAmend, SessionTimes};
use oneiro::{
    Ending, EndingOver, ErrorKind, MessageId, NewSession, SessionPatch, Span, Visibility,
};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};

fn full(name: &str, text: &str) -> NewSession {
    let metadata = json!({"k": text, text: 1});
    NewSession {
        source: Some(text.into()),
        user_id: Some(text.into()),
        model: Some(text.into()),
        model_config: Some(json!({"m": text})),
        system_prompt: Some(text.into()),
        title: Some(text.into()),
        project: Some(text.into()),
        cwd: Some(text.into()),
        metadata: metadata.as_object().cloned().unwrap(),
        ..new(name)
    }
}

on_both_backends! {
    fn creating_an_existing_session_fills_only_missing_fields(space) {
        let oneiro = open(space);
        oneiro.clock.set(5);
        oneiro.sessions().create(NewSession { model: Some("first".into()), ..new("a") }).unwrap();
        oneiro.clock.set(9);
        let filled = oneiro.sessions().create(full("a", "second")).unwrap();
        assert_eq!((filled.source.as_str(), filled.model.as_deref()), ("api", Some("first")));
        let second = Some("second");
        assert_eq!((filled.user_id.as_deref(), filled.system_prompt.as_deref()), (second, second));
        assert_eq!((filled.title.as_deref(), filled.project.as_deref(), filled.cwd.as_deref()), (second, second, second));
        assert_eq!(filled.model_config, Some(json!({"m": "second"})));
        let third = oneiro.sessions().create(full("a", "third")).unwrap();
        assert_eq!(third.metadata, *json!({"k": "second", "second": 1, "third": 1}).as_object().unwrap());
        let mut third = json!(third);
        let mut filled = json!(filled);
        third["metadata"] = Value::Null;
        filled["metadata"] = Value::Null;
        assert_eq!(third, filled);
        assert_eq!(oneiro.stats().unwrap().payloads, 1);
    }

    fn a_session_without_an_id_gets_one(space) {
        let oneiro = open(space);
        let (one, two) = (oneiro.sessions().create(NewSession::default()).unwrap(), oneiro.sessions().create(NewSession::default()).unwrap());
        assert!(one.id.as_str().starts_with("ses_") && one.id != two.id);
    }

    fn an_end_reason_is_kept_until_the_session_is_reopened(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        oneiro.clock.set(5);
        let ended = oneiro.sessions().end(&id("a"), Ending::new("first").unwrap()).unwrap();
        oneiro.clock.set(9);
        let again = oneiro.sessions().end(&id("a"), Ending::new("second").unwrap()).unwrap();
        assert_eq!((again.end_reason.as_deref(), again.ended_at), (Some("first"), ended.ended_at));
        let reopened = oneiro.sessions().reopen(&id("a")).unwrap();
        assert_eq!((reopened.end_reason, reopened.ended_at), (None, None));
        let third = oneiro.sessions().end(&id("a"), Ending::new("third").unwrap()).unwrap();
        assert_eq!((third.end_reason.as_deref(), third.ended_at), (Some("third"), Some(oneiro.now())));
    }

    fn an_end_replaces_the_reasons_that_it_may_replace(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let end = |reason: &str, over| {
            let ending = Ending { over, at: Some(NOW), ..Ending::new(reason).unwrap() };
            oneiro.sessions().end(&id("a"), ending).unwrap().end_reason.unwrap()
        };
        assert_eq!(end("lost", EndingOver::Reasons(vec!["lost".into()])), "lost");
        assert_eq!(end("reset", EndingOver::Reasons(vec!["closed".into()])), "lost");
        assert_eq!(end("reset", EndingOver::Reasons(vec!["closed".into(), "lost".into()])), "reset");
        assert_eq!(end("again", EndingOver::Nothing), "reset");
        assert_eq!(end("last", EndingOver::Anything), "last");
    }

    fn corrected_times_change_the_last_activity(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let long_ago = NOW.minus(Span::days(100));
        let times = SessionTimes {
            started_at: Some(long_ago),
            ended_at: Some(Some(NOW)),
            end_reason: "done".to_owned(),
            ..SessionTimes::default()
        };
        let session = oneiro.host().amend_session(&id("a"), times).unwrap();
        assert_eq!((session.started_at, session.last_active_at), (long_ago, long_ago));
        assert_eq!((session.ended_at, session.end_reason.as_deref()), (Some(NOW), Some("done")));
        say(&oneiro, "a", &["now"]);
        let again = SessionTimes { started_at: Some(NOW), ended_at: Some(None), ..SessionTimes::default() };
        let session = oneiro.host().amend_session(&id("a"), again).unwrap();
        assert_eq!((session.last_active_at, session.ended_at), (NOW, None));
    }

    fn the_time_and_visibility_of_messages_can_be_corrected_but_not_their_content(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        begin(&oneiro, "b");
        let said = say(&oneiro, "a", &["one", "two"]);
        let long_ago = NOW.minus(Span::days(3));
        let amend = |id: i64, at, visibility| MessageAmend { id: MessageId(id), at, visibility };
        let both = vec![amend(said[0], Some(long_ago), None), amend(said[1], None, Some(Visibility::Rewound))];
        oneiro.host().amend_messages(&id("a"), both).unwrap();
        assert_eq!(oneiro.messages().get(MessageId(said[0])).unwrap().at, long_ago);
        assert_eq!(message_texts(&oneiro, "a", false), ["one"]);
        assert_eq!(oneiro.sessions().find(&id("a")).unwrap().unwrap().last_active_at, long_ago);
        let live = amend(said[1], None, Some(Visibility::Live));
        let elsewhere = oneiro.host().amend_messages(&id("b"), vec![live]).unwrap_err();
        assert_eq!(elsewhere.kind(), ErrorKind::NotFound);
        oneiro.host().amend_messages(&id("a"), vec![live]).unwrap();
        assert_eq!(message_texts(&oneiro, "a", false), ["one", "two"]);
        assert_sound(&oneiro);
    }

    fn creating_an_existing_session_as_new_is_a_conflict(space) {
        let oneiro = open(space);
        oneiro.host().begin_session(full("a", "old")).unwrap();
        let again = oneiro.host().begin_session(full("a", "new")).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Conflict);
    }

    fn compacting_into_a_summary_replaces_the_live_messages(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let said = say(&oneiro, "a", &["one", "two"]);
        oneiro.sessions().rewind(&id("a"), MessageId(said[1]).into()).unwrap();
        let stands = vec![user("the gist").external_id("x"), user("go on")];
        oneiro.host().compact_into(&id("a"), stands.clone()).unwrap();
        assert_eq!(message_texts(&oneiro, "a", false), ["the gist", "go on"]);
        oneiro.host().compact_into(&id("a"), stands).unwrap();
        assert_eq!(message_texts(&oneiro, "a", true), ["one", "two", "the gist", "go on", "the gist", "go on"]);
        let counts = oneiro.messages().counts(&id("a")).unwrap();
        assert_eq!((counts.live, counts.compacted, counts.rewound), (2, 3, 1));
        assert_eq!(oneiro.host().restore_since(&id("a"), MessageId(said[0])).unwrap(), 1);
        assert_eq!(oneiro.messages().counts(&id("a")).unwrap().rewound, 0);
        assert_sound(&oneiro);
    }

    fn a_change_overwrites_only_the_given_fields(space) {
        let oneiro = open(space);
        oneiro.sessions().create(full("a", "old")).unwrap();
        let metadata = json!({"k": null, "new": [1]});
        let patch = SessionPatch {
            model: Some(Some("new".into())),
            system_prompt: Some(Some("new prompt".into())),
            metadata: metadata.as_object().cloned().unwrap(),
            ..SessionPatch::default()
        };
        let changed = oneiro.sessions().change(&id("a"), patch).unwrap();
        assert_eq!((changed.model.as_deref(), changed.system_prompt.as_deref()), (Some("new"), Some("new prompt")));
        assert_eq!((changed.cwd.as_deref(), changed.source.as_str()), (Some("old"), "old"));
        assert_eq!(changed.metadata, *json!({"old": 1, "new": [1]}).as_object().unwrap());
        assert_eq!(oneiro.stats().unwrap().payloads, 1, "the old prompt is gone");
    }

    fn requests_for_missing_sessions_and_messages_are_not_found(space) {
        let oneiro = open(space);
        let nobody = id("nobody");
        let errors = [
            oneiro.messages().append(&nobody, vec![user("x")]).err(),
            oneiro.messages().append(&nobody, vec![]).err(),
            oneiro.sessions().end(&nobody, Ending::new("x").unwrap()).err(),
            oneiro.sessions().reopen(&nobody).err(),
            oneiro.sessions().change(&nobody, SessionPatch::default()).err(),
            oneiro.sessions().delete(&nobody).err(),
            oneiro.sessions().show(&nobody, false).err(),
            oneiro.sessions().tip(&nobody).err(),
            oneiro.sessions().usage(&nobody).err(),
            oneiro.sessions().restore(&nobody, oneiro::RestoreRequest { all: true }).err(),
            oneiro.sessions().resolve("nobody").err(),
            oneiro.messages().get(oneiro::MessageId(1)).err(),
        ];
        for error in errors {
            let error = error.unwrap();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error:?}");
            assert!(error.remedy_text().is_some(), "{error:?}");
        }
    }

    fn ids_are_resolved_by_prefix_and_title(space) {
        let oneiro = open(space);
        for (name, seconds, title) in [
            ("alpha-1", 1, Some("trip")), ("alpha-2", 2, None), ("beta", 3, Some("trip #2")),
            ("al", 4, None), ("100%_x", 5, Some("50% off")), ("100axx", 6, Some("trips")), ("zoë🦀", 7, None),
        ] {
            oneiro.clock.set(seconds);
            oneiro.sessions().create(NewSession { title: title.map(Into::into), ..new(name) }).unwrap();
        }
        for (text, want) in [
            ("al", "al"), ("alpha-1", "alpha-1"), ("b", "beta"), ("trip #2", "beta"), ("trip", "beta"),
            ("trips", "100axx"), ("50% off", "100%_x"), ("100%", "100%_x"), ("100a", "100axx"), ("zo", "zoë🦀"),
        ] {
            assert_eq!(oneiro.sessions().resolve(text).unwrap().as_str(), want, "{text}");
        }
        for (text, kind) in [
            ("alpha", ErrorKind::Conflict), ("100", ErrorKind::Conflict), ("%", ErrorKind::NotFound),
            ("alpha_1", ErrorKind::NotFound), ("ALPHA-1", ErrorKind::NotFound), ("", ErrorKind::NotFound),
            ("a\0", ErrorKind::NotFound), ("_", ErrorKind::NotFound), ("*", ErrorKind::NotFound),
        ] {
            assert_eq!(oneiro.sessions().resolve(text).unwrap_err().kind(), kind, "{text}");
        }
    }

    fn a_page_of_large_messages_ends_early_and_the_next_continues(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let large = "large ".repeat(1 << 20);
        let ids: Vec<i64> = (0..8).flat_map(|_| say(&oneiro, "a", &[&large])).collect();
        let (mut read, mut pages, mut after) = (Vec::new(), 0, 0);
        loop {
            let request = oneiro_store::messages::PageRequest { after, hidden: false, limit: 100 };
            let page = oneiro.messages().list(&id("a"), request).unwrap();
            assert!(page.items.len() <= 3, "{} large messages in a page", page.items.len());
            read.extend(page.items.iter().map(|message| message.id.0));
            pages += 1;
            match page.next {
                Some(next) => after = next.key,
                None => break,
            }
        }
        assert_eq!((read, pages), (ids, 3));
    }

    fn messages_are_read_in_pages(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let ids = say(&oneiro, "a", &["1", "2", "3", "4", "5"]);
        let mut read = Vec::new();
        let mut after = 0;
        loop {
            let request = oneiro_store::messages::PageRequest { after, hidden: false, limit: 2 };
            let page = oneiro.messages().list(&id("a"), request).unwrap();
            read.extend(page.items.iter().map(|message| message.id.0));
            match page.next {
                Some(next) => after = next.key,
                None => break,
            }
        }
        assert_eq!(read, ids);
    }
}
