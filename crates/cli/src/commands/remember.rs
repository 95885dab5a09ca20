//! `oneiro remember`: store a statement.

use super::memory::text;
use crate::context::Context;
use crate::request::request;
use clap::Args;
use oneiro::{MemoryStatus, NewMemory, Oneiro, ShowMemory};
use serde_json::{Value, json};

/// Remember a statement
///
/// What a person types at a terminal is active at once. What an agent states is active if a captured
/// message of the user holds its quote; otherwise it waits for review as a candidate.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro remember 'Deploys need two approvals' --kind project
  oneiro remember 'Ann prefers tea' --kind preference --subject Ann
  oneiro remember 'Releases are on Mondays' --replaces mem_abcd")]
pub struct RememberArgs {
    /// The statement: one fact, with absolute dates
    #[arg(required = true)]
    content: Vec<String>,
    /// What it is about: identity, preference, project, episodic, knowledge or adaptation
    #[arg(long)]
    kind: Option<String>,
    /// The person or thing it is about
    #[arg(long)]
    subject: Option<String>,
    /// The project it belongs to, by name or alias; by default the registered project of the working
    /// directory
    #[arg(long, conflicts_with = "global")]
    project: Option<String>,
    /// It belongs to no project
    #[arg(long)]
    global: bool,
    /// A tag; may be repeated
    #[arg(long)]
    tag: Vec<String>,
    /// When it starts to hold
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// When it stops holding
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// How certain it is, between 0 and 1
    #[arg(long)]
    confidence: Option<f64>,
    /// The user's exact words that it rests on
    #[arg(long)]
    quote: Option<String>,
    /// The session of the quote
    #[arg(long)]
    session: Option<String>,
    /// The memory that it corrects
    #[arg(long, value_name = "ID")]
    replaces: Option<String>,
    /// Store it as a candidate, to be reviewed
    #[arg(long)]
    candidate: bool,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

impl RememberArgs {
    /// Stores the statement.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let (_, remembered) = context.open_to_add(|oneiro| {
            let new: NewMemory = request(oneiro, self.fields(oneiro)?)?;
            Ok(oneiro.memories().remember(new)?)
        })?;
        context.output.show(&remembered, |remembered| text::line(&remembered.memory))?;
        context.output.note(&format!("{}.", sentence(&remembered.explanation)));
        for other in &remembered.contradicts {
            context.output.note(&format!(
                "It contradicts {}: {}",
                other.id,
                crate::output::one_line(&other.content, 80)
            ));
        }
        let settle = remembered.contradicts.first();
        if let Some(old) = settle.filter(|_| remembered.memory.status == MemoryStatus::Active) {
            context.output.note(&format!(
                "The older one is suspended. `oneiro memory supersede {} --by {}` settles it.",
                old.id, remembered.memory.id
            ));
        }
        Ok(())
    }

    fn fields(&self, oneiro: &Oneiro) -> oneiro::Result<Value> {
        let project = match &self.project {
            Some(project) => Some(project.clone()),
            None if self.global => None,
            None => project_of_folder(oneiro)?,
        };
        let replaces = match &self.replaces {
            Some(id) => Some(oneiro.memories().show(id, &ShowMemory::default())?.memory.id),
            None => None,
        };
        Ok(json!({
            "content": self.content.join(" "), "kind": self.kind, "subject": self.subject,
            "project": project, "tags": self.tag, "valid_from": self.valid_from,
            "valid_until": self.valid_until, "confidence": self.confidence, "quote": self.quote,
            "session": self.session, "replaces": replaces, "reason": self.reason,
            "status": self.candidate.then_some("candidate"),
        }))
    }
}

/// The registered project of the working directory.
fn project_of_folder(oneiro: &Oneiro) -> oneiro::Result<Option<String>> {
    let Ok(folder) = std::env::current_dir() else { return Ok(None) };
    let found = oneiro.projects().find(&folder.to_string_lossy())?;
    Ok(found.map(|project| project.name))
}

/// A text with a capital first letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}
