//! `oneiro extract`: learn from messages now.

use crate::context::Context;
use crate::output::count;
use crate::request::request;
use clap::Args;
use oneiro::{ExtractRequest, Extracted};
use serde_json::json;

/// Learn from messages that were not read yet
///
/// Statements of people become memories, by rules: plain ones in their own words are believed at once,
/// all others wait for review. Text that was pasted, quoted or printed by tools is never believed.
/// `oneiro serve` and agents' `oneiro mcp` do the same in the background.
///
/// Switch it off with `oneiro config set learn_from_conversations false`.
#[derive(Debug, Args)]
pub struct ExtractArgs {
    /// Only from this session, also from messages that were read before
    #[arg(long)]
    session: Option<String>,
}

impl ExtractArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let request: ExtractRequest = request(&oneiro, json!({"session": self.session}))?;
        let learnt = oneiro.learning().extract(&request)?;
        context.output.show(&learnt, describe)
    }
}

fn describe(learnt: &Extracted) -> String {
    let mut lines = vec![format!("{} read", count(learnt.messages, "message"))];
    let parts = [
        (learnt.active, "believed at once"),
        (learnt.candidates, "waiting for review"),
        (learnt.known, "known before"),
        (learnt.superseded, "replaced"),
        (learnt.refused, "refused by a person before"),
        (learnt.used, "used by an answer"),
    ];
    lines.extend(parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    lines.join("\n")
}
