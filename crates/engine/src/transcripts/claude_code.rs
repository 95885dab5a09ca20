//! Lines of Claude Code's transcripts. A line is one block of an answer, one turn of the person, the
//! results of tools, or bookkeeping. It must not know files or the store.

use super::reader::{
    Facts, Said, TitleFact, TitledBy, Used, content_of, is_set, message, text, time, tokens,
    tool_call,
};
use oneiro_model::{Lineage, Usage};
use serde_json::{Map, Value, json};

/// A reader of one file.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The session the file is named after; a file with another name goes by its lines.
    own: Option<String>,
    /// What is the same on most lines, kept on the session and on lines where it differs.
    usual: Map<String, Value>,
}

/// Fields that most lines of a file repeat.
const USUAL: [&str; 6] = ["cwd", "version", "gitBranch", "userType", "entrypoint", "slug"];

/// Fields of a line that are told elsewhere in the message or the session.
const TOLD: [&str; 8] = [
    "type",
    "message",
    "uuid",
    "timestamp",
    "sessionId",
    "agentId",
    "toolUseResult",
    "isSidechain",
];

impl Reader {
    pub(super) fn new(stem: &str) -> Reader {
        Reader { own: is_uuid(stem).then(|| stem.to_owned()), usual: Map::new() }
    }

    pub(super) fn read(&mut self, mut line: Map<String, Value>) -> Said {
        let kind = text(&line, "type").unwrap_or("without a type").to_owned();
        let title = |field: &str, by| {
            text(&line, field).map(|title| TitleFact {
                text: title.to_owned(),
                by,
                of_message: text(&line, "leafUuid").map(str::to_owned),
            })
        };
        let title = match kind.as_str() {
            "summary" => title("summary", TitledBy::Summary),
            "ai-title" => title("aiTitle", TitledBy::Agent).or(title("title", TitledBy::Agent)),
            "custom-title" => {
                title("customTitle", TitledBy::Person).or(title("title", TitledBy::Person))
            }
            _ => None,
        };
        if let Some(title) = title {
            let session = self.own.clone().or(text(&line, "sessionId").map(str::to_owned));
            let facts = Facts { titles: vec![title], ..Facts::default() };
            return Said {
                session: session.unwrap_or_default(),
                facts,
                skipped: Some(kind),
                ..Said::default()
            };
        }
        let Some(uuid) = text(&line, "uuid").map(str::to_owned) else { return Said::nothing(kind) };
        let messages = match kind.as_str() {
            "user" => user(&line),
            "assistant" => assistant(&line),
            "system" => system(&line),
            "attachment" => attachment(&line),
            _ => Vec::new(),
        };
        if messages.is_empty() {
            return Said::nothing(match (kind.as_str(), text(&line, "subtype")) {
                ("system", Some(subtype)) => format!("system/{subtype}"),
                _ => kind,
            });
        }
        let Some((session, mut facts)) = self.session(&line) else { return Said::nothing(kind) };
        let used = (kind == "assistant").then(|| used(&line)).flatten();
        facts.model = match &used {
            Some(Used::Answer { model, .. }) => Some(model.clone()),
            _ => None,
        };
        let at = line.get("timestamp").cloned().unwrap_or(Value::Null);
        let result = line.remove("toolUseResult").filter(|_| kind == "user");
        let rest = self.rest(line);
        let messages = messages.into_iter().enumerate().map(|(index, mut message)| {
            let Value::Object(body) = &mut message else { return message };
            if let Some(result) = result.as_ref().filter(|_| index == 0) {
                body.insert("tool_use_result".to_owned(), result.clone());
            }
            if index == 0 && !rest.is_empty() {
                body.insert("transcript".to_owned(), Value::Object(rest.clone()));
            }
            if at.as_str().is_some_and(|at| oneiro_model::Timestamp::parse(at).is_ok()) {
                body.insert("at".to_owned(), at.clone());
            }
            let id = if index == 0 { uuid.clone() } else { format!("{uuid}#{index}") };
            body.insert("external_id".to_owned(), id.into());
            message
        });
        Said { session, facts, messages: messages.collect(), used, skipped: None }
    }

