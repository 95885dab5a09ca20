//! `oneiro session archive`.

use crate::context::Context;
use clap::Args;
use oneiro::SessionPatch;

/// Archive a conversation, or unarchive it
///
/// Archived sessions are kept and can be searched; lists omit them.
#[derive(Debug, Args)]
pub struct ArchiveArgs {
    /// Any session of the conversation
    session: String,
    /// Unarchive the conversation
    #[arg(long)]
    undo: bool,
}

impl ArchiveArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let patch = SessionPatch { archived: Some(!self.undo), ..SessionPatch::default() };
        context.output.show(&oneiro.sessions().change(&id, patch)?, super::describe)
    }
}
