//! Reads a line of a transcript into facts about its session and messages. It must not know files or
//! the store.

use super::{Agent, claude_code, codex};
use oneiro_model::{Lineage, Timestamp, Usage};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// What is read from a line.
#[derive(Debug, Default)]
pub(super) struct ParsedLine {
    /// The session it belongs to; empty when the line belongs to none.
    pub(super) session: String,
    /// Facts about the session.
    pub(super) facts: Facts,
    /// The messages in it, as message JSON with `external_id`.
    pub(super) messages: Vec<Value>,
    /// Token usage that the line reports.
    pub(super) usage: Option<ReportedUsage>,
    /// The type of a line that holds no message.
    pub(super) skipped: Option<String>,
}

impl ParsedLine {
    /// A line without a message.
    pub(super) fn skipped(kind: impl Into<String>) -> ParsedLine {
        ParsedLine { skipped: Some(kind.into()), ..ParsedLine::default() }
    }
}

/// Facts about a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) source: Option<&'static str>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) cwd: Option<String>,
    pub(super) model: Option<String>,
    pub(super) system_prompt: Option<String>,
    pub(super) parent: Option<(String, Lineage)>,
    /// In the order they were given.
    pub(super) titles: Vec<TitleFact>,
    pub(super) metadata: Map<String, Value>,
}

impl Facts {
    /// Adds what is not known yet.
    pub(super) fn fill(&mut self, other: Facts) {
        self.source = self.source.or(other.source);
        self.started_at = self.started_at.or(other.started_at);
        self.cwd = self.cwd.take().or(other.cwd);
        self.model = self.model.take().or(other.model);
        self.system_prompt = self.system_prompt.take().or(other.system_prompt);
        self.parent = self.parent.take().or(other.parent);
        self.titles.extend(other.titles);
        for (name, value) in other.metadata {
            self.metadata.entry(name).or_insert(value);
        }
    }
}

/// A title, and who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TitleFact {
    pub(super) text: String,
    pub(super) by: TitledBy,
    /// The title is of the session only if this message is in it.
    pub(super) of_message: Option<String>,
}

/// Where a title comes from, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TitledBy {
    /// The first sentence of the person.
    Sentence,
    Summary,
    Agent,
    Person,
}

impl TitledBy {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            TitledBy::Sentence => "sentence",
            TitledBy::Summary => "summary",
            TitledBy::Agent => "agent",
            TitledBy::Person => "person",
        }
    }

    pub(super) fn parse(name: &str) -> Option<TitledBy> {
        let all = [TitledBy::Sentence, TitledBy::Summary, TitledBy::Agent, TitledBy::Person];
        all.into_iter().find(|by| by.as_str() == name)
    }
}

/// Token usage as a transcript reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReportedUsage {
    /// Of one answer of the model. Several lines may report the same answer; the last reports most.
    Answer { id: String, model: String, usage: Usage },
    /// Of the session so far.
    Total { model: String, usage: Usage },
}

/// A reader of one file.
#[derive(Debug)]
pub(super) struct Reader {
    form: Form,
    recall_calls: RecallCalls,
    /// Whether the agent could have written any of the lines read so far.
    pub(super) is_known: bool,
}

#[derive(Debug)]
enum Form {
    ClaudeCode(claude_code::Reader),
    Codex(codex::Reader),
}

impl Reader {
    /// A reader for a file whose name without its ending is `stem`.
    pub(super) fn new(agent: Agent, stem: &str) -> Reader {
        let form = match agent {
            Agent::ClaudeCode => Form::ClaudeCode(claude_code::Reader::new(stem)),
            Agent::Codex => Form::Codex(codex::Reader::default()),
        };
        Reader { form, recall_calls: RecallCalls::default(), is_known: false }
    }

