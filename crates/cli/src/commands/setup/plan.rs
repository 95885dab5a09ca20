//! What setup would do to one file of one agent, and what would undo it. Nothing is written here.

use super::edit::{Change, Original, Refusal};
use super::entry::{EVENTS, NAME, Program, hook_for, to_paste};
use super::mask::mask_secrets;
use super::record::{AppliedChange, Record};
use super::{json_text, toml_text, yaml_text};
use crate::agents::{AgentRow, Form};
use oneiro::Result;
use serde_json::Value;
use std::path::PathBuf;

/// What is put into a file of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The entry of the MCP server.
    Mcp,
    /// The hooks that capture what is said.
    Hooks,
    /// A file of the plugin: the skill, or a command.
    Plugin,
}

impl What {
    /// The name in answers and in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            What::Mcp => "mcp",
            What::Hooks => "hooks",
            What::Plugin => "plugin",
        }
    }
}

/// The outcome for a file.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing needs to be done.
    Nothing,
    /// The file is replaced, or removed when the text is `None`.
    Replace {
        /// The whole new text.
        text: Option<String>,
        /// What was changed to make it.
        changes: Vec<Change>,
    },
    /// The file is left alone; a person can do it by hand.
    ByHand {
        /// Why it is left alone.
        why: String,
        /// What to write into it.
        entry: String,
    },
}

/// The plan for one file of one agent.
#[derive(Debug)]
pub struct Plan {
    /// The agent.
    pub agent: &'static AgentRow,
    /// What is put in or taken out.
    pub what: What,
    /// The file as it is.
    pub original: Original,
    /// What is put in.
    pub value: Value,
    /// What is done to it.
    pub outcome: Outcome,
    /// What setup wrote into the file before, if that is replaced.
    replaced: Option<AppliedChange>,
}

impl Plan {
    /// The plan for a whole file with this text.
    pub fn of_file(
        (agent, what): (&'static AgentRow, What),
        original: Original,
        text: &str,
        outcome: Outcome,
    ) -> Plan {
        Plan { agent, what, original, value: Value::from(text), outcome, replaced: None }
    }

    /// Puts something into a file; `None` when the agent has no place for it. What setup wrote
    /// there before, for another store, gives way; what others wrote does not.
    pub fn add(
        agent: &'static AgentRow,
        what: What,
        (program, record): (&Program, &Record),
    ) -> Result<Option<Plan>> {
        let Some((path, value)) = subject(agent, what, program) else { return Ok(None) };
        let original = Original::read(&path)?;
        let put_in = |text: &str| {
            let changes = match what {
                What::Mcp => put(agent.mcp_form, text, &value)?.into_iter().collect(),
                What::Hooks => put_hooks(text, &value)?,
                What::Plugin => Vec::new(),
            };
            applied(text, changes)
        };
        let mut replaced = None;
        let added = original.text().and_then(|text| match put_in(text) {
            Ok(None) => Ok(None),
            added => {
                let done = record.find(agent.name, what.as_str(), &path);
                let without = done.and_then(|done| without_own_entry((agent, what), done, text));
                // The changes are told from the text without any of ours, so that taking them back
                // leads there, however often something else was put in.
                match without.map(|text| put_in(&text)) {
                    Some(Ok(Some(added))) => {
                        replaced = done.cloned();
                        Ok(Some(added))
                    }
                    _ => added,
                }
            }
        });
        let outcome = match added {
            Ok(None) => Outcome::Nothing,
            Ok(Some((text, changes))) => Outcome::Replace { text: Some(text), changes },
            Err(Refusal(why)) => Outcome::ByHand { why, entry: manual_entry(agent, what, &value) },
        };
        Ok(Some(Plan { agent, what, original, value, outcome, replaced }))
    }

    /// Whether it replaces something that setup wrote.
    pub fn replaces_own_entry(&self) -> bool {
        self.replaced.is_some()
    }

    /// Takes it out again: exactly what the record says was put in, or, where the file was written
    /// since then, the entry that says the same.
    pub fn remove(
        agent: &'static AgentRow,
        what: What,
        (program, record): (&Program, &Record),
    ) -> Result<Option<Plan>> {
        let Some((path, wanted)) = subject(agent, what, program) else { return Ok(None) };
        let original = Original::read(&path)?;
        let done = record.find(agent.name, what.as_str(), &path);
        let value = done.map_or(wanted, |done| done.value.clone());
        let removed =
            original.text().and_then(|text| match done.and_then(|done| reverted(done, text)) {
                Some(text) => Ok(Some(text)),
                None => without_equal_entry((agent, what), text, &value),
            });
        let outcome = match removed {
            Ok(None) => Outcome::Nothing,
            Ok(Some(text)) => {
                let is_left = !matches!(text.trim(), "" | "{}");
                let is_made = done.is_some_and(|done| done.created);
                let text = (is_left || !is_made).then_some(text);
                Outcome::Replace { text, changes: Vec::new() }
            }
            // Where nothing is known to have been added, nothing is asked of anybody.
            Err(_) if done.is_none() => Outcome::Nothing,
            Err(Refusal(why)) => Outcome::ByHand { why, entry: manual_entry(agent, what, &value) },
        };
        Ok(Some(Plan { agent, what, original, value, outcome, replaced: None }))
    }

    /// The record of a change that is about to be made.
    pub fn applied(&self) -> Option<AppliedChange> {
        let Outcome::Replace { changes, .. } = &self.outcome else { return None };
        Some(AppliedChange {
            agent: self.agent.name.to_owned(),
            what: self.what.as_str().to_owned(),
            path: self.original.path.clone(),
            created: match &self.replaced {
                Some(replaced) => replaced.created,
                None => !self.original.exists(),
            },
            changes: changes.clone(),
            value: self.value.clone(),
        })
    }

    /// The difference it makes to the file, with secrets masked.
    pub fn diff(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Replace { text, .. } => {
                Some(mask_secrets(&self.original.diff(text.as_deref())))
            }
            _ => None,
        }
    }
}

