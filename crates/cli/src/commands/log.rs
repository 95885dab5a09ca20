//! `oneiro log` and `oneiro undo`: revisions of the notes, all other recorded changes, and their way
//! back.

use super::memory::text;
use super::revisions::{PagerArgs, revision_table};
use crate::context::Context;
use crate::request::request;
use clap::Args;
use oneiro::{ListOperations, ListRevisions};
use serde_json::json;

/// List revisions of the notes, or all recorded changes, newest first
///
/// Every change of notes is a revision, and every change of a memory, a note, a project or its state
/// is an operation. `oneiro undo` undoes either. Operations are listed with --operations, --memories,
/// --kind, --subject or --group.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// List operations instead of revisions
    #[arg(long)]
    operations: bool,
    /// List operations on memories
    #[arg(long)]
    memories: bool,
    /// Only revisions of this note
    #[arg(long, value_name = "NAME", conflicts_with_all = ["operations", "memories", "kind", "subject", "group"])]
    note: Option<String>,
    /// Only revisions whose message or text contains this
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["operations", "memories", "kind", "subject", "group"])]
    text: Option<String>,
    /// Only by this kind of actor: person, agent, job, dream, import or file
    #[arg(long, visible_alias = "author")]
    actor: Option<String>,
    /// Only this kind, such as memory.promote
    #[arg(long)]
    kind: Option<String>,
    /// Only this memory, project or state, by its complete id
    #[arg(long, value_name = "ID")]
    subject: Option<String>,
    /// Only this group
    #[arg(long, value_name = "ID")]
    group: Option<String>,
    /// Only from this time on: a date, a time, or an age such as 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Maximum number of results
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Continue after the previous page: its `next`
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    pager: PagerArgs,
}

impl LogArgs {
    /// Lists revisions or operations.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let is_filtered = self.kind.is_some() || self.subject.is_some() || self.group.is_some();
        if !(self.operations || self.memories || is_filtered) {
            return self.revisions(context, &oneiro);
        }
        let fields = json!({
            "actor": self.actor, "kind": self.kind, "subject": self.subject, "group": self.group,
            "since": self.since, "until": self.until, "limit": self.limit, "cursor": self.cursor,
            "subject_kind": self.memories.then_some("memory"),
        });
        let list: ListOperations = request(&oneiro, fields)?;
        let page = oneiro.operations().list(&list)?;
        context.output.show(&page, |page| text::operations(&page.items, oneiro.now()))?;
        if let Some(next) = &page.next {
            context.output.note(&format!("More: --cursor {next}"));
        }
        Ok(())
    }
}

impl LogArgs {
    fn revisions(self, context: &Context, oneiro: &oneiro::Oneiro) -> anyhow::Result<()> {
        let fields = json!({
            "author_kind": self.actor, "note": self.note, "text": self.text, "since": self.since,
            "until": self.until, "limit": self.limit, "cursor": self.cursor,
        });
        let list: ListRevisions = request(oneiro, fields)?;
        let page = oneiro.notes().log(&list)?;
        if context.output.json {
            return context.output.show(&page, |_| String::new());
        }
        self.pager.print(&revision_table(&page.items, oneiro.now()))?;
        if let Some(next) = &page.next {
            context.output.note(&format!("More: --cursor {next}"));
        }
        Ok(())
    }
}

/// Undo a recorded change
///
/// Undoing is recorded too, and can be undone. It is refused if a later change of the same field, or of
/// the same lines of a note, stands; the message names it.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Id of an operation (op_...), a group of them (grp_...) or a revision of the notes (rev_...)
    id: String,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

impl UndoArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let undone = oneiro.operations().undo(&self.id, self.reason)?;
        context.output.show(&undone, |undone| text::operations(&undone.operations, oneiro.now()))
    }
}
