//! `oneiro secrets`: find stored secrets, and erase them.

use crate::context::Context;
use crate::output::{count, one_line, table};
use clap::Args;
use oneiro::{MessageId, StoredSecret};
use serde_json::json;
use std::collections::BTreeSet;

/// Find stored messages that contain secrets, and erase them
///
/// Knows private keys, tokens and passwords by their patterns, the same by which they are kept out
/// of summaries. Shows only the beginning of each. --erase erases the messages that contain them, as
/// `oneiro erase` does; the agent's own transcripts are not changed.
#[derive(Debug, Args)]
pub struct SecretsArgs {
    /// Erase the messages that contain secrets
    #[arg(long)]
    erase: bool,
    /// Skip the confirmation; required with --erase when non-interactive
    #[arg(long, short, requires = "erase")]
    yes: bool,
}

/// Secrets that are listed; the rest are counted.
const LISTED_SECRETS: usize = 100;

impl SecretsArgs {
    /// Lists, and erases if asked to.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let mut secrets = Vec::new();
        oneiro.capture().each_secret(&mut |secret| secrets.push(secret))?;
        let messages: BTreeSet<MessageId> =
            secrets.iter().map(|secret| secret.message_id).collect();
        if !self.erase || messages.is_empty() {
            let answer = json!({"secrets": secrets, "messages": messages.len()});
            return context.output.show(&answer, |_| describe(&secrets, messages.len()));
        }
        context.output.note(&describe(&secrets, messages.len()));
        let what = format!("{} without a trace", count(messages.len(), "message"));
        if !context.output.confirm_removal(&what, self.yes)? {
            return Ok(());
        }
        let erased = oneiro.capture().erase_messages(&messages)?;
        super::erase::show(context, &erased)
    }
}

fn describe(secrets: &[StoredSecret], messages: usize) -> String {
    if secrets.is_empty() {
        return "No secrets were found.".to_owned();
    }
    let row = |secret: &StoredSecret| {
        vec![
            secret.pattern.to_owned(),
            one_line(&secret.masked, 30),
            one_line(secret.session_id.as_str(), 40),
            secret.message_id.to_string(),
            one_line(&secret.place, 40),
        ]
    };
    let rows: Vec<_> = secrets.iter().take(LISTED_SECRETS).map(row).collect();
    let mut text = table(&["pattern", "begins with", "session", "message", "place"], &rows);
    if secrets.len() > LISTED_SECRETS {
        text.push_str(&format!("\nand {} more; --json lists all", secrets.len() - LISTED_SECRETS));
    }
    text.push_str(&format!(
        "\n\n{} in {}. `oneiro secrets --erase` erases {}.",
        count(secrets.len(), "secret"),
        count(messages, "message"),
        if messages == 1 { "this message" } else { "these messages" }
    ));
    text
}
