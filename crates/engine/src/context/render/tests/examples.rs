//! One conversation as each format has it, and the cases that providers are known to refuse.

use super::super::super::form::Form;
use super::super::super::samples::message;
use super::rendered;
use super::valid::{assert_anthropic_valid, assert_openai_valid};
use oneiro_model::WindowFormat::{Anthropic, Openai, Text};
use oneiro_model::{Message, MessageId};
use serde_json::{Value, json};

fn said(lines: &[(&str, Value)]) -> Vec<(Message, Form)> {
    let one = |(at, (role, body)): (usize, &(&str, Value))| {
        (message(at as i64 + 1, role, body.clone()), Form::Full)
    };
    lines.iter().enumerate().map(one).collect()
}

fn picture() -> Value {
    json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}})
}

/// Every dialect in turn.
fn mixed() -> Vec<(Message, Form)> {
    said(&[
        ("user", json!({"content": "what is here?", "name": "Ann", "tokens": 9, "trust": "owner"})),
        (
            "assistant",
            json!({"content": "I look.", "reasoning": "hm", "tool_calls": [
            {"id": "call_0", "type": "function",
                "function": {"name": "ls", "arguments": "{\"dir\":\".\"}"}, "index": 0}]}),
        ),
        ("tool", json!({"tool_call_id": "call_0", "name": "ls", "content": "a.png"})),
        (
            "assistant",
            json!({"content": [
            {"type": "thinking", "thinking": "a picture", "signature": "sig"},
            {"type": "tool_use", "id": "call_0", "name": "see", "input": {"file": "a.png"}}]}),
        ),
        ("system", json!({"content": "one minute left"})),
        (
            "user",
            json!({"content": [{"type": "tool_result", "tool_use_id": "call_0",
            "content": [{"type": "text", "text": "here"}, picture()]},
            {"type": "text", "text": "well?"}]}),
        ),
        ("assistant", json!({"content": "A cat."})),
    ])
}

#[test]
fn openai() {
    let window = rendered(&mixed(), Openai);
    assert_eq!(window.system, None);
    let call = |name: &str, arguments: &str| {
        json!([{"id": "call_0", "type": "function",
            "function": {"name": name, "arguments": arguments}}])
    };
    assert_eq!(
        json!(window.messages),
        json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "name": "Ann", "content": "what is here?"},
            {"role": "assistant", "content": "I look.",
                "tool_calls": call("ls", "{\"dir\":\".\"}")},
            {"role": "tool", "tool_call_id": "call_0", "content": "a.png"},
            {"role": "assistant", "content": null,
                "tool_calls": call("see", "{\"file\":\"a.png\"}")},
            {"role": "tool", "tool_call_id": "call_0",
                "content": "here\n[image/png, 6 B; message 6]"},
            {"role": "user", "content": [
                {"type": "text", "text": "[image/png, 6 B; message 6]"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}}]},
            {"role": "system", "content": "one minute left"},
            {"role": "user", "content": "well?"},
            {"role": "assistant", "content": "A cat."},
        ])
    );
}

