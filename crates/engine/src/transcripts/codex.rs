//! Lines of Codex's transcripts ("rollouts"), in the wrapper of today and in the older form without
//! one. Items are identified by their position in the file, since most have no id. It must not
//! know files or the store.

use super::reader::{
    Facts, ParsedLine, ReportedUsage, TitleFact, TitledBy, content_of, message, text, time, tokens,
    tool_call,
};
use oneiro_model::{Lineage, Timestamp, Usage};
use serde_json::{Map, Value, json};

/// A reader of one file.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The session of the file: that of its first line. A fork repeats the lines of its origin,
    /// that line included.
    session: Option<String>,
    started_at: Option<Timestamp>,
    source: Option<&'static str>,
    model: Option<String>,
}

/// When a line was written, if it says, and the byte of the file it begins at.
#[derive(Debug, Clone, Copy)]
struct LinePosition {
    when: Option<Timestamp>,
    at: u64,
}

impl Reader {
    pub(super) fn read(&mut self, mut line: Map<String, Value>, at: u64) -> ParsedLine {
        let kind = text(&line, "type").map(str::to_owned);
        let position = LinePosition { when: time(&line, "timestamp").or(self.started_at), at };
        match (kind.as_deref(), line.remove("payload")) {
            (Some(kind), Some(Value::Object(payload))) => self.wrapped(kind, payload, position),
            (Some(kind), _) => self.item(kind.to_owned(), line, position),
            (None, _) if line.contains_key("id") && line.contains_key("timestamp") => {
                self.session_meta(line)
            }
            (None, _) => {
                ParsedLine::skipped(text(&line, "record_type").unwrap_or("without a type"))
            }
        }
    }

    fn wrapped(
        &mut self,
        kind: &str,
        payload: Map<String, Value>,
        position: LinePosition,
    ) -> ParsedLine {
        match kind {
            "session_meta" => self.session_meta(payload),
            "turn_context" => {
                self.model = text(&payload, "model").map(str::to_owned).or(self.model.take());
                let cwd = text(&payload, "cwd").map(str::to_owned);
                let facts = Facts { cwd, model: self.model.clone(), ..Facts::default() };
                self.facts(facts, kind)
            }
            "event_msg" => self.event(&payload),
            "response_item" => {
                let kind = text(&payload, "type").unwrap_or("without a type").to_owned();
                self.item(kind, payload, position)
            }
            "compacted" => match text(&payload, "message").filter(|words| !words.is_empty()) {
                Some(words) => {
                    let fields = [
                        ("content", words.into()),
                        ("kind", "compact_summary".into()),
                        ("trust", "agent".into()),
                    ];
                    self.parsed(message("system", fields), position)
                }
                None => ParsedLine::skipped(kind),
            },
            other => ParsedLine::skipped(other),
        }
    }

    /// The first line of a file.
    fn session_meta(&mut self, mut meta: Map<String, Value>) -> ParsedLine {
        let Some(id) = text(&meta, "id").map(str::to_owned) else {
            return ParsedLine::skipped("session_meta");
        };
        if let Some(own) = self.session.clone().filter(|own| *own != id) {
            let facts = Facts { parent: Some((id, Lineage::Branch)), ..Facts::default() };
            return ParsedLine {
                session: own,
                facts,
                skipped: Some("session_meta".to_owned()),
                ..ParsedLine::default()
            };
        }
        self.session = Some(id.clone());
        self.started_at = time(&meta, "timestamp");
        let spawned = meta.get("source").and_then(|source| source.get("subagent"));
        self.source = Some(if spawned.is_some() { "subagent" } else { "codex" });
        let parent = spawned
            .and_then(|spawned| spawned.get("thread_spawn"))
            .and_then(|spawn| spawn.get("parent_thread_id"))
            .and_then(Value::as_str)
            .map(|parent| (parent.to_owned(), Lineage::Delegate));
        let fork = text(&meta, "forked_from_id").map(|origin| (origin.to_owned(), Lineage::Branch));
        let prompt = meta.get("base_instructions").and_then(|base| base.get("text"));
        let prompt = prompt.and_then(Value::as_str).or(text(&meta, "instructions"));
        let mut facts = Facts {
            source: self.source,
            started_at: self.started_at,
            cwd: text(&meta, "cwd").map(str::to_owned),
            system_prompt: prompt.filter(|prompt| !prompt.is_empty()).map(str::to_owned),
            parent: parent.or(fork).filter(|(parent, _)| *parent != id),
            ..Facts::default()
        };
        for mapped in ["id", "timestamp", "cwd", "base_instructions", "instructions", "type"] {
            meta.shift_remove(mapped);
        }
        meta.retain(|_, value| !value.is_null());
        facts.metadata = meta;
        ParsedLine {
            session: id,
            facts,
            skipped: Some("session_meta".to_owned()),
            ..ParsedLine::default()
        }
    }

