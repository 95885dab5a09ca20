//! The files of the plugin that Claude Code reads from its own folder: a skill that says when to recall
//! and remember, and the commands `/remember`, `/recall` and `/why`.

use super::edit::{Change, Original};
use super::plan::{Outcome, Plan, What};
use super::record::Record;
use super::{Changed, SetupArgs};
use crate::agents::AgentRow;
use crate::context::Context;
use crate::output::{data, plain};
use oneiro::{Agent, Result};
use std::path::Path;

/// A file of the plugin: its place below the agent's folder, and its text.
struct PluginFile {
    place: &'static str,
    text: &'static str,
}

/// A file of `plugins/claude-code` that has the same place below the agent's folder.
macro_rules! plugin_file {
    ($place:literal) => {
        PluginFile {
            place: $place,
            text: include_str!(concat!("../../../../../plugins/claude-code/", $place)),
        }
    };
}

/// The parts of the plugin that are files; the server and the hooks are entries of other files.
const FILES: [PluginFile; 4] = [
    plugin_file!("skills/oneiro/SKILL.md"),
    plugin_file!("commands/remember.md"),
    plugin_file!("commands/recall.md"),
    plugin_file!("commands/why.md"),
];

impl SetupArgs {
    /// Adds or removes the files of the plugin, after one question for all of them.
    pub(super) fn change_plugin(
        &self,
        context: &Context,
        agent: &'static AgentRow,
        record: &mut Record,
    ) -> anyhow::Result<Vec<Changed>> {
        let Some(home) = agent.home().filter(|_| agent.transcripts() == Some(Agent::ClaudeCode))
        else {
            return Ok(Vec::new());
        };
        let mut changed = Vec::new();
        for file in &FILES {
            let path = home.join(file.place);
            let plan = if self.undo {
                plan_to_remove(agent, file, (&path, record))?
            } else {
                plan_to_add(agent, file, (&path, record))?
            };
            let shown = self.describe(&plan);
            if !context.output.json && !shown.is_empty() {
                data(&context.style.diff(&plain(&shown)))?;
            }
            changed.push(Changed { plan, is_written: false, error: None });
        }
        let has_changes =
            changed.iter().any(|one| matches!(one.plan.outcome, Outcome::Replace { .. }));
        let verb = if self.undo { "Remove" } else { "Add" };
        let question = format!("{verb} the skill and the commands in {}?", home.display());
        if self.dry_run || !has_changes || !self.agrees(context, &question)? {
            return Ok(changed);
        }
        for one in &mut changed {
            if !self.undo
                && let Some(folder) = one.plan.original.path.parent()
            {
                std::fs::create_dir_all(folder)?;
            }
            self.apply(one, record)?;
            if self.undo && one.is_written {
                remove_empty_folders(&one.plan.original.path, &home);
            }
        }
        Ok(changed)
    }
}

/// Writes a file that is not there, or that setup wrote; what others wrote stays.
fn plan_to_add(
    agent: &'static AgentRow,
    file: &PluginFile,
    (path, record): (&Path, &Record),
) -> Result<Plan> {
    let original = Original::read(path)?;
    let outcome = match original.text() {
        Ok(text) if text == file.text => Outcome::Nothing,
        Ok(text) if !original.exists() || is_recorded(agent, (path, record), text) => {
            let changes = vec![Change::between(text, file.text)];
            Outcome::Replace { text: Some(file.text.to_owned()), changes }
        }
        _ => Outcome::ByHand {
            why: "another file has its place".to_owned(),
            entry: file.text.to_owned(),
        },
    };
    Ok(Plan::of_file((agent, What::Plugin), original, file.text, outcome))
}

/// Removes a file that is as setup wrote it.
fn plan_to_remove(
    agent: &'static AgentRow,
    file: &PluginFile,
    (path, record): (&Path, &Record),
) -> Result<Plan> {
    let original = Original::read(path)?;
    let is_recorded_at = record.find(agent.name, What::Plugin.as_str(), path).is_some();
    let outcome = match original.text() {
        _ if !original.exists() => Outcome::Nothing,
        Ok(text) if text == file.text || is_recorded(agent, (path, record), text) => {
            Outcome::Replace { text: None, changes: Vec::new() }
        }
        _ if !is_recorded_at => Outcome::Nothing,
        _ => Outcome::ByHand { why: "somebody changed it".to_owned(), entry: file.text.to_owned() },
    };
    Ok(Plan::of_file((agent, What::Plugin), original, file.text, outcome))
}

/// Whether setup wrote this text into a file.
fn is_recorded(agent: &AgentRow, (path, record): (&Path, &Record), text: &str) -> bool {
    let done = record.find(agent.name, What::Plugin.as_str(), path);
    done.is_some_and(|done| done.value == text)
}

/// Removes the folders of a removed file that are empty now, below the agent's folder.
fn remove_empty_folders(file: &Path, home: &Path) {
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != home) {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
}
