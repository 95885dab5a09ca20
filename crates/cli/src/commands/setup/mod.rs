//! `oneiro setup`: find the agents of this machine, import their sessions, choose which projects are
//! captured from now on, and add this memory to the agents' MCP servers, changing nothing else in
//! their files. Claude Code also gets a skill and commands.

mod capture_choice;
mod discover;
mod edit;
mod entry;
mod import_offer;
mod json_text;
mod mask;
mod plan;
mod plugin;
mod prompt;
mod record;
#[cfg(test)]
mod tests;
mod toml_text;
mod yaml_text;

use self::capture_choice::{CaptureArg, CaptureOutcome};
use self::discover::{DiscoveredAgent, discover};
use self::entry::Program;
use self::import_offer::{ImportOffer, ImportOutcome};
use self::plan::{Outcome, Plan, What};
use self::prompt::Terminal;
use self::record::Record;
use super::import::ImportSpace;
use crate::agents::{AGENTS, AgentRow};
use crate::context::Context;
use crate::output::{bytes, count, data, plain, table};
use clap::Args;
use oneiro::Error;
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Find the agents on this machine, import their sessions, and let them use this memory
///
/// Shows the sessions of each agent and the exact change to its file before anything is written, and
/// asks. Then asks for each project whether new turns are captured from now on: while `oneiro serve`
/// or an agent's `oneiro mcp` runs, they are stored as they are written. A project that appears
/// later is captured only with `--capture all`. Claude Code also gets a skill that says when to recall
/// and remember, and the commands /remember, /recall and /why. Nothing else in the files is touched;
/// --undo removes what was added.
#[derive(Debug, Args)]
pub struct SetupArgs {
    /// Only these agents: claude-code, codex, hermes, openclaw, nanobot, picoclaw, cursor,
    /// claude-desktop, vscode, gemini, opencode
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Skip the confirmations, and capture the projects that were found; required when
    /// non-interactive
    #[arg(long, short)]
    yes: bool,
    /// Show what would be done without writing anything
    #[arg(long)]
    dry_run: bool,
    /// Remove what setup added to the files of agents, and stop capturing; imported sessions stay
    #[arg(long)]
    undo: bool,
    /// Do not import sessions
    #[arg(long)]
    no_import: bool,
    /// Projects to capture from now on, without asking
    #[arg(long, value_enum, value_name = "WHICH", conflicts_with = "undo")]
    capture: Option<CaptureArg>,
    /// Also add hooks to Claude Code that call `oneiro hook` after each turn, to capture turns live
    #[arg(long)]
    hooks: bool,
}

/// What was done to one file.
struct Changed {
    plan: Plan,
    is_written: bool,
    error: Option<Error>,
}

