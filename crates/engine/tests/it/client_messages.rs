//! What a client may append, and what a host may keep.

use crate::support::{begin, id, open};
use oneiro::{Appended, ErrorKind, NewMessage, Oneiro, Result};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};

fn append(oneiro: &Oneiro, message: &Value) -> Result<Appended> {
    oneiro.messages().append(&id("s"), vec![NewMessage::from_json(message.clone()).unwrap()])
}

on_both_backends! {
    fn unknown_roles_and_empty_texts_are_refused_except_from_hosts(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let refused = [
            (json!({"role": "usr", "content": "hello"}), "role"),
            (json!({"role": "session_meta", "content": "{}"}), "role"),
            (json!({"role": "user", "content": ""}), "content"),
            (json!({"role": "user", "content": " \n"}), "content"),
            (json!({"role": "user", "content": null}), "content"),
            (json!({"role": "user", "content": []}), "content"),
            (json!({"role": "system"}), "content"),
            (json!({"role": "developer", "content": ""}), "content"),
            (json!({"role": "assistant", "content": ""}), "content"),
            (json!({"role": "assistant", "content": " ", "tokens": 0, "model": "m"}), "content"),
        ];
        for (message, field) in &refused {
            let error = append(&oneiro, message).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{message}");
            assert_eq!(error.field_name(), Some(*field), "{message}");
        }
        for (message, _) in &refused {
            let message = NewMessage::from_json(message.clone()).unwrap();
            assert_eq!(oneiro.host().append(&id("s"), vec![message], None).unwrap().ids.len(), 1);
        }
    }

    fn tool_calls_without_text_may_be_appended(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let call = json!([{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]);
        for message in [
            json!({"role": "assistant", "content": null, "tool_calls": call}),
            json!({"role": "assistant", "content": "", "reasoning": "a thought"}),
            json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}),
            json!({"role": "tool", "tool_call_id": "c", "content": ""}),
            json!({"role": "function", "name": "ls", "content": ""}),
            json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,x"}}]}),
            json!({"role": "user", "content": "", "attachments": ["a.png"]}),
            json!({"role": "developer", "content": "be brief"}),
        ] {
            assert_eq!(append(&oneiro, &message).unwrap().ids.len(), 1, "{message}");
        }
    }
}

#[test]
fn the_error_for_a_mistyped_role_suggests_the_nearest() {
    let message = NewMessage::from_json(json!({"role": "asistant", "content": "x"})).unwrap();
    let error = message.check_client().unwrap_err();
    assert!(error.remedy_text().unwrap().starts_with("did you mean assistant?"), "{error:?}");
}
