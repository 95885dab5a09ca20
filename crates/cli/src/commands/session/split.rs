//! `oneiro session split`.

use crate::context::Context;
use crate::request::request;
use crate::tokens;
use clap::Args;
use serde_json::json;

/// End a session and continue in a new one with its compacted context
///
/// The session ends with the reason compression. The new session has the same model, settings and
/// user, the title with the next number, and the context: the summaries and the newest messages.
/// `--tip` and the title lead to the new session.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session split monday
  oneiro session split monday --id monday-2 --until 20k")]
pub struct SplitArgs {
    /// The session
    session: String,
    /// Id of the new session [default: generated]
    #[arg(long)]
    id: Option<String>,
    /// First compact the context to this many tokens: 8000, 8k, 1M
    #[arg(long, value_name = "TOKENS", value_parser = tokens::parse)]
    until: Option<usize>,
}

impl SplitArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let from = oneiro.sessions().resolve(&self.session)?;
        let request = request(&oneiro, json!({"id": self.id, "until": self.until}))?;
        context.output.show(&oneiro.sessions().split(&from, request)?, super::describe)?;
        context.after(&oneiro);
        Ok(())
    }
}
