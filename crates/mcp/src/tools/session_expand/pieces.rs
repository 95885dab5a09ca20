//! Messages as far as they fit: whole ones while there is room, and of one that is larger than the
//! answer a piece, so that any message can be read to its end. It must not know who asked for them.

use crate::budget::Budget;
use crate::recalled::{indented, one_line};
use crate::tools::session_search::when;
use oneiro::count::{prefix, tokens};
use oneiro::{Error, Message, Result, SessionId, Visibility};
use serde_json::{Map, Value, json};

/// What may stand beside the text of a message, in tokens; what has more is shown as JSON.
const FACTS: usize = 40;

/// What the id of another session may cost, in tokens.
const SESSION: usize = 40;

/// What of the messages fits.
pub(super) struct Filled {
    /// The lines of the text.
    pub(super) lines: String,
    /// The messages of the structured part.
    pub(super) messages: Vec<Value>,
    /// How many are shown to their end.
    pub(super) ended: usize,
    /// Where to go on in the message after those.
    pub(super) offset: Option<usize>,
}

/// A message as it is handed out.
struct Shape {
    /// Its words, or all of it as JSON.
    text: String,
    /// What stands beside the text.
    facts: Map<String, Value>,
    is_json: bool,
}

/// Fills with as many messages as the budget allows, the first from `offset` on.
pub(super) fn fill(
    messages: &[Message],
    offset: usize,
    mut budget: Budget,
    is_own: impl Fn(&SessionId) -> bool,
) -> Result<Filled> {
    let mut filled = Filled { lines: String::new(), messages: Vec::new(), ended: 0, offset: None };
    for (place, message) in messages.iter().enumerate() {
        let from = if place == 0 { offset } else { 0 };
        let piece = Piece::new(message, from, is_own(&message.session_id))?;
        let Some(end) = piece.spend(&mut budget, &mut filled) else { break };
        if end < piece.chars {
            filled.offset = Some(end);
            break;
        }
        filled.ended += 1;
    }
    Ok(filled)
}

/// A message, from a character on.
struct Piece<'a> {
    message: &'a Message,
    shape: Shape,
    /// All characters of its text.
    chars: usize,
    from: usize,
    is_own: bool,
}

impl<'a> Piece<'a> {
    fn new(message: &'a Message, from: usize, is_own: bool) -> Result<Piece<'a>> {
        let shape = shape(message)?;
        let chars = shape.text.chars().count();
        if from > 0 && from >= chars {
            let id = message.id;
            return Err(Error::field("offset", format!("message {id} ends at character {chars}"))
                .remedy("take cursor and offset from the answer before, as they are"));
        }
        Ok(Piece { message, shape, chars, from, is_own })
    }

    /// Shows as much as there is room for and answers where that ends. Only of the first message
    /// a part is shown; any other is left for the next answer.
    fn spend(&self, budget: &mut Budget, filled: &mut Filled) -> Option<usize> {
        let rest = self
            .shape
            .text
            .char_indices()
            .nth(self.from)
            .map_or("", |(at, _)| self.shape.text.get(at..).unwrap_or_default());
        let mut text = prefix(rest, budget.left());
        loop {
            if text.len() < rest.len() && !filled.messages.is_empty() {
                return None;
            }
            // An answer must lead on, whatever it costs.
            let (least, _) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            if text.len() < least.len() {
                text = least;
            }
            let end = self.from + text.chars().count();
            let (line, json) = self.shown(text, end);
            let costs = (tokens(&line), tokens(&json.to_string()) + 1);
            if budget.spend_tokens(costs.0, costs.1) || text.len() == least.len() {
                filled.lines.push_str(&line);
                filled.messages.push(json);
                return Some(end);
            }
            // Escapes and indents make a text longer than it is, some many times.
            let all = tokens(text);
            let fits = |cost: usize, left: usize| all * left / cost.max(1);
            let keep = fits(costs.0, budget.text).min(fits(costs.1, budget.json));
            text = prefix(text, keep.min(all.saturating_sub(1)));
        }
    }

    fn shown(&self, text: &str, end: usize) -> (String, Value) {
        let message = self.message;
        let is_whole = self.from == 0 && end == self.chars;
        let name = match self.shape.facts.get("name").and_then(Value::as_str) {
            Some(name) => format!(" {}", one_line(name)),
            None => String::new(),
        };
        let part = match is_whole {
            true => String::new(),
            false => format!(" [characters {} to {end} of {}]", self.from, self.chars),
        };
        let form = if self.shape.is_json { " [JSON]" } else { "" };
        let line = format!(
            "  id {} {} {}{name}{form}{part}: {}\n",
            message.id,
            when(message.at),
            one_line(message.role.as_str()),
            indented(text)
        );
        let mut json = Map::new();
        let mut put = |name: &str, value: Value| json.insert(name.to_owned(), value);
        put("id", json!(message.id));
        put("role", json!(message.role));
        put("at", json!(message.at));
        if !self.is_own && tokens(message.session_id.as_str()) <= SESSION {
            put("session_id", json!(message.session_id));
        }
        if self.shape.is_json {
            put("json", json!(true));
        }
        if !is_whole {
            put("offset", json!(self.from));
            put("end", json!(end));
            put("chars", json!(self.chars));
        }
        if !self.shape.facts.is_empty() {
            put("fields", json!(self.shape.facts));
        }
        put("text", json!(text));
        (line, Value::Object(json))
    }
}

/// A message whose content is words is its words and a few facts; any other is its JSON, so that
/// nothing of it is lost or made up.
fn shape(message: &Message) -> Result<Shape> {
    let mut facts = Map::new();
    for (name, value) in message.body.iter().filter(|(name, _)| *name != "content") {
        facts.insert(name.clone(), value.clone());
    }
    if let Some(id) = &message.external_id {
        facts.insert("external_id".to_owned(), json!(id));
    }
    if message.visibility != Visibility::Live {
        facts.insert("visibility".to_owned(), json!(message.visibility));
    }
    let is_plain = !facts.values().any(|value| value.is_object() || value.is_array());
    let is_short = || tokens(&json!(facts).to_string()) <= FACTS;
    match message.body.get("content") {
        Some(Value::String(text)) if is_plain && is_short() => {
            Ok(Shape { text: text.clone(), facts, is_json: false })
        }
        _ => {
            let text = serde_json::to_string(message)
                .map_err(|error| Error::internal("a message is not JSON").because(error))?;
            Ok(Shape { text, facts: Map::new(), is_json: true })
        }
    }
}
