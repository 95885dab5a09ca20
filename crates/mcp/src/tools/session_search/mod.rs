//! `session_search`: find conversations, scroll in one, read one, see which were active lately. It
//! must not know how any of them is found.

mod ask;
mod fill;
mod tell;

pub(super) use fill::{seconds, when};

use super::{Answer, Call, Hints, Tool};
use crate::TokenRole;
use oneiro::{BROWSED, CONVERSATIONS, Error, ErrorKind, Result, WINDOW};
use serde_json::{Value, json};

/// Tokens of an answer, unless asked otherwise, at least, and at most.
const TOKENS: (usize, usize, usize) = (2_000, 200, 20_000);

/// The row of the table.
pub(super) const TOOL: Tool = Tool {
    name: "session_search",
    title: "Search past conversations",
    description: "Recall past conversations. query: find what was said. session_id + \
                  around_message_id: scroll around a hit. session_id alone: read that session. \
                  Nothing: what was active lately. Call it before saying you do not know \
                  something the user may have told you.",
    input,
    output,
    hints: Hints::LOOKS,
    role: TokenRole::Read,
    may_call_model: ask::wants_summaries,
    run,
};

fn input() -> Value {
    let (text, number) = ("string", "integer");
    let texts = json!({"type": "array", "items": {"type": text}});
    let said = |kind: &str, what: &str| json!({"type": kind, "description": what});
    json!({
        "type": "object",
        "properties": {
            "query": said(text, "Words, \"a phrase\", OR, -not, since:7d, role:user, session:ID"),
            "session_id": said(text, "Id, unique prefix or title"),
            "around_message_id": said(number, "Id of a hit"),
            "window": said(number, &format!("Messages each side, default {}", WINDOW.0)),
            "limit": said(number, &format!(
                "Sessions, default {} ({} without query)", CONVERSATIONS.0, BROWSED.0
            )),
            "sort": {"type": text, "enum": ["relevance", "newest", "oldest"]},
            "role_filter": texts,
            "sources": texts,
            "exclude_sources": texts,
            "summarise": said("boolean", "Condense each session around the query"),
            "current_session_id": said(text, "Yours: left out of the results"),
            "max_tokens": said(number, &format!("Size of the answer, default {}", TOKENS.0)),
        },
        "additionalProperties": false,
    })
}

fn output() -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    json!({
        "type": "object",
        "properties": {
            "mode": text,
            "sessions": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "session_id": text,
                    "hit": {"type": "object"},
                    "messages": {"type": "array", "items": {"type": "object"}},
                },
                "required": ["session_id"],
            }},
            "not_shown": number,
            "next": {"type": "array", "items": text},
            "note": text,
        },
        "required": ["mode", "sessions", "not_shown", "next"],
    })
}

/// What an agent can do about something that is not there; the engine's remedies are commands.
fn in_our_words(error: Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.remedy(
            "session_search() shows the sessions active lately, session_search(query=..) finds \
             messages with their ids",
        ),
        _ => error,
    }
}

fn run(call: &Call) -> Result<Answer> {
    let asked = ask::read(&call.arguments, &input())?;
    let found = call.caller.oneiro.search_sessions(asked.search.clone()).map_err(in_our_words)?;
    Ok(tell::answer(found, &asked))
}
