//! What goes in comes out: equal values, keys in order, numbers as written.

use crate::support::{begin, id, open};
use oneiro::{MessageId, NewMessage, Oneiro, json};
use oneiro_testkit::{awkward_messages, on_both_backends};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Number, Value};

fn append(oneiro: &Oneiro, text: &str) -> MessageId {
    let message = NewMessage::parse(text.as_bytes()).unwrap();
    oneiro.host().append(&id("s"), vec![message], None).unwrap().ids[0]
}

/// A stored message as it is answered, without what Oneiro adds.
fn stored_json(oneiro: &Oneiro, message: MessageId) -> String {
    let text = serde_json::to_string(&oneiro.messages().get(message).unwrap()).unwrap();
    let Value::Object(mut fields) = json::parse_text(&text).unwrap().value else {
        panic!("{text}")
    };
    for ours in ["id", "session_id", "at"] {
        assert!(fields.shift_remove(ours).is_some(), "{ours} is missing");
    }
    Value::Object(fields).to_string()
}

fn any_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,3})?"
            .prop_map(|text| Value::Number(Number::from_string_unchecked(text))),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_number(),
        any::<String>().prop_map(Value::from),
        "[\\x00-\\x1f\"\\\\/]{0,12}".prop_map(Value::from),
        "x{65000,70000}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A message with a role and fields that nobody knows, in any order.
fn any_message() -> impl Strategy<Value = Value> {
    let role = prop_oneof![Just("user"), Just("assistant"), Just("tool"), Just("system")];
    let field = (
        prop_oneof![Just("content".to_owned()), ".{1,8}".prop_map(|k| format!("x{k}"))],
        any_json(),
    );
    (role, prop::collection::vec(field, 0..5)).prop_map(|(role, fields)| {
        let mut message = Map::from_iter([("role".to_owned(), Value::from(role))]);
        message.extend(fields);
        Value::Object(message)
    })
}

on_both_backends! {
    fn awkward_messages_are_returned_unchanged(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for message in awkward_messages() {
            let stored = append(&oneiro, &message.to_string());
            assert_eq!(stored_json(&oneiro, stored), message.to_string());
        }
    }

    fn any_message_is_returned_unchanged(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let mut config = oneiro_testkit::proptest_config(150);
        config.failure_persistence = None;
        let run = TestRunner::new(config).run(&any_message(), |message| {
            let stored = append(&oneiro, &message.to_string());
            prop_assert_eq!(stored_json(&oneiro, stored), message.to_string());
            Ok(())
        });
        assert!(run.is_ok(), "{run:?}");
    }

    fn numbers_key_order_and_null_are_preserved(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for text in [
            r#"{"role":"user","content":""}"#,
            r#"{"role":"user","content":null}"#,
            r#"{"role":"user"}"#,
            r#"{"role":"user","zeta":1.0,"alpha":12345678901234567890123,"m":1E5,"n":-0,"o":0.10}"#,
            r#"{"role":"user","content":"a\u0000b"}"#,
            r#"{"role":"user","":{"":""}," ":[[],{},[{}]]}"#,
            r#"{"role":"assistant","tool_calls":[],"reasoning":"","name":null}"#,
        ] {
            let stored = append(&oneiro, text);
            assert_eq!(stored_json(&oneiro, stored), text);
        }
    }

    fn the_time_and_the_external_id_are_returned(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let text = r#"{"role":"user","content":"x","at":"2020-02-03T04:05:06.789012+02:00","external_id":"ü/'1"}"#;
        let message = oneiro.messages().get(append(&oneiro, text)).unwrap();
        assert_eq!(message.at.to_string(), "2020-02-03T02:05:06.789012Z");
        assert_eq!(message.external_id.as_deref(), Some("ü/'1"));
    }

    fn lone_surrogates_are_replaced_and_counted(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let text = r#"{"role":"user","content":"a\ud800b\udc00","ok":"\ud83e\udd80"}"#;
        let message = NewMessage::parse(text.as_bytes()).unwrap();
        let appended = oneiro.messages().append(&id("s"), vec![message]).unwrap();
        assert_eq!((appended.repaired, oneiro.stats().unwrap().repaired), (2, 2));
        let want = "{\"role\":\"user\",\"content\":\"a\u{FFFD}b\u{FFFD}\",\"ok\":\"🦀\"}";
        assert_eq!(stored_json(&oneiro, appended.ids[0]), want);
    }
}
