//! `memory_status`: what this memory holds and whether it is well. It must not know how any of it
//! is counted.

use super::{Answer, Call, Hints, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use oneiro::contract::Request;
use oneiro::{Result, Stats};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The row of the table.
pub(super) const TOOL: Tool = Tool {
    name: "memory_status",
    title: "Memory status",
    description: "How much this memory holds and whether its index is up to date. Call it when a \
                  search finds nothing unexpectedly.",
    input,
    output,
    hints: Hints::LOOKS,
    role: TokenRole::Read,
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
            "last_active_at": {"type": ["string", "null"]}, "next": text,
        },
        "required": ["space", "sessions", "messages", "next"],
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
        "next": next(&stats),
    });
    Ok(Answer { text: describe(&stats), structured })
}

fn describe(stats: &Stats) -> String {
    let active = stats.last_active_at.map_or("never".to_owned(), |at| at.to_string());
    format!(
        "space {} ({}), oneiro {}\n{} messages in {} sessions, {} bytes, last active {active}\n\
         index: {} messages not folded in yet, which searches read all the same; jobs waiting: \
         {}\n{}",
        stats.space,
        stats.engine,
        env!("CARGO_PKG_VERSION"),
        stats.messages,
        stats.sessions,
        stats.bytes,
        stats.index.tail,
        stats.jobs,
        next(stats)
    )
}

/// What to do next, in one line.
fn next(stats: &Stats) -> &'static str {
    match stats.messages {
        0 => "Nothing is stored yet: have the host record conversations, or import some.",
        _ => {
            "session_search(query=..) finds what was said; session_search() shows what was active \
             lately."
        }
    }
}
