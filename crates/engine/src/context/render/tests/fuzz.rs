//! JSON that nobody meant as a message, but that looks like one: no panic, and a valid request.

use super::super::super::form::{Form, cost};
use super::super::super::samples::message;
use super::rendered;
use super::valid::{assert_anthropic_valid, assert_openai_valid};
use oneiro_model::Message;
use oneiro_model::WindowFormat::{Anthropic, Openai, Text};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NAMES: [&str; 28] = [
    "type",
    "text",
    "content",
    "id",
    "tool_use_id",
    "tool_call_id",
    "input",
    "function",
    "name",
    "arguments",
    "source",
    "data",
    "image_url",
    "url",
    "file",
    "file_data",
    "file_id",
    "media_type",
    "signature",
    "thinking",
    "tool_calls",
    "refusal",
    "input_audio",
    "format",
    "resource",
    "blob",
    "is_error",
    "tokens",
];

const TEXTS: [&str; 26] = [
    "text",
    "thinking",
    "redacted_thinking",
    "reasoning",
    "tool_use",
    "tool_result",
    "image",
    "image_url",
    "input_image",
    "input_audio",
    "file",
    "document",
    "resource",
    "refusal",
    "server_tool_use",
    "x_tool_result",
    "base64",
    "image/png",
    "application/pdf",
    "data:image/png;base64,AAAA",
    "http://a.b/c",
    "",
    " ",
    "hello",
    "{\"a\":1}",
    "wav",
];

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => (0..9_u32).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let name = prop::sample::select(&NAMES[..]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5).prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect())
            }),
        ]
    })
}

fn odd_message() -> impl Strategy<Value = (Message, Form)> {
    let roles = ["user", "assistant", "assistant", "tool", "system", "odd", "odd one"];
    let beside = prop::collection::vec((prop::sample::select(&NAMES[..]), json_value()), 0..3);
    (prop::sample::select(roles.to_vec()), json_value(), beside, any::<bool>()).prop_map(
        |(role, content, beside, is_short)| {
            let mut body = Map::from_iter([("content".to_owned(), content)]);
            body.extend(beside.into_iter().map(|(name, value)| (name.to_owned(), value)));
            let form = if is_short { Form::Short } else { Form::Full };
            (message(1, role, Value::Object(body)), form)
        },
    )
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(3_000))]

    #[test]
    fn odd_json_makes_a_valid_request(messages in prop::collection::vec(odd_message(), 0..6)) {
        assert_openai_valid(&rendered(&messages, Openai).messages);
        assert_anthropic_valid(&rendered(&messages, Anthropic).messages);
        rendered(&messages, Text).text();
        for (message, _) in &messages {
            prop_assert!(cost(message, Form::Short) <= cost(message, Form::Full));
        }
    }
}

#[test]
fn deep_json_is_read_to_the_bottom() {
    let mut content = json!("bottom");
    for _ in 0..100 {
        content = json!([content]);
    }
    let messages = [(message(1, "user", json!({"content": content})), Form::Short)];
    assert_eq!(rendered(&messages, Openai).messages[1]["content"], "bottom");
}
