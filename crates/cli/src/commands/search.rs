//! `oneiro search`: a query in, hits out.

pub mod show;

use crate::commands::expand::resolved;
use crate::commands::session::search as session_search;
use crate::context::Context;
use crate::places::Places;
use crate::progress;
use crate::request::request;
use clap::{Args, ValueEnum};
use oneiro::{
    Error, HitKind, MESSAGE_WINDOW, Oneiro, Role, SEARCH_LIMIT, SearchRequest,
    SessionSearchRequest, Sort,
};
use serde_json::json;
use show::{NeighboursOf, Results};
use std::io::Read;
use std::time::Duration;

/// How long one command searches for a pattern before it answers with a cursor.
const PATTERN_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a query read from standard input: more than the engine accepts, so that its error can
/// name the size.
const QUERY_BYTES_MAX: u64 = 16 << 20;

/// Search messages
///
/// Messages with all the words come first, then messages with some of them. Hits are grouped by
/// session, and the best hit of each is shown with the messages around it. Rewound messages are never
/// found, compacted ones are.
///
/// The query language: "a phrase", AND, OR, NOT, -word, ( ), begin*, *inside*, /regular expression/,
/// role:, source:, session:, name:, project:, since:, until:. Other punctuation is ignored, so a
/// question can be typed as it is.
///
/// Put -- before a query that begins with a dash: oneiro search -- -excluded word. The query - is
/// read from standard input. Times are in UTC.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro search why did we drop the queue
  oneiro search '\"red apple\" -pie since:7d' --role user
  oneiro search '/ap+le/i' --in-summaries --session monday
  oneiro search --around monday#3
  oneiro search --summarise why did we drop the queue")]
pub struct SearchArgs {
    /// What to search for; several arguments are one query. With filters only, the newest messages
    query: Vec<String>,
    /// Only in this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Not in this session, nor in any other of its lineage
    #[arg(long, value_name = "SESSION")]
    exclude_lineage: Option<String>,
    /// Only in sessions of this source; may be repeated
    #[arg(long)]
    source: Vec<String>,
    /// Not in sessions of this source; may be repeated
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// Only messages of this role; may be repeated
    #[arg(long)]
    role: Vec<String>,
    /// Only in sessions of this project
    #[arg(long)]
    project: Option<String>,
    /// Only messages from this time on: a date, a time, or an age such as 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only messages before this time; a day, a month or a year is included
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// The order of hits
    #[arg(long, value_enum, default_value_t = Order::Relevance)]
    sort: Order,
    /// Only the best hit of each lineage
    #[arg(long)]
    one_per_lineage: bool,
    /// Maximum number of hits, or of conversations with --summarise [default: 10, or 3]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// The `next` of the page before
    #[arg(long)]
    cursor: Option<String>,
    /// Messages to show before and after each hit or --around (0 to 20) [default: 1 around the best
    /// hit of each session, 0 with --json, 5 with --around or --summarise]
    #[arg(long, visible_alias = "neighbors", value_name = "N")]
    neighbours: Option<usize>,
    /// Explain the rank of each hit
    #[arg(long)]
    explain: bool,
    /// Show the messages around this one instead of searching: its id with --session, or its place
    /// (monday#3)
    #[arg(long, value_name = "MESSAGE", conflicts_with_all = ["query", "exclude_lineage", "source",
        "exclude_source", "role", "project", "since", "until", "sort", "one_per_lineage", "limit",
        "cursor", "explain", "summarise", "in_summaries"])]
    around: Option<String>,
    /// Summarise each conversation that is found around the query: by the model, if one is
    /// configured, or as an extract
    #[arg(long, visible_alias = "summarize", requires = "query", conflicts_with_all = ["session",
        "since", "until", "one_per_lineage", "cursor", "explain", "in_summaries"])]
    summarise: bool,
    /// Search summaries instead of messages; with --session, the summaries of its lineage
    #[arg(long, conflicts_with_all = ["exclude_lineage", "source", "exclude_source", "role",
        "sort", "one_per_lineage", "cursor", "neighbours", "explain"])]
    in_summaries: bool,
}

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Best first
    Relevance,
    /// Newest first
    Newest,
    /// Oldest first
    Oldest,
}

impl From<Order> for Sort {
    fn from(order: Order) -> Sort {
        match order {
            Order::Relevance => Sort::Relevance,
            Order::Newest => Sort::Newest,
            Order::Oldest => Sort::Oldest,
        }
    }
}

