//! `oneiro session branch`.

use crate::context::Context;
use crate::request::request;
use clap::Args;
use serde_json::json;

/// Create a session that starts with the conversation so far
#[derive(Debug, Args)]
pub struct BranchArgs {
    /// The session to branch from
    session: String,
    /// Last message to include [default: all messages]
    #[arg(long, value_name = "MESSAGE")]
    at: Option<i64>,
    /// Id of the branch [default: generated]
    #[arg(long)]
    id: Option<String>,
    /// Title of the branch
    #[arg(long)]
    title: Option<String>,
}

impl BranchArgs {
    /// Branches.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let from = oneiro.sessions().resolve(&self.session)?;
        let branch = json!({"at": self.at, "id": self.id, "title": self.title});
        let request = request(&oneiro, branch)?;
        context.output.show(&oneiro.sessions().branch(&from, request)?, super::describe)
    }
}
