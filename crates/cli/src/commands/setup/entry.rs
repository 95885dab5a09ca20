//! What is added to an agent's files: the entry that starts `oneiro mcp`, and the hooks that call
//! `oneiro hook`. It must not know how files are changed.

use super::{toml_text, yaml_text};
use crate::agents::{AgentRow, EntryForm, Form};
use crate::config::{Origin, is_on_path};
use crate::context::Context;
use oneiro::{Agent, Error, Result};
use serde_json::{Value, json};
use std::path::Path;

/// The name of the server in every agent's file.
pub const NAME: &str = "oneiro";

/// The events of Claude Code that are captured.
pub const EVENTS: [&str; 6] =
    ["Stop", "SubagentStop", "PreCompact", "SessionEnd", "SessionStart", "UserPromptSubmit"];

/// Events to which the agent adds what the hook prints, so that it waits for it.
const AWAITED_EVENTS: [&str; 2] = ["SessionStart", "UserPromptSubmit"];

/// Seconds that the agent waits for such a hook.
const AWAITED_TIMEOUT: u64 = 2;

/// The hook for an event, made from the one for the end of a turn.
pub fn hook_for(event: &str, hook: &Value) -> Value {
    let mut hook = hook.clone();
    let entries = hook.get_mut("hooks").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
        if AWAITED_EVENTS.contains(&event) {
            entry.remove("async");
            entry.insert("timeout".to_owned(), AWAITED_TIMEOUT.into());
        }
    }
    hook
}

/// Seconds after which the agent ends a hook.
const HOOK_TIMEOUT: u64 = 10;

/// How this program is started by others.
#[derive(Debug, Clone)]
pub struct Program {
    /// How a shell finds it.
    command: String,
    /// Where it is.
    path: String,
    /// The store and space that the person named, which the agent has to name again.
    flags: Vec<String>,
}

impl Program {
    /// This program, with the store that the person named, if any.
    pub fn of(context: &Context) -> Result<Program> {
        let program = std::env::current_exe().map_err(|error| {
            Error::internal(format!("this program cannot tell where it is: {error}"))
        })?;
        let path = program.to_string_lossy().into_owned();
        let command = if is_on_path(NAME, &program) { NAME.to_owned() } else { path.clone() };
        let mut flags = Vec::new();
        for (name, value) in &context.config.values {
            if value.origin == Origin::Flag && matches!(*name, "store" | "space") {
                let value =
                    if *name == "store" { absolute(&value.value) } else { value.value.clone() };
                flags.extend([format!("--{name}"), value]);
            }
        }
        Ok(Program { command, path, flags })
    }

    /// The entry that an agent starts the server by.
    pub fn server(&self, agent: &AgentRow) -> Value {
        let mut args = vec!["mcp".to_owned()];
        args.extend(self.flags.iter().cloned());
        let command = if agent.has_shell_path() { &self.command } else { &self.path };
        match agent.mcp_entry {
            EntryForm::CommandAndArgs => json!({"command": command, "args": args}),
            EntryForm::Stdio => json!({"type": "stdio", "command": command, "args": args}),
            EntryForm::Enabled => json!({"enabled": true, "command": command, "args": args}),
            EntryForm::Local => {
                args.insert(0, command.to_owned());
                json!({"type": "local", "command": args, "enabled": true})
            }
        }
    }

    /// The hook that captures new turns.
    pub fn hook(&self, agent: Agent) -> Value {
        let words = [self.command.as_str(), "hook", agent.as_str()].into_iter();
        let words = words.chain(self.flags.iter().map(String::as_str)).map(quoted);
        let command = words.collect::<Vec<_>>().join(" ");
        json!({"hooks": [
            {"type": "command", "command": command, "async": true, "timeout": HOOK_TIMEOUT},
        ]})
    }
}

/// A store that is a path is one wherever the agent runs.
fn absolute(store: &str) -> String {
    if store.contains("://") {
        store.to_owned()
    } else {
        std::path::absolute(Path::new(store))
            .map_or_else(|_| store.to_owned(), |path| path.to_string_lossy().into_owned())
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@,+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// An entry as a person would write it into an agent's file.
pub fn to_paste(form: Form, entry: &Value) -> String {
    match form {
        Form::Toml(group) => toml_text::table((group, NAME), entry),
        Form::Yaml(group) => format!("{group}:\n{}", yaml_text::lines(NAME, entry, ("  ", "\n"))),
        Form::Json(path) => {
            let named = json!({NAME: entry});
            let whole = path.iter().rev().fold(named, |inner, name| json!({*name: inner}));
            serde_json::to_string_pretty(&whole).unwrap_or_default()
        }
    }
}
