//! The typed pieces of a message, read from its JSON on demand: OpenAI fields and content parts,
//! Anthropic content blocks.

use crate::Role;
use crate::harness::{HarnessSpan, pieces};
use serde_json::{Map, Value};

/// A typed piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part<'a> {
    /// Words.
    Text(&'a str),
    /// A call the agent made.
    ToolCall {
        /// The tool.
        name: &'a str,
        /// Its arguments, as given.
        arguments: &'a Value,
    },
    /// What a tool answered.
    ToolResult(&'a Value),
    /// An image, sound or file.
    Media(&'a Value),
    /// The agent's thinking.
    Reasoning(&'a str),
    /// What the program around the agent wrote into the message.
    Harness {
        /// `reminder`, `command`, `command_output`, `environment` and so on.
        kind: &'a str,
        /// The text, with its tags.
        text: &'a str,
    },
}

/// The pieces of a message, reasoning first, then content, then calls.
pub fn parts<'a>(role: &Role, body: &'a Map<String, Value>) -> Vec<Part<'a>> {
    let mut found = Vec::new();
    for name in ["reasoning", "reasoning_content"] {
        if let Some(Value::String(text)) = body.get(name) {
            found.push(Part::Reasoning(text));
        }
    }
    match body.get("content") {
        Some(content) if *role == Role::Tool => found.push(Part::ToolResult(content)),
        Some(Value::String(text)) => push_text(&mut found, text, &HarnessSpan::all(body), 0),
        Some(Value::Array(blocks)) => {
            let spans = HarnessSpan::all(body);
            for (number, part) in blocks.iter().map(block).enumerate() {
                match part {
                    Part::Text(text) => push_text(&mut found, text, &spans, number),
                    other => found.push(other),
                }
            }
        }
        _ => {}
    }
    if let Some(Value::Array(calls)) = body.get("tool_calls") {
        for call in calls {
            let function = call.get("function").unwrap_or(call);
            found.push(Part::ToolCall {
                name: function.get("name").and_then(Value::as_str).unwrap_or_default(),
                arguments: function.get("arguments").unwrap_or(&Value::Null),
            });
        }
    }
    found
}

/// Adds a text of a block, with its harness text apart.
fn push_text<'a>(
    found: &mut Vec<Part<'a>>,
    text: &'a str,
    spans: &[HarnessSpan<'a>],
    block: usize,
) {
    let spans = spans.iter().copied().filter(|span| span.block == block);
    found.extend(pieces(text, spans).into_iter().map(|(kind, text)| match kind {
        Some(kind) => Part::Harness { kind, text },
        None => Part::Text(text),
    }));
}

fn block(block: &Value) -> Part<'_> {
    if let Value::String(text) = block {
        return Part::Text(text);
    }
    let text = |name| block.get(name).and_then(Value::as_str);
    match (text("type"), text("text")) {
        (Some("tool_use"), _) => Part::ToolCall {
            name: text("name").unwrap_or_default(),
            arguments: block.get("input").unwrap_or(&Value::Null),
        },
        (Some("tool_result"), _) => Part::ToolResult(block.get("content").unwrap_or(&Value::Null)),
        (Some("thinking" | "reasoning"), _) => {
            Part::Reasoning(text("thinking").or(text("text")).unwrap_or_default())
        }
        (_, Some(text)) => Part::Text(text),
        _ => Part::Media(block),
    }
}

/// How many tool calls a message makes: the length of `tool_calls`, or of its `tool_use` blocks.
pub(crate) fn calls_made(role: &Role, body: &Map<String, Value>) -> usize {
    if *role != Role::Assistant {
        return 0;
    }
    match body.get("tool_calls") {
        Some(Value::Array(calls)) => calls.len(),
        Some(Value::Null) | None => {
            let blocks = body.get("content").and_then(Value::as_array);
            let is_call = |block: &&Value| block.get("type") == Some(&Value::from("tool_use"));
            blocks.map_or(0, |blocks| blocks.iter().filter(is_call).count())
        }
        Some(_) => 1,
    }
}

/// The words of a message, for previews: its text parts joined, without harness text.
pub(crate) fn words(role: &Role, body: &Map<String, Value>) -> String {
    let texts = parts(role, body).into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// The text of a message that can be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searchable {
    /// The text; harness text stands at its end.
    pub text: String,
    /// How many bytes at its beginning are not harness text.
    pub said: usize,
}

impl Searchable {
    /// The text without harness text, unless there is nothing else.
    pub fn words(&self) -> &str {
        let words = self.text.get(..self.said).unwrap_or_default().trim_end();
        if words.is_empty() { &self.text } else { words }
    }
}

impl From<String> for Searchable {
    fn from(text: String) -> Searchable {
        Searchable { said: text.len(), text }
    }
}

/// What of a message can be searched: its words, the calls it makes, what tools answered and which
/// tool it was, then its harness text, each on lines of its own. Reasoning and media are left out.
pub fn searchable(role: &Role, body: &Map<String, Value>) -> String {
    searchable_split(role, body).text
}

