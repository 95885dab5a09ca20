//! `oneiro session pin`, `unpin` and `pins`.

use super::show::{Length, message_text};
use crate::context::Context;
use clap::Args;
use oneiro::{MessageId, Page};
use serde_json::json;

/// Pin a message into every window of its session
///
/// A pinned message is in every window, even if a summary covers it or its neighbours do not fit. A
/// long one is shortened.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session pin monday 12
  oneiro session pins monday
  oneiro session unpin monday 12")]
pub struct PinArgs {
    /// The session
    session: String,
    /// The message
    message: i64,
}

impl PinArgs {
    /// Pins.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let message = MessageId(self.message);
        let changed = oneiro.messages().pin(&id, message)?;
        let answer = json!({"message_id": message, "pinned": true, "changed": changed});
        context.output.show(&answer, |_| match changed {
            true => format!("Message {message} is pinned."),
            false => format!("Message {message} is already pinned."),
        })
    }
}

/// Unpin a message
#[derive(Debug, Args)]
pub struct UnpinArgs {
    /// The session
    session: String,
    /// The message
    message: i64,
}

impl UnpinArgs {
    /// Unpins.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let message = MessageId(self.message);
        let changed = oneiro.messages().unpin(&id, message)?;
        let answer = json!({"message_id": message, "pinned": false, "changed": changed});
        context.output.show(&answer, |_| match changed {
            true => format!("Message {message} is unpinned."),
            false => format!("Message {message} was not pinned."),
        })
    }
}

/// List the pinned messages of a session
#[derive(Debug, Args)]
pub struct PinsArgs {
    /// The session
    session: String,
}

impl PinsArgs {
    /// Lists.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let page = Page { items: oneiro.messages().pinned(&id)?, next: None };
        if page.items.is_empty() {
            context.output.say("No pinned messages.");
            if !context.output.json {
                return Ok(());
            }
        }
        context.output.show(&page, |page| {
            let texts =
                page.items.iter().map(|message| message_text(message, Length::Short, context.ink));
            texts.collect::<Vec<_>>().join("\n\n")
        })
    }
}
