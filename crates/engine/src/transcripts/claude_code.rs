//! Lines of Claude Code's transcripts. A line is one block of an answer, one turn of the person, the
//! results of tools, or bookkeeping. It must not know files or the store.

use super::reader::{
    Facts, ParsedLine, ReportedUsage, TitleFact, TitledBy, content_of, is_set, message, text, time,
    tokens, tool_call,
};
use oneiro_model::{Lineage, Usage};
use serde_json::{Map, Value, json};

/// A reader of one file.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The session the file is named after; a file with another name goes by its lines.
    own: Option<String>,
    /// The first values of fields that most lines repeat; a message keeps those that differ.
    repeated: Map<String, Value>,
}

/// Fields that most lines of a file repeat.
const REPEATED_FIELDS: [&str; 6] =
    ["cwd", "version", "gitBranch", "userType", "entrypoint", "slug"];

/// Fields of a line that become other fields of the message or the session.
const MAPPED_FIELDS: [&str; 8] = [
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
        Reader { own: is_uuid(stem).then(|| stem.to_owned()), repeated: Map::new() }
    }

    pub(super) fn read(&mut self, mut line: Map<String, Value>) -> ParsedLine {
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
            return ParsedLine {
                session: session.unwrap_or_default(),
                facts,
                skipped: Some(kind),
                ..ParsedLine::default()
            };
        }
        let Some(uuid) = text(&line, "uuid").map(str::to_owned) else {
            return ParsedLine::skipped(kind);
        };
        let messages = match kind.as_str() {
            "user" => user(&line),
            "assistant" => assistant(&line),
            "system" => system(&line),
            "attachment" => attachment(&line),
            _ => Vec::new(),
        };
        if messages.is_empty() {
            return ParsedLine::skipped(match (kind.as_str(), text(&line, "subtype")) {
                ("system", Some(subtype)) => format!("system/{subtype}"),
                _ => kind,
            });
        }
        let Some((session, mut facts)) = self.session(&line) else {
            return ParsedLine::skipped(kind);
        };
        let usage = (kind == "assistant").then(|| reported_usage(&line)).flatten();
        facts.model = match &usage {
            Some(ReportedUsage::Answer { model, .. }) => Some(model.clone()),
            _ => None,
        };
        let at = line.get("timestamp").cloned().unwrap_or(Value::Null);
        let result = line.remove("toolUseResult").filter(|_| kind == "user");
        let rest = self.extra_fields(line);
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
        ParsedLine { session, facts, messages: messages.collect(), usage, skipped: None }
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

    /// The other fields of a line, without those that the whole file repeats.
    fn extra_fields(&mut self, line: Map<String, Value>) -> Map<String, Value> {
        let mut rest = Map::new();
        for (name, value) in line {
            if MAPPED_FIELDS.contains(&name.as_str())
                || value.is_null()
                || value == Value::Bool(false)
            {
                continue;
            }
            if REPEATED_FIELDS.contains(&name.as_str())
                && *self.repeated.entry(name.clone()).or_insert_with(|| value.clone()) == value
            {
                continue;
            }
            rest.insert(name, value);
        }
        rest
    }
}

/// Whether Claude Code writes lines like this one: they have a type and are tied to a session, to a
/// message or to the turn they sum up.
pub(super) fn is_known(line: &Map<String, Value>) -> bool {
    let ties = ["uuid", "sessionId", "leafUuid", "messageId"];
    text(line, "type").is_some() && ties.iter().any(|name| text(line, name).is_some())
}

/// Whether a text looks like the id of a session.
pub(super) fn is_uuid(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// A turn of the person, results of tools, or a line that the harness wrote as a whole.
fn user(line: &Map<String, Value>) -> Vec<Value> {
    let content = line.get("message").and_then(|message| message.get("content"));
    let mut parsed = Vec::new();
    let mut messages = Vec::new();
    match content {
        Some(Value::String(words)) => parsed.push(json!({"type": "text", "text": words})),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                match block.get("type").and_then(Value::as_str) {
                    Some("tool_result") => messages.push(tool_result(block)),
                    _ => parsed.push(block.clone()),
                }
            }
        }
        _ => {}
    }
    if parsed.is_empty() {
        return messages;
    }
    let content = match content {
        Some(Value::String(words)) => words.as_str().into(),
        _ => content_of(parsed),
    };
    messages.push(user_message(line, content));
    messages
}

