//! `oneiro session branch`.

use crate::context::Context;
use crate::places::session_and_message;
use crate::request::request;
use clap::Args;
use serde_json::json;

/// Begin a new session with the conversation so far
#[derive(Debug, Args)]
pub struct BranchArgs {
    /// The session to branch from, or the last message to share by its place in it: monday#3
    session: String,
    /// The last message to share: its id, or its place (monday#3); all of them when absent
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,
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
        let (from, at) = session_and_message(&oneiro, &self.session, self.at.as_deref())?;
        let at = at.map(|at| at.to_string());
        let branch = json!({"at": at, "id": self.id, "title": self.title});
        let request = request(&oneiro, branch)?;
        context.output.show(&oneiro.sessions().branch(&from, request)?, super::describe)
    }
}