impl SearchArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        if self.around.is_some() || self.summarise {
            let request = self.session_request(&oneiro)?;
            return session_search::run(context, &oneiro, &request);
        }
        let in_summaries = self.in_summaries;
        let neighbours_of = match self.neighbours {
            Some(_) => NeighboursOf::EveryHit,
            None => NeighboursOf::BestHit,
        };
        let request = self.request(&oneiro, context.output.json)?;
        let bar = progress::counter("searching, batches of messages read", context.output.json);
        let found = oneiro.search().run_all(&request, PATTERN_TIMEOUT, &mut || bar.inc(1));
        bar.finish_and_clear();
        let found = found?;
        let is_empty = found.hits.is_empty() && found.summaries.is_empty();
        if is_empty && !context.output.json {
            context.output.note("Nothing found.");
        } else {
            let sessions = oneiro.search().sessions_of(&found)?;
            let messages = found.hits.iter().map(|hit| (&hit.session_id, hit.id));
            let places = Places::new(&oneiro, messages)?;
            context.output.show(&found, |found| {
                let style = context.style;
                Results { found, sessions: &sessions, places: &places, neighbours_of, style }
                    .render()
            })?;
        }
        if !context.output.json
            && let Some(remark) = show::confidence(&found)
        {
            context.output.note(remark);
        }
        if let Some(note) = &found.note {
            context.output.note(&format!("note: {note}"));
        } else if is_empty {
            context.output.note(if in_summaries {
                "hint: only compacted messages have summaries; leave out --in-summaries to search messages"
            } else {
                "hint: try other words or fewer filters; `oneiro session list` lists conversations"
            });
        }
        context.after(&oneiro);
        Ok(())
    }

    /// The roles of the filter. A role of one's own can be given in the query, in quotes.
    fn known_roles(&self) -> oneiro::Result<Vec<Role>> {
        let roles = self.role.iter().map(|role| Role::parse(role));
        let roles = roles.collect::<oneiro::Result<Vec<Role>>>()?;
        Role::check_known(&roles)?;
        Ok(roles)
    }

    /// The request for the messages around one, or for summarised conversations.
    fn session_request(self, oneiro: &Oneiro) -> anyhow::Result<SessionSearchRequest> {
        let query = (!self.query.is_empty()).then(|| query(&self.query)).transpose()?;
        let roles = self.known_roles()?;
        Ok(request(
            oneiro,
            json!({
                "query": query,
                "session": self.session,
                "around": self.around,
                "window": self.neighbours.unwrap_or(MESSAGE_WINDOW.default),
                "limit": self.limit,
                "exclude_lineage": self.exclude_lineage,
                "sort": Sort::from(self.sort),
                "roles": roles,
                "sources": self.source,
                "exclude_sources": self.exclude_source,
                "project": self.project,
                "summarise": self.summarise,
            }),
        )?)
    }

    fn request(self, oneiro: &Oneiro, json: bool) -> anyhow::Result<SearchRequest> {
        let query = query(&self.query)?;
        let roles = self.known_roles()?;
        if self.in_summaries && query.trim().is_empty() {
            return Err(Error::field("query", "is empty")
                .remedy("give words to search for; `oneiro session tree` lists the summaries of a session")
                .into());
        }
        // Continuations of a session share its summaries, so these are searched by lineage.
        let (kinds, session, lineage) = if self.in_summaries {
            (vec![HitKind::Summary], None, resolved(oneiro, self.session.as_deref())?)
        } else {
            (Vec::new(), self.session, None)
        };
        let neighbours = self.neighbours.unwrap_or(usize::from(!json));
        Ok(request(
            oneiro,
            json!({
                "query": query,
                "kinds": kinds,
                "session": session,
                "lineage": lineage,
                "exclude_lineage": self.exclude_lineage,
                "sources": self.source,
                "exclude_sources": self.exclude_source,
                "roles": roles,
                "project": self.project,
                "since": self.since,
                "until": self.until,
                "one_per_lineage": self.one_per_lineage,
                "sort": Sort::from(self.sort),
                "limit": self.limit.unwrap_or(SEARCH_LIMIT),
                "cursor": self.cursor,
                "neighbours": neighbours,
                "explain": self.explain,
            }),
        )?)
    }
}

/// The query that was typed, or standard input.
pub fn query(words: &[String]) -> anyhow::Result<String> {
    match words {
        [only] if only == "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().take(QUERY_BYTES_MAX).read_to_end(&mut bytes)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| Error::field("query", "is not UTF-8").remedy("convert it first"))?;
            // Control characters count as spaces in a query, and no request may hold a NUL.
            Ok(text.replace('\0', " "))
        }
        words => Ok(words.join(" ")),
    }
}
