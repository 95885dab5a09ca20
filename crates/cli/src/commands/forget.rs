//! `oneiro forget`: make memories invalid.

use super::memory::{show_changed, text};
use crate::context::Context;
use crate::output::count;
use crate::request::request;
use clap::Args;
use oneiro::{ChangedMemories, ForgetRequest};
use serde_json::json;

/// Forget a memory, or everything that rests on a source
///
/// Forgotten memories are kept as invalid and no longer believed; `oneiro undo` brings them back. To
/// remove text for good, use `oneiro erase`.
#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// Id of the memory, or a unique prefix of it
    #[arg(required_unless_present_any = ["session", "source", "participant"])]
    id: Option<String>,
    /// Everything that cites this session
    #[arg(long, conflicts_with = "id")]
    session: Option<String>,
    /// Everything that cites sessions of this source
    #[arg(long, conflicts_with_all = ["id", "session"])]
    source: Option<String>,
    /// Everything about this person, and everything that cites their sessions
    #[arg(long, value_name = "NAME", conflicts_with_all = ["id", "session", "source"])]
    participant: Option<String>,
    /// List what would be forgotten, and change nothing
    #[arg(long, conflicts_with = "id")]
    dry_run: bool,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

impl ForgetArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        if let Some(id) = &self.id {
            return show_changed(context, &oneiro.memories().forget(id, self.reason)?);
        }
        let fields = json!({
            "session": self.session, "source": self.source, "participant": self.participant,
            "dry_run": self.dry_run, "reason": self.reason,
        });
        let forgotten =
            oneiro.memories().forget_many(request::<ForgetRequest>(&oneiro, fields)?)?;
        show_many(context, &forgotten, "forgotten")
    }
}

/// Shows the memories that one command changed.
pub fn show_many(context: &Context, changed: &ChangedMemories, done: &str) -> anyhow::Result<()> {
    let now = context.open()?.now();
    context.output.show(changed, |changed| text::list(&changed.memories, now))?;
    let memories = count(changed.memories.len(), "memory");
    context.output.note(&match (&changed.group, changed.dry_run) {
        (_, true) => format!("{memories} would be {done}. Nothing was changed."),
        (Some(group), false) => {
            format!("{memories} {done}. `oneiro undo {group}` undoes this.")
        }
        (None, false) => "Nothing changed.".to_owned(),
    });
    Ok(())
}