    /// An event of the user interface. Turns are items too, so they are not read here.
    fn event(&mut self, event: &Map<String, Value>) -> ParsedLine {
        let kind = text(event, "type").unwrap_or("event_msg");
        match kind {
            "token_count" => {
                let total = event.get("info").and_then(|info| info.get("total_token_usage"));
                let Some(Value::Object(total)) = total else { return ParsedLine::skipped(kind) };
                let usage = total_usage(total);
                let model = self.model.clone().unwrap_or_default();
                let parsed = self.facts(Facts::default(), kind);
                ParsedLine { usage: Some(ReportedUsage::Total { model, usage }), ..parsed }
            }
            "thread_name_updated" => {
                let title = text(event, "thread_name").map(|name| TitleFact {
                    text: name.to_owned(),
                    by: TitledBy::Person,
                    of_message: None,
                });
                self.facts(Facts { titles: title.into_iter().collect(), ..Facts::default() }, kind)
            }
            _ => ParsedLine::skipped(kind),
        }
    }

    /// A piece of the conversation.
    fn item(
        &mut self,
        kind: String,
        mut item: Map<String, Value>,
        position: LinePosition,
    ) -> ParsedLine {
        let field = |name: &str| item.get(name).cloned().unwrap_or(Value::Null);
        let call = |name: &str, arguments: &Value| {
            let id = item.get("call_id").or(item.get("id")).cloned().unwrap_or(Value::Null);
            let calls = Value::Array(vec![tool_call(id, name, arguments)]);
            message("assistant", [("content", Value::Null), ("tool_calls", calls)])
        };
        let name = text(&item, "name").unwrap_or_default();
        let made = match kind.as_str() {
            "message" => turn(&item),
            "reasoning" => reasoning(&item),
            "function_call" => Some(call(name, &field("arguments"))),
            "custom_tool_call" => Some(call(name, &field("input"))),
            "local_shell_call" => Some(call("local_shell", &field("action"))),
            other => match (other.strip_suffix("_call"), item.contains_key("call_id")) {
                (Some(tool), _) => {
                    let given = ["action", "arguments", "input"].into_iter();
                    let given = given.map(field).find(|value| !value.is_null());
                    Some(call(tool, &given.unwrap_or_else(|| json!({}))))
                }
                (None, true) if other.ends_with("_output") => Some(output(&item)),
                _ => None,
            },
        };
        let Some(mut made) = made else {
            let is_hidden = kind == "reasoning";
            return ParsedLine::skipped(if is_hidden {
                "reasoning that is encrypted"
            } else {
                &kind
            });
        };
        let cwd = (kind == "message").then(|| working_folder(&item)).flatten();
        for mapped in [
            "type",
            "role",
            "content",
            "name",
            "arguments",
            "input",
            "action",
            "output",
            "call_id",
            "summary",
            "encrypted_content",
            "timestamp",
        ] {
            item.shift_remove(mapped);
        }
        item.retain(|_, value| !value.is_null());
        if let Value::Object(body) = &mut made {
            if body.get("role") == Some(&Value::from("assistant"))
                && let Some(model) = &self.model
            {
                body.insert("model".to_owned(), model.as_str().into());
            }
            if !item.is_empty() {
                body.insert("transcript".to_owned(), Value::Object(item));
            }
        }
        let mut parsed = self.parsed(made, position);
        parsed.facts.cwd = cwd;
        parsed
    }

    fn parsed(&self, mut made: Value, position: LinePosition) -> ParsedLine {
        let Some(session) = self.session.clone() else {
            return ParsedLine::skipped("before the session is named");
        };
        if let Value::Object(body) = &mut made {
            if let Some(when) = position.when {
                body.insert("at".to_owned(), when.to_string().into());
            }
            body.insert("external_id".to_owned(), format!("@{}", position.at).into());
        }
        let facts = Facts {
            source: self.source,
            started_at: self.started_at.or(position.when),
            model: self.model.clone(),
            ..Facts::default()
        };
        ParsedLine { session, facts, messages: vec![made], ..ParsedLine::default() }
    }

    fn facts(&self, facts: Facts, kind: &str) -> ParsedLine {
        let session = self.session.clone().unwrap_or_default();
        ParsedLine { session, facts, skipped: Some(kind.to_owned()), ..ParsedLine::default() }
    }
}

