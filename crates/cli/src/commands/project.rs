//! `oneiro project`: which projects are captured, and which are registered.

use crate::agents::capture_sources;
use crate::context::Context;
use crate::output::{ago, count, one_line, table};
use crate::request::request;
use clap::{Args, Subcommand};
use oneiro::{
    CaptureStatus, CaptureSwitch, Error, Project, ProjectChoice, ProjectFolder, ProjectRequest,
    RegisteredProject, SpaceUse, Timestamp,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// List projects, and choose which are captured
///
/// A project is the folder that an agent works in; hermes counts as one. While `oneiro serve` or
/// `oneiro mcp` runs, new turns of included projects are stored as they are written. Projects without
/// a choice are captured only by hooks, or if `project include --all` was chosen.
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// List the projects of your agents and whether they are captured
    List,
    /// Capture new turns of a project from now on
    Include(IncludeArgs),
    /// Capture nothing in a folder and the folders below it
    Exclude(ExcludeArgs),
    /// Register a project for memories and state, with aliases and a folder
    Register(RegisterArgs),
}

/// Register a project for memories and state, with aliases and a folder
///
/// An alias is replaced by the name wherever it is given, and what was stored under it moves to the
/// project. Memories that are remembered in the folder belong to the project.
#[derive(Debug, Args)]
pub struct RegisterArgs {
    /// Name of the project; if it is registered, it is changed
    name: String,
    /// Another name; may be repeated
    #[arg(long)]
    alias: Vec<String>,
    /// Its folder
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// Capture new turns of a project from now on
///
/// Captures sessions that are written to from now on, each from its beginning. To import older
/// sessions, use `oneiro import`.
#[derive(Debug, Args)]
pub struct IncludeArgs {
    /// The folder of the project; the folders below it are projects of their own
    #[arg(value_name = "DIR", required_unless_present = "all")]
    folder: Option<PathBuf>,
    /// All projects that are not excluded, and those that appear later
    #[arg(long, conflicts_with = "folder")]
    all: bool,
}

/// Capture nothing in a folder and the folders below it
///
/// Takes effect at once in every process, and for hooks. What was stored before stays: see `oneiro
/// session delete` and `oneiro erase`.
#[derive(Debug, Args)]
pub struct ExcludeArgs {
    /// The folder
    #[arg(value_name = "DIR", required_unless_present = "all")]
    folder: Option<PathBuf>,
    /// All projects that are not included by name
    #[arg(long, conflicts_with = "folder")]
    all: bool,
}

impl ProjectCommand {
    /// What the command does with the space. A folder may be excluded before anything is stored.
    pub fn space_use(&self) -> SpaceUse {
        match self {
            ProjectCommand::List => SpaceUse::MustExist,
            ProjectCommand::Include(_)
            | ProjectCommand::Exclude(_)
            | ProjectCommand::Register(_) => SpaceUse::CreateMissing,
        }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            ProjectCommand::List => list(context),
            ProjectCommand::Include(args) => choose(context, args.folder, CaptureSwitch::On),
            ProjectCommand::Exclude(args) if args.all => choose(context, None, CaptureSwitch::Off),
            ProjectCommand::Exclude(args) => choose(context, args.folder, CaptureSwitch::Excluded),
            ProjectCommand::Register(args) => args.run(context),
        }
    }
}

impl RegisterArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let root = self.root.as_deref().map(resolve).transpose()?;
        let (_, project) = context.open_to_add(|oneiro| {
            let fields = json!({"name": self.name, "aliases": self.alias, "root": root});
            Ok(oneiro.projects().register(request::<ProjectRequest>(oneiro, fields)?)?)
        })?;
        context.output.show(&project, describe_registered)
    }
}

fn describe_registered(project: &RegisteredProject) -> String {
    let aliases = match project.aliases.as_slice() {
        [] => String::new(),
        aliases => format!(", also called {}", one_line(&aliases.join(", "), 60)),
    };
    let root = project.root.as_deref().map(|root| format!(", in {}", one_line(root, 60)));
    format!("{}{aliases}{}", one_line(&project.name, 60), root.unwrap_or_default())
}

fn list(context: &Context) -> anyhow::Result<()> {
    let oneiro = context.open()?;
    let projects = oneiro.capture().projects(&capture_sources())?;
    let status = oneiro.capture().status()?;
    let registered = oneiro.projects().list()?;
    let answer = json!({
        "pause": status.pause, "other_projects": status.other_projects, "projects": projects,
        "registered": registered,
    });
    context.output.show(&answer, |_| {
        let mut text = describe(&projects, &status, oneiro.now());
        if !registered.is_empty() {
            text.push_str("\n\nRegistered for memories and state:");
        }
        for project in &registered {
            text.push_str(&format!("\n  {}", describe_registered(project)));
        }
        text
    })
}

fn describe(projects: &[Project], status: &CaptureStatus, now: Timestamp) -> String {
    let row = |project: &Project| {
        vec![
            one_line(&project.folder, 60),
            project.agents.join(", "),
            count(project.transcripts, "transcript"),
            project.last_active_at.map(|at| ago(at, now)).unwrap_or_default(),
            describe_choice(project.capture).to_owned(),
        ]
    };
    let mut text = if projects.is_empty() {
        "No projects were found.".to_owned()
    } else {
        let rows: Vec<_> = projects.iter().map(row).collect();
        table(&["project", "agent", "has", "last active", "capture"], &rows)
    };
    text.push_str(match status.other_projects {
        Some(CaptureSwitch::On) => "\n\nOther projects are captured.",
        Some(CaptureSwitch::Off | CaptureSwitch::Excluded) => {
            "\n\nOther projects are not captured."
        }
        None => "\n\nOther projects are captured only by hooks.",
    });
    if let Some(pause) = status.pause {
        text.push_str(&format!("\n{}", super::pause::describe_pause(&pause)));
    }
    text
}

fn describe_choice(capture: Option<CaptureSwitch>) -> &'static str {
    match capture {
        Some(CaptureSwitch::On) => "on",
        Some(CaptureSwitch::Off) => "off",
        Some(CaptureSwitch::Excluded) => "excluded",
        None => "not chosen",
    }
}

fn choose(
    context: &Context,
    folder: Option<PathBuf>,
    capture: CaptureSwitch,
) -> anyhow::Result<()> {
    let folder = folder.map(|folder| resolve(&folder)).transpose()?;
    let (_, status) = context.open_to_add(|oneiro| {
        let choice: ProjectChoice =
            request(oneiro, json!({"folder": folder, "capture": capture.as_str()}))?;
        Ok(oneiro.capture().choose(vec![choice])?)
    })?;
    context.output.show(&status, |status| {
        let what = folder.as_deref().unwrap_or("Every project without a choice of its own");
        let mut text = match capture {
            CaptureSwitch::On => format!(
                "{what} is captured from now on, while `oneiro serve` or `oneiro mcp` runs."
            ),
            CaptureSwitch::Off => format!("{what} is no longer captured. Stored sessions stay."),
            CaptureSwitch::Excluded => format!(
                "{what} and the folders below it are no longer captured. Stored sessions stay."
            ),
        };
        if let Some(pause) = status.pause {
            text.push_str(&format!("\n{}", super::pause::describe_pause(&pause)));
        }
        text
    })
}

/// The real name of a folder.
fn resolve(folder: &Path) -> anyhow::Result<String> {
    let absolute =
        std::path::absolute(folder).map_err(|error| Error::field("folder", error.to_string()))?;
    Ok(ProjectFolder::resolve(absolute).name())
}
