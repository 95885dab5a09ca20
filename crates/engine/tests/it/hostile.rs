//! Hostile input: huge, deep, strange, and SQL in every field.

use crate::support::{
    assert_sound, begin, dump, export, id, import, message_texts, new, open, say, user,
};
use oneiro::{
    BranchRequest, Ending, ErrorKind, ListSessions, MessageId, NewMessage, NewSession,
    SessionPatch, Usage, UsageKey,
};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};

/// Ids and texts that have broken stores before.
const STRANGE: &[&str] = &[
    "it's",
    "\"quoted\"",
    "a/b\\c",
    "../../etc/passwd",
    "\u{1}\n\t\u{7f}",
    "🦀é漢",
    "%",
    "_",
    "*",
    "?1",
    "$1",
    "'; DROP TABLE sessions; --",
    "x') ON CONFLICT DO NOTHING; DELETE FROM messages; --",
    "{}",
    "null",
    " ",
    "\u{202e}abc",
    "ses_1",
    "COMMIT",
    "\u{FFFF}",
    "e\u{301}",
];

/// Digits that do not compress well.
fn digits(length: usize) -> String {
    let mut digits = String::with_capacity(length + 20);
    let mut number = 1u64;
    while digits.len() < length {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        digits.push_str(&number.to_string());
    }
    digits
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!("bottom"), |inner, _| json!([inner]))
}

