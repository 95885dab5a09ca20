//! `session_search`: find conversations, scroll in one, read one, list the recently active ones.

mod answer;
mod fit;
mod request;

use super::{Answer, Call, Hints, Profile, Tool};
use crate::TokenRole;
use crate::arguments::input_schema;
use oneiro::{BROWSE_LIMIT, CONVERSATION_LIMIT, Confidence, MESSAGE_WINDOW, Result};
use request::Arguments;
use serde_json::{Value, json};

/// Tokens of an answer by default.
const TOKENS: usize = 2_000;

/// Maximum tokens of an answer.
const TOKENS_MAX: usize = 20_000;

/// Messages on each side of a hit by default. Fewer than the engine's default: an answer lists
/// several hits, and the proposed calls scroll around any of them.
const NEIGHBOURS: usize = 1;

pub(super) const TOOL: Tool = Tool {
    name: "session_search",
    title: "Search past conversations",
    description: "Search past conversations. query: find messages. session + around: scroll \
                  around a message. session alone: read that session. No arguments: list \
                  recently active sessions. Call it before saying you do not know something the \
                  user may have told you.",
    input,
    output,
    hints: Hints::READ_ONLY,
    role: TokenRole::Read,
    profile: Profile::Agent,
    may_call_model: request::wants_summaries,
    run,
};

fn input() -> Value {
    let limit = format!(
        "Sessions, default {} ({} without query)",
        CONVERSATION_LIMIT.default, BROWSE_LIMIT.default
    );
    let window = format!(
        "Messages each side, default {NEIGHBOURS} ({} with around)",
        MESSAGE_WINDOW.default
    );
    input_schema::<Arguments>(&[
        ("query", "Words, \"a phrase\", OR, -not, since:7d, role:user, session:ID".to_owned()),
        ("session", "Id, unique prefix or title".to_owned()),
        ("around", "Message id, or its place (monday#3)".to_owned()),
        ("window", window),
        ("limit", limit),
        ("project", "Only sessions of this project".to_owned()),
        ("exclude_lineage", "Your session id, to leave it out".to_owned()),
        ("summarise", "Condense each session around the query".to_owned()),
        ("max_tokens", format!("Size of the answer, default {TOKENS}")),
    ])
}

fn output() -> Value {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    json!({
        "type": "object",
        "properties": {
            "mode": text,
            "found": {"type": "string", "enum": Confidence::NAMES},
            "sessions": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "session_id": text, "title": text, "project": text, "source": text,
                    "message_count": number, "last_active_at": text,
                    "hit": {"type": "object", "properties": {
                        "message_id": number, "role": text, "at": text, "tier": text,
                    }},
                    "message_ids": {"type": "array", "items": number},
                },
                "required": ["session_id"],
            }},
            "not_shown": number,
        },
        "required": ["mode", "sessions", "not_shown"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let search = request::read(&call.arguments)?;
    let found = call.caller.oneiro.search().sessions(&search.search)?;
    Ok(answer::answer(found, &search))
}
