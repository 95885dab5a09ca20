//! `oneiro session delete`: one session, or ended sessions by age and filters.

use crate::context::Context;
use crate::output::{count, one_line};
use crate::request::request;
use clap::{ArgGroup, Args};
use oneiro::{Deleted, Error, Oneiro, PruneRequest, Pruned, SessionId};
use serde_json::json;

/// Delete a session and its subagent sessions, or old sessions by filters
///
/// Other sessions that descend from a deleted one are kept, without a parent. With --older-than,
/// sessions that have ended are deleted if every filter matches. Traces may remain in the files until
/// they are overwritten; `oneiro erase` leaves none.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("which").required(true).args(["session", "older_than"]),
    after_help = "Examples:
  oneiro session delete monday
  oneiro session delete --older-than 90d --source cron --dry-run"
)]
pub struct DeleteArgs {
    /// Complete id of the session
    #[arg(conflicts_with_all = ["EndedFilters", "dry_run"])]
    session: Option<String>,
    /// Delete sessions that ended at least this long ago: 90d, 12h, 2w
    #[arg(long, value_name = "AGE")]
    older_than: Option<String>,
    #[command(flatten)]
    filters: EndedFilters,
    /// List the sessions that would be deleted, and delete none
    #[arg(long)]
    dry_run: bool,
    /// Skip confirmation; required when not at a terminal
    #[arg(long, short)]
    yes: bool,
}

/// Which ended sessions to delete.
#[derive(Debug, Args)]
pub struct EndedFilters {
    /// Only this source
    #[arg(long)]
    source: Option<String>,
    /// Only this project
    #[arg(long)]
    project: Option<String>,
    /// Only this user
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
    /// Minimum number of messages
    #[arg(long, value_name = "N")]
    min_messages: Option<i64>,
    /// Maximum number of messages
    #[arg(long, value_name = "N")]
    max_messages: Option<i64>,
    /// Only archived sessions (true), or none of them (false)
    #[arg(long)]
    archived: Option<bool>,
}

/// Whether sessions are deleted, and whether that must be confirmed.
pub(super) enum Removal {
    /// List what would go.
    DryRun,
    /// Ask, unless `yes` was given.
    Confirm { yes: bool },
}

impl Removal {
    pub(super) fn new(dry_run: bool, yes: bool) -> Removal {
        if dry_run { Removal::DryRun } else { Removal::Confirm { yes } }
    }
}

impl DeleteArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        if let Some(age) = &self.older_than {
            return self.filters.delete(context, age, Removal::new(self.dry_run, self.yes));
        }
        let id = SessionId::new(self.session.unwrap_or_default())?;
        let oneiro = context.open()?;
        // One that does not exist is refused by the engine, with what to do about it.
        if let Some(what) = what_goes(&oneiro, &id)?
            && !context.output.confirm_removal(&what, self.yes)?
        {
            return Ok(());
        }
        context.output.show(&oneiro.sessions().delete(&id)?, describe)
    }
}

impl EndedFilters {
    /// Deletes the sessions that ended before an age and match every filter.
    pub(super) fn delete(
        &self,
        context: &Context,
        age: &str,
        removal: Removal,
    ) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let request = self.request(&oneiro, age)?;
        let would = oneiro.sessions().prune(request.clone())?;
        let Removal::Confirm { yes } = removal else {
            return context.output.show(&would, describe_pruned);
        };
        let what = format!(
            "{} with {}",
            count(would.deleted.sessions.len(), "session"),
            count(would.deleted.messages as usize, "message")
        );
        let is_confirmed = yes || would.deleted.sessions.is_empty();
        if !context.output.confirm_removal(&what, is_confirmed)? {
            return Ok(());
        }
        let pruned = oneiro.sessions().prune(PruneRequest { dry_run: false, ..request })?;
        context.output.show(&pruned, describe_pruned)
    }

    fn request(&self, oneiro: &Oneiro, age: &str) -> anyhow::Result<PruneRequest> {
        Ok(request(
            oneiro,
            json!({
                "ended_before": checked_age(age)?,
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
        )?)
    }
}

/// A session that is about to be removed, with everything that goes with it; `None` if it does not
/// exist.
pub fn what_goes(oneiro: &Oneiro, id: &SessionId) -> oneiro::Result<Option<String>> {
    let Some(session) = oneiro.sessions().find(id)? else { return Ok(None) };
    let going = oneiro.sessions().preview_delete(id)?;
    let number = |number: i64| usize::try_from(number).unwrap_or(0);
    let mut rewound = 0;
    for id in &going.sessions {
        rewound += number(oneiro.messages().counts(id)?.rewound);
    }
    let title = session.title.map_or(String::new(), |title| format!(" {title:?}"));
    let subagents = match going.sessions.len() {
        0 | 1 => String::new(),
        sessions => format!(" and {}", count(sessions - 1, "subagent session")),
    };
    let messages = count(number(going.messages), "message");
    let rewound = if rewound > 0 { format!(" ({rewound} rewound)") } else { String::new() };
    Ok(Some(one_line(&format!("session {id}{title}{subagents} with {messages}{rewound}"), 200)))
}

fn describe(deleted: &Deleted) -> String {
    let mut text = format!(
        "{} with {} deleted",
        count(deleted.sessions.len(), "session"),
        count(deleted.messages as usize, "message")
    );
    if !deleted.orphaned.is_empty() {
        text.push_str(&format!("; {} left without a parent", deleted.orphaned.len()));
    }
    text
}

fn describe_pruned(pruned: &Pruned) -> String {
    if !pruned.dry_run {
        return describe(&pruned.deleted);
    }
    let mut lines = vec![format!(
        "{} with {} would be deleted",
        count(pruned.deleted.sessions.len(), "session"),
        count(pruned.deleted.messages as usize, "message")
    )];
    lines.extend(pruned.deleted.sessions.iter().map(|id| one_line(id.as_str(), 90)));
    lines.join("\n")
}

/// An age; a bare number is days. A date would be easy to mistake: one in the future means all.
fn checked_age(text: &str) -> anyhow::Result<String> {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_age =
        unit.len() < text.len() && ["", "s", "m", "min", "h", "d", "w", "mo", "y"].contains(&unit);
    if !is_age {
        return Err(Error::field("older-than", format!("{text:?} is not an age"))
            .remedy("write 90d, 12h or 2w")
            .into());
    }
    Ok(if unit.is_empty() { format!("{text}d") } else { text.to_owned() })
}