on_both_backends! {
    fn strange_text_is_stored_as_text_in_every_field(space) {
        let oneiro = open(space);
        for text in STRANGE {
            let some = || Some((*text).to_owned());
            let metadata = json!({*text: text});
            oneiro.sessions().create(NewSession {
                source: some(), user_id: some(), model: some(), model_config: Some(json!({*text: text})), system_prompt: some(),
                title: some(), project: some(), cwd: some(), metadata: metadata.as_object().cloned().unwrap(), ..new(text)
            }).unwrap();
            let message = json!({"role": "x".to_owned() + text, "content": text, "external_id": text, *text: text});
            oneiro.host().append(&id(text), vec![NewMessage::from_json(message).unwrap(), user(text)], None).unwrap();
            let key = UsageKey { model: (*text).into(), provider: (*text).into(), base_url: (*text).into(), billing_mode: (*text).into(), task: (*text).into() };
            oneiro.sessions().add_usage(&id(text), key, Usage { api_calls: 1, ..Usage::default() }).unwrap();
            oneiro.sessions().end(&id(text), Ending::new(*text).unwrap()).unwrap();
            assert_eq!(oneiro.sessions().resolve(text).unwrap().as_str(), *text);
            let request = ListSessions { source: some(), project: some(), user_id: some(), cwd_prefix: some(), ..ListSessions::default() };
            let listed = oneiro.sessions().list(&request).unwrap().items;
            assert_eq!(listed.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), [*text]);
            assert_eq!(message_texts(&oneiro, text, true), [*text, *text]);
            assert_eq!(oneiro.sessions().usage(&id(text)).unwrap()[0].key.task, *text);
        }
        assert_eq!(oneiro.stats().unwrap().sessions, STRANGE.len() as i64);
        let patch = SessionPatch { title: Some(Some("'--".into())), cwd: Some(Some("'--".into())), ..SessionPatch::default() };
        oneiro.sessions().change(&id("it's"), patch).unwrap();
        let request = BranchRequest { id: Some(id("'; --")), title: Some("'); --".into()), at: None };
        oneiro.sessions().branch(&id("it's"), request).unwrap();
        assert_sound(&oneiro);
        let elsewhere = oneiro_testkit::TestSpace::new(space.backend);
        let other = open(&elsewhere);
        import(&other, &export(&oneiro)).unwrap();
        assert_eq!(crate::support::without_ids(&export(&other)), crate::support::without_ids(&export(&oneiro)));
    }

    fn text_that_an_engine_cannot_store_is_refused(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let before = dump(&oneiro);
        let nul = || Some("a\0b".to_owned());
        for session in [
            NewSession { source: nul(), ..new("x") },
            NewSession { user_id: nul(), ..new("x") },
            NewSession { model: nul(), ..new("x") },
            NewSession { project: nul(), ..new("x") },
            NewSession { cwd: nul(), ..new("x") },
            NewSession { cwd: Some("x".repeat(5_000)), ..new("x") },
            NewSession { model_config: Some(deep(130)), ..new("x") },
            NewSession { metadata: [("k".to_owned(), deep(130))].into_iter().collect(), ..new("x") },
        ] {
            assert_eq!(oneiro.sessions().create(session).unwrap_err().kind(), ErrorKind::Invalid);
        }
        assert!(Ending::new("a\0").is_err());
        for message in [user("x").external_id("a\0b"), user("x").external_id(""), user("x").external_id("x".repeat(513))] {
            assert_eq!(oneiro.messages().append(&id("s"), vec![user("fine"), message]).unwrap_err().kind(), ErrorKind::Invalid);
        }
        assert_eq!(dump(&oneiro), before);
        // A prompt and a title may hold NUL: one is kept as bytes, the other is cleaned.
        let session = oneiro.sessions().create(NewSession { system_prompt: nul(), title: nul(), ..new("y") }).unwrap();
        assert_eq!((session.system_prompt, session.title), (nul(), Some("a b".into())));
    }

    fn json_that_is_nested_too_deeply_is_refused(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let nested = |levels: usize| format!("{{\"role\":\"user\",\"content\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        let error = NewMessage::parse(nested(100_000).as_bytes()).unwrap_err();
        assert!(error.message().contains("nested") && error.remedy_text().is_some(), "{error:?}");
        for levels in [121, 125, 140] {
            let mut message = user("x");
            message.body.insert("built".into(), deep(levels));
            let error = oneiro.messages().append(&id("s"), vec![message]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.message().contains("nested") && error.message().contains("message 1"), "{error:?}");
        }
        // What is taken can also be read, exported and imported again.
        let message = NewMessage::parse(nested(120).as_bytes()).unwrap();
        oneiro.messages().append(&id("s"), vec![message]).unwrap();
        let elsewhere = oneiro_testkit::TestSpace::new(space.backend);
        let other = open(&elsewhere);
        assert_eq!(import(&other, &export(&oneiro)).unwrap().messages, 1);
        assert_eq!(oneiro.sessions().show(&id("s"), true).unwrap().messages.len(), 1);
    }

    fn a_message_of_fifty_megabytes_is_returned_unchanged(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let large = digits(50 << 20);
        let stored = oneiro.messages().append(&id("s"), vec![user(&large)]).unwrap().ids[0];
        let back = oneiro.messages().get(stored).unwrap();
        assert!(back.body["content"].as_str() == Some(large.as_str()), "the message came back changed");
        assert_eq!(oneiro.stats().unwrap().payloads, 1);
    }

    fn a_hundred_thousand_messages_in_one_batch_are_kept_in_order(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let messages = (0..100_000).map(|n| user(&n.to_string()).external_id(format!("e{n}"))).collect();
        let appended = oneiro.messages().append(&id("s"), messages).unwrap();
        assert_eq!((appended.ids.len(), appended.duplicates), (100_000, 0));
        assert_eq!(appended.ids, (1..=100_000).map(MessageId).collect::<Vec<_>>());
        let request = oneiro_store::messages::PageRequest { after: 99_998, hidden: false, limit: 9 };
        let last = oneiro.messages().list(&id("s"), request).unwrap().items;
        assert_eq!(last.iter().map(crate::support::content).collect::<Vec<_>>(), ["99998", "99999"]);
        assert_sound(&oneiro);
    }

    fn long_keys_and_many_large_values_are_returned_unchanged(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let large = "v".repeat(70_000);
        for body in [
            json!({"role": "user", digits(9_000): {"a/b~c": large}}),
            json!({"role": "user", "list": [large, {"x": large}], "a/b~c": large}),
            json!({"role": "user", "nul\u{0}key": large}),
            json!({"role": "user", "small": vec!["piece"; 20_000], "large": large}),
        ] {
            let message = NewMessage::from_json(body.clone()).unwrap();
            let stored = oneiro.messages().append(&id("s"), vec![message]).unwrap().ids[0];
            let mut back = json!(oneiro.messages().get(stored).unwrap());
            for ours in ["id", "session_id", "at"] {
                back.as_object_mut().unwrap().shift_remove(ours);
            }
            assert!(back == body, "a message of {} fields changed", back.as_object().unwrap().len());
        }
        assert_eq!(say(&oneiro, "s", &["after"]).len(), 1);
    }
}
