//! `oneiro memory`: list, show and change memories.

pub mod text;

use crate::context::Context;
use crate::output::count;
use crate::request::request;
use clap::{Args, Subcommand};
use oneiro::{
    ChangedMemory, ListMemories, MemoryPatch, MergeRequest, Oneiro, ShowMemory, SpaceUse,
    SupersedeRequest, UnmuteRequest,
};
use serde_json::{Map, Value, json};

/// List, show and change memories
///
/// A memory is a durable statement with its sources. Candidates wait for review, active memories are
/// believed. Every change is recorded and can be undone: see `oneiro log` and `oneiro undo`.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List memories, newest first
    List(ListArgs),
    /// Show a memory with its sources
    Show(ShowArgs),
    /// Change a memory
    Edit(EditArgs),
    /// Make a candidate active
    Promote(ReasonArgs),
    /// Make a candidate invalid
    Reject(ReasonArgs),
    /// Replace a memory by a new statement or by another memory
    Supersede(SupersedeArgs),
    /// Confirm that an active memory is true
    Confirm(ReasonArgs),
    /// Merge a memory into another, which gets its sources
    Merge(MergeArgs),
    /// Show every operation on a memory
    History(HistoryArgs),
    /// Let packs show a muted memory again
    Unmute(UnmuteArgs),
}

/// Filters of memories.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Only this kind: identity, preference, project, episodic, knowledge or adaptation
    #[arg(long)]
    pub kind: Option<String>,
    /// Only this project, by name or alias
    #[arg(long)]
    pub project: Option<String>,
    /// Only about this person or thing
    #[arg(long)]
    pub subject: Option<String>,
    /// Only with this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Only statements with all these words
    #[arg(long, value_name = "WORDS")]
    pub text: Option<String>,
}

impl FilterArgs {
    /// The filters as fields of a request.
    pub fn fields(&self) -> Map<String, Value> {
        let fields = json!({
            "kind": self.kind, "project": self.project, "subject": self.subject, "tag": self.tag,
            "text": self.text,
        });
        fields.as_object().cloned().unwrap_or_default()
    }
}

/// List memories, newest first
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only this status: candidate, active, superseded or invalid
    #[arg(long)]
    status: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Only those that a contradiction suspends
    #[arg(long)]
    suspended: bool,
    /// Only those created from this time on: a date, a time, or an age such as 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only those that held at this time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// What was recorded at this time, as it was then
    #[arg(long, value_name = "TIME")]
    known_at: Option<String>,
    /// Maximum number of results
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Continue after the previous page: its `next`
    #[arg(long)]
    cursor: Option<String>,
}

/// Show a memory with its sources
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Id of the memory, or a unique prefix of it
    id: String,
    /// Explain its confidence, and list what it relates to
    #[arg(long)]
    explain: bool,
    /// As it was recorded at this time
    #[arg(long, value_name = "TIME")]
    known_at: Option<String>,
}