impl SetupArgs {
    /// Sets up, or removes what was set up.
    pub fn run(mut self, context: &Context) -> anyhow::Result<()> {
        let agents = self.chosen()?;
        let is_person = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        // Without a terminal and without --yes, everything is shown and nothing is done.
        let is_refused = !self.dry_run && !self.yes && (context.output.json || !is_person);
        self.dry_run |= is_refused;
        let discovered =
            agents.iter().map(|agent| discover(agent)).collect::<oneiro::Result<Vec<_>>>()?;
        let present: Vec<&'static AgentRow> = agents
            .iter()
            .zip(&discovered)
            .filter(|(_, discovered)| discovered.found)
            .map(|(agent, _)| *agent)
            .collect();
        if !context.output.json {
            data(&overview(&discovered))?;
        }
        if present.is_empty() && !context.output.json {
            return data(&none_found(&discovered));
        }
        if let Some(words) = self.agents_without_hooks(&agents).filter(|_| !context.output.json) {
            data(&words)?;
        }
        let changed = self.change(context, &present)?;
        // The choice comes before the import: what is written meanwhile is captured.
        let capture = if self.undo {
            self.forget_capture(context, &present)?
        } else {
            self.choose_capture(context, &present)?
        };
        let imported =
            if self.no_import || self.undo { Vec::new() } else { self.import(context, &present)? };
        if context.output.json {
            data(&answer(&discovered, &changed, (&imported, &capture)).to_string())?;
        } else if !self.undo && !self.dry_run {
            let is_written = changed.iter().any(|changed| changed.is_written);
            data(&self.next_steps(is_written))?;
        }
        let is_waiting = changed.iter().any(|changed| changed.plan.diff().is_some())
            || imported.iter().any(|(_, outcome)| outcome.messages() > 0)
            || capture.has_changes();
        if is_refused && is_waiting {
            return Err(Error::invalid("nothing was changed: not a terminal")
                .remedy("check what would be done, then run it with --yes")
                .into());
        }
        let failed = changed.into_iter().find_map(|changed| changed.error);
        match failed.or(imported.into_iter().find_map(|(_, outcome)| outcome.error())) {
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

    /// Which agents get no hooks, if they were named.
    fn agents_without_hooks(&self, agents: &[&'static AgentRow]) -> Option<String> {
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
                let plan = if self.undo {
                    Plan::remove(agent, what, (&program, &record))
                } else if what == What::Hooks && !self.hooks {
                    continue;
                } else {
                    Plan::add(agent, what, (&program, &record))
                };
                if let Some(plan) = plan? {
                    changed.push(self.make(context, plan, &mut record)?);
                }
            }
            changed.extend(self.change_plugin(context, agent, &mut record)?);
        }
        Ok(changed)
    }

    /// Shows one change, asks, and makes it.
    fn make(&self, context: &Context, plan: Plan, record: &mut Record) -> anyhow::Result<Changed> {
        if !context.output.json {
            let shown = self.describe(&plan);
            if !shown.is_empty() {
                data(&context.style.diff(&plain(&shown)))?;
            }
        }
        let mut changed = Changed { plan, is_written: false, error: None };
        let has_changes = matches!(changed.plan.outcome, Outcome::Replace { .. });
        let path = changed.plan.original.path.display().to_string();
        if has_changes && !self.dry_run && self.agrees(context, &format!("Change {path}?"))? {
            self.apply(&mut changed, record)?;
        }
        Ok(changed)
    }

    /// Makes one change, and records it.
    fn apply(&self, changed: &mut Changed, record: &mut Record) -> anyhow::Result<()> {
        let Outcome::Replace { text, .. } = &changed.plan.outcome else { return Ok(()) };
        let (agent, what) = (changed.plan.agent.name, changed.plan.what.as_str());
        let before = record.find(agent, what, &changed.plan.original.path).cloned();
        // Recorded before it is done: undoing what was not done is harmless.
        if !self.undo {
            record.forget(agent, what, &changed.plan.original.path);
            record.done.extend(changed.plan.applied());
            record.write()?;
        }
        match changed.plan.original.replace(text.as_deref()) {
            Ok(()) => changed.is_written = true,
            Err(error) => {
                changed.error = Some(error);
                // The file still holds what was added before.
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
        Ok(())
    }

    /// Whether the person at the terminal agrees; with --yes they have already.
    fn agrees(&self, context: &Context, question: &str) -> anyhow::Result<bool> {
        if self.yes || context.output.json {
            return Ok(true);
        }
        let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr());
        let agrees = Terminal { input: &mut input, output: &mut output }.confirm(question)?;
        if !agrees {
            context.output.note("Skipped.");
        }
        Ok(agrees)
    }

    fn describe(&self, plan: &Plan) -> String {
        let path = plan.original.path.display();
        let title = plan.agent.title;
        let what = match plan.what {
            What::Mcp => "the MCP server",
            What::Hooks => "the hooks",
            What::Plugin => "a file of the plugin",
        };
        match &plan.outcome {
            Outcome::Nothing if self.undo => String::new(),
            Outcome::Nothing if plan.what == What::Plugin => {
                format!("\n{title}: {path} is there already.")
            }
            Outcome::Nothing => format!("\n{title}: {path} has {what} already."),
            Outcome::Replace { .. } => {
                let verb = match (self.undo, plan.replaces_own_entry()) {
                    (true, _) => "Remove",
                    (false, true) => "Replace",
                    (false, false) => "Add",
                };
                let diff = plan.diff().unwrap_or_default();
                format!("\n{title}: {verb} {what}\n{}", diff.trim_end())
            }
            Outcome::ByHand { why, .. } if self.undo => {
                format!("\n{title}: skipped {path}: {why}. Remove {what} by hand.")
            }
            Outcome::ByHand { why, entry } => {
                format!("\n{title}: skipped {path}: {why}. To add {what} by hand:\n\n{entry}")
            }
        }
    }

    fn import(
        &self,
        context: &Context,
        agents: &[&'static AgentRow],
    ) -> anyhow::Result<Vec<(&'static str, ImportOutcome)>> {
        let mut imported = Vec::new();
        let mut store: Option<ImportSpace> = None;
        for agent in agents {
            let Some(offer) = ImportOffer::of(agent)? else { continue };
            if !self.dry_run && !self.agrees(context, &offer.question(agent.title))? {
                continue;
            }
            let space = match &mut store {
                Some(space) => space,
                None => store.insert(ImportSpace::open(context, self.dry_run)?),
            };
            let outcome = offer.import(context, &space.oneiro, self.dry_run);
            if !context.output.json {
                data(&format!("\n{}: {}", agent.title, outcome.describe(self.dry_run)))?;
            }
            imported.push((agent.name, outcome));
        }
        if let Some(space) = store.filter(|_| !self.dry_run) {
            if imported.iter().any(|(_, outcome)| outcome.messages() > 0) {
                context.index(&space.oneiro);
            }
            context.after(&space.oneiro);
        }
        Ok(imported)
    }

    fn next_steps(&self, is_written: bool) -> String {
        let mut steps = vec![
            "\nNext: `oneiro search WORDS` searches the conversations".to_owned(),
            "`oneiro serve` shows them on a page".to_owned(),
        ];
        if is_written {
            steps.push("`oneiro setup --undo` removes these entries".to_owned());
        }
        format!("{}.", steps.join("; "))
    }
}

/// The table of agents.
fn overview(discovered: &[DiscoveredAgent]) -> String {
    let row = |agent: &DiscoveredAgent| {
        let home = agent.home.as_ref().map(|home| home.display().to_string()).unwrap_or_default();
        let has = match (agent.found, agent.files) {
            (false, _) => "not found".to_owned(),
            (true, _) if !agent.has_sessions => "MCP only".to_owned(),
            (true, 0) if !agent.importable => "no import yet".to_owned(),
            (true, 0) => "no sessions".to_owned(),
            (true, files) => {
                let of_subagents = match agent.subagents {
                    0 => String::new(),
                    subagents => format!(", {subagents} of subagents"),
                };
                let import = if agent.importable { "" } else { "; no import yet" };
                let size = bytes(i64::try_from(agent.bytes).unwrap_or(i64::MAX));
                format!("{}{of_subagents}, {size}{import}", count(files, "file"))
            }
        };
        vec![agent.agent.to_owned(), plain(&home), has]
    };
    table(&["agent", "folder", "sessions"], &discovered.iter().map(row).collect::<Vec<_>>())
}

/// What to do on a machine without agents.
fn none_found(discovered: &[DiscoveredAgent]) -> String {
    let titles: Vec<&str> = discovered.iter().map(|agent| agent.title).collect();
    let were = match titles.as_slice() {
        [one] => format!("{one} was not found"),
        _ => "No agent was found".to_owned(),
    };
    format!(
        "\n{were}, so there is nothing to set up.\nNext: `oneiro demo` fills a space with example \
         conversations; `oneiro serve` serves the page; any MCP client can start `oneiro mcp`."
    )
}

fn answer(
    discovered: &[DiscoveredAgent],
    changed: &[Changed],
    (imported, capture): (&[(&str, ImportOutcome)], &CaptureOutcome),
) -> Value {
    let files = |agent: &str| -> Vec<Value> {
        let of_agent = changed.iter().filter(|changed| changed.plan.agent.name == agent);
        of_agent.map(describe_change).collect()
    };
    let agents = discovered.iter().map(|discovered| {
        let mut agent = json!(discovered);
        if let Value::Object(fields) = &mut agent {
            fields.insert("changes".to_owned(), json!(files(discovered.agent)));
            let outcome = imported.iter().find(|(name, _)| *name == discovered.agent);
            let outcome = outcome.map_or(Value::Null, |(_, outcome)| outcome.json());
            fields.insert("imported".to_owned(), outcome);
        }
        agent
    });
    json!({"agents": agents.collect::<Vec<_>>(), "capture": capture.json()})
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
