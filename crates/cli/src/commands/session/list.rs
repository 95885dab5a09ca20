//! `oneiro session list`.

use crate::context::Context;
use crate::output::{ago, one_line, table};
use crate::request::request;
use clap::{Args, ValueEnum};
use oneiro::{ArchivedFilter, ListOrder, ListSessions, Page, Session, Timestamp};
use serde_json::json;

/// List conversations, newest first
///
/// A continued conversation is listed once, as its latest session; subagent sessions are omitted.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Include subagent sessions and continued sessions
    #[arg(long)]
    all: bool,
    /// Only this source
    #[arg(long)]
    source: Option<String>,
    /// Exclude this source; may be repeated
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// Only this project
    #[arg(long)]
    project: Option<String>,
    /// Only this user
    #[arg(long, value_name = "USER")]
    user_id: Option<String>,
    /// Only children of this session
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// Only working directories with this prefix
    #[arg(long, value_name = "PREFIX")]
    cwd: Option<String>,
    /// Minimum number of messages
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_messages: i64,
    /// Only archived sessions
    #[arg(long, conflicts_with = "with_archived")]
    archived: bool,
    /// Include archived sessions
    #[arg(long)]
    with_archived: bool,
    /// Only ended sessions
    #[arg(long, conflicts_with = "open")]
    ended: bool,
    /// Only sessions that have not ended
    #[arg(long)]
    open: bool,
    /// Active at or after: a time, a date, or an age such as 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Active before; a day, a month or a year includes all of it
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Id or title contains this
    #[arg(long, value_name = "TEXT")]
    matching: Option<String>,
    /// Sort key
    #[arg(long, value_enum, default_value_t = Order::Active)]
    order: Order,
    /// Maximum number of results
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Continue after the previous page: its `next`
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Time of the last message
    Active,
    /// Time of the start
    Started,
}

impl ListArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let now = oneiro.now();
        let archived = match (self.with_archived, self.archived) {
            (true, _) => ArchivedFilter::Any,
            (false, true) => ArchivedFilter::Only,
            (false, false) => ArchivedFilter::Without,
        };
        let order = match self.order {
            Order::Active => ListOrder::Active,
            Order::Started => ListOrder::Started,
        };
        let request: ListSessions = request(
            &oneiro,
            json!({
                "all": self.all || self.parent.is_some(),
                "since": self.since,
                "until": self.until,
                "source": self.source,
                "exclude_sources": self.exclude_source,
                "project": self.project,
                "user_id": self.user_id,
                "parent_id": self.parent,
                "cwd_prefix": self.cwd,
                "min_messages": self.min_messages,
                "archived": archived,
                "ended": if self.ended { Some(true) } else { self.open.then_some(false) },
                "matching": self.matching,
                "order": order,
                "limit": self.limit,
                "cursor": self.cursor,
            }),
        )?;
        context.output.show(&oneiro.sessions().list(&request)?, |page| describe(page, now))
    }
}

fn describe(page: &Page<Session>, now: Timestamp) -> String {
    if page.items.is_empty() {
        return "No sessions. Create one: oneiro append SESSION --create --text \"hello\""
            .to_owned();
    }
    let mut text = sessions(&page.items, now);
    if let Some(next) = &page.next {
        text.push_str(&format!("\nmore: --cursor {next}"));
    }
    text
}

/// Sessions, one to a line.
pub(super) fn sessions(items: &[Session], now: Timestamp) -> String {
    let row = |session: &Session| {
        let about = session.title.as_deref().or(session.preview.as_deref()).unwrap_or_default();
        vec![
            one_line(session.id.as_str(), 36),
            one_line(&session.source, 12),
            ago(session.last_active_at, now),
            session.message_count.to_string(),
            one_line(about, 60),
        ]
    };
    let rows: Vec<_> = items.iter().map(row).collect();
    table(&["id", "source", "active", "messages", "about"], &rows)
}
