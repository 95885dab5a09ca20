//! `oneiro session end` and `reopen`.

use crate::context::Context;
use crate::request::request;
use clap::Args;
use serde_json::json;

/// End a session (an existing end reason is kept)
#[derive(Debug, Args)]
pub struct EndArgs {
    /// The session
    session: String,
    /// End reason
    #[arg(long, default_value = "ended")]
    reason: String,
}

impl EndArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let ending = request(&oneiro, json!({"reason": self.reason}))?;
        context.output.show(&oneiro.sessions().end(&id, ending)?, super::describe)
    }
}

/// Reopen a session
#[derive(Debug, Args)]
pub struct ReopenArgs {
    /// The session
    session: String,
}

impl ReopenArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        context.output.show(&oneiro.sessions().reopen(&id)?, super::describe)
    }
}
