//! `oneiro session prune`.

use crate::context::Context;
use crate::output::{count, one_line};
use crate::request::request;
use clap::Args;
use oneiro::{Error, PruneRequest, Pruned};
use serde_json::json;

/// Delete ended sessions by age and filters
///
/// Only sessions that have ended go, and every filter must hold.
#[derive(Debug, Args)]
pub struct PruneArgs {
    /// Ended at least so long ago: 90d, 12h, 2w
    #[arg(long, value_name = "AGE", default_value = "90d")]
    older_than: String,
    /// Only this source
    #[arg(long)]
    source: Option<String>,
    /// Only this project
    #[arg(long)]
    project: Option<String>,
    /// Only this person
    #[arg(long, value_name = "USER")]
    user_id: Option<String>,
    /// Only models whose name contains this
    #[arg(long)]
    model: Option<String>,
    /// Only titles that contain this
    #[arg(long)]
    title: Option<String>,
    /// Only this end reason
    #[arg(long, value_name = "REASON")]
    end_reason: Option<String>,
    /// Only with at least so many messages
    #[arg(long, value_name = "N")]
    min_messages: Option<i64>,
    /// Only with at most so many messages
    #[arg(long, value_name = "N")]
    max_messages: Option<i64>,
    /// Only archived ones (true) or none of them (false)
    #[arg(long)]
    archived: Option<bool>,
    /// List what would go, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask; without a terminal nobody is asked
    #[arg(long, short)]
    yes: bool,
}

impl PruneArgs {
    /// Prunes.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let request: PruneRequest = request(
            &oneiro,
            json!({
                "ended_before": age(&self.older_than)?,
                "source": self.source,
                "project": self.project,
                "user_id": self.user_id,
                "model": self.model,
                "title": self.title,
                "end_reason": self.end_reason,
                "min_messages": self.min_messages,
                "max_messages": self.max_messages,
                "archived": self.archived,
                "dry_run": true,
            }),
        )?;
        let would = oneiro.sessions().prune(request.clone())?;
        if self.dry_run {
            return context.output.show(&would, describe);
        }
        let question = format!("Delete {}?", count(would.deleted.sessions.len(), "ended session"));
        if !context.output.confirm(&question, self.yes || would.deleted.sessions.is_empty())? {
            return Ok(());
        }
        let pruned = oneiro.sessions().prune(PruneRequest { dry_run: false, ..request })?;
        context.output.show(&pruned, describe)
    }
}

fn describe(pruned: &Pruned) -> String {
    if !pruned.dry_run {
        return super::delete::describe(&pruned.deleted);
    }
    let mut lines = vec![format!(
        "{} with {} would go",
        count(pruned.deleted.sessions.len(), "session"),
        count(pruned.deleted.messages as usize, "message")
    )];
    lines.extend(pruned.deleted.sessions.iter().map(|id| one_line(id.as_str(), 90)));
    lines.join("\n")
}

/// An age; a bare number is days. A date would be easy to mistake: one in the future means all.
fn age(text: &str) -> anyhow::Result<String> {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_age =
        unit.len() < text.len() && ["", "s", "m", "min", "h", "d", "w", "mo", "y"].contains(&unit);
    match is_age {
        true if unit.is_empty() => Ok(format!("{text}d")),
        true => Ok(text.to_owned()),
        false => Err(Error::field("older-than", format!("{text:?} is not an age"))
            .remedy("write 90d, 12h or 2w")
            .into()),
    }
}
