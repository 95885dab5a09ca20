//! `oneiro setup`: find the agents of this machine, show what each has, import what can be, and let
//! each of them use this memory, changing nothing else in their files.

mod ask;
mod edit;
mod entry;
mod json_text;
mod look;
mod plan;
mod record;
#[cfg(test)]
mod tests;
mod toml_text;
mod took;
mod yaml_text;

use self::entry::Program;
use self::look::{Looked, look};
use self::plan::{Outcome, Plan, What};
use self::record::Record;
use self::took::{Offer, Took};
use super::import::Scratch;
use crate::agents::{AGENTS, AgentRow};
use crate::context::Context;
use crate::output::{bytes, count, data, plain, table};
use clap::Args;
use oneiro::Error;
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Find the agents on this machine, import what they said, and let them use this memory
///
/// Shows what each agent has and the exact change to its file before anything is written, and asks.
/// Nothing else in the files is touched; --undo takes back what was added.
#[derive(Debug, Args)]
pub struct SetupArgs {
    /// Only these agents: claude-code, codex, hermes, openclaw, nanobot, picoclaw
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Do not ask; needed where there is no terminal to ask at
    #[arg(long, short)]
    yes: bool,
    /// Show what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Take back what setup added to the files of agents; what was imported stays
    #[arg(long)]
    undo: bool,
    /// Import nothing
    #[arg(long)]
    no_import: bool,
    /// Also let Claude Code call `oneiro hook` after each turn, so that nothing waits for an import
    #[arg(long)]
    hooks: bool,
}

/// What became of one file.
struct Changed {
    plan: Plan,
    is_written: bool,
    error: Option<Error>,
}

impl SetupArgs {
    /// Sets up, or takes back.
    pub fn run(mut self, context: &Context) -> anyhow::Result<()> {
        let agents = self.chosen()?;
        let is_person = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        // Where nobody can be asked and nobody has agreed, everything is shown and nothing is done.
        let is_refused = !self.dry_run && !self.yes && (context.output.json || !is_person);
        self.dry_run |= is_refused;
        let looked = agents.iter().map(|agent| look(agent)).collect::<oneiro::Result<Vec<_>>>()?;
        let present: Vec<&'static AgentRow> = agents
            .iter()
            .zip(&looked)
            .filter(|(_, looked)| looked.found)
            .map(|(agent, _)| *agent)
            .collect();
        if !context.output.json {
            data(&overview(&looked))?;
        }
        if present.is_empty() && !context.output.json {
            return data(&nobody(&looked));
        }
        if let Some(words) = self.hookless(&agents).filter(|_| !context.output.json) {
            data(&words)?;
        }
        let changed = self.change(context, &present)?;
        let imported = match self.no_import || self.undo {
            true => Vec::new(),
            false => self.import(context, &present)?,
        };
        if context.output.json {
            data(&answer(&looked, &changed, &imported).to_string())?;
        } else if !self.undo && !self.dry_run {
            let is_written = changed.iter().any(|changed| changed.is_written);
            data(&self.next_steps(&present, is_written))?;
        }
        let is_waiting = changed.iter().any(|changed| changed.plan.diff().is_some())
            || imported.iter().any(|(_, took)| took.messages() > 0);
        if is_refused && is_waiting {
            return Err(Error::invalid("nothing was changed: there is nobody to ask")
                .remedy("read what would be done, then run it with --yes")
                .into());
        }
        let failed = changed.into_iter().find_map(|changed| changed.error);
        match failed.or(imported.into_iter().find_map(|(_, took)| took.error())) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    fn chosen(&self) -> oneiro::Result<Vec<&'static AgentRow>> {
        if self.agents.is_empty() {
            return Ok(AGENTS.iter().collect());
        }
        let find = |name: &String| {
            AGENTS.iter().find(|agent| agent.name == name).ok_or_else(|| {
                let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
                Error::field("agent", format!("{name:?} is not an agent that setup knows"))
                    .remedy(format!("give one of {}", names.join(", ")))
            })
        };
        self.agents.iter().map(find).collect()
    }

