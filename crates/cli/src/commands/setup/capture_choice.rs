//! The question of setup whether new turns of each project are captured from now on.

use super::SetupArgs;
use super::prompt::{EachAnswer, Terminal};
use crate::agents::AgentRow;
use crate::commands::import::ImportSpace;
use crate::context::Context;
use crate::output::{ago, count, data, one_line, table};
use clap::ValueEnum;
use oneiro::{CaptureSource, CaptureSwitch, Project, ProjectChoice, Timestamp};
use serde_json::{Value, json};

/// Which projects are captured without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CaptureArg {
    /// All projects that were found, and those that appear later
    All,
    /// All projects that were found
    Found,
    /// No project that was found
    None,
}

/// What was chosen, or would be.
#[derive(Debug, Default)]
pub struct CaptureOutcome {
    /// New choices.
    choices: Vec<ProjectChoice>,
    /// Projects that are no longer captured.
    forgotten: usize,
}

impl CaptureOutcome {
    /// Whether there is something to do.
    pub fn has_changes(&self) -> bool {
        !self.choices.is_empty() || self.forgotten > 0
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let choice =
            |choice: &ProjectChoice| json!({"folder": choice.folder, "capture": choice.capture});
        json!({"choices": self.choices.iter().map(choice).collect::<Vec<_>>(), "forgotten": self.forgotten})
    }
}

