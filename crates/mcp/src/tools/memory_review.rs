//! `memory_review`: lists memories, and rejects a candidate. Promoting is for people.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled;
use oneiro::contract::Request;
use oneiro::{ListMemories, Memory, MemoryStatus, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_review",
    title: "Review memories",
    description: "List memories, by default the candidates that wait for the user's review; or \
                  reject one candidate. Only the user can promote: tell them what waits.",
    input,
    output,
    hints: Hints { read_only: false, destructive: false, idempotent: true, open_world: false },
    role: TokenRole::Write,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

/// Maximum tokens of the listed memories.
const ANSWER_TOKENS: usize = 3_000;

/// How many memories are listed by default.
const DEFAULT_LIMIT: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Review {
    status: MemoryStatus,
    #[schemars(length(max = 500))]
    text: Option<String>,
    #[schemars(length(max = 500))]
    subject: Option<String>,
    #[schemars(length(max = 500))]
    project: Option<String>,
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    #[schemars(length(max = 100))]
    reject: Option<String>,
    #[schemars(length(max = 500))]
    reason: Option<String>,
}

impl Default for Review {
    fn default() -> Review {
        let (text, subject, project, reject, reason) = (None, None, None, None, None);
        let status = MemoryStatus::Candidate;
        Review { status, text, subject, project, limit: DEFAULT_LIMIT, reject, reason }
    }
}

impl Request for Review {}

fn input() -> Value {
    input_schema::<Review>(&[
        ("text", "only statements with these words".to_owned()),
        ("reject", "the candidate to reject, mem_...".to_owned()),
    ])
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
        "required": ["ids"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let review = Given::<Review>::read(&call.arguments)?.request;
    let memories = call.caller.oneiro.memories();
    if let Some(id) = review.reject {
        let memory = memories.reject(&id, review.reason)?.memory;
        let text = format!("{} is rejected.", memory.id);
        return Ok(Answer::text(text, json!({"ids": [memory.id]})));
    }
    let page = memories.list(&ListMemories {
        status: Some(review.status),
        text: review.text,
        subject: review.subject,
        project: review.project,
        limit: review.limit,
        ..ListMemories::default()
    })?;
    let ids: Vec<_> = page.items.iter().map(|memory| memory.id.clone()).collect();
    let text = if page.items.is_empty() {
        format!("No {} memories match.", review.status.as_str())
    } else {
        let lines: Vec<String> = page.items.iter().map(line).collect();
        recalled::delimit_within(&lines, ANSWER_TOKENS)
    };
    Ok(Answer::text(text, json!({"ids": ids})))
}

fn line(memory: &Memory) -> String {
    let subject = memory.subject.as_deref().map(|subject| format!(" about {subject}"));
    let suspended = if memory.suspended_by.is_some() { ", suspended" } else { "" };
    recalled::one_line(&format!(
        "{} ({}, trust {}{suspended}{}): {}",
        memory.id,
        memory.kind.as_str(),
        memory.trust.as_str(),
        subject.unwrap_or_default(),
        memory.content
    ))
}
