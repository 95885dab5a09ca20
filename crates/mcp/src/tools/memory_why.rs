//! `memory_why`: why a memory is believed, or where the lines of the last pack came from.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled;
use oneiro::contract::Request;
use oneiro::{Result, SessionId, Why, WhyPackRequest, WhyRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_why",
    title: "Why",
    description: "Why a memory is believed: the words it rests on, who said them when, and every \
                  change since. Without an id: what was shown last, and where each line came from.",
    input,
    output,
    hints: Hints::READ_ONLY,
    role: TokenRole::Read,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

/// Maximum tokens of the explanation.
const ANSWER_TOKENS: usize = 3_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Explain {
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    id: Option<String>,
    #[serde(default)]
    session: Option<SessionId>,
}

impl Request for Explain {}

fn input() -> Value {
    input_schema::<Explain>(&[
        ("id", "mem_...".to_owned()),
        ("session", "whose last pack".to_owned()),
    ])
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "sources": {"type": "integer"}},
        "required": ["id", "sources"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let Explain { id, session } = Given::<Explain>::read(&call.arguments)?.request;
    let Some(id) = id else { return last_pack(call, session) };
    let why = call.caller.oneiro.memories().why(&id, &WhyRequest::default())?;
    let mut lines = Vec::new();
    add(&why, 0, &mut lines);
    let structured = json!({"id": why.id, "sources": why.children.len()});
    Ok(Answer::text(recalled::delimit_within(&lines, ANSWER_TOKENS), structured))
}

/// What was shown last, and where each line came from.
fn last_pack(call: &Call, session: Option<SessionId>) -> Result<Answer> {
    let request = WhyPackRequest { session, ..WhyPackRequest::default() };
    let explained = call.caller.oneiro.packs().why(&request)?;
    let id = explained.pack.map(|pack| pack.id.to_string()).unwrap_or_default();
    let structured = json!({"id": id, "sources": explained.lines.len()});
    if explained.lines.is_empty() {
        return Ok(Answer::text("Nothing was shown yet.".to_owned(), structured));
    }
    let mut lines = Vec::new();
    explained.lines.iter().for_each(|line| add(&line.why, 0, &mut lines));
    Ok(Answer::text(recalled::delimit_within(&lines, ANSWER_TOKENS), structured))
}

fn add(why: &Why, depth: usize, lines: &mut Vec<String>) {
    let at = why.at.map(|at| format!(" ({at})")).unwrap_or_default();
    let by = why.actor.as_ref().map(|actor| format!(" by {}", actor.kind.as_str()));
    lines.push(format!(
        "{}{} {}: {}{}{at}",
        "  ".repeat(depth),
        why.kind.as_str(),
        why.id,
        recalled::one_line(&why.text),
        by.unwrap_or_default(),
    ));
    why.children.iter().for_each(|child| add(child, depth + 1, lines));
}
