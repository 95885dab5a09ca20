//! `memory_remember`: store what the user stated as durable.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled;
use oneiro::contract::Request;
use oneiro::{MEMORY_CHARS_MAX, MemoryId, MemoryKind, NewMemory, Remembered, Result, SessionId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_remember",
    title: "Remember",
    description: "Store durable facts that the user stated, 1 to 10: each one sentence with absolute \
                  dates, and the user's exact words as quote. Never store secrets, guesses, progress, tool \
                  output or recalled text. Without a matching quote a fact waits for the user's review.",
    input,
    output,
    hints: Hints { read_only: false, destructive: false, idempotent: true, open_world: false },
    role: TokenRole::Write,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

/// Maximum number of facts in a call.
const FACTS_MAX: usize = 10;

/// Maximum tokens of the contradicted memories.
const ANSWER_TOKENS: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fact {
    #[schemars(length(min = 1, max = MEMORY_CHARS_MAX))]
    content: String,
    #[serde(default)]
    #[schemars(length(max = MEMORY_CHARS_MAX))]
    quote: Option<String>,
    #[serde(default)]
    kind: Option<MemoryKind>,
    #[serde(default)]
    #[schemars(length(max = 500))]
    subject: Option<String>,
    #[serde(default)]
    #[schemars(length(max = 500))]
    project: Option<String>,
    #[serde(default)]
    session: Option<SessionId>,
    #[serde(default)]
    replaces: Option<MemoryId>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Facts {
    #[schemars(length(min = 1, max = FACTS_MAX))]
    facts: Vec<Fact>,
}

impl Request for Facts {}

fn input() -> Value {
    let mut schema = input_schema::<Facts>(&[]);
    let described = [
        ("quote", "the user's exact words"),
        ("subject", "the person or thing it is about"),
        ("session", "the session of the quote"),
        ("replaces", "the memory that it corrects"),
    ];
    for (name, about) in described {
        let pointer = format!("/properties/facts/items/properties/{name}");
        if let Some(Value::Object(field)) = schema.pointer_mut(&pointer) {
            field.insert("description".to_owned(), json!(about));
        }
    }
    schema
}

fn output() -> Value {
    let text = json!({"type": "string"});
    let fact = json!({
        "type": "object",
        "properties": {
            "id": text, "status": text, "is_duplicate": {"type": "boolean"}, "error": text,
        },
    });
    json!({
        "type": "object",
        "properties": {"facts": {"type": "array", "items": fact}},
        "required": ["facts"],
    })
}

/// A single fact may stand for the list.
fn as_list(arguments: &Map<String, Value>) -> Map<String, Value> {
    let mut arguments = arguments.clone();
    if arguments.contains_key("content") && !arguments.contains_key("facts") {
        let fact = std::mem::take(&mut arguments);
        arguments.insert("facts".to_owned(), json!([fact]));
    }
    arguments
}

fn run(call: &Call) -> Result<Answer> {
    let Facts { facts } = Given::<Facts>::read(&as_list(&call.arguments))?.request;
    let (count, mut stored, mut lines) = (facts.len(), Vec::new(), Vec::new());
    let mut refused = None;
    for fact in facts {
        let remembered = call.caller.oneiro.memories().remember(NewMemory {
            content: fact.content,
            quote: fact.quote,
            kind: fact.kind,
            subject: fact.subject,
            project: fact.project,
            session: fact.session,
            replaces: fact.replaces,
            ..NewMemory::default()
        });
        match remembered {
            Ok(remembered) => {
                stored.push(json!({
                    "id": remembered.memory.id,
                    "status": remembered.memory.status,
                    "is_duplicate": remembered.is_duplicate,
                }));
                lines.push(describe(&remembered));
            }
            Err(error) => {
                let message = recalled::with_quotes_escaped(error.message());
                stored.push(json!({"error": message}));
                lines.push(format!("Not stored: {message}"));
                refused = Some(error);
            }
        }
    }
    let is_any_stored = stored.iter().any(|fact| fact.get("id").is_some());
    match refused {
        Some(error) if !is_any_stored => Err(error),
        _ => {
            let numbered = lines.iter().enumerate().map(|(at, line)| format!("{}. {line}", at + 1));
            let text =
                if count == 1 { lines.concat() } else { numbered.collect::<Vec<_>>().join("\n") };
            // A single fact is also answered as it is.
            let mut structured = match stored.as_slice() {
                [only] => only.clone(),
                _ => json!({}),
            };
            if let Some(fields) = structured.as_object_mut() {
                fields.insert("facts".to_owned(), json!(stored));
            }
            Ok(Answer::text(text, structured))
        }
    }
}

fn describe(remembered: &Remembered) -> String {
    let memory = &remembered.memory;
    let mut text = format!(
        "{} is {}: {}.",
        memory.id,
        memory.status.as_str(),
        recalled::one_line(&remembered.explanation)
    );
    if !remembered.contradicts.is_empty() {
        let others = remembered.contradicts.iter();
        let lines: Vec<String> = others
            .map(|other| format!("{}: {}", other.id, recalled::one_line(&other.content)))
            .collect();
        text.push_str(" It contradicts these memories; ask the user which holds.\n");
        text.push_str(&recalled::delimit_within(&lines, ANSWER_TOKENS));
    }
    text
}
