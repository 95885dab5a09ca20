//! `oneiro session rewind` and `restore`.

use super::show::line;
use crate::context::Context;
use crate::output::count;
use crate::request::request;
use clap::Args;
use oneiro::{RestoreRequest, Rewound};
use serde_json::json;

/// Hide a user message and everything after it
///
/// Nothing is removed: `oneiro session restore` undoes it. Without a message, the possible messages
/// are listed.
#[derive(Debug, Args)]
pub struct RewindArgs {
    /// The session
    session: String,
    /// User message to rewind to
    #[arg(conflicts_with = "turns")]
    message: Option<i64>,
    /// User message to rewind to
    #[arg(long, value_name = "MESSAGE", conflicts_with_all = ["message", "turns"])]
    to: Option<i64>,
    /// Rewind this many user turns
    #[arg(long, value_name = "N")]
    turns: Option<usize>,
}

impl RewindArgs {
    /// Rewinds, or shows where to.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let to = self.message.or(self.to);
        if to.is_none() && self.turns.is_none() {
            let points = oneiro.sessions().rewind_points(&id, 20)?;
            let page = oneiro::Page { items: points, next: None };
            return context.output.show(&page, |page| {
                let lines: Vec<String> = page.items.iter().map(line).collect();
                match lines.is_empty() {
                    true => "Nothing to rewind to.".to_owned(),
                    false => lines.join("\n"),
                }
            });
        }
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
    /// Restores.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let restored = oneiro.sessions().restore(&id, RestoreRequest { all: self.all })?;
        context
            .output
            .show(&restored, |answer| format!("{} restored", count(answer.restored, "message")))
    }
}
