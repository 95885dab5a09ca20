//! `memory_forget`: a memory is no longer believed.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use oneiro::Result;
use oneiro::contract::Request;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_forget",
    title: "Forget",
    description: "Make a memory invalid when the user asks for it or takes it back. It is kept and \
                  can be restored. What the user stated themselves only they can forget.",
    input,
    output,
    hints: Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
    role: TokenRole::Write,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forget {
    #[schemars(length(min = 1, max = 100))]
    id: String,
    #[serde(default)]
    #[schemars(length(max = 500))]
    reason: Option<String>,
}

impl Request for Forget {}

fn input() -> Value {
    input_schema::<Forget>(&[("id", "mem_...".to_owned())])
}

fn output() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"id": text, "status": text, "group": {"type": ["string", "null"]}},
        "required": ["id", "status"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let Forget { id, reason } = Given::<Forget>::read(&call.arguments)?.request;
    let changed = call.caller.oneiro.memories().forget(&id, reason)?;
    let structured = json!({
        "id": changed.memory.id, "status": changed.memory.status, "group": changed.group,
    });
    Ok(Answer::text(format!("{} is no longer believed.", changed.memory.id), structured))
}
