//! `session_search`: find conversations, scroll in one, read one, see which were active lately. It
//! must not know how any of them is found.

mod ask;
mod fill;
mod tell;

pub(super) use fill::{seconds, when};

use super::{Answer, Call, Hints, Tool};
use crate::TokenRole;
use crate::arguments::input_schema;
use ask::Arguments;
use oneiro::{BROWSED, CONVERSATIONS, Result, WINDOW};
use serde_json::{Value, json};

/// Tokens of an answer, unless asked otherwise.
const TOKENS: usize = 2_000;

/// The most tokens of an answer.
const TOKENS_MAX: usize = 20_000;

/// The row of the table.
pub(super) const TOOL: Tool = Tool {
    name: "session_search",
    title: "Search past conversations",
    description: "Recall past conversations. query: find what was said. session + around: \
                  scroll around a hit. session alone: read that session. Nothing: what was \
                  active lately. Call it before saying you do not know something the user may \
                  have told you.",
    input,
    output,
    hints: Hints::LOOKS,
    role: TokenRole::Read,
    may_call_model: ask::wants_summaries,
    run,
};

fn input() -> Value {
    let sessions = format!("Sessions, default {} ({} without query)", CONVERSATIONS.0, BROWSED.0);
    input_schema::<Arguments>(&[
        ("query", "Words, \"a phrase\", OR, -not, since:7d, role:user, session:ID".to_owned()),
        ("session", "Id, unique prefix or title".to_owned()),
        ("around", "Message id, or its place (monday#3)".to_owned()),
        ("window", format!("Messages each side, default {}", WINDOW.0)),
        ("limit", sessions),
        ("exclude_lineage", "Your session: left out of the results".to_owned()),
        ("summarise", "Condense each session around the query".to_owned()),
        ("max_tokens", format!("Size of the answer, default {TOKENS}")),
    ])
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

fn run(call: &Call) -> Result<Answer> {
    let asked = ask::read(&call.arguments)?;
    let found = call.caller.oneiro.search().sessions(&asked.search)?;
    Ok(tell::answer(found, &asked))
}
