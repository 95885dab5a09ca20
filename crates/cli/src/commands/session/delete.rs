//! `oneiro session delete`.

use crate::context::Context;
use crate::output::count;
use clap::Args;
use oneiro::{Deleted, SessionId};

/// Delete a session and its delegates
///
/// Other sessions that descend from it stay, without a parent. Traces may remain in the files until
/// they are overwritten: `oneiro erase` leaves none.
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// The whole id of the session
    session: String,
    /// Do not ask; without a terminal nobody is asked
    #[arg(long, short)]
    yes: bool,
}

impl DeleteArgs {
    /// Deletes.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = SessionId::new(self.session)?;
        if !context.output.confirm(&format!("Delete session {id}?"), self.yes)? {
            return Ok(());
        }
        context.output.show(&oneiro.sessions().delete(&id)?, describe)
    }
}

pub(super) fn describe(deleted: &Deleted) -> String {
    let mut text = format!(
        "{} with {} deleted",
        count(deleted.sessions.len(), "session"),
        count(deleted.messages as usize, "message")
    );
    if !deleted.orphaned.is_empty() {
        text.push_str(&format!("; {} left without a parent", deleted.orphaned.len()));
    }
    text
}
