//! `oneiro session branch`.

use crate::context::Context;
use crate::places::session_and_message;
use crate::request::request;
use clap::Args;
use serde_json::json;

/// Create a session that starts with the conversation so far
#[derive(Debug, Args)]
pub struct BranchArgs {
    /// The session to branch from, or the last message to share by its place in it: monday#3
    session: String,
    /// Last message to include: its id, or its place (monday#3) [default: all messages]
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,
    /// Id of the branch [default: generated]
    #[arg(long)]
    id: Option<String>,
    /// Title of the branch
    #[arg(long)]
    title: Option<String>,
}

impl BranchArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let (from, at) = session_and_message(&oneiro, &self.session, self.at.as_deref())?;
        let at = at.map(|at| at.to_string());
        let branch = json!({"at": at, "id": self.id, "title": self.title});
        let request = request(&oneiro, branch)?;
        context.output.show(&oneiro.sessions().branch(&from, request)?, super::describe)
    }
}
