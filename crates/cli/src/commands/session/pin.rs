//! `oneiro session pin`, `unpin` and `pins`.

use super::history::texts;
use crate::context::Context;
use crate::places::{Places, session_and_message};
use clap::Args;
use oneiro::{Error, MessageRef, Oneiro, Page, Result, SessionId};
use serde_json::json;

/// Pin a message into every window of its session
///
/// A pinned message is in every window, even if a summary covers it or its neighbours do not fit. A
/// long one is shortened.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session pin monday#3          the third message of the session
  oneiro session pin monday 12         the message with the id 12
  oneiro session pins monday
  oneiro session unpin monday#3")]
pub struct PinArgs {
    #[command(flatten)]
    which: OneMessage,
}

impl PinArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let (id, named) = self.which.resolve(&oneiro)?;
        let message = oneiro.messages().resolve(&named, Some(&id))?;
        let changed = oneiro.messages().pin(&id, message)?;
        let answer = json!({"message_id": message, "pinned": true, "changed": changed});
        context.output.show(&answer, |_| {
            let now = if changed { "is" } else { "was already" };
            format!("Message {named} of session {id} {now} pinned.")
        })
    }
}

/// A message of a session.
#[derive(Debug, Args)]
struct OneMessage {
    /// The session, or the message by its place in it: monday#3
    session: String,
    /// The message: its id, or its place (monday#3)
    message: Option<String>,
}

impl OneMessage {
    fn resolve(&self, oneiro: &Oneiro) -> Result<(SessionId, MessageRef)> {
        let (id, message) = session_and_message(oneiro, &self.session, self.message.as_deref())?;
        let message = message.ok_or_else(|| {
            Error::field("message", "is missing").remedy(format!(
                "give its id, or its place as {0}#1; `oneiro session show {0}` lists the places",
                self.session
            ))
        })?;
        Ok((id, message))
    }
}

/// Unpin a message
#[derive(Debug, Args)]
pub struct UnpinArgs {
    #[command(flatten)]
    which: OneMessage,
}

impl UnpinArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let (id, named) = self.which.resolve(&oneiro)?;
        let message = oneiro.messages().resolve(&named, Some(&id))?;
        let changed = oneiro.messages().unpin(&id, message)?;
        let answer = json!({"message_id": message, "pinned": false, "changed": changed});
        context.output.show(&answer, |_| {
            let now = if changed { "is no longer" } else { "was not" };
            format!("Message {named} of session {id} {now} pinned.")
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
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let page = Page { items: oneiro.messages().pinned(&id)?, next: None };
        if page.items.is_empty() {
            context.output.note("No pinned messages.");
            if !context.output.json {
                return Ok(());
            }
        }
        let places = Places::in_session(&oneiro, &id, page.items.iter().map(|one| one.id))?;
        context.output.show(&page, |page| texts(&page.items, &places, context.style))
    }
}