#[test]
fn anthropic() {
    let window = rendered(&mixed(), Anthropic);
    assert_eq!(window.system.as_deref(), Some("be brief"));
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        json!(window.messages),
        json!([
            {"role": "user", "content": [text("Ann: what is here?")]},
            {"role": "assistant", "content": [text("I look."),
                {"type": "tool_use", "id": "call_0", "name": "ls", "input": {"dir": "."}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_0", "content": [text("a.png")]}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "a picture", "signature": "sig"},
                {"type": "tool_use", "id": "call_0_2", "name": "see", "input": {"file": "a.png"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_0_2",
                    "content": [text("here"), picture()]},
                text("<system>one minute left</system>"), text("well?")]},
            {"role": "assistant", "content": [text("A cat.")]},
        ])
    );
}

#[test]
fn text() {
    assert_eq!(
        rendered(&mixed(), Text).text(),
        "be brief\n\
         [2026-01-31 09:31] Ann: what is here?\n\
         [2026-01-31 09:32] assistant: I look.\n-> ls({\"dir\":\".\"})\n\
         <- a.png\n\
         [2026-01-31 09:34] assistant:\n-> see({\"file\":\"a.png\"})\n\
         <- here\n[image/png, 6 B; message 6]\n\
         [2026-01-31 09:35] system: one minute left\n\
         [2026-01-31 09:36] user: well?\n\
         [2026-01-31 09:37] assistant: A cat."
    );
}

#[test]
fn what_waits_what_never_came_and_what_nobody_asked_for() {
    let call = |ids: &[&str]| {
        let calls = ids.iter().map(|id| json!({"id": id, "function": {"name": "ls"}}));
        ("assistant", json!({"content": "I look.", "tool_calls": calls.collect::<Vec<_>>()}))
    };
    let result = |id: &str| ("tool", json!({"tool_call_id": id, "content": "done"}));
    let user = || ("user", json!({"content": "so?"}));
    let ids = |ids: &[i64]| ids.iter().map(|id| MessageId(*id)).collect::<Vec<_>>();
    for (lines, pending, unpaired, placeholders, late) in [
        (vec![user(), call(&["a"])], ids(&[2]), ids(&[]), 0, false),
        (vec![user(), call(&["a", "b"]), result("a")], ids(&[2, 3]), ids(&[]), 0, false),
        (vec![user(), call(&["a", "b"]), result("a"), user()], ids(&[]), ids(&[]), 1, false),
        (vec![user(), call(&["a"]), user(), result("a")], ids(&[]), ids(&[]), 0, true),
        (vec![user(), result("a"), result("b")], ids(&[]), ids(&[2, 3]), 0, false),
        (vec![call(&["a"]), result("a"), result("a")], ids(&[]), ids(&[3]), 0, false),
    ] {
        let messages = said(&lines);
        for format in [Openai, Anthropic, Text] {
            let window = rendered(&messages, format);
            assert_eq!(
                (window.pending, window.unpaired, window.placeholders, window.late),
                (pending.clone(), unpaired.clone(), placeholders, usize::from(late)),
                "{lines:?}"
            );
        }
        assert_openai_valid(&rendered(&messages, Openai).messages);
        assert_anthropic_valid(&rendered(&messages, Anthropic).messages);
    }
    let window = rendered(&said(&[call(&["a"]), user()]), Anthropic).messages;
    assert_eq!(window[0]["content"][0]["text"], "(the conversation goes on)");
    assert_eq!(window[2]["content"][0]["content"][0]["text"], "[no result was recorded]");
}

#[test]
fn arguments_are_an_object_for_anthropic_and_text_for_openai() {
    for (given, input, text) in [
        (json!("{\"a\":1.50}"), json!({"a": 1.5}), "{\"a\":1.50}"),
        (json!({"a": 1}), json!({"a": 1}), "{\"a\":1}"),
        (json!("[1]"), json!({"arguments": "[1]"}), "[1]"),
        (json!("cut off {"), json!({"arguments": "cut off {"}), "cut off {"),
        (json!(""), json!({}), "{}"),
        (json!(null), json!({}), "{}"),
        (json!([1]), json!({"arguments": "[1]"}), "[1]"),
    ] {
        let call = json!({"id": "c", "function": {"name": "ls", "arguments": given}});
        let messages = said(&[
            ("user", json!({"content": "go"})),
            ("assistant", json!({"tool_calls": [call]})),
            ("tool", json!({"tool_call_id": "c", "content": ""})),
        ]);
        let anthropic = rendered(&messages, Anthropic).messages;
        let sent = anthropic[1]["content"][0]["input"].to_string().replace("1.50", "1.5");
        assert_eq!(sent, input.to_string());
        let openai = rendered(&messages, Openai).messages;
        assert_eq!(openai[2]["tool_calls"][0]["function"]["arguments"], text);
        assert_eq!(openai[3]["content"], "[empty result]");
    }
}

#[test]
fn ids_that_a_provider_would_refuse_are_told_apart() {
    let call = |id: Value| ("assistant", json!({"tool_calls": [{"id": id, "name": "ls"}]}));
    let result = |id: Value| ("tool", json!({"tool_call_id": id, "content": "ok"}));
    let ids = [json!("a.b"), json!("a_b"), json!("a_b_2"), json!("a.b"), Value::Null, json!(7)];
    let lines: Vec<_> = ids.iter().flat_map(|id| [call(id.clone()), result(id.clone())]).collect();
    let window = rendered(&said(&lines), Anthropic).messages;
    assert_anthropic_valid(&window);
    let given: Vec<&str> = window
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["content"][0]["id"].as_str().unwrap())
        .collect();
    assert_eq!(given, ["a_b", "a_b_2", "a_b_2_2", "a_b_3", "call_9_0", "7"]);
}

#[test]
fn a_conversation_that_opens_with_instructions_has_them_in_the_system_text() {
    let messages = said(&[
        ("system", json!({"content": "you are a cook"})),
        ("user", json!({"content": "hi"})),
        ("developer", json!({"content": "be kind"})),
    ]);
    let window = rendered(&messages, Anthropic);
    assert_eq!(window.system.as_deref(), Some("be brief\n\nyou are a cook"));
    assert_eq!(window.messages.len(), 1);
    let roles: Vec<Value> = rendered(&messages, Openai)
        .messages
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(json!(roles), json!(["system", "system", "user", "system"]));
}

#[test]
fn nothing_at_all_is_an_empty_window() {
    let blank = super::super::RenderRequest { system: " ", messages: &[], format: Openai };
    assert_eq!(super::super::render(&blank), super::super::Rendered::default());
}