/// Change a memory
///
/// An empty value removes a subject, a project or a date.
#[derive(Debug, Args)]
pub struct EditArgs {
    /// Id of the memory, or a unique prefix of it
    id: String,
    /// New statement
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// New kind
    #[arg(long)]
    kind: Option<String>,
    /// New status
    #[arg(long)]
    status: Option<String>,
    /// New subject
    #[arg(long)]
    subject: Option<String>,
    /// New project
    #[arg(long)]
    project: Option<String>,
    /// New tags, instead of the old ones; may be repeated
    #[arg(long)]
    tag: Vec<String>,
    /// When it starts to hold
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// When it stops holding
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// A memory and a reason
#[derive(Debug, Args)]
pub struct ReasonArgs {
    /// Id of the memory, or a unique prefix of it
    id: String,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Replace a memory by a new statement or by another memory
#[derive(Debug, Args)]
pub struct SupersedeArgs {
    /// Id of the memory, or a unique prefix of it
    id: String,
    /// The new statement
    #[arg(required_unless_present = "by")]
    content: Option<String>,
    /// The memory that replaces it
    #[arg(long, value_name = "ID", conflicts_with = "content")]
    by: Option<String>,
    /// Since when the new one holds; now by default
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Merge a memory into another, which gets its sources
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Id of the memory, or a unique prefix of it
    id: String,
    /// Id of the memory that stays
    into: String,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Show every operation on a memory
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Id of the memory, or a unique prefix of it
    id: String,
}

/// Let packs show a muted memory again
///
/// A memory that a project was shown eight times and never used is muted there: packs of that project
/// leave it out. `oneiro stats --memory` lists what is muted.
#[derive(Debug, Args)]
pub struct UnmuteArgs {
    /// Id of the memory, or a unique prefix of it
    id: String,
    /// Only in this project, by name, alias or folder; in every project by default
    #[arg(long)]
    project: Option<String>,
}

impl MemoryCommand {
    /// What the command does with the space.
    pub fn space_use(&self) -> SpaceUse {
        SpaceUse::MustExist
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let memories = oneiro.memories();
        let changed = match self {
            MemoryCommand::List(args) => return args.run(context),
            MemoryCommand::Show(args) => {
                let fields = json!({"explain": args.explain, "known_at": args.known_at});
                let view = memories.show(&args.id, &request::<ShowMemory>(&oneiro, fields)?)?;
                return context.output.show(&view, |view| text::view(view, oneiro.now()));
            }
            MemoryCommand::History(args) => {
                let history = memories.history(&args.id)?;
                return context
                    .output
                    .show(&history, |history| text::operations(&history.items, oneiro.now()));
            }
            MemoryCommand::Unmute(args) => {
                let fields = json!({"project": args.project});
                let before = memories.show(&args.id, &ShowMemory::default())?.muted_in;
                let view =
                    memories.unmute(&args.id, &request::<UnmuteRequest>(&oneiro, fields)?)?;
                context.output.show(&view, |view| text::line(&view.memory))?;
                let was_muted = view.muted_in.len() < before.len();
                let note = if was_muted { "Packs show it again." } else { "It is not muted." };
                context.output.note(note);
                return Ok(());
            }
            MemoryCommand::Edit(args) => {
                let patch: MemoryPatch = request(&oneiro, args.fields())?;
                memories.edit(&args.id, patch)?
            }
            MemoryCommand::Promote(args) => memories.promote(&args.id, args.reason)?,
            MemoryCommand::Reject(args) => memories.reject(&args.id, args.reason)?,
            MemoryCommand::Confirm(args) => memories.confirm(&args.id, args.reason)?,
            MemoryCommand::Supersede(args) => {
                let by = match &args.by {
                    Some(by) => Some(memories.show(by, &ShowMemory::default())?.memory.id),
                    None => None,
                };
                let fields = json!({
                    "content": args.content, "by": by, "since": args.since, "reason": args.reason,
                });
                let supersede = request::<SupersedeRequest>(&oneiro, fields)?;
                let changed = memories.supersede(&args.id, supersede)?;
                return show_replaced(context, &oneiro, &changed);
            }
            MemoryCommand::Merge(args) => {
                let into = memories.show(&args.into, &ShowMemory::default())?.memory.id;
                let merge = MergeRequest { into, reason: args.reason };
                let changed = memories.merge(&args.id, merge)?;
                return show_replaced(context, &oneiro, &changed);
            }
        };
        show_changed(context, &changed)
    }
}

/// Shows a changed memory and how to undo the change.
pub fn show_changed(context: &Context, changed: &ChangedMemory) -> anyhow::Result<()> {
    context.output.show(changed, |changed| text::line(&changed.memory))?;
    note_undo(context, changed);
    Ok(())
}

/// Shows the memory that holds now, then the one that it replaced, and how to undo the change.
fn show_replaced(
    context: &Context,
    oneiro: &Oneiro,
    changed: &ChangedMemory,
) -> anyhow::Result<()> {
    let holds = match &changed.memory.superseded_by {
        Some(by) => Some(oneiro.memories().show(by.as_str(), &ShowMemory::default())?.memory),
        None => None,
    };
    context.output.show(changed, |changed| {
        let old = text::line(&changed.memory);
        match &holds {
            Some(holds) => format!("{}\nReplaced: {old}", text::line(holds)),
            None => old,
        }
    })?;
    note_undo(context, changed);
    Ok(())
}

fn note_undo(context: &Context, changed: &ChangedMemory) {
    context.output.note(&match &changed.group {
        Some(group) => format!("`oneiro undo {group}` undoes this."),
        None => "Nothing changed.".to_owned(),
    });
}

impl ListArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let mut fields = self.filter.fields();
        let others = json!({
            "status": self.status, "since": self.since, "at": self.at, "known_at": self.known_at,
            "suspended": self.suspended, "limit": self.limit, "cursor": self.cursor,
        });
        fields.extend(others.as_object().cloned().unwrap_or_default());
        let list: ListMemories = request(&oneiro, Value::Object(fields))?;
        let page = oneiro.memories().list(&list)?;
        context.output.show(&page, |page| text::list(&page.items, oneiro.now()))?;
        if let Some(next) = &page.next {
            context.output.note(&format!("More: --cursor {next}"));
        } else if page.items.len() > 1 {
            context.output.note(&count(page.items.len(), "memory"));
        }
        Ok(())
    }
}

impl EditArgs {
    fn fields(&self) -> Value {
        let mut fields = Map::new();
        let values = [
            ("content", &self.content),
            ("kind", &self.kind),
            ("status", &self.status),
            ("subject", &self.subject),
            ("project", &self.project),
            ("valid_from", &self.valid_from),
            ("valid_until", &self.valid_until),
            ("reason", &self.reason),
        ];
        for (name, value) in values {
            match value {
                Some(text) if text.is_empty() && name != "content" => {
                    fields.insert(name.to_owned(), Value::Null);
                }
                Some(text) => {
                    fields.insert(name.to_owned(), json!(text));
                }
                None => {}
            }
        }
        if !self.tag.is_empty() {
            fields.insert("tags".to_owned(), json!(self.tag));
        }
        Value::Object(fields)
    }
}
