//! Importing from hermes again: what is new is added, what hermes changed is brought up to date, and
//! what was changed here stays.

use crate::hermes_files::{Hermes, import, try_import};
use crate::support::{Fixed, assert_sound, id, message_texts, open, say};
use oneiro::{Ending, EraseTarget, MessageId, Session, SessionPatch, Usage, UsageKey};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::json;

fn talk(space: &TestSpace) -> Hermes {
    let hermes = Hermes::new(space, 22);
    hermes.session("s", 1_700_000_000.0);
    hermes.run("UPDATE sessions SET title = 'Tea', model = 'm1', input_tokens = 10");
    hermes.run(
        "INSERT INTO session_model_usage (session_id, model, input_tokens, last_seen) \
        VALUES ('s', 'm1', 10, 1700000000)",
    );
    for text in ["one", "two", "three", "four"] {
        hermes.say("s", "user", text);
    }
    hermes
}

fn session(oneiro: &Fixed) -> Session {
    oneiro.sessions().find(&id("s")).unwrap().unwrap()
}

on_both_backends! {
    fn a_repeated_import_changes_nothing(space) {
        let hermes = talk(space);
        let oneiro = open(space);
        assert_eq!(import(&oneiro, &hermes.path).messages, 4);
        let before = crate::support::dump(&oneiro);
        for _ in 0..2 {
            let again = import(&oneiro, &hermes.path);
            assert_eq!((again.sessions, again.messages, again.sessions_changed), (0, 0, 0));
            assert_eq!((again.messages_changed, again.kept_here, again.slots), (0, 0, 0));
            assert_eq!(again.file, again.store);
        }
        assert_eq!(crate::support::dump(&oneiro), before);
    }

    fn changes_of_hermes_since_the_last_import_are_applied(space) {
        let hermes = talk(space);
        let oneiro = open(space);
        import(&oneiro, &hermes.path);
        hermes.run("UPDATE sessions SET title = 'Green tea', model = 'm2', input_tokens = 25, \
            ended_at = 1700000500, end_reason = 'user_exit', archived = 1, rewind_count = 1, \
            display_name = 'Ann';
            UPDATE session_model_usage SET input_tokens = 25, last_seen = 1700000400;
            UPDATE messages SET active = 0 WHERE id = 4;
            UPDATE messages SET active = 0, compacted = 1 WHERE id = 1;");
        hermes.say("s", "user", "five");
        hermes.session("later", 1_700_000_600.0);
        hermes.say("later", "user", "hello");
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.sessions, done.messages), (1, 2));
        assert_eq!((done.sessions_changed, done.messages_changed, done.kept_here), (1, 2, 0));
        let s = session(&oneiro);
        assert_eq!((s.title.as_deref(), s.model.as_deref(), s.input_tokens), (Some("Green tea"), Some("m2"), 25));
        assert_eq!((s.end_reason.as_deref(), s.archived, s.rewind_count), (Some("user_exit"), true, 1));
        assert_eq!(json!(s.metadata), json!({"display_name": "Ann"}));
        assert_eq!(oneiro.sessions().usage(&id("s")).unwrap()[0].input_tokens, 25);
        assert_eq!(message_texts(&oneiro, "s", false), ["two", "three", "five"]);
        assert_eq!(s.message_count, 4);
        // Taken back by hermes: reopened, shown again, no longer named.
        hermes.run("UPDATE sessions SET ended_at = NULL, end_reason = NULL, display_name = NULL, \
            archived = 0; UPDATE messages SET active = 1, compacted = 0");
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.messages, done.messages_changed), (0, 2));
        let s = session(&oneiro);
        assert_eq!((s.ended_at, s.archived, s.metadata.len()), (None, false, 0));
        assert_eq!(message_texts(&oneiro, "s", false), ["one", "two", "three", "four", "five"]);
        assert_sound(&oneiro);
    }

    fn changes_made_here_are_kept(space) {
        let hermes = talk(space);
        let oneiro = open(space);
        import(&oneiro, &hermes.path);
        let patch = SessionPatch {
            title: Some(Some("Mine".to_owned())),
            model: Some(Some("other".to_owned())),
            metadata: json!({"display_name": "me"}).as_object().cloned().unwrap(),
            ..SessionPatch::default()
        };
        oneiro.sessions().change(&id("s"), patch).unwrap();
        oneiro.sessions().end(&id("s"), Ending::new("done here").unwrap()).unwrap();
        say(&oneiro, "s", &["said here"]);
        let used = Usage { input_tokens: 7, ..Usage::default() };
        oneiro.sessions().add_usage(&id("s"), UsageKey { model: "m1".into(), ..UsageKey::default() }, used).unwrap();
        oneiro.sessions().rewind(&id("s"), MessageId(3).into()).unwrap();
        hermes.run("UPDATE sessions SET title = 'Theirs', model = 'm9', input_tokens = 30, \
            ended_at = 5, end_reason = 'gone', display_name = 'Ann';
            UPDATE session_model_usage SET input_tokens = 30;
            UPDATE messages SET active = 0, compacted = 1 WHERE id IN (1, 4);");
        hermes.say("s", "user", "said there");
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.messages, done.messages_changed), (1, 1));
        // Title, model, end, name, and the message that was taken back here.
        assert_eq!(done.kept_here, 5, "{done:#?}");
        let s = session(&oneiro);
        assert_eq!((s.title.as_deref(), s.model.as_deref()), (Some("Mine"), Some("other")));
        assert_eq!(s.end_reason.as_deref(), Some("done here"));
        assert_eq!(s.metadata["display_name"], "me");
        // What both used adds up.
        assert_eq!(s.input_tokens, 37);
        assert_eq!(oneiro.sessions().usage(&id("s")).unwrap()[0].input_tokens, 37);
        assert_eq!(message_texts(&oneiro, "s", false), ["two", "said there"]);
        assert_eq!(message_texts(&oneiro, "s", true), ["one", "two", "three", "four", "said here", "said there"]);
        assert_eq!(import(&oneiro, &hermes.path).kept_here, 0);
        assert_sound(&oneiro);
    }

    fn sessions_and_messages_deleted_here_are_not_imported_again(space) {
        let hermes = talk(space);
        hermes.session("gone", 1_700_000_100.0);
        hermes.say("gone", "user", "forget the seventh candle");
        let oneiro = open(space);
        import(&oneiro, &hermes.path);
        oneiro.erase(&EraseTarget::Session(id("gone"))).unwrap();
        oneiro.erase(&EraseTarget::Message(MessageId(2))).unwrap();
        hermes.say("gone", "user", "and the eighth");
        hermes.run("UPDATE sessions SET display_name = 'x'");
        let done = try_import(&oneiro, &hermes.path).unwrap();
        assert_eq!((done.sessions, done.messages, done.agrees), (0, 0, Some(true)));
        assert_eq!((done.left_out_sessions, done.left_out), (1, 3));
        assert!(oneiro.sessions().find(&id("gone")).unwrap().is_none());
        assert_eq!(message_texts(&oneiro, "s", true), ["one", "three", "four"]);
        // The note that keeps it away tells nothing of it.
        let notes = json!(oneiro.host().slots("hermes/import").unwrap()).to_string();
        assert!(!notes.contains("gone") && !notes.contains("candle") && !notes.contains("Tea"), "{notes}");
    }

    fn messages_that_hermes_replaced_are_rewound_and_not_deleted(space) {
        let hermes = talk(space);
        let oneiro = open(space);
        import(&oneiro, &hermes.path);
        hermes.run("DELETE FROM messages WHERE id > 2");
        hermes.say("s", "user", "three, put better");
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.messages, done.replaced, done.file.live), (1, 2, 3));
        assert_eq!(message_texts(&oneiro, "s", false), ["one", "two", "three, put better"]);
        assert_eq!(message_texts(&oneiro, "s", true).len(), 5);
        assert_eq!(session(&oneiro).metadata["replaced_until"], 4);
        assert_eq!(import(&oneiro, &hermes.path).replaced, 0);
        // A session that hermes deleted stays here.
        hermes.run("DELETE FROM messages; DELETE FROM sessions");
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.file.sessions, done.replaced), (0, 0));
        assert_eq!(session(&oneiro).message_count, 3);
        assert_sound(&oneiro);
    }

    fn another_file_at_the_same_path_is_imported_completely(space) {
        let hermes = talk(space);
        let oneiro = open(space);
        let path = hermes.path;
        import(&oneiro, &path);
        std::fs::remove_file(&path).unwrap();
        let other = Hermes::at(path, 26);
        other.session("t", 1_700_000_000.0);
        for text in ["a", "b", "c"] {
            other.say("t", "user", text);
        }
        let done = import(&oneiro, &other.path);
        assert_eq!((done.sessions, done.messages), (1, 3));
        assert_eq!(message_texts(&oneiro, "s", false).len(), 4);
    }

    fn an_existing_session_without_an_import_is_filled_in(space) {
        let hermes = talk(space);
        let oneiro = open(space);
        crate::support::begin(&oneiro, "s");
        say(&oneiro, "s", &["said here"]);
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.sessions, done.messages), (0, 4));
        let s = session(&oneiro);
        assert_eq!((s.title.as_deref(), s.model.as_deref(), s.input_tokens), (Some("Tea"), Some("m1"), 10));
        assert_eq!(message_texts(&oneiro, "s", false).len(), 5);
    }

    fn slots_changed_here_are_kept(space) {
        let hermes = talk(space);
        hermes.run("INSERT INTO state_meta VALUES ('a', '1'), ('b', '1')");
        let oneiro = open(space);
        assert_eq!(import(&oneiro, &hermes.path).slots, 2);
        let set = oneiro::host::SetSlots {
            scope: "hermes/meta".to_owned(),
            values: vec![("b".to_owned(), Some(json!("mine")))],
            ..oneiro::host::SetSlots::default()
        };
        oneiro.host().set_slots(set).unwrap();
        hermes.run("UPDATE state_meta SET value = '2'");
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.slots, done.kept_here), (1, 1));
        let held: Vec<_> = oneiro.host().slots("hermes/meta").unwrap().into_iter().map(|slot| slot.value).collect();
        assert_eq!(held, [json!("2"), json!("mine")]);
    }

    fn sessions_that_match_a_pattern_are_skipped(space) {
        let hermes = talk(space);
        for session in ["cron:1", "scratch:1"] {
            hermes.session(session, 5.0);
            hermes.say(session, "user", "tick");
        }
        let oneiro = open(space);
        oneiro.settings().set("ignore_session_patterns", Some(json!(["cron:*"]))).unwrap();
        oneiro.settings().set("stateless_session_patterns", Some(json!(["scratch:*"]))).unwrap();
        let preview = oneiro.transfer().preview_hermes(&hermes.path, &mut |_| {}).unwrap();
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.sessions, done.messages), (1, 4));
        assert_eq!((done.left_out_sessions, done.left_out), (2, 2));
        assert_eq!((preview.left_out_sessions, preview.left_out), (2, 2));
        assert!(oneiro.sessions().find(&id("cron:1")).unwrap().is_none());
    }
}
