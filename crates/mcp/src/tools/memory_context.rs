//! `memory_context`: the window of a session, within a token budget.

use super::{Answer, Call, Hints, Payload, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled::{delimit, lines, quoted};
use crate::text::count;
use oneiro::contract::Request;
use oneiro::count::{exceeds, prefix, suffix, tokens};
use oneiro::{Error, Result, SessionId, Window, WindowFormat, WindowRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Tokens of a window by default.
const TOKENS: usize = 8_000;

/// Minimum tokens of a window.
const TOKENS_MIN: usize = 500;

/// Maximum tokens of a window.
const TOKENS_MAX: usize = 20_000;

/// The arguments of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// an id, a unique prefix or a title; session_search() lists recently active sessions
    #[schemars(extend("x-older-names" = ["session_id"]))]
    session: SessionId,
    /// Tokens of the window.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    budget: usize,
    /// Its format; text by default.
    #[serde(default)]
    format: Option<WindowFormat>,
    /// Leave the session as it is: compact nothing.
    #[serde(default)]
    peek: bool,
}

impl Request for Arguments {}

fn default_tokens() -> usize {
    TOKENS
}

pub(super) const TOOL: Tool = Tool {
    name: "memory_context",
    title: "Context of a session",
    description: "A whole session within a token budget: summaries of old messages, the newest \
                  messages in full, and ids that session_expand reads. Call it to resume a \
                  conversation.",
    input,
    output,
    // It may summarise old messages.
    hints: Hints { read_only: false, ..Hints::READ_ONLY },
    role: TokenRole::Read,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

fn input() -> Value {
    input_schema::<Arguments>(&[
        ("session", "Id, unique prefix or title".to_owned()),
        ("budget", format!("Tokens, default {TOKENS}")),
        ("peek", "Compact nothing".to_owned()),
    ])
}

fn output() -> Value {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    json!({
        "type": "object",
        "properties": {
            "session_id": text, "tokens": number, "budget": number, "prefix_hash": text,
            "summaries": {"type": "array", "items": text}, "omitted": {"type": "object"},
            "messages": {"type": "array"}, "system": text,
        },
        "required": ["session_id", "tokens", "budget", "summaries", "omitted", "prefix_hash"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let Given { request: arguments, mut notes, .. } = Given::<Arguments>::read(&call.arguments)?;
    let request = WindowRequest {
        budget: arguments.budget,
        format: arguments.format.unwrap_or(WindowFormat::Text),
        // A caller who may only read must not cause summaries to be written.
        peek: arguments.peek || call.caller.role == TokenRole::Read,
        ..WindowRequest::default()
    };
    let oneiro = &call.caller.oneiro;
    let id = oneiro.sessions().resolve(arguments.session.as_str())?;
    let window = oneiro.context().window(&id, &request)?;
    let content = Content::new(&window, &request)?;
    notes.extend(content.note.clone());
    Ok(answer(&id, &window, content, &notes))
}

/// A window in the form in which it is answered.
struct Content {
    text: String,
    fields: Map<String, Value>,
    payload: Payload,
    note: Option<String>,
}

impl Content {
    /// A window keeps to its budget by itself, unless its newest turn alone is larger.
    fn new(window: &Window, request: &WindowRequest) -> Result<Content> {
        let max = window.over_budget.map(|_| request.budget);
        match &window.text {
            Some(text) => Ok(Content::text(text, max)),
            None => Content::messages(window, request, max),
        }
    }

    fn text(text: &str, max: Option<usize>) -> Content {
        let shown = max.map_or_else(|| text.to_owned(), |max| without_middle(text, max));
        let note = (shown.len() != text.len()).then(|| {
            "the newest turn is larger than the budget: its middle is left out; session_expand \
             reads all of it"
                .to_owned()
        });
        let text = delimit(&lines(&shown));
        Content { text, fields: Map::new(), payload: Payload::Text, note }
    }

    /// Messages in the format of a model API are for a program.
    fn messages(window: &Window, request: &WindowRequest, max: Option<usize>) -> Result<Content> {
        let mut fields = Map::from_iter([("messages".to_owned(), json!(window.messages))]);
        fields.extend(window.system.as_ref().map(|system| ("system".to_owned(), json!(system))));
        let cost = Value::Object(fields.clone()).to_string();
        if max.is_some_and(|max| exceeds(&cost, max)) {
            let message = format!(
                "the newest turn alone has {} tokens, more than the budget of {}",
                window.tokens, request.budget
            );
            return Err(Error::too_large(message).remedy(format!(
                "give a larger budget, up to {TOKENS_MAX}, or the format text, which can be cut"
            )));
        }
        let text = "The messages are in the structured content.".to_owned();
        Ok(Content { text, fields, payload: Payload::Structured, note: None })
    }
}

/// The beginning and the end of a text, limited in tokens.
fn without_middle(text: &str, max: usize) -> String {
    if !exceeds(text, max) {
        return text.to_owned();
    }
    let mut kept = max;
    loop {
        let (begin, end) = (prefix(text, kept / 2), suffix(text, kept / 2));
        let omitted = text.chars().count() - begin.chars().count() - end.chars().count();
        let shown = format!("{begin}\n[{omitted} characters left out]\n{end}");
        let cost = tokens(&shown);
        if cost <= max || kept == 0 {
            return shown;
        }
        kept = (kept * max / cost).min(kept - 1);
    }
}

fn answer(id: &SessionId, window: &Window, content: Content, notes: &[String]) -> Answer {
    let omitted = &window.omitted;
    let mut text = format!(
        "Window of the session: {} of {} tokens, {}, {} left out.\n{}",
        window.tokens,
        window.budget,
        match window.summaries.len() {
            1 => "1 summary".to_owned(),
            many => format!("{many} summaries"),
        },
        count(omitted.messages as i64, "message"),
        content.text
    );
    if !notes.is_empty() {
        text = format!("{text}\nNote: {}", notes.join("; "));
    }
    let newest = window.summaries.last().map(ToString::to_string);
    let range = omitted.first.zip(omitted.last).map(|(first, last)| format!("{first}-{last}"));
    for what in newest.into_iter().chain(range) {
        let session = quoted(id.as_str());
        text = format!("{text}\nMore: session_expand(session={session}, id={})", json!(what));
    }
    let mut fields = Map::from_iter([
        ("session_id".to_owned(), json!(id)),
        ("tokens".to_owned(), json!(window.tokens)),
        ("budget".to_owned(), json!(window.budget)),
        ("summaries".to_owned(), json!(window.summaries)),
        ("omitted".to_owned(), json!(omitted)),
        ("prefix_hash".to_owned(), json!(window.prefix_hash)),
    ]);
    fields.extend(content.fields);
    Answer { text, structured: Value::Object(fields), payload: content.payload }
}
