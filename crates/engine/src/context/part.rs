//! The typed parts of a message, read from every stored dialect, with the ids that connect calls
//! and results.

use super::media::Media;
use oneiro_model::{Message, Role};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A typed part of a message. Parts are never empty: providers refuse blank text.
#[derive(Debug, Clone)]
pub(super) enum Part<'a> {
    Text(Cow<'a, str>),
    Media(Media<'a>),
    /// A thinking block with its provider's signature; unsigned thinking is not read.
    Thinking(&'a Map<String, Value>),
    Call(Call<'a>),
    Result(ToolResult<'a>),
}

/// A tool call.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    /// Empty if none was given.
    pub id: Cow<'a, str>,
    pub name: &'a str,
    pub arguments: &'a Value,
}

impl Call<'_> {
    /// The arguments as JSON text.
    pub(super) fn arguments_text(&self) -> Cow<'_, str> {
        match self.arguments {
            Value::String(text) if text.trim().is_empty() => Cow::Borrowed("{}"),
            Value::String(text) => Cow::Borrowed(text),
            Value::Null => Cow::Borrowed("{}"),
            other => Cow::Owned(other.to_string()),
        }
    }
}

/// A tool result.
#[derive(Debug, Clone)]
pub(super) struct ToolResult<'a> {
    /// The id of the call; empty if none was given.
    pub id: Cow<'a, str>,
    /// Text and media.
    pub content: Vec<Part<'a>>,
    pub is_error: bool,
}

/// The position of a block, which determines what it can be.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Assistant,
    Result,
    Elsewhere,
}

/// The parts of a message: its content in order, then its calls.
pub(super) fn parts(message: &Message) -> Vec<Part<'_>> {
    let body = &message.body;
    let content = body.get("content").unwrap_or(&Value::Null);
    if message.role == Role::Tool && !has_results(content) {
        return vec![Part::Result(ToolResult {
            id: id(body, &["tool_call_id", "tool_use_id"]),
            content: result_content(content),
            is_error: is_error(body),
        })];
    }
    let mut found = Vec::new();
    if message.role != Role::Assistant {
        read(content, Place::Elsewhere, &mut found);
        return found;
    }
    read(content, Place::Assistant, &mut found);
    read(body.get("refusal").unwrap_or(&Value::Null), Place::Assistant, &mut found);
    let in_content: Vec<Cow<'_, str>> = found.iter().filter_map(call_id).collect();
    let beside: Vec<Part<'_>> = match body.get("tool_calls") {
        Some(Value::Array(calls)) => calls.iter().filter_map(Value::as_object).map(call).collect(),
        Some(Value::Object(one)) => vec![call(one)],
        _ => Vec::new(),
    };
    // Some hosts store a call twice: in the content and in `tool_calls`.
    found.extend(
        beside.into_iter().filter(|part| !call_id(part).is_some_and(|id| in_content.contains(&id))),
    );
    found
}

/// The id of a call, if it has one.
fn call_id<'a>(part: &Part<'a>) -> Option<Cow<'a, str>> {
    match part {
        Part::Call(call) if !call.id.is_empty() => Some(call.id.clone()),
        _ => None,
    }
}

/// A call in OpenAI's form, or flat.
fn call(call: &Map<String, Value>) -> Part<'_> {
    let function = call.get("function").and_then(Value::as_object).unwrap_or(call);
    Part::Call(Call {
        id: id(call, &["id", "call_id", "tool_call_id"]),
        name: function.get("name").and_then(Value::as_str).unwrap_or_default(),
        arguments: function.get("arguments").or(function.get("input")).unwrap_or(&Value::Null),
    })
}

fn read<'a>(value: &'a Value, place: Place, found: &mut Vec<Part<'a>>) {
    match value {
        Value::Null => {}
        Value::String(text) => push_text(Cow::Borrowed(text), found),
        Value::Array(items) => items.iter().for_each(|item| read(item, place, found)),
        Value::Object(block) => read_block(block, place, found),
        other => push_text(Cow::Owned(other.to_string()), found),
    }
}

fn read_block<'a>(block: &'a Map<String, Value>, place: Place, found: &mut Vec<Part<'a>>) {
    let field = |name| block.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = field("type").unwrap_or_default();
    match kind {
        "thinking" | "redacted_thinking" | "reasoning" => {
            let seal = if kind == "thinking" { "signature" } else { "data" };
            if place == Place::Assistant && kind != "reasoning" && field(seal).is_some() {
                found.push(Part::Thinking(block));
            }
        }
        _ if is_call(kind) && place == Place::Assistant => found.push(call(block)),
        _ if is_result(kind) && place != Place::Result => found.push(Part::Result(ToolResult {
            id: id(block, &["tool_use_id", "tool_call_id"]),
            content: result_content(block.get("content").unwrap_or(&Value::Null)),
            is_error: is_error(block),
        })),
        "refusal" => push_text(Cow::Borrowed(field("refusal").unwrap_or_default()), found),
        "document" if Media::of(block).is_none() => {
            push_text(Cow::Borrowed(field("title").unwrap_or_default()), found);
            let source = block.get("source").unwrap_or(&Value::Null);
            let words = source.get("data").or(source.get("content")).unwrap_or(&Value::Null);
            read(words, Place::Result, found);
        }
        _ => match (Media::of(block), words_of(block)) {
            (Some(media), _) => found.push(Part::Media(media)),
            (None, Some(words)) => push_text(Cow::Borrowed(words), found),
            // An unknown block: keep its text.
            (None, None) if block.keys().any(|name| !matches!(name.as_str(), "type" | "text")) => {
                let json = serde_json::to_string(block).unwrap_or_default();
                push_text(Cow::Owned(json), found);
            }
            (None, None) => {}
        },
    }
}

