//! `oneiro state`: trusted facts of a project.

use crate::context::Context;
use crate::output::{ago, one_line, table};
use crate::request::request;
use clap::{Args, Subcommand};
use oneiro::{EndState, ListState, ProjectState, SpaceUse, StateRequest};
use serde_json::json;

/// Set and show trusted facts of a project
///
/// Facts are set by people only and are the most trusted thing about a project. A new value supersedes
/// the old one, which is kept.
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// Set a fact
    Set(SetArgs),
    /// List the facts of a project
    List(ListArgs),
    /// End a fact without a new value
    End(EndArgs),
}

/// Set a fact
#[derive(Debug, Args)]
pub struct SetArgs {
    /// Name or alias of the project
    project: String,
    /// Name of the fact
    key: String,
    /// The value
    value: String,
    /// What it is: status, decision, requirement, contact, milestone, fact or config
    #[arg(long)]
    kind: Option<String>,
    /// Since when it holds; now by default
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// List the facts of a project
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Name or alias of the project
    project: String,
    /// Only this fact
    #[arg(long)]
    key: Option<String>,
    /// Include facts that no longer hold
    #[arg(long)]
    history: bool,
}

/// End a fact without a new value
#[derive(Debug, Args)]
pub struct EndArgs {
    /// Name or alias of the project
    project: String,
    /// Name of the fact
    key: String,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

impl StateCommand {
    /// What the command does with the space.
    pub fn space_use(&self) -> SpaceUse {
        match self {
            StateCommand::Set(_) => SpaceUse::CreateMissing,
            StateCommand::List(_) | StateCommand::End(_) => SpaceUse::MustExist,
        }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            StateCommand::Set(args) => {
                let (_, state) = context.open_to_add(|oneiro| {
                    let fields = json!({
                        "key": args.key, "kind": args.kind, "value": args.value,
                        "since": args.since, "reason": args.reason,
                    });
                    let new: StateRequest = request(oneiro, fields)?;
                    Ok(oneiro.projects().set_state(&args.project, new)?)
                })?;
                context.output.show(&state, line)
            }
            StateCommand::List(args) => {
                let oneiro = context.open()?;
                let list: ListState =
                    request(&oneiro, json!({"key": args.key, "history": args.history}))?;
                let items = oneiro.projects().state(&args.project, &list)?;
                let page = oneiro::Page::from(items);
                context.output.show(&page, |page| {
                    if page.items.is_empty() {
                        return "No facts are set.".to_owned();
                    }
                    let row = |state: &ProjectState| {
                        vec![
                            one_line(&state.key, 30),
                            state.kind.as_str().to_owned(),
                            one_line(&state.value, 60),
                            ago(state.since, oneiro.now()),
                            state.until.map(|at| ago(at, oneiro.now())).unwrap_or_default(),
                        ]
                    };
                    let rows: Vec<_> = page.items.iter().map(row).collect();
                    table(&["name", "kind", "value", "since", "until"], &rows)
                })
            }
            StateCommand::End(args) => {
                let oneiro = context.open()?;
                let end: EndState =
                    request(&oneiro, json!({"key": args.key, "reason": args.reason}))?;
                context.output.show(&oneiro.projects().end_state(&args.project, end)?, line)
            }
        }
    }
}

fn line(state: &ProjectState) -> String {
    let ended = if state.until.is_some() { " (ended)" } else { "" };
    format!(
        "{}: {} = {}{ended}",
        one_line(&state.project, 40),
        one_line(&state.key, 40),
        one_line(&state.value, 200)
    )
}
