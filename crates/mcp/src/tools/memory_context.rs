//! `memory_context`: what a prompt would show of a session, within a budget. It must not know how a
//! window is assembled.

use super::{Answer, Call, Hints, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled::{delimit, lines, quoted};
use oneiro::contract::Request;
use oneiro::count::{exceeds, prefix, suffix, tokens};
use oneiro::{Error, Result, SessionId, Window, WindowFormat, WindowRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Tokens of a window, unless asked otherwise.
const TOKENS: usize = 8_000;

/// The least tokens of a window.
const TOKENS_MIN: usize = 500;

/// The most tokens of a window.
const TOKENS_MAX: usize = 20_000;

/// The arguments of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// the whole id; session_search() shows the sessions active lately
    #[schemars(extend("x-older-names" = ["session_id"]))]
    session: SessionId,
    /// Tokens of the window.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    budget: usize,
    /// Whose messages it is written as; text by default.
    #[serde(default)]
    format: Option<WindowFormat>,
    /// Only look, compact nothing.
    #[serde(default)]
    peek: bool,
}

impl Request for Arguments {}

fn default_tokens() -> usize {
    TOKENS
}

/// The row of the table.
pub(super) const TOOL: Tool = Tool {
    name: "memory_context",
    title: "Context of a session",
    description: "A whole session within a token budget: summaries of what is old, the newest \
                  messages in their own words, and ids by which session_expand gives back the \
                  rest. Call it to pick up a conversation.",
    input,
    output,
    // It says nothing and forgets nothing, but may put what is old under a summary.
    hints: Hints { read_only: false, ..Hints::LOOKS },
    role: TokenRole::Read,
    may_call_model: never,
    run,
};

fn input() -> Value {
    input_schema::<Arguments>(&[
        ("session", "Its id".to_owned()),
        ("budget", format!("Tokens, default {TOKENS}")),
        ("peek", "Only look, compact nothing".to_owned()),
    ])
}

fn output() -> Value {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    json!({
        "type": "object",
        "properties": {
            "tokens": number, "budget": number, "prefix_hash": text, "text": text,
            "messages": {"type": "array"}, "system": text,
            "summaries": {"type": "array", "items": text}, "omitted": {"type": "object"},
            "next": {"type": "array", "items": text}, "note": text,
        },
        "required": ["tokens", "budget", "summaries", "omitted", "prefix_hash", "next"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let Given { request: arguments, mut notes, .. } = Given::<Arguments>::read(&call.arguments)?;
    let request = WindowRequest {
        budget: arguments.budget,
        format: arguments.format.unwrap_or(WindowFormat::Text),
        // Whoever may only read leaves everything as it is.
        peek: arguments.peek || call.caller.role == TokenRole::Read,
        ..WindowRequest::default()
    };
    let id = &arguments.session;
    let window = call.caller.oneiro.context().window(id, &request)?;
    let content = Content::of(&window, &request)?;
    notes.extend(content.note.clone());
    Ok(tell(id, &window, (content, notes)))
}

/// What is handed out of a window.
struct Content {
    /// For a model to read, between tags already.
    text: String,
    /// The same under the names of the structured part.
    fields: Vec<(&'static str, Value)>,
    note: Option<String>,
}

impl Content {
    /// A window keeps to its budget by itself, unless its newest turn alone is larger.
    fn of(window: &Window, request: &WindowRequest) -> Result<Content> {
        let most = window.over_budget.map(|_| request.budget);
        match &window.text {
            Some(text) => Ok(Content::text(text, most)),
            None => Content::messages(window, request, most),
        }
    }

    fn text(text: &str, most: Option<usize>) -> Content {
        let shown = most.map_or_else(|| text.to_owned(), |most| without_middle(text, most));
        let is_cut = shown.len() != text.len();
        let note = is_cut.then(|| {
            "the newest turn is larger than the budget: its middle is left out, and \
             session_expand reads it whole"
                .to_owned()
        });
        Content { text: delimit(&lines(&shown)), fields: vec![("text", json!(shown))], note }
    }

    fn messages(window: &Window, request: &WindowRequest, most: Option<usize>) -> Result<Content> {
        let mut fields = vec![("messages", json!(window.messages))];
        fields.extend(window.system.as_ref().map(|system| ("system", json!(system))));
        let whole: Map<String, Value> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let text = Value::Object(whole).to_string();
        if most.is_some_and(|most| exceeds(&text, most)) {
            let message = format!(
                "the newest turn alone has {} tokens, more than the budget of {}",
                window.tokens, request.budget
            );
            return Err(Error::too_large(message).remedy(format!(
                "give a larger budget, up to {}, or the format text, which can be cut",
                TOKENS_MAX
            )));
        }
        Ok(Content { text: delimit(&text), fields, note: None })
    }
}

/// A text of at most so many tokens, as it stands in JSON: its beginning and its end.
fn without_middle(text: &str, most: usize) -> String {
    if !exceeds(&json!(text).to_string(), most) {
        return text.to_owned();
    }
    let mut kept = most;
    loop {
        let (begin, end) = (prefix(text, kept / 2), suffix(text, kept / 2));
        let gone = text.chars().count() - begin.chars().count() - end.chars().count();
        let shown = format!("{begin}\n[{gone} characters are left out here]\n{end}");
        // Escapes make a text longer than it is, some many times.
        let cost = tokens(&json!(shown).to_string());
        if cost <= most || kept == 0 {
            return shown;
        }
        kept = (kept * most / cost).min(kept - 1);
    }
}

fn tell(id: &SessionId, window: &Window, (content, notes): (Content, Vec<String>)) -> Answer {
    let omitted = &window.omitted;
    let mut next = Vec::new();
    let mut propose = |what: String| {
        next.push(format!("session_expand(session={}, id={})", quoted(id.as_str()), json!(what)));
    };
    if let Some(newest) = window.summaries.last() {
        propose(newest.to_string());
    }
    if let (Some(first), Some(last)) = (omitted.first, omitted.last) {
        propose(format!("{first}-{last}"));
    }
    let mut text = format!(
        "The session: {} tokens of {}, {} summaries, {} messages left out.\n{}",
        window.tokens,
        window.budget,
        window.summaries.len(),
        omitted.messages,
        content.text
    );
    let mut structured = Map::from_iter([
        ("tokens".to_owned(), json!(window.tokens)),
        ("budget".to_owned(), json!(window.budget)),
        ("summaries".to_owned(), json!(window.summaries)),
        ("omitted".to_owned(), json!(omitted)),
        ("prefix_hash".to_owned(), json!(window.prefix_hash)),
    ]);
    structured.extend(content.fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let note = notes.join("; ");
    if !note.is_empty() {
        text = format!("{text}\nNote: {note}");
        structured.insert("note".to_owned(), json!(note));
    }
    for call in &next {
        text = format!("{text}\nMore: {call}");
    }
    structured.insert("next".to_owned(), json!(next));
    Answer { text, structured: Value::Object(structured) }
}
