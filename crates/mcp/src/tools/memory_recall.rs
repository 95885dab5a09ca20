//! `memory_recall`: what is known about something, from memories, notes and conversations.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled;
use oneiro::contract::Request;
use oneiro::{
    AnyHit, Confidence, Found, Hit, MemoryHit, MemoryStatus, NoteHit, PackKind, PackRequest,
    Result, SearchRequest, SessionId,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_recall",
    title: "Recall",
    description: "What is known about something: memories, notes and messages of earlier conversations, \
                  best first. Call it once when a task starts (without a query: the project and the person) \
                  and when the past matters, not for general knowledge; rephrase at most once. If found \
                  is none, say that you do not know.",
    input,
    output,
    hints: Hints::READ_ONLY,
    role: TokenRole::Read,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

/// Maximum tokens of the recalled lines.
const ANSWER_TOKENS: usize = 1_500;

/// Sources of sessions that clients of the same name, or a longer one, write.
const SESSION_SOURCES: [&str; 2] = ["claude-code", "codex"];

/// Hits by default, and at most.
const LIMIT: usize = 8;
const LIMIT_MAX: usize = 30;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recall {
    #[serde(default)]
    #[schemars(length(min = 1, max = 4_000))]
    query: Option<String>,
    #[serde(default)]
    #[schemars(length(max = 500))]
    project: Option<String>,
    #[serde(default)]
    session: Option<SessionId>,
    #[serde(default)]
    history: bool,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = LIMIT_MAX))]
    limit: usize,
}

fn default_limit() -> usize {
    LIMIT
}

impl Request for Recall {}

fn input() -> Value {
    input_schema::<Recall>(&[
        ("query", "a question or words; without one, what a task starts with".to_owned()),
        ("project", "this project, and what belongs to none".to_owned()),
        ("session", "the current session, if you know its id".to_owned()),
        ("history", "superseded and contradicted memories too".to_owned()),
    ])
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "found": {"enum": ["strong", "weak", "none"]},
            "memories": {"type": "array", "items": {"type": "string"}},
            "messages": {"type": "array", "items": {"type": "integer"}},
            "notes": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["found", "memories", "messages"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let asked = Given::<Recall>::read(&call.arguments)?.request;
    let Some(query) = asked.query else { return starting_pack(call, &asked) };
    let oneiro = &call.caller.oneiro;
    let found = oneiro.search().run(&SearchRequest {
        project: asked.project,
        for_session: asked.session.clone(),
        history: asked.history,
        limit: asked.limit,
        ..SearchRequest::recall(query)
    })?;
    let served = oneiro.packs().record_recalled(asked.session.as_ref(), Some(client(call)), &found);
    if let Err(error) = served {
        tracing::info!(%error, "recalled lines were not recorded as served");
    }
    let structured = json!({
        "found": found.found,
        "memories": found.memories.iter().map(|hit| &hit.id).collect::<Vec<_>>(),
        "messages": found.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(),
        "notes": found.notes.iter().map(|hit| &hit.id).collect::<Vec<_>>(),
    });
    Ok(Answer::text(describe(&found), structured))
}

/// What a task starts with: the state of the project, the person, and the newest memories.
fn starting_pack(call: &Call, asked: &Recall) -> Result<Answer> {
    let pack = call.caller.oneiro.packs().make(&PackRequest {
        project: asked.project.clone(),
        session: asked.session.clone(),
        client: Some(client(call).to_owned()),
        ..PackRequest::starting()
    })?;
    let found = if pack.items.is_empty() { Confidence::None } else { Confidence::Strong };
    let ids = |kind| {
        let items = pack.items.iter().filter(move |item| item.kind == kind);
        items.map(|item| item.id.as_str()).collect::<Vec<_>>()
    };
    let structured = json!({"found": found, "memories": ids(PackKind::Memory), "messages": []});
    let text = if pack.text.is_empty() { "found: none".to_owned() } else { pack.text.clone() };
    Ok(Answer::text(text, structured))
}

/// The name under which lines are recorded as served: the source of the client's sessions, so that its
/// transcripts are compared with them.
fn client(call: &Call) -> &str {
    let name = call.caller.actor.client.as_deref().unwrap_or("mcp");
    SESSION_SOURCES.into_iter().find(|source| name.starts_with(source)).unwrap_or(name)
}

fn describe(found: &Found) -> String {
    let sure = match found.found {
        Confidence::Strong => "found: strong",
        Confidence::Weak => "found: weak (it may not answer the question)",
        Confidence::None => "found: none (nothing seems to answer the question)",
    };
    if found.is_empty() {
        return sure.to_owned();
    }
    let line = |hit: AnyHit<'_>| match hit {
        AnyHit::Memory(hit) => Some(memory_line(hit)),
        AnyHit::Message(hit) => Some(message_line(hit)),
        AnyHit::Note(hit) => Some(note_line(hit)),
        AnyHit::Summary(_) => None,
    };
    let lines: Vec<String> = found.in_order().into_iter().filter_map(line).collect();
    format!("{sure}\n{}", recalled::delimit_within(&lines, ANSWER_TOKENS))
}

fn memory_line(hit: &MemoryHit) -> String {
    let standing = match (hit.status, &hit.suspended_by) {
        (MemoryStatus::Active, None) => "",
        (MemoryStatus::Active, Some(_)) => ", contradicted: do not state it as true",
        (MemoryStatus::Candidate, _) => ", not reviewed",
        (MemoryStatus::Superseded | MemoryStatus::Invalid, _) => ", no longer holds",
    };
    let about =
        hit.subject.as_deref().map(|subject| format!(" about {}", recalled::one_line(subject)));
    format!(
        "[{} {}{}{standing}] {}",
        hit.id,
        hit.valid_from.unwrap_or(hit.at).date_text(),
        about.unwrap_or_default(),
        recalled::one_line(&hit.content)
    )
}

fn message_line(hit: &Hit) -> String {
    let who = hit.name.as_deref().unwrap_or(hit.role.as_str());
    format!(
        "[message {} {} {}] {}",
        hit.id,
        hit.at.date_text(),
        recalled::one_line(who),
        recalled::one_line(&hit.snippet)
    )
}

fn note_line(hit: &NoteHit) -> String {
    let day = hit.at.date_text();
    format!("[{} {day}] {}", recalled::one_line(&hit.id), recalled::one_line(&hit.snippet))
}
