//! `oneiro distrust`: stop trusting a source.

use super::forget::show_many;
use crate::context::Context;
use crate::request::request;
use clap::Args;
use oneiro::DistrustRequest;
use serde_json::json;

/// Stop trusting a message, a session or a source
///
/// Memories that rest on it get the trust `external`, and active ones that no person stated or
/// confirmed become candidates. Nothing that is said there later becomes active by itself.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Target {
    /// A message: its id, or its place (monday#3)
    #[arg(long)]
    message: Option<String>,
    /// A session, by its complete id
    #[arg(long)]
    session: Option<String>,
    /// All sessions of a source, such as slack
    #[arg(long)]
    source: Option<String>,
}

/// Stop trusting a message, a session or a source
///
/// Memories that rest on it get the trust `external`, and active ones that no person stated or
/// confirmed become candidates. Nothing that is said there later becomes active by itself.
#[derive(Debug, Args)]
pub struct DistrustArgs {
    #[command(flatten)]
    target: Target,
    /// List what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

impl DistrustArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let fields = json!({
            "message": self.target.message, "session": self.target.session,
            "source": self.target.source, "dry_run": self.dry_run, "reason": self.reason,
        });
        let changed = oneiro.memories().distrust(request::<DistrustRequest>(&oneiro, fields)?)?;
        show_many(context, &changed, "now untrusted")
    }
}
