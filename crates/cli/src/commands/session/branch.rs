//! `oneiro session branch`.

use crate::context::Context;
use crate::request::request;
use clap::Args;
use serde_json::json;

/// Begin a new session with the conversation so far
#[derive(Debug, Args)]
pub struct BranchArgs {
    /// The session to branch from
    session: String,
    /// The last message to share; all of them when absent
    #[arg(long, value_name = "MESSAGE")]
    at: Option<i64>,
    /// The id of the branch; one is made when absent
    #[arg(long)]
    id: Option<String>,
    /// Its title
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