    /// The session of a line. Work of a subagent is a session of its own under it.
    fn session(&mut self, line: &Map<String, Value>) -> Option<(String, Facts)> {
        let named = text(line, "sessionId").map(str::to_owned);
        let main = self.own.clone().or(named.clone())?;
        let mut metadata = Map::new();
        for (name, field) in [("git_branch", "gitBranch"), ("version", "version")] {
            if let Some(value) = text(line, field).filter(|value| !value.is_empty()) {
                metadata.insert(name.to_owned(), value.into());
            }
        }
        let mut facts = Facts {
            source: Some("claude-code"),
            started_at: time(line, "timestamp"),
            cwd: text(line, "cwd").map(str::to_owned),
            metadata,
            ..Facts::default()
        };
        if is_set(line, "isSidechain") {
            facts.source = Some("subagent");
            facts.parent = Some((main.clone(), Lineage::Delegate));
            let agent =
                text(line, "agentId").map_or("sidechain".to_owned(), |id| format!("agent-{id}"));
            return Some((format!("{main}:{agent}"), facts));
        }
        // A line that was copied from another session says which, in some versions.
        let forked = line.get("forkedFrom").and_then(|from| from.get("sessionId"));
        let origin = forked.and_then(Value::as_str).map(str::to_owned).or(named);
        facts.parent = origin.filter(|id| *id != main).map(|id| (id, Lineage::Branch));
        Some((main, facts))
    }

    /// What a line says beside its message, without what the whole file repeats.
    fn rest(&mut self, line: Map<String, Value>) -> Map<String, Value> {
        let mut rest = Map::new();
        for (name, value) in line {
            if TOLD.contains(&name.as_str()) || value.is_null() || value == Value::Bool(false) {
                continue;
            }
            if USUAL.contains(&name.as_str())
                && *self.usual.entry(name.clone()).or_insert_with(|| value.clone()) == value
            {
                continue;
            }
            rest.insert(name, value);
        }
        rest
    }
}

/// Whether a text looks like the id of a session.
fn is_uuid(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// A turn of the person, results of tools, or what the host put into their mouth.
fn user(line: &Map<String, Value>) -> Vec<Value> {
    let content = line.get("message").and_then(|message| message.get("content"));
    let mut said = Vec::new();
    let mut messages = Vec::new();
    match content {
        Some(Value::String(words)) => said.push(json!({"type": "text", "text": words})),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                match block.get("type").and_then(Value::as_str) {
                    Some("tool_result") => messages.push(tool_result(block)),
                    _ => said.push(block.clone()),
                }
            }
        }
        _ => {}
    }
    if said.is_empty() {
        return messages;
    }
    let words = said.iter().find_map(|block| block.get("text").and_then(Value::as_str));
    let whole = match content {
        Some(Value::String(words)) => Value::from(words.as_str()),
        _ => content_of(said.clone()),
    };
    messages.push(match not_said(line, words.unwrap_or_default()) {
        Some((kind, trust)) => {
            message("system", [("content", whole), ("kind", kind.into()), ("trust", trust)])
        }
        None => message("user", [("content", whole)]),
    });
    messages
}

/// Why a line under the person's name is not what the person said, and whose words it holds.
fn not_said(line: &Map<String, Value>, words: &str) -> Option<(&'static str, Value)> {
    let words = words.trim_start();
    if is_set(line, "isCompactSummary") {
        // The agent's own words about the conversation.
        return Some(("compact_summary", "agent".into()));
    }
    if is_set(line, "isMeta") {
        return Some(("meta", Value::Null));
    }
    let begins = |tags: &[&str]| tags.iter().any(|tag| words.starts_with(tag));
    if begins(&["<local-command-", "<bash-stdout>", "<bash-stderr>"]) {
        return Some(("command_output", "tool".into()));
    }
    if begins(&["<task-notification", "<agent-notification"]) {
        return Some(("notification", "tool".into()));
    }
    if begins(&["<system-reminder>", "Caveat: The messages below were generated by the user"]) {
        return Some(("meta", Value::Null));
    }
    if begins(&["[Request interrupted by user"]) {
        return Some(("interrupted", Value::Null));
    }
    if begins(&["This session is being continued from a previous conversation that ran out of"]) {
        return Some(("compact_summary", "agent".into()));
    }
    None
}

fn tool_result(block: &Value) -> Value {
    let field = |name: &str| block.get(name).cloned().unwrap_or(Value::Null);
    let is_error = field("is_error");
    message(
        "tool",
        [
            ("tool_call_id", field("tool_use_id")),
            ("content", field("content")),
            ("is_error", if is_error == Value::Bool(false) { Value::Null } else { is_error }),
        ],
    )
}

