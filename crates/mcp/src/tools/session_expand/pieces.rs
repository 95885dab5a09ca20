//! Fits messages into a budget: whole ones while there is room, and of one that is larger than the
//! answer a piece, so that any message can be read to its end.

use super::request::{ExpandCall, Form};
use crate::budget::Budget;
use crate::recalled::{escaped_json, indented, one_line};
use crate::text::minute;
use oneiro::count::{prefix, tokens};
use oneiro::{Error, Message, Part, Result, Visibility, parts};
use serde_json::{Map, Value, json};

/// The longest id of a session that is repeated for each message, in tokens.
const SESSION_TOKENS: usize = 40;

/// The part of the messages that fits.
pub(super) struct Fitted {
    /// The lines of the text.
    pub(super) lines: String,
    /// The messages of the structured content.
    pub(super) messages: Vec<Value>,
    /// How many are shown to their end.
    pub(super) complete: usize,
    /// Where to continue in the message after those, in characters.
    pub(super) offset: Option<usize>,
}

/// Takes as many messages as the budget allows, the first from the call's offset on.
pub(super) fn fit(messages: &[Message], call: &ExpandCall, mut budget: Budget) -> Result<Fitted> {
    let mut fitted =
        Fitted { lines: String::new(), messages: Vec::new(), complete: 0, offset: None };
    for (index, message) in messages.iter().enumerate() {
        let from = if index == 0 { call.offset } else { 0 };
        let piece = Piece::new(message, from, call)?;
        let Some(end) = piece.spend(&mut budget, &mut fitted) else { break };
        if end < piece.chars {
            fitted.offset = Some(end);
            break;
        }
        fitted.complete += 1;
    }
    Ok(fitted)
}

/// A message, from a character on.
struct Piece<'a> {
    message: &'a Message,
    form: Form,
    text: String,
    /// All characters of the text.
    chars: usize,
    from: usize,
    /// Whether it is in the session that the call named.
    is_own: bool,
}

impl<'a> Piece<'a> {
    fn new(message: &'a Message, from: usize, call: &ExpandCall) -> Result<Piece<'a>> {
        let text = match call.form {
            Form::Words => words(message),
            Form::Raw => escaped_json(
                &serde_json::to_string(message)
                    .map_err(|error| Error::internal("a message is not JSON").because(error))?,
            ),
        };
        let chars = text.chars().count();
        if from > 0 && from >= chars {
            let id = message.id;
            return Err(Error::field("offset", format!("message {id} ends at character {chars}"))
                .remedy("copy cursor and offset from the previous answer"));
        }
        let is_own = call.is_in_named_session(&message.session_id);
        Ok(Piece { message, form: call.form, text, chars, from, is_own })
    }

    /// Shows as much as there is room for and returns where that ends. Only the first message is
    /// shown in part; any other is left for the next answer.
    fn spend(&self, budget: &mut Budget, fitted: &mut Fitted) -> Option<usize> {
        let start = self.text.char_indices().nth(self.from);
        let rest = start.map_or("", |(at, _)| self.text.get(at..).unwrap_or_default());
        // Every answer shows at least one character, whatever it costs, so that reading goes on.
        let (least, _) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
        let mut text = prefix(rest, budget.left());
        loop {
            if text.len() < rest.len() && !fitted.messages.is_empty() {
                return None;
            }
            if text.len() < least.len() {
                text = least;
            }
            let end = self.from + text.chars().count();
            let (line, fields) = (self.line(text, end), self.fields(end));
            let cost = tokens(&line);
            let is_paid = budget.spend_tokens(cost, tokens(&fields.to_string()) + 1);
            if is_paid || text.len() == least.len() {
                fitted.lines.push_str(&line);
                fitted.messages.push(fields);
                return Some(end);
            }
            // Indents make a text longer than it is, some many times.
            let all = tokens(text);
            let keep = all * budget.text / cost.max(1);
            text = prefix(text, keep.min(all.saturating_sub(1)));
        }
    }

    fn is_whole(&self, end: usize) -> bool {
        self.from == 0 && end == self.chars
    }

    fn line(&self, text: &str, end: usize) -> String {
        let message = self.message;
        let name = message.body.get("name").and_then(Value::as_str).map(one_line);
        let name = name.map_or(String::new(), |name| format!(" {}", prefix(&name, SESSION_TOKENS)));
        let rewound = match message.visibility {
            Visibility::Rewound => " [rewound]",
            Visibility::Live | Visibility::Compacted => "",
        };
        let form = match self.form {
            Form::Words => "",
            Form::Raw => " [JSON]",
        };
        let part = if self.is_whole(end) {
            String::new()
        } else {
            format!(" [characters {} to {end} of {}]", self.from, self.chars)
        };
        let role = one_line(message.role.as_str());
        let at = minute(message.at);
        format!("  id {} {at} {role}{name}{rewound}{form}{part}: {}\n", message.id, indented(text))
    }

    fn fields(&self, end: usize) -> Value {
        let message = self.message;
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("id", json!(message.id));
        put("role", json!(message.role));
        put("at", json!(message.at));
        if !self.is_own && tokens(message.session_id.as_str()) <= SESSION_TOKENS {
            put("session_id", json!(message.session_id));
        }
        if !self.is_whole(end) {
            put("offset", json!(self.from));
            put("end", json!(end));
            put("chars", json!(self.chars));
        }
        Value::Object(fields)
    }
}

/// The words of a message: its text, calls with their arguments, results of tools, and the kind of
/// everything else.
fn words(message: &Message) -> String {
    let parts = parts(&message.role, &message.body);
    parts.iter().map(part_words).collect::<Vec<_>>().join("\n")
}

fn part_words(part: &Part<'_>) -> String {
    match part {
        Part::Text(text) => (*text).to_owned(),
        Part::Reasoning(text) => format!("[reasoning] {text}"),
        Part::Harness { kind, text } => format!("[{kind}] {}", text.trim_end()),
        Part::ToolCall { name, arguments } => format!("[calls {name}] {}", value_words(arguments)),
        Part::ToolResult(result) => value_words(result),
        Part::Media(value) => {
            let kind = value.get("type").and_then(Value::as_str).unwrap_or("media");
            format!("[{kind}]")
        }
    }
}

/// A text as it is, content blocks by their text, anything else as JSON.
fn value_words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) if blocks.iter().all(|block| block.get("type").is_some()) => {
            let block_words = |block: &Value| match block.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => part_words(&Part::Media(block)),
            };
            blocks.iter().map(block_words).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