fn is_call(kind: &str) -> bool {
    matches!(kind, "tool_use" | "server_tool_use" | "mcp_tool_use")
}

pub(super) fn is_result(kind: &str) -> bool {
    kind == "tool_result" || kind.ends_with("_tool_result")
}

/// The text of a text block of either provider, of OpenAI's assistants, or of an MCP resource.
fn words_of(block: &Map<String, Value>) -> Option<&str> {
    let text = block.get("text");
    let resource = || block.get("resource").and_then(|resource| resource.get("text"));
    let words = text.and_then(|text| text.as_str().or_else(|| text.get("value")?.as_str()));
    words.or_else(|| resource()?.as_str())
}

fn push_text<'a>(text: Cow<'a, str>, found: &mut Vec<Part<'a>>) {
    if !text.trim().is_empty() {
        found.push(Part::Text(text));
    }
}

fn result_content(content: &Value) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    read(content, Place::Result, &mut found);
    found
}

fn has_results(content: &Value) -> bool {
    let kind = |block: &Value| block.get("type").and_then(Value::as_str).is_some_and(is_result);
    content.as_array().is_some_and(|blocks| blocks.iter().any(kind))
}

fn is_error(fields: &Map<String, Value>) -> bool {
    fields.get("is_error") == Some(&Value::Bool(true))
}

/// The first of these fields with an id; some hosts use numbers.
fn id<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Cow<'a, str> {
    let found = names.iter().find_map(|name| match fields.get(*name) {
        Some(Value::String(id)) if !id.trim().is_empty() => Some(Cow::Borrowed(id.as_str())),
        Some(Value::Number(id)) => Some(Cow::Owned(id.to_string())),
        _ => None,
    });
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::samples::message;
    use super::*;
    use serde_json::json;

    /// What was read, in short.
    fn described(role: &str, body: Value) -> String {
        fn one(part: &Part<'_>) -> String {
            match part {
                Part::Text(text) => format!("{text:?}"),
                Part::Media(media) => media.handle(oneiro_model::MessageId(1)),
                Part::Thinking(_) => "thinking".to_owned(),
                Part::Call(call) => format!("{}:{}({})", call.id, call.name, call.arguments_text()),
                Part::Result(result) => {
                    let inner: Vec<String> = result.content.iter().map(one).collect();
                    format!("{}={}", result.id, inner.join("+"))
                }
            }
        }
        let message = message(1, role, body);
        parts(&message).iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_dialect_is_read() {
        for (role, body, want) in [
            ("user", json!({"content": "hi"}), r#""hi""#),
            ("user", json!({"content": ["a", {"type": "text", "text": "b"}]}), r#""a" "b""#),
            (
                "user",
                json!({"content": [{"type": "tool_result", "tool_use_id": "t", "content":
                [{"type": "text", "text": "ok"}, {"type": "image"}]}]}),
                r#"t="ok"+[image; message 1]"#,
            ),
            (
                "assistant",
                json!({"content": "so", "tool_calls":
                [{"id": "c", "function": {"name": "ls", "arguments": "{\"a\":1}"}}]}),
                r#""so" c:ls({"a":1})"#,
            ),
            (
                "assistant",
                json!({"content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "thinking", "thinking": "unsigned"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "so"},
                {"type": "tool_use", "id": "c", "name": "ls", "input": {"a": 1}}]}),
                r#"thinking thinking "so" c:ls({"a":1})"#,
            ),
            ("tool", json!({"content": "out", "tool_call_id": "c"}), r#"c="out""#),
            (
                "tool",
                json!({"content": [{"type": "tool_result", "tool_use_id": "c", "content": "o"}]}),
                r#"c="o""#,
            ),
            ("assistant", json!({"content": null, "refusal": "no"}), r#""no""#),
        ] {
            assert_eq!(described(role, body.clone()), want, "{role} {body}");
        }
    }

    #[test]
    fn what_is_malformed_is_read_as_far_as_it_goes() {
        for (role, body, want) in [
            ("user", json!({}), ""),
            ("user", json!({"content": " \n"}), ""),
            ("user", json!({"content": 5}), r#""5""#),
            ("user", json!({"content": {"type": "text", "text": "a"}}), r#""a""#),
            (
                "user",
                json!({"content": [{}, null, {"type": "text"}, {"odd": 1}]}),
                r#""{\"odd\":1}""#,
            ),
            (
                "user",
                json!({"content": [{"type": "thinking", "thinking": "h", "signature": "s"}]}),
                "",
            ),
            ("assistant", json!({"tool_calls": {"name": "ls"}}), ":ls({})"),
            ("assistant", json!({"tool_calls": "ls"}), ""),
            (
                "assistant",
                json!({"tool_calls": [5, {}, {"id": 7, "name": "a", "arguments": " "}]}),
                ":({}) 7:a({})",
            ),
            ("user", json!({"tool_calls": [{"id": "c", "name": "ls"}]}), ""),
            ("tool", json!({}), "="),
            // A call that is kept twice is made once; ids that repeat are several calls.
            (
                "assistant",
                json!({"content": [{"type": "tool_use", "id": "c", "name": "a"}],
                "tool_calls": [{"id": "c", "name": "a"}, {"id": "d", "name": "b"},
                    {"id": "d", "name": "b"}]}),
                "c:a({}) d:b({}) d:b({})",
            ),
        ] {
            assert_eq!(described(role, body.clone()), want, "{role} {body}");
        }
    }
}