    /// Says which agents get no hooks. Who names no agent means those that have some.
    fn hookless(&self, agents: &[&'static AgentRow]) -> Option<String> {
        let without = agents.iter().filter(|agent| agent.hooks_file().is_none());
        let names: Vec<&str> = without.map(|agent| agent.title).collect();
        let verb = if names.len() == 1 { "gets" } else { "get" };
        let is_asked = self.hooks && !self.undo && !self.agents.is_empty() && !names.is_empty();
        is_asked
            .then(|| format!("\nHooks are only for Claude Code: {} {verb} none.", names.join(", ")))
    }

    fn change(
        &self,
        context: &Context,
        agents: &[&'static AgentRow],
    ) -> anyhow::Result<Vec<Changed>> {
        let program = Program::of(context)?;
        let mut record = Record::read(context.config.path.as_deref())?;
        let mut changed = Vec::new();
        for agent in agents {
            for what in [What::Mcp, What::Hooks] {
                let plan = match self.undo {
                    true => Plan::remove(agent, what, (&program, &record)),
                    false if what == What::Hooks && !self.hooks => continue,
                    false => Plan::add(agent, what, (&program, &record)),
                };
                if let Some(plan) = plan? {
                    changed.push(self.make(context, plan, &mut record)?);
                }
            }
        }
        Ok(changed)
    }

    /// Shows one change, asks, and makes it.
    fn make(&self, context: &Context, plan: Plan, record: &mut Record) -> anyhow::Result<Changed> {
        if !context.output.json {
            let shown = self.describe(&plan);
            if !shown.is_empty() {
                data(&context.ink.diff(&plain(&shown)))?;
            }
        }
        let mut changed = Changed { plan, is_written: false, error: None };
        let Outcome::Replace { text, .. } = &changed.plan.outcome else { return Ok(changed) };
        let path = changed.plan.original.path.display().to_string();
        if self.dry_run || !self.agrees(context, &format!("Change {path}?"))? {
            return Ok(changed);
        }
        let (agent, what) = (changed.plan.agent.name, changed.plan.what.as_str());
        let before = record.find(agent, what, &changed.plan.original.path).cloned();
        // Remembered before it is done: what was not done is easily not taken back.
        if !self.undo {
            record.forget(agent, what, &changed.plan.original.path);
            record.done.extend(changed.plan.done());
            record.write()?;
        }
        match changed.plan.original.replace(text.as_deref()) {
            Ok(()) => changed.is_written = true,
            Err(error) => {
                changed.error = Some(error);
                // The file still holds what was put in before.
                if let Some(before) = before.filter(|_| !self.undo) {
                    record.forget(agent, what, &changed.plan.original.path);
                    record.done.push(before);
                    record.write()?;
                }
            }
        }
        if self.undo && changed.is_written {
            record.forget(agent, what, &changed.plan.original.path);
            record.write()?;
        }
        Ok(changed)
    }

    /// Whether the person at the terminal agrees; where nobody is asked, they have already.
    fn agrees(&self, context: &Context, question: &str) -> anyhow::Result<bool> {
        if self.yes || context.output.json {
            return Ok(true);
        }
        let agrees = ask::ask(question, &mut std::io::stdin().lock(), &mut std::io::stderr())?;
        if !agrees {
            context.output.say("left as it is");
        }
        Ok(agrees)
    }

    fn describe(&self, plan: &Plan) -> String {
        let path = plan.original.path.display();
        let title = plan.agent.title;
        let what = match plan.what {
            What::Mcp => "the MCP server",
            What::Hooks => "the hooks",
        };
        match &plan.outcome {
            Outcome::Nothing if self.undo => String::new(),
            Outcome::Nothing => format!("\n{title}: {path} has {what} already."),
            Outcome::Replace { .. } => {
                let verb = match (self.undo, plan.is_exchange()) {
                    (true, _) => "Take back",
                    (false, true) => "Replace",
                    (false, false) => "Add",
                };
                let diff = plan.diff().unwrap_or_default();
                format!("\n{title}: {verb} {what}\n{}", diff.trim_end())
            }
            Outcome::ByHand { why, .. } if self.undo => {
                format!("\n{title}: {path} is left as it is: {why}. Remove {what} by hand.")
            }
            Outcome::ByHand { why, entry } => {
                format!(
                    "\n{title}: {path} is left as it is: {why}. To add {what} by hand:\n\n{entry}"
                )
            }
        }
    }

    fn import(
        &self,
        context: &Context,
        agents: &[&'static AgentRow],
    ) -> anyhow::Result<Vec<(&'static str, Took)>> {
        let mut imported = Vec::new();
        let mut store: Option<Scratch> = None;
        for agent in agents {
            let Some(offer) = Offer::of(agent)? else { continue };
            if !self.dry_run && !self.agrees(context, &offer.question(agent.title))? {
                continue;
            }
            let space = match &mut store {
                Some(space) => space,
                None => store.insert(Scratch::open(context, self.dry_run)?),
            };
            let took = offer.take(context, &space.oneiro, self.dry_run);
            if !context.output.json {
                data(&format!("\n{}: {}", agent.title, took.describe(self.dry_run)))?;
            }
            imported.push((agent.name, took));
        }
        if let Some(space) = store.filter(|_| !self.dry_run) {
            if imported.iter().any(|(_, took)| took.messages() > 0) {
                context.index(&space.oneiro);
            }
            context.after(&space.oneiro);
        }
        Ok(imported)
    }

    fn next_steps(&self, present: &[&AgentRow], is_written: bool) -> String {
        let mut steps = vec!["\nNext: `oneiro search WORDS` finds what was said".to_owned()];
        if present.iter().any(|agent| agent.hooks_file().is_some()) && !self.hooks {
            steps.push(
                "`oneiro setup --hooks` captures new turns of Claude Code as they are made"
                    .to_owned(),
            );
        }
        if is_written {
            steps.push("`oneiro setup --undo` takes the entries back".to_owned());
        }
        format!("{}.", steps.join("; "))
    }
}

/// The table of agents.
fn overview(looked: &[Looked]) -> String {
    let row = |looked: &Looked| {
        let home = looked.home.as_ref().map(|home| home.display().to_string()).unwrap_or_default();
        let has = match (looked.found, looked.files) {
            (false, _) => "not found".to_owned(),
            (true, 0) if !looked.importable => "not imported yet".to_owned(),
            (true, 0) => "no sessions".to_owned(),
            (true, files) => {
                let of_subagents = match looked.subagents {
                    0 => String::new(),
                    subagents => format!(", {subagents} of subagents"),
                };
                let import = if looked.importable { "" } else { "; not imported yet" };
                let size = bytes(i64::try_from(looked.bytes).unwrap_or(i64::MAX));
                format!("{}{of_subagents}, {size}{import}", count(files, "file"))
            }
        };
        vec![looked.agent.to_owned(), plain(&home), has]
    };
    table(&["agent", "looked in", "has"], &looked.iter().map(row).collect::<Vec<_>>())
}

/// What to do on a machine without agents.
fn nobody(looked: &[Looked]) -> String {
    format!(
        "\nNone of {} was found, so there is nothing to set up.\nNext: `oneiro demo` shows what this \
         memory does with conversations of its own; `oneiro serve` serves it; an agent that \
         speaks MCP starts it with `oneiro mcp`.",
        looked.iter().map(|looked| looked.agent).collect::<Vec<_>>().join(", ")
    )
}

fn answer(looked: &[Looked], changed: &[Changed], imported: &[(&str, Took)]) -> Value {
    let files = |agent: &str| -> Vec<Value> {
        let of_agent = changed.iter().filter(|changed| changed.plan.agent.name == agent);
        of_agent.map(describe_change).collect()
    };
    let agents = looked.iter().map(|looked| {
        let mut agent = json!(looked);
        if let Value::Object(fields) = &mut agent {
            fields.insert("changes".to_owned(), json!(files(looked.agent)));
            let took = imported.iter().find(|(name, _)| *name == looked.agent);
            let took = took.map_or(Value::Null, |(_, took)| took.json());
            fields.insert("imported".to_owned(), took);
        }
        agent
    });
    json!({"agents": agents.collect::<Vec<_>>()})
}

fn describe_change(changed: &Changed) -> Value {
    let plan = &changed.plan;
    let (action, why, entry) = match &plan.outcome {
        Outcome::Nothing => ("none", None, None),
        Outcome::Replace { .. } => ("change", None, None),
        Outcome::ByHand { why, entry } => ("by_hand", Some(why), Some(entry)),
    };
    json!({
        "what": plan.what.as_str(), "file": plan.original.path, "action": action,
        "written": changed.is_written, "diff": plan.diff(), "why": why, "entry": entry,
    })
}