fn sources(agents: &[&'static AgentRow]) -> Vec<CaptureSource> {
    agents.iter().flat_map(|agent| agent.capture_sources()).collect()
}

impl SetupArgs {
    /// Chooses for each project without a choice, and stores that.
    pub fn choose_capture(
        &self,
        context: &Context,
        agents: &[&'static AgentRow],
    ) -> anyhow::Result<CaptureOutcome> {
        let sources = sources(agents);
        if sources.is_empty() {
            return Ok(CaptureOutcome::default());
        }
        let space = ImportSpace::open(context, true)?;
        let unasked: Vec<Project> = space
            .oneiro
            .capture()
            .projects(&sources)?
            .into_iter()
            .filter(|project| project.capture.is_none())
            .collect();
        let is_other_unasked = space.oneiro.capture().status()?.other_projects.is_none();
        let now = space.oneiro.now();
        drop(space);
        let wants_all = self.capture == Some(CaptureArg::All) && is_other_unasked;
        if unasked.is_empty() && !wants_all {
            return Ok(CaptureOutcome::default());
        }
        if !context.output.json && !unasked.is_empty() {
            data(&describe(&unasked, now))?;
        }
        let choices = if self.is_asking(context) {
            prompt_for_choices(&unasked, is_other_unasked)?
        } else {
            self.preselected(&unasked, is_other_unasked)
        };
        if !self.dry_run && !choices.is_empty() {
            ImportSpace::open(context, false)?.oneiro.capture().choose(choices.clone())?;
        }
        if !context.output.json {
            data(&summary(&choices, self.dry_run))?;
        }
        Ok(CaptureOutcome { choices, forgotten: 0 })
    }

    /// Switches off what was switched on; what is excluded stays excluded.
    pub fn forget_capture(
        &self,
        context: &Context,
        agents: &[&'static AgentRow],
    ) -> anyhow::Result<CaptureOutcome> {
        let Some(oneiro) = context.open_if_exists()? else { return Ok(CaptureOutcome::default()) };
        let folders: Option<Vec<String>> = (!self.agents.is_empty()).then(|| {
            let found = oneiro::found_projects(&sources(agents));
            found.into_iter().map(|project| project.folder).collect()
        });
        let status = oneiro.capture().status()?;
        let is_meant =
            |folder: &String| folders.as_ref().is_none_or(|folders| folders.contains(folder));
        let switched_on = status
            .projects
            .iter()
            .filter(|project| project.capture == CaptureSwitch::On && is_meant(&project.folder));
        let all = folders.is_none() && status.other_projects == Some(CaptureSwitch::On);
        let forgotten = switched_on.count() + usize::from(all);
        if forgotten == 0 {
            return Ok(CaptureOutcome::default());
        }
        let question = "Stop capturing new turns?";
        if self.dry_run {
            context.output.note(&format!("\n{question} Not done in a dry run."));
        } else if self.agrees(context, question)? {
            oneiro.capture().forget_switched_on(folders.as_deref())?;
            context.output.note("New turns are no longer captured.");
        }
        Ok(CaptureOutcome { choices: Vec::new(), forgotten })
    }

    /// Whether the person at the terminal is asked about each project.
    fn is_asking(&self, context: &Context) -> bool {
        !self.dry_run && !self.yes && self.capture.is_none() && !context.output.json
    }

    /// What holds without asking: yes for every project that was found, and nothing for others.
    fn preselected(&self, unasked: &[Project], is_other_unasked: bool) -> Vec<ProjectChoice> {
        let capture = match self.capture {
            Some(CaptureArg::None) => CaptureSwitch::Off,
            Some(CaptureArg::All | CaptureArg::Found) | None => CaptureSwitch::On,
        };
        let found = unasked
            .iter()
            .map(|project| ProjectChoice { folder: Some(project.folder.clone()), capture });
        let wants_all = self.capture == Some(CaptureArg::All) && is_other_unasked;
        let all = wants_all.then_some(ProjectChoice { folder: None, capture: CaptureSwitch::On });
        found.chain(all).collect()
    }
}

fn prompt_for_choices(
    unasked: &[Project],
    is_other_unasked: bool,
) -> anyhow::Result<Vec<ProjectChoice>> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr());
    let mut terminal = Terminal { input: &mut input, output: &mut output };
    let mut choices = Vec::new();
    let mut for_all = None;
    terminal.explain_each()?;
    for project in unasked {
        let answer = match for_all {
            Some(answer) => answer,
            None => {
                let folder = one_line(&project.folder, 90);
                match terminal.confirm_each(&format!("Capture {folder} from now on?"))? {
                    Some(answer) => answer,
                    // Nothing is chosen for the rest, so that the next setup asks again.
                    None => return Ok(choices),
                }
            }
        };
        let capture = match answer {
            EachAnswer::Yes | EachAnswer::YesToAll => CaptureSwitch::On,
            EachAnswer::No | EachAnswer::NoToAll => CaptureSwitch::Off,
        };
        if matches!(answer, EachAnswer::YesToAll | EachAnswer::NoToAll) {
            for_all = Some(answer);
        }
        choices.push(ProjectChoice { folder: Some(project.folder.clone()), capture });
    }
    if is_other_unasked {
        // A no leaves later projects to hooks, and to the next setup.
        if terminal.confirm("Also capture projects that you start later?")? {
            choices.push(ProjectChoice { folder: None, capture: CaptureSwitch::On });
        }
    }
    Ok(choices)
}

fn describe(unasked: &[Project], now: Timestamp) -> String {
    let row = |project: &Project| {
        vec![
            one_line(&project.folder, 60),
            project.agents.join(", "),
            count(project.transcripts, "transcript"),
            project.last_active_at.map(|at| ago(at, now)).unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = unasked.iter().map(row).collect();
    format!(
        "\nCapture: while `oneiro serve` or `oneiro mcp` runs, new turns in these projects are \
         stored as they are written.\n\"No\" applies to that folder only. `oneiro project exclude DIR` \
         (with the folders below it) and `oneiro pause` stop capture at any time.\n\n{}\n",
        table(&["project", "agent", "has", "last active"], &rows)
    )
}

fn summary(choices: &[ProjectChoice], dry_run: bool) -> String {
    let projects = |capture: CaptureSwitch| {
        let is_it = |choice: &&ProjectChoice| choice.folder.is_some() && choice.capture == capture;
        choices.iter().filter(is_it).count()
    };
    let (verb, not_verb) = if dry_run {
        ("would be captured", "would not be captured")
    } else {
        ("captured from now on", "not captured")
    };
    let other = choices.iter().find(|choice| choice.folder.is_none());
    let other = match other.map(|choice| choice.capture) {
        Some(CaptureSwitch::On) => "Projects that you start later are captured too.",
        Some(CaptureSwitch::Off | CaptureSwitch::Excluded) | None => {
            "Projects that you start later are not captured unless you include them: `oneiro \
             project include --all`."
        }
    };
    let (on, off) = (projects(CaptureSwitch::On), projects(CaptureSwitch::Off));
    let chosen: Vec<String> = [(on, verb), (off, not_verb)]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, verb)| format!("{} {verb}", count(number, "project")))
        .collect();
    format!("{}. {other}", chosen.join(", "))
}
