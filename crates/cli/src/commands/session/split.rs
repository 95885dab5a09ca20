//! `oneiro session split`.

use crate::context::Context;
use crate::request::request;
use crate::tokens;
use clap::Args;
use serde_json::json;

/// End a session and go on in another that carries its compacted context
///
/// The session ends with the reason compression. The one that continues it has its model, settings
/// and user, its title with the next number, and its context: the summaries, and the newest messages
/// as they are. Whoever asks for the session by `--tip` or its title finds the continuation.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session split monday
  oneiro session split monday --id monday-2 --until 20k")]
pub struct SplitArgs {
    /// The session
    session: String,
    /// The id of the continuation; one is made when absent
    #[arg(long)]
    id: Option<String>,
    /// Compact the context to so many tokens first: 8000, 8k, 1M
    #[arg(long, value_name = "TOKENS", value_parser = tokens::parse)]
    until: Option<usize>,
}

impl SplitArgs {
    /// Splits.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let from = oneiro.sessions().resolve(&self.session)?;
        let request = request(&oneiro, json!({"id": self.id, "until": self.until}))?;
        context.output.show(&oneiro.sessions().split(&from, request)?, super::describe)?;
        context.after(&oneiro);
        Ok(())
    }
}
