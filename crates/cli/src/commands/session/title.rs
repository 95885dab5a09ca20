//! `oneiro session title`.

use crate::context::Context;
use crate::request::request;
use clap::Args;
use serde_json::json;

/// Set or remove the title of a session
#[derive(Debug, Args)]
pub struct TitleArgs {
    /// The session
    session: String,
    /// Title: at most 100 characters, unique in the space; an empty one removes it
    title: String,
    /// Set it only if there is none
    #[arg(long)]
    if_unset: bool,
}

impl TitleArgs {
    /// Sets the title.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let title = json!({"title": self.title, "title_if_unset": self.if_unset});
        let patch = request(&oneiro, title)?;
        context.output.show(&oneiro.sessions().change(&id, patch)?, super::describe)
    }
}
