//! `memory_status`: how much this memory holds and whether its index is up to date.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::text::count;
use oneiro::contract::Request;
use oneiro::{Result, Stats};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_status",
    title: "Memory status",
    description: "How much this memory holds and whether its index is up to date. Call it when a \
                  search unexpectedly finds nothing.",
    input,
    output,
    hints: Hints::READ_ONLY,
    role: TokenRole::Read,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

impl Request for NoArguments {}

fn input() -> Value {
    input_schema::<NoArguments>(&[])
}

fn output() -> Value {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    json!({
        "type": "object",
        "properties": {
            "space": text, "engine": text, "version": text, "sessions": number,
            "messages": number, "bytes": number, "index_lag": number, "jobs": number,
            "last_active_at": {"type": ["string", "null"]},
        },
        "required": ["space", "sessions", "messages"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    Given::<NoArguments>::read(&call.arguments)?;
    let stats = call.caller.oneiro.stats()?;
    let structured = json!({
        "space": stats.space,
        "engine": stats.engine,
        "version": env!("CARGO_PKG_VERSION"),
        "sessions": stats.sessions,
        "messages": stats.messages,
        "bytes": stats.bytes,
        "index_lag": stats.index.tail,
        "jobs": stats.jobs,
        "last_active_at": stats.last_active_at,
    });
    Ok(Answer::text(describe(&stats), structured))
}

fn describe(stats: &Stats) -> String {
    let active = stats.last_active_at.map_or("never".to_owned(), |at| at.to_string());
    format!(
        "Space {} ({}), oneiro {}\n{} in {}, {} bytes, last active {active}\n\
         Not yet indexed, but searched: {}. Jobs waiting: {}.\n{}",
        stats.space,
        stats.engine,
        env!("CARGO_PKG_VERSION"),
        count(stats.messages, "message"),
        count(stats.sessions, "session"),
        stats.bytes,
        count(stats.index.tail, "message"),
        stats.jobs,
        advice(stats)
    )
}

fn advice(stats: &Stats) -> &'static str {
    if stats.messages == 0 {
        "Nothing is stored yet: have the host record conversations, or import some."
    } else {
        "session_search(query=..) finds messages; session_search() lists recently active sessions."
    }
}
