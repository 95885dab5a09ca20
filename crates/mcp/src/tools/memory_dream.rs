//! `memory_dream`: consolidates what was learnt, or says what it would change.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use oneiro::contract::Request;
use oneiro::{DreamRequest, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The arguments of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Whether to change anything; otherwise it only tells what it would change.
    #[serde(default)]
    apply: bool,
}

impl Request for Arguments {}

pub(super) const TOOL: Tool = Tool {
    name: "memory_dream",
    title: "Dream",
    description: "Consolidate memory when the user asks: what earned a place in MEMORY.md, what is \
                  superseded or retired. A dry run unless apply.",
    input,
    output,
    hints: Hints { read_only: false, idempotent: false, ..Hints::READ_ONLY },
    role: TokenRole::Write,
    profile: Profile::Host,
    may_call_model: never,
    run,
};

fn input() -> Value {
    input_schema::<Arguments>(&[("apply", "Change MEMORY.md".to_owned())])
}

fn output() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"outcome": text, "dream_id": text, "counts": {"type": "object"}},
        "required": ["outcome"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let given = Given::<Arguments>::read(&call.arguments)?;
    let request = DreamRequest { apply: Some(given.request.apply), ..DreamRequest::default() };
    let run = call.caller.oneiro.dreams().run(&request)?;
    let dream = run.dream.as_ref();
    let structured = json!({
        "outcome": run.outcome,
        "dream_id": dream.map(|detail| &detail.dream.id),
        "counts": dream.map(|detail| &detail.dream.counts),
    });
    let diary = dream.map(|detail| detail.diary.clone()).unwrap_or_default();
    Ok(Answer::text(format!("{}: {}\n\n{diary}", run.outcome.as_str(), run.reason), structured))
}
