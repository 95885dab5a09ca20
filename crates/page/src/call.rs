//! Renders a tool call, closed, and its result below it.

use crate::budget::{RESULT, cut, first_lines};
use crate::link;
use crate::numbers::counted;
use crate::text::{line, one_line, plain};
use maud::{Markup, html};
use oneiro::MessageId;
use serde_json::Value;

/// The result of a tool call.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The message that carries it.
    pub message: MessageId,
    /// Which of the results in that message it is.
    pub nth: usize,
    /// The result.
    pub value: &'a Value,
}

/// A call as it was made.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The message that makes it.
    pub message: MessageId,
    /// Which of the calls in that message it is.
    pub nth: usize,
    /// The tool.
    pub name: &'a str,
    /// Its arguments, as given.
    pub arguments: &'a Value,
}

/// Arguments that describe a call best, in order of preference.
const DESCRIPTIVE_ARGUMENTS: [&str; 12] = [
    "command",
    "cmd",
    "query",
    "pattern",
    "file_path",
    "path",
    "url",
    "prompt",
    "q",
    "name",
    "id",
    "text",
];

/// Results up to these sizes are open.
const OPEN_RESULT_LINES: i64 = 4;
const OPEN_RESULT_BYTES: usize = 320;

/// Renders a call, folded.
pub fn call(call: &Call<'_>, room: usize) -> Markup {
    let arguments = decoded(call.arguments);
    let text = format_json(&arguments);
    let shown = cut(&text, room);
    let all = format!("Show all {}", counted(lines(&text), "line"));
    let name = if call.name.is_empty() { "unnamed tool" } else { call.name };
    html! {
        details.call {
            summary {
                span.tool { (line(name, 60)) }
                " "
                span.gist {
                    bdi { (plain(&arguments_line(&arguments))) }
                }
            }
            div data-part={ "call-" (call.nth) } {
                pre { (plain(shown.unwrap_or(&text))) }
                @if shown.is_some() { (more(call.message, &all)) }
            }
        }
    }
}

/// Renders a result: cut when it is long, closed unless it is small.
pub fn result(answer: &Answer<'_>, room: usize, open: bool) -> Markup {
    let text = result_text(answer.value);
    let text = text.trim_end();
    let by_lines = first_lines(text, RESULT.0);
    let by_bytes = cut(by_lines.unwrap_or(text), room.min(RESULT.1));
    let shown = by_bytes.or(by_lines);
    let count = lines(text);
    let small = count <= OPEN_RESULT_LINES && text.len() <= OPEN_RESULT_BYTES;
    let body = html! {
        div data-part={ "result-" (answer.nth) } {
            pre dir="auto" { (plain(shown.unwrap_or(text))) }
            @if shown.is_some() { (more(answer.message, &format!("Show all {}", size(text)))) }
        }
    };
    html! {
        @if text.is_empty() {
            p.result.none { "Empty result." }
        } @else if small {
            div.result { (body) }
        } @else {
            details.result open[open] {
                summary {
                    span.answered { "Result, " (size(text)) }
                    " "
                    span.gist { (line(text, 90)) }
                }
                (body)
            }
        }
    }
}

/// Renders all of a result, for a message that is shown alone.
pub fn whole_result(answer: &Answer<'_>) -> Markup {
    let text = result_text(answer.value);
    html! {
        div.result {
            div data-part={ "result-" (answer.nth) } {
                pre dir="auto" { (plain(&text)) }
            }
        }
    }
}

/// A link to the whole of a message, which the script opens in place.
pub fn more(message: MessageId, words: &str) -> Markup {
    html! {
        a.more data-expand href=(link::message(message)) { (words) }
    }
}

/// The text of a result.
pub fn result_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) if blocks.iter().any(|block| block.get("type").is_some()) => {
            let texts = blocks.iter().map(|block| match block.get("text") {
                Some(Value::String(text)) => text.clone(),
                _ => format!("[{}]", kind_of_media(block)),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        other => format_json(other),
    }
}

/// What an image, sound or file is, in a few words.
pub fn kind_of_media(block: &Value) -> String {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    let kind = text("type").unwrap_or("attachment").replace('_', " ");
    let detail = text("media_type")
        .or(block.get("source").and_then(|source| source.get("media_type")).and_then(Value::as_str))
        .or(text("filename"))
        .or(block.get("file").and_then(|file| file.get("filename")).and_then(Value::as_str));
    match detail {
        Some(detail) => one_line(&format!("{kind}, {detail}"), 80),
        None => one_line(&kind, 80),
    }
}

/// Arguments come as JSON in a string or as they are.
fn decoded(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .filter(|value: &Value| value.is_object() || value.is_array())
            .unwrap_or_else(|| arguments.clone()),
        other => other.clone(),
    }
}

/// JSON for people; an object that holds texts of several lines has them as lines.
pub fn format_json(value: &Value) -> String {
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.contains('\n'));
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.values().any(is_long) => {
            let field = |(name, value): (&String, &Value)| match value.as_str() {
                Some(text) if text.contains('\n') => {
                    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
                    format!("{name}:\n{}", lines.join("\n"))
                }
                _ => format!("{name}: {value}"),
            };
            fields.iter().map(field).collect::<Vec<_>>().join("\n")
        }
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// The arguments of a call in one line.
fn arguments_line(arguments: &Value) -> String {
    let short = |value: &Value| match value {
        Value::String(text) => one_line(text, 90),
        other => one_line(&other.to_string(), 90),
    };
    match arguments {
        Value::Object(fields) => {
            let described = DESCRIPTIVE_ARGUMENTS.iter().find_map(|name| fields.get(*name));
            match described {
                Some(value) => short(value),
                None => {
                    let pairs = fields.iter().take(3);
                    let pairs = pairs.map(|(name, value)| format!("{name}: {}", short(value)));
                    one_line(&pairs.collect::<Vec<_>>().join(", "), 90)
                }
            }
        }
        Value::Null => String::new(),
        other => short(other),
    }
}

fn size(text: &str) -> String {
    match lines(text) {
        1 => counted(text.chars().count() as i64, "character"),
        count => counted(count, "line"),
    }
}

fn lines(text: &str) -> i64 {
    text.lines().count() as i64
}