/// Whether Codex writes lines like this one: wrapped, or the line that opens a file of the older
/// form, without which no other line of it is read.
pub(super) fn is_known(line: &Map<String, Value>) -> bool {
    match text(line, "type") {
        Some(_) => line.get("payload").is_some_and(Value::is_object),
        None => ["id", "timestamp"].iter().all(|name| text(line, name).is_some()),
    }
}

/// A message of the person, the agent or the harness.
fn turn(item: &Map<String, Value>) -> Option<Value> {
    let blocks = match item.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().map(block).collect(),
        Some(Value::String(words)) => vec![json!({"type": "text", "text": words})],
        _ => return None,
    };
    let role = text(item, "role").unwrap_or("user");
    (!blocks.is_empty()).then(|| message(role, [("content", content_of(blocks))]))
}

/// A part of content under the names that OpenAI's chat messages use.
fn block(block: &Value) -> Value {
    let kind = block.get("type").and_then(Value::as_str);
    match (kind, block.get("text"), block.get("image_url")) {
        (Some("input_text" | "output_text"), Some(words), _) => {
            json!({"type": "text", "text": words})
        }
        (Some("input_image"), _, Some(Value::String(url))) => {
            json!({"type": "image_url", "image_url": {"url": url}})
        }
        _ => block.clone(),
    }
}

/// Thinking that can be read; most is encrypted.
fn reasoning(item: &Map<String, Value>) -> Option<Value> {
    let texts = ["summary", "content"].into_iter().filter_map(|name| item.get(name)?.as_array());
    let texts: Vec<&str> =
        texts.flatten().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    let words = texts.join("\n\n");
    let fields = [("content", Value::Null), ("reasoning", words.as_str().into())];
    (!words.is_empty()).then(|| message("assistant", fields))
}

/// What a tool answered. Some versions wrap it once more, as JSON in a string.
fn output(item: &Map<String, Value>) -> Value {
    let field = |name: &str| item.get(name).cloned().unwrap_or(Value::Null);
    let content = match field("output") {
        Value::Object(mut wrapped) => {
            wrapped.shift_remove("content").unwrap_or(Value::Object(wrapped))
        }
        other => other,
    };
    message("tool", [("tool_call_id", field("call_id")), ("content", content)])
}

/// The working folder, where only the first turn tells it.
fn working_folder(item: &Map<String, Value>) -> Option<String> {
    let first = item.get("content")?.as_array()?.first()?;
    let words = first.get("text")?.as_str()?;
    words.trim_start().starts_with("<environment_context>").then_some(())?;
    let (_, rest) =
        words.split_once("<cwd>").or_else(|| words.split_once("Current working directory: "))?;
    let end = rest.find(['<', '\n']).unwrap_or(rest.len());
    rest.get(..end).map(|folder| folder.trim().to_owned()).filter(|folder| !folder.is_empty())
}