/// As [`searchable`], with where harness text begins.
pub fn searchable_split(role: &Role, body: &Map<String, Value>) -> Searchable {
    let tool = tool_name(role, body);
    if let Some(Value::String(text)) = body.get("content")
        && body.get("tool_calls").is_none_or(Value::is_null)
        && tool.is_none()
        && HarnessSpan::all(body).is_empty()
    {
        return text.clone().into();
    }
    let (mut out, mut harness) = (String::new(), String::new());
    for part in parts(role, body) {
        match part {
            Part::Text(text) => push_line(&mut out, text),
            Part::ToolCall { name, arguments } => {
                push_line(&mut out, name);
                push_value(&mut out, arguments);
            }
            Part::ToolResult(result) => push_value(&mut out, result),
            Part::Harness { text, .. } => push_line(&mut harness, text),
            Part::Media(_) | Part::Reasoning(_) => {}
        }
    }
    if let Some(tool) = tool {
        push_line(&mut out, tool);
    }
    let said = out.len();
    push_line(&mut out, &harness);
    Searchable { text: out, said }
}

/// The tool whose result a message is.
fn tool_name<'a>(role: &Role, body: &'a Map<String, Value>) -> Option<&'a str> {
    let text = |name| body.get(name).and_then(Value::as_str);
    match role {
        Role::Tool => text("name").or(text("tool_name")),
        _ => text("tool_name"),
    }
}

fn push_line(out: &mut String, text: &str) {
    if !out.is_empty() && !text.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}

/// Adds the words of a tool's input or output. Blocks of a list count by their text, so that an
/// image in them is not taken for words.
fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            // Arguments come as JSON in a string: its marks would stick to the words.
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => push_leaves(out, &inner),
            _ => push_line(out, text),
        },
        Value::Array(blocks) if blocks.iter().any(|block| block.get("type").is_some()) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.for_each(|text| push_line(out, text));
        }
        other => push_leaves(out, other),
    }
}

/// Adds the names and values of an object, each on a line of its own.
fn push_leaves(out: &mut String, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(text) => push_line(out, text),
        Value::Array(items) => items.iter().for_each(|item| push_leaves(out, item)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            push_line(out, name);
            push_leaves(out, value);
        }),
        other => push_line(out, &other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn calls_are_counted_as_made() {
        for (role, message, want) in [
            (Role::Assistant, json!({"tool_calls": [{}, {}]}), 2),
            (Role::Assistant, json!({"tool_calls": []}), 0),
            (Role::Assistant, json!({"tool_calls": null}), 0),
            (Role::Assistant, json!({"tool_calls": {"name": "x"}}), 1),
            (Role::Tool, json!({"tool_calls": [{}]}), 0),
            (Role::Assistant, json!({"content": [{"type": "tool_use"}, {"type": "text"}]}), 1),
        ] {
            assert_eq!(calls_made(&role, &body(message.clone())), want, "{message}");
        }
    }

    #[test]
    fn parts_of_both_dialects() {
        let openai = body(json!({
            "reasoning": "hm", "content": "hi",
            "tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}],
        }));
        assert_eq!(
            parts(&Role::Assistant, &openai),
            [
                Part::Reasoning("hm"),
                Part::Text("hi"),
                Part::ToolCall { name: "ls", arguments: &json!("{}") },
            ]
        );
        let anthropic = body(json!({"content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"},
            {"type": "image", "source": {}}, {"type": "tool_result", "content": "ok"},
        ]}));
        assert!(matches!(
            parts(&Role::User, &anthropic).as_slice(),
            [Part::Reasoning("hm"), Part::Text("hi"), Part::Media(_), Part::ToolResult(_)]
        ));
        assert_eq!(words(&Role::User, &anthropic), "hi");
    }

    #[test]
    fn harness_text_is_a_part_of_its_own_and_comes_last_in_searches() {
        let asked =
            |content: Value, spans: Value| body(json!({"content": content, "harness": spans}));
        let reminder = |text| Part::Harness { kind: "reminder", text };
        let string = asked(
            json!("<r>be brief</r>\nwhere is it?"),
            json!([{"kind": "reminder", "from": 0, "to": 16}]),
        );
        let blocks = asked(
            json!([{"type": "text", "text": "where is it?"}, {"type": "text", "text": "<r>be brief</r>"}]),
            json!([{"kind": "reminder", "block": 1, "from": 0, "to": 15}]),
        );
        assert_eq!(
            parts(&Role::User, &string),
            [reminder("<r>be brief</r>\n"), Part::Text("where is it?")]
        );
        assert_eq!(
            parts(&Role::User, &blocks),
            [Part::Text("where is it?"), reminder("<r>be brief</r>")]
        );
        for body in [string, blocks] {
            assert_eq!(words(&Role::User, &body), "where is it?");
            let Searchable { text, said } = searchable_split(&Role::User, &body);
            assert_eq!(text.trim_end(), "where is it?\n<r>be brief</r>");
            assert_eq!(text.get(..said), Some("where is it?"));
        }
    }

    #[test]
    fn words_calls_and_results_can_be_searched() {
        for (role, message, want) in [
            (Role::User, json!({"content": "hi", "name": "Ann"}), "hi"),
            (Role::Tool, json!({"content": "exit 1"}), "exit 1"),
            (
                Role::Assistant,
                json!({"content": "look", "tool_calls": [
                    {"function": {"name": "read", "arguments": "{\"path\":\"a.rs\"}"}}]}),
                "look\nread\npath\na.rs",
            ),
            (
                Role::Assistant,
                json!({"content": [
                    {"type": "text", "text": "see"}, {"type": "image", "data": "iVBOR"},
                    {"type": "tool_use", "name": "ls", "input": {"dir": "/tmp"}},
                    {"type": "tool_result", "content": [{"type": "text", "text": "ok"}]},
                ]}),
                "see\nls\ndir\n/tmp\nok",
            ),
            (Role::User, json!({"reasoning": "secret"}), ""),
        ] {
            assert_eq!(searchable(&role, &body(message)), want);
        }
    }
}
