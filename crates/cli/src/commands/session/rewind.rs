//! `oneiro session rewind` and `restore`.

use super::show::line;
use crate::context::Context;
use crate::output::count;
use crate::places::{Places, session_and_message};
use crate::request::request;
use clap::Args;
use oneiro::{RestoreRequest, Rewound};
use serde_json::json;

/// Hide a user message and everything after it
///
/// Nothing is removed: `oneiro session restore` undoes it. Without a message, the possible messages
/// are listed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session rewind monday               list the messages to choose from
  oneiro session rewind monday#3             to the third message of the session
  oneiro session rewind monday --turns 1     to the last user message")]
pub struct RewindArgs {
    /// The session, or a message by its place in it: monday#3
    session: String,
    /// User message to rewind to: its id, or its place (monday#3)
    #[arg(conflicts_with = "turns")]
    message: Option<String>,
    /// User message to rewind to
    #[arg(long, value_name = "MESSAGE", conflicts_with_all = ["message", "turns"])]
    to: Option<String>,
    /// Rewind this many user turns
    #[arg(long, value_name = "N")]
    turns: Option<usize>,
}

impl RewindArgs {
    /// Rewinds, or shows where to.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let message = self.message.or(self.to);
        let (id, to) = session_and_message(&oneiro, &self.session, message.as_deref())?;
        if to.is_none() && self.turns.is_none() {
            let points = oneiro.sessions().rewind_points(&id, 20)?;
            let places = Places::in_session(&oneiro, &id, points.iter().map(|one| one.id))?;
            let page = oneiro::Page { items: points, next: None };
            return context.output.show(&page, |page| {
                let label = |message| line(&places.full_label(message), message);
                let lines: Vec<String> = page.items.iter().map(label).collect();
                if lines.is_empty() { "Nothing to rewind to.".to_owned() } else { lines.join("\n") }
            });
        }
        let to = to.map(|to| to.to_string());
        let request = request(&oneiro, json!({"to": to, "turns": self.turns}))?;
        context.output.show(&oneiro.sessions().rewind(&id, request)?, describe)
    }
}

fn describe(rewound: &Rewound) -> String {
    let head = rewound.head.map_or("nothing".to_owned(), |head| format!("message {head}"));
    format!("{} rewound; the conversation ends with {head}", count(rewound.rewound, "message"))
}

/// Restore rewound messages
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The session
    session: String,
    /// Restore everything that rewinds have hidden, not only the latest
    #[arg(long)]
    all: bool,
}

impl RestoreArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let restored = oneiro.sessions().restore(&id, RestoreRequest { all: self.all })?;
        context
            .output
            .show(&restored, |answer| format!("{} restored", count(answer.restored, "message")))
    }
}