/// The usage of a session so far. Cached input is part of the input here.
fn total_usage(total: &Map<String, Value>) -> Usage {
    let cached = tokens(total, "cached_input_tokens");
    Usage {
        input_tokens: (tokens(total, "input_tokens") - cached).max(0),
        output_tokens: tokens(total, "output_tokens"),
        cache_read_tokens: cached,
        reasoning_tokens: tokens(total, "reasoning_output_tokens"),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> Reader {
        let mut reader = Reader::default();
        let meta = json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload":
            {"id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/srv/ann/hive", "source": "cli",
             "base_instructions": {"text": "be good"}, "git": {"branch": "main"}}});
        let parsed = reader.read(meta.as_object().unwrap().clone(), 0);
        assert_eq!(
            (parsed.session.as_str(), parsed.facts.cwd.as_deref()),
            ("s", Some("/srv/ann/hive"))
        );
        assert_eq!(parsed.facts.system_prompt.as_deref(), Some("be good"));
        assert_eq!(parsed.facts.metadata["git"]["branch"], "main");
        reader
    }

    fn read(payload: Value) -> ParsedLine {
        let line = json!({"timestamp": "2026-01-01T00:00:09Z", "type": "response_item", "payload": payload});
        reader().read(line.as_object().unwrap().clone(), 77)
    }

    fn words(role: &str, text: &str) -> Value {
        json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
    }

    #[test]
    fn a_message_keeps_its_role_and_gets_its_position_as_external_id() {
        for (payload, role) in [
            (words("user", "hello"), "user"),
            (words("assistant", "hi"), "assistant"),
            (words("developer", "be careful"), "developer"),
        ] {
            let parsed = read(payload.clone());
            let [message] = parsed.messages.as_slice() else { panic!("{payload}") };
            assert_eq!(message["role"], role, "{payload}");
            assert_eq!(message["external_id"], "@77");
        }
    }

    #[test]
    fn calls_and_their_results_become_messages() {
        for (payload, name, arguments) in [
            (
                json!({"type": "function_call", "name": "f", "arguments": "{\"a\":1}", "call_id": "c"}),
                "f",
                "{\"a\":1}",
            ),
            (
                json!({"type": "custom_tool_call", "name": "p", "input": "*** Begin", "call_id": "c"}),
                "p",
                "*** Begin",
            ),
            (
                json!({"type": "local_shell_call", "action": {"command": ["ls"]}, "call_id": "c"}),
                "local_shell",
                "{\"command\":[\"ls\"]}",
            ),
            (
                json!({"type": "web_search_call", "action": {"query": "q"}, "id": "c"}),
                "web_search",
                "{\"query\":\"q\"}",
            ),
            (
                json!({"type": "new_kind_call", "arguments": {"x": 1}, "call_id": "c"}),
                "new_kind",
                "{\"x\":1}",
            ),
        ] {
            let parsed = read(payload.clone());
            let [message] = parsed.messages.as_slice() else { panic!("{payload}") };
            let call = &message["tool_calls"][0];
            assert_eq!(
                (call["id"].as_str(), call["function"]["name"].as_str()),
                (Some("c"), Some(name))
            );
            assert_eq!(call["function"]["arguments"], arguments, "{payload}");
        }
        for (output, content) in [
            (json!("done"), json!("done")),
            (json!({"content": "done", "success": true}), json!("done")),
            (
                json!([{"type": "input_text", "text": "done"}]),
                json!([{"type": "input_text", "text": "done"}]),
            ),
        ] {
            let parsed =
                read(json!({"type": "function_call_output", "call_id": "c", "output": output}));
            assert_eq!(
                (&parsed.messages[0]["role"], &parsed.messages[0]["content"]),
                (&json!("tool"), &content)
            );
        }
    }

    #[test]
    fn lines_without_a_message_are_skipped_by_type() {
        for (payload, kind) in [
            (json!({"type": "ghost_snapshot"}), "ghost_snapshot"),
            (
                json!({"type": "reasoning", "summary": [], "encrypted_content": "x"}),
                "reasoning that is encrypted",
            ),
            (json!({"type": "message", "role": "user", "content": []}), "message"),
            (json!({"no": "type"}), "without a type"),
        ] {
            assert_eq!(read(payload.clone()).skipped.as_deref(), Some(kind), "{payload}");
        }
        let early = json!({"type": "message", "role": "user", "content": "x"});
        let parsed = Reader::default().read(early.as_object().unwrap().clone(), 0);
        assert_eq!(parsed.skipped.as_deref(), Some("before the session is named"));
    }

    #[test]
    fn a_fork_and_a_subagent_name_their_parents() {
        let mut fork = reader();
        let copied = json!({"type": "session_meta", "payload": {"id": "origin"}});
        let parsed = fork.read(copied.as_object().unwrap().clone(), 50);
        assert_eq!(
            (parsed.session.as_str(), parsed.facts.parent),
            ("s", Some(("origin".to_owned(), Lineage::Branch)))
        );
        let spawned = json!({"type": "session_meta", "payload": {"id": "c", "source":
            {"subagent": {"thread_spawn": {"parent_thread_id": "s", "depth": 1}}}}});
        let parsed = Reader::default().read(spawned.as_object().unwrap().clone(), 0);
        assert_eq!(parsed.facts.source, Some("subagent"));
        assert_eq!(parsed.facts.parent, Some(("s".to_owned(), Lineage::Delegate)));
    }

    #[test]
    fn totals_and_names_come_from_events() {
        let mut reader = reader();
        let mut event = |payload: Value| {
            let line = json!({"type": "event_msg", "payload": payload});
            reader.read(line.as_object().unwrap().clone(), 9)
        };
        let parsed = event(json!({"type": "token_count", "info": {"total_token_usage":
            {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3, "reasoning_output_tokens": 2}}}));
        let Some(ReportedUsage::Total { usage, .. }) = parsed.usage else { panic!("no usage") };
        assert_eq!((usage.input_tokens, usage.cache_read_tokens), (6, 4));
        assert_eq!((usage.output_tokens, usage.reasoning_tokens), (3, 2));
        let parsed = event(json!({"type": "thread_name_updated", "thread_name": "Hive"}));
        assert_eq!(parsed.facts.titles[0].text, "Hive");
        assert!(event(json!({"type": "user_message", "message": "again"})).messages.is_empty());
    }
}