/// The file, and what belongs into it.
fn subject(agent: &AgentRow, what: What, program: &Program) -> Option<(PathBuf, Value)> {
    match what {
        What::Mcp => Some((agent.mcp_file()?, program.server(agent))),
        What::Hooks => Some((agent.hooks_file()?, program.hook(agent.transcripts()?))),
        // Its files are planned one by one.
        What::Plugin => None,
    }
}

fn manual_entry(agent: &AgentRow, what: What, value: &Value) -> String {
    match what {
        What::Mcp => to_paste(agent.mcp_form, value),
        What::Plugin => value.as_str().unwrap_or_default().to_owned(),
        What::Hooks => {
            let lists = EVENTS
                .iter()
                .map(|event| ((*event).to_owned(), Value::from(vec![hook_for(event, value)])));
            let hooks = serde_json::json!({"hooks": Value::Object(lists.collect())});
            serde_json::to_string_pretty(&hooks).unwrap_or_default()
        }
    }
}

fn put(form: Form, text: &str, value: &Value) -> Result<Option<Change>, Refusal> {
    match form {
        Form::Json(path) => json_text::put(text, &[path, &[NAME]].concat(), value),
        Form::Toml(group) => toml_text::put(text, (group, NAME), value),
        Form::Yaml(group) => yaml_text::put(text, (group, NAME), value),
    }
}

fn put_hooks(text: &str, value: &Value) -> Result<Vec<Change>, Refusal> {
    let mut text = text.to_owned();
    let mut changes = Vec::new();
    for event in EVENTS {
        let value = &hook_for(event, value);
        let is_there = |element: &Value| calls_same(element, value);
        let is_other = |element: &Value| calls_us(element) && !is_there(element);
        if json_text::has(&text, &["hooks", event], &is_other)? {
            return Err(Refusal::new(format!("there is another hook for {event:?} already")));
        }
        let Some(change) = json_text::push(&text, &["hooks", event], value, &is_there)? else {
            continue;
        };
        text = change.apply(&text).ok_or_else(|| Refusal::new("a hook has no place"))?;
        changes.push(change);
    }
    Ok(changes)
}

/// Whether two hooks run the same command.
fn calls_same(one: &Value, other: &Value) -> bool {
    let one: Vec<&str> = commands(one).collect();
    commands(other).any(|command| one.contains(&command))
}

/// Whether a hook captures what is said, with whatever store.
fn calls_us(hook: &Value) -> bool {
    commands(hook).any(|command| command.contains(" hook claude-code"))
}

fn commands(hook: &Value) -> impl Iterator<Item = &str> {
    let list = hook.get("hooks").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|hook| hook.get("command")?.as_str())
}

/// The text with all changes; `None` when there are none.
fn applied(text: &str, changes: Vec<Change>) -> Result<Option<(String, Vec<Change>)>, Refusal> {
    let mut text = text.to_owned();
    for change in &changes {
        text = change.apply(&text).ok_or_else(|| Refusal::new("a change has no place"))?;
    }
    Ok((!changes.is_empty()).then_some((text, changes)))
}

/// The text without what was put in, if all of it stands there as it was written.
fn reverted(done: &AppliedChange, text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for change in done.changes.iter().rev() {
        text = change.revert(&text)?;
    }
    (!done.changes.is_empty()).then_some(text)
}

/// The text without what setup put in, if that is unchanged.
fn without_own_entry(
    subject: (&AgentRow, What),
    done: &AppliedChange,
    text: &str,
) -> Option<String> {
    reverted(done, text).or_else(|| without_equal_entry(subject, text, &done.value).ok().flatten())
}

/// The text without the entry, if it says what was put in. One that somebody changed is theirs.
fn without_equal_entry(
    (agent, what): (&AgentRow, What),
    text: &str,
    value: &Value,
) -> Result<Option<String>, Refusal> {
    if text.trim_start_matches('\u{FEFF}').trim().is_empty() {
        return Ok(None);
    }
    let mut text = text.to_owned();
    let mut is_changed = false;
    loop {
        let change = match what {
            What::Mcp => take(agent.mcp_form, &text, value)?,
            What::Plugin => None,
            What::Hooks => {
                let mut found = None;
                for event in EVENTS {
                    let own = hook_for(event, value);
                    let is_ours = |element: &Value| *element == own;
                    found = found.or(json_text::pull(&text, &["hooks", event], &is_ours)?);
                }
                found
            }
        };
        let Some(change) = change else { return Ok(is_changed.then_some(text)) };
        text = change.apply(&text).ok_or_else(|| Refusal::new("the entry has no place"))?;
        is_changed = true;
    }
}

fn take(form: Form, text: &str, value: &Value) -> Result<Option<Change>, Refusal> {
    let is_changed = || Refusal::new(format!("the entry {NAME:?} is not as setup wrote it"));
    match form {
        Form::Json(path) => {
            let path = [path, &[NAME]].concat();
            match json_text::put(text, &path, value)? {
                None => json_text::take(text, &path),
                Some(_) => Ok(None),
            }
        }
        Form::Toml(group) => match toml_text::get(text, (group, NAME)) {
            None => Ok(None),
            Some(found) if found == *value => toml_text::take(text, (group, NAME)),
            Some(_) => Err(is_changed()),
        },
        Form::Yaml(group) => {
            if yaml_text::is(text, (group, NAME), value) {
                yaml_text::take(text, (group, NAME))
            } else {
                Ok(None)
            }
        }
    }
}