    /// Reads the line that begins at byte `at` of its file.
    pub(super) fn read(&mut self, line: Value, at: u64) -> ParsedLine {
        let Value::Object(line) = line else { return ParsedLine::skipped("not an object") };
        self.is_known |= match &self.form {
            Form::ClaudeCode(_) => claude_code::is_known(&line),
            Form::Codex(_) => codex::is_known(&line),
        };
        let mut parsed = match &mut self.form {
            Form::ClaudeCode(reader) => reader.read(line),
            Form::Codex(reader) => reader.read(line, at),
        };
        self.is_known |= !parsed.session.is_empty();
        parsed.messages.iter_mut().for_each(|message| self.recall_calls.mark_answer(message));
        parsed
    }
}

/// A string field.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

/// A field that is true.
pub(super) fn is_set(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// A time that can be read.
pub(super) fn time(fields: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    text(fields, name).and_then(|at| Timestamp::parse(at).ok())
}

/// A count of tokens.
pub(super) fn tokens(fields: &Map<String, Value>, name: &str) -> i64 {
    const MAX_TOKENS: i64 = 1_000_000_000_000;
    fields.get(name).and_then(Value::as_i64).unwrap_or(0).clamp(0, MAX_TOKENS)
}

/// Makes a message; `fields` in order, without those that are null.
pub(super) fn message<const N: usize>(role: &str, fields: [(&str, Value); N]) -> Value {
    let mut body = Map::new();
    body.insert("role".to_owned(), role.into());
    for (name, value) in fields {
        if !value.is_null() || name == "content" {
            body.insert(name.to_owned(), value);
        }
    }
    Value::Object(body)
}

/// A call of a tool in the shape of OpenAI.
pub(super) fn tool_call(id: Value, name: &str, arguments: &Value) -> Value {
    // Arguments are JSON in a string; what is a string already is what the agent wrote.
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    serde_json::json!({
        "id": id, "type": "function", "function": {"name": name, "arguments": arguments},
    })
}

/// Content as short as it can be: one text without anything beside it is a string.
pub(super) fn content_of(blocks: Vec<Value>) -> Value {
    match blocks.as_slice() {
        [] => Value::Null,
        [Value::Object(only)] if only.len() == 2 && only.contains_key("type") => {
            match only.get("text") {
                Some(text @ Value::String(_)) => text.clone(),
                _ => Value::Array(blocks),
            }
        }
        _ => Value::Array(blocks),
    }
}

/// The calls of this memory by the agent, whose answers it must not take for something new.
#[derive(Debug, Default)]
pub(super) struct RecallCalls(HashSet<String>);

/// What marks an answer of this memory.
const RECALLED: &str = "recalled";

impl RecallCalls {
    /// Remembers calls, and marks the answers to them.
    pub(super) fn mark_answer(&mut self, message: &mut Value) {
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let name = call.get("function").and_then(|function| function.get("name"));
            // Hosts name the tools of a server after it: mcp__oneiro__session_search.
            let is_ours = name.and_then(Value::as_str).is_some_and(|name| {
                name.starts_with("mcp__oneiro__") || name.starts_with("oneiro__")
            });
            if let Some(id) = call.get("id").and_then(Value::as_str).filter(|_| is_ours) {
                self.0.insert(id.to_owned());
            }
        }
        let answered = message.get("tool_call_id").and_then(Value::as_str);
        if answered.is_some_and(|id| self.0.remove(id))
            && let Value::Object(body) = message
        {
            body.insert("kind".to_owned(), RECALLED.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_this_memory_answered_is_marked_and_nothing_else() {
        let mut reader = Reader::new(Agent::Codex, "");
        reader.read(json!({"type": "session_meta", "payload": {"id": "s"}}), 0);
        let mut answer = |name: &str, id: &str| {
            let mut read = |payload: Value| {
                let line = json!({"type": "response_item", "payload": payload});
                reader.read(line, 0).messages.remove(0)
            };
            read(json!({"type": "function_call", "name": name, "arguments": "{}", "call_id": id}));
            read(json!({"type": "function_call_output", "call_id": id, "output": "x"}))["kind"]
                .clone()
        };
        assert_eq!(answer("mcp__oneiro__session_search", "c1"), "recalled");
        assert_eq!(answer("oneiro__memory_recall", "c2"), "recalled");
        assert_eq!(answer("mcp__weather__today", "c3"), Value::Null);
        assert_eq!(answer("shell", "c4"), Value::Null);
    }
}