/// A message of the person, unless its line is flagged as the harness's own. Harness text beside
/// the words of the person is marked later.
fn user_message(line: &Map<String, Value>, content: Value) -> Value {
    if is_set(line, "isCompactSummary") {
        // The agent's own words about the conversation.
        let fields =
            [("content", content), ("kind", "compact_summary".into()), ("trust", "agent".into())];
        return message("system", fields);
    }
    if is_set(line, "isMeta") {
        return message("system", [("content", content), ("kind", "meta".into())]);
    }
    message("user", [("content", content)])
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

/// Notes of the harness: that it compacted, which command ran.
fn system(line: &Map<String, Value>) -> Vec<Value> {
    match text(line, "content").filter(|words| !words.is_empty()) {
        Some(words) => {
            let kind = text(line, "subtype").unwrap_or("system");
            vec![message("system", [("content", words.into()), ("kind", kind.into())])]
        }
        None => Vec::new(),
    }
}

/// An attachment to a turn. Only a prompt that waited in the queue is a message.
fn attachment(line: &Map<String, Value>) -> Vec<Value> {
    let Some(Value::Object(attached)) = line.get("attachment") else { return Vec::new() };
    match (text(attached, "type"), attached.get("prompt")) {
        (Some("queued_command"), Some(prompt @ (Value::String(_) | Value::Array(_)))) => {
            let is_notice = text(attached, "commandMode").is_some_and(|mode| mode != "prompt");
            if !is_notice {
                return vec![user_message(line, prompt.clone())];
            }
            let (kind, trust) = ("notification".into(), "tool".into());
            let fields = [("content", prompt.clone()), ("kind", kind), ("trust", trust)];
            vec![message("system", fields)]
        }
        _ => Vec::new(),
    }
}

/// The usage so far of the answer that a line is part of.
fn reported_usage(line: &Map<String, Value>) -> Option<ReportedUsage> {
    let Some(Value::Object(inner)) = line.get("message") else { return None };
    let Some(Value::Object(usage)) = inner.get("usage") else { return None };
    // An answer that the harness made up used nothing.
    let model = text(inner, "model").filter(|model| *model != "<synthetic>")?.to_owned();
    Some(ReportedUsage::Answer { id: text(inner, "id")?.to_owned(), model, usage: usage_of(usage) })
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

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1c01";

    fn read(line: Value) -> ParsedLine {
        let mut whole =
            json!({"uuid": "u1", "sessionId": OWN, "timestamp": "2026-01-01T00:00:00Z"});
        let fields = whole.as_object_mut().unwrap();
        fields.extend(line.as_object().unwrap().clone());
        Reader::new(OWN).read(fields.clone())
    }

    fn user_line(content: Value) -> Value {
        json!({"type": "user", "message": {"role": "user", "content": content}})
    }

    #[test]
    fn lines_flagged_as_the_harness_own_are_system_messages() {
        let with = |name: &str| {
            let mut line = user_line("words".into());
            line[name] = true.into();
            line
        };
        for (line, role, kind) in [
            (user_line("hello".into()), "user", Value::Null),
            (with("isMeta"), "system", "meta".into()),
            (with("isCompactSummary"), "system", "compact_summary".into()),
            (
                json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "p"}}),
                "user",
                Value::Null,
            ),
            (
                json!({"type": "attachment", "attachment":
                    {"type": "queued_command", "prompt": "p", "commandMode": "task-notification"}}),
                "system",
                "notification".into(),
            ),
            (
                json!({"type": "system", "subtype": "compact_boundary", "content": "compacted"}),
                "system",
                "compact_boundary".into(),
            ),
        ] {
            let parsed = read(line.clone());
            let [message] = parsed.messages.as_slice() else { panic!("{line}") };
            assert_eq!((message["role"].as_str(), &message["kind"]), (Some(role), &kind), "{line}");
        }
    }

    #[test]
    fn results_of_tools_are_messages_of_their_own() {
        let parsed = read(json!({"type": "user", "toolUseResult": {"stdout": "x"}, "message": {
        "role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "one", "is_error": false},
            {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "two"}],
             "is_error": true},
            {"type": "text", "text": "and go on"},
        ]}}));
        let [one, two, three] = parsed.messages.as_slice() else { panic!("{parsed:?}") };
        assert_eq!(
            *one,
            json!({"role": "tool", "tool_call_id": "t1", "content": "one",
                   "tool_use_result": {"stdout": "x"}, "at": "2026-01-01T00:00:00Z", "external_id": "u1"})
        );
        assert_eq!((&two["tool_call_id"], &two["is_error"]), (&json!("t2"), &json!(true)));
        assert_eq!((&three["role"], &three["content"]), (&json!("user"), &json!("and go on")));
        assert_eq!((&two["external_id"], &three["external_id"]), (&json!("u1#1"), &json!("u1#2")));
    }

    #[test]
    fn a_piece_of_an_answer_keeps_words_thinking_calls_and_use() {
        let parsed = read(json!({"type": "assistant", "requestId": "r1", "message": {
        "id": "m1", "model": "claude", "role": "assistant", "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7,
                  "cache_creation_input_tokens": 11},
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "hi"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"n": 15}},
        ]}}));
        let [message] = parsed.messages.as_slice() else { panic!("{parsed:?}") };
        assert_eq!((&message["content"], &message["reasoning"]), (&json!("hi"), &json!("hm")));
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"n":15}"#);
        assert_eq!(message["transcript"], json!({"requestId": "r1"}));
        let Some(ReportedUsage::Answer { id, model, usage }) = parsed.usage else {
            panic!("no usage")
        };
        assert_eq!((id.as_str(), model.as_str()), ("m1", "claude"));
        assert_eq!((usage.input_tokens, usage.output_tokens), (3, 5));
        assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (7, 11));
    }

    #[test]
    fn the_session_of_a_line_comes_from_its_file_its_fields_and_its_agent() {
        let side = json!({"type": "user", "isSidechain": true, "message": {"content": "x"}});
        for (line, session, parent) in [
            (user_line("x".into()), OWN.to_owned(), None),
            (side.clone(), format!("{OWN}:sidechain"), Some((OWN, Lineage::Delegate))),
            (
                json!({"type": "user", "isSidechain": true, "agentId": "a1", "message": {"content": "x"}}),
                format!("{OWN}:agent-a1"),
                Some((OWN, Lineage::Delegate)),
            ),
            (
                json!({"type": "user", "sessionId": "other", "message": {"content": "x"}}),
                OWN.to_owned(),
                Some(("other", Lineage::Branch)),
            ),
            (
                json!({"type": "user", "forkedFrom": {"sessionId": "f"}, "message": {"content": "x"}}),
                OWN.to_owned(),
                Some(("f", Lineage::Branch)),
            ),
        ] {
            let parsed = read(line.clone());
            let parent = parent.map(|(id, kind)| (id.to_owned(), kind));
            assert_eq!((parsed.session, parsed.facts.parent), (session, parent), "{line}");
        }
        let named = Reader::new("agent-a1").read(side.as_object().unwrap().clone());
        assert_eq!(named.skipped.as_deref(), Some("user"), "a line of no session was taken");
    }

    #[test]
    fn lines_without_a_message_are_skipped_by_type() {
        for (line, kind) in [
            (json!({"type": "file-history-snapshot", "uuid": null}), "file-history-snapshot"),
            (json!({"type": "progress"}), "progress"),
            (json!({"type": "never-seen"}), "never-seen"),
            (json!({"type": "system", "subtype": "turn_duration"}), "system/turn_duration"),
            (json!({"type": "attachment", "attachment": {"type": "file"}}), "attachment"),
            (json!({"type": 5}), "without a type"),
            (json!({"type": "user", "message": 5}), "user"),
            (json!({"type": "assistant", "message": {"content": []}}), "assistant"),
        ] {
            let parsed = read(line.clone());
            assert!(parsed.messages.is_empty(), "{line}");
            assert_eq!(parsed.skipped.as_deref(), Some(kind), "{line}");
        }
    }

    #[test]
    fn a_field_that_every_line_repeats_is_kept_where_it_changes() {
        let mut reader = Reader::new(OWN);
        let mut rest = |cwd: &str| {
            let line =
                json!({"type": "user", "uuid": "u", "cwd": cwd, "message": {"content": "x"}});
            let parsed = reader.read(line.as_object().unwrap().clone());
            parsed.messages[0].get("transcript").cloned()
        };
        assert_eq!(rest("/a"), None);
        assert_eq!(rest("/b"), Some(json!({"cwd": "/b"})));
        assert_eq!(rest("/a"), None);
    }
}