/// A piece of an answer: words, thinking or calls.
fn assistant(line: &Map<String, Value>) -> Vec<Value> {
    let Some(Value::Object(inner)) = line.get("message") else { return Vec::new() };
    let mut shown = Vec::new();
    let (mut thought, mut calls, mut signature) = (Vec::new(), Vec::new(), Value::Null);
    match inner.get("content") {
        Some(Value::String(words)) => shown.push(json!({"type": "text", "text": words})),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                let field = |name: &str| block.get(name).cloned().unwrap_or(Value::Null);
                match block.get("type").and_then(Value::as_str) {
                    Some("thinking") => {
                        thought.extend(block.get("thinking").and_then(Value::as_str));
                        signature = field("signature");
                    }
                    Some("tool_use") => {
                        let name = block.get("name").and_then(Value::as_str).unwrap_or_default();
                        calls.push(tool_call(field("id"), name, &field("input")));
                    }
                    _ => shown.push(block.clone()),
                }
            }
        }
        _ => {}
    }
    if shown.is_empty() && thought.is_empty() && calls.is_empty() {
        return Vec::new();
    }
    let field = |name: &str| inner.get(name).cloned().unwrap_or(Value::Null);
    if is_set(line, "isApiErrorMessage") {
        let (content, kind) = (content_of(shown), "api_error".into());
        return vec![message("system", [("content", content), ("kind", kind)])];
    }
    let list = |items: Vec<Value>| if items.is_empty() { Value::Null } else { items.into() };
    let thought = (!thought.is_empty()).then(|| Value::from(thought.join("\n\n")));
    vec![message(
        "assistant",
        [
            ("content", content_of(shown)),
            ("reasoning", thought.unwrap_or_default()),
            ("tool_calls", list(calls)),
            ("model", field("model")),
            ("message_id", field("id")),
            ("stop_reason", field("stop_reason")),
            ("usage", field("usage")),
            ("signature", signature),
        ],
    )]
}

/// What the host notes: that it compacted, which command ran.
fn system(line: &Map<String, Value>) -> Vec<Value> {
    match text(line, "content").filter(|words| !words.is_empty()) {
        Some(words) => {
            let kind = text(line, "subtype").unwrap_or("system");
            vec![message("system", [("content", words.into()), ("kind", kind.into())])]
        }
        None => Vec::new(),
    }
}

/// What was put beside a turn. Of these only a prompt that waited in the queue is somebody's words.
fn attachment(line: &Map<String, Value>) -> Vec<Value> {
    let Some(Value::Object(attached)) = line.get("attachment") else { return Vec::new() };
    match (text(attached, "type"), attached.get("prompt")) {
        (Some("queued_command"), Some(prompt @ (Value::String(_) | Value::Array(_)))) => {
            let words = prompt.as_str().unwrap_or_default();
            let is_notice = text(attached, "commandMode").is_some_and(|mode| mode != "prompt");
            let kind = match (is_notice, not_said(line, words)) {
                (false, None) => return vec![message("user", [("content", prompt.clone())])],
                (true, _) => ("notification", Value::from("tool")),
                (false, Some(kind)) => kind,
            };
            let fields = [("content", prompt.clone()), ("kind", kind.0.into()), ("trust", kind.1)];
            vec![message("system", fields)]
        }
        _ => Vec::new(),
    }
}

/// What the answer that a line is part of has used so far.
fn used(line: &Map<String, Value>) -> Option<Used> {
    let Some(Value::Object(inner)) = line.get("message") else { return None };
    let Some(Value::Object(usage)) = inner.get("usage") else { return None };
    // An answer that the host made up used nothing.
    let model = text(inner, "model").filter(|model| *model != "<synthetic>")?.to_owned();
    Some(Used::Answer { id: text(inner, "id")?.to_owned(), model, usage: usage_of(usage) })
}

/// Counts of one answer.
pub(super) fn usage_of(usage: &Map<String, Value>) -> Usage {
    Usage {
        api_calls: 1,
        input_tokens: tokens(usage, "input_tokens"),
        output_tokens: tokens(usage, "output_tokens"),
        cache_read_tokens: tokens(usage, "cache_read_input_tokens"),
        cache_write_tokens: tokens(usage, "cache_creation_input_tokens"),
        ..Usage::default()
    }
}
