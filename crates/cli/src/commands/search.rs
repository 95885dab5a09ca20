//! `oneiro search`: a query in, hits out.

pub mod show;

use crate::commands::expand::resolved;
use crate::context::Context;
use crate::places::Places;
use crate::progress;
use crate::request::request;
use clap::{Args, ValueEnum};
use oneiro::{Error, HitKind, Oneiro, SEARCH_LIMIT, SearchRequest, Sort};
use serde_json::json;
use std::io::Read;
use std::time::Duration;

/// How long a pattern is looked for in one go.
const PATTERN_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a query that are read from standard input: enough for the engine to say how many are
/// too many.
const QUERY_BYTES: u64 = 16 << 20;

/// Search what was said
///
/// Words side by side are all wanted, and some of them are found where all are not. The query
/// language: "a phrase", AND, OR, NOT, -word, ( ), begin*, *inside*, /regular expression/, role:,
/// source:, session:, name:, project:, since:, until:. Nothing else that is written does harm, so
/// questions can be asked as they are. Rewound messages are never found, compacted ones are.
///
/// A query that begins with a dash stands after two of them: oneiro search -- -excluded word. The
/// query - is read from standard input. Times are in UTC.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro search why did we drop the queue
  oneiro search '\"red apple\" -pie since:7d' --role user
  oneiro search '/ap+le/i' --in-summaries --session monday")]
pub struct SearchArgs {
    /// What to search for; several arguments are one query. With filters alone, the newest messages
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
    /// Only what was said then or later: a date, a time, or an age such as 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what was said before; a day, a month or a year includes all of it
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// The order of hits
    #[arg(long, value_enum, default_value_t = Order::Relevance)]
    sort: Order,
    /// The best hit of each conversation only
    #[arg(long)]
    one_per_lineage: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = SEARCH_LIMIT)]
    limit: usize,
    /// The `next` of the page before
    #[arg(long)]
    cursor: Option<String>,
    /// Show so many messages before and after each hit (0 to 20) [default: 1, with --json 0]
    #[arg(long, visible_alias = "neighbors", value_name = "N")]
    neighbours: Option<usize>,
    /// Tell why each hit ranked where it did
    #[arg(long)]
    explain: bool,
    /// Search summaries instead of messages; with --session, those of its whole lineage
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
    /// Searches.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let in_summaries = self.in_summaries;
        let request = self.request(&oneiro, context.output.json)?;
        let bar = progress::counter("searching, stretches of messages read", context.output.json);
        let found = oneiro.search().run_all(&request, PATTERN_TIMEOUT, &mut || bar.inc(1));
        bar.finish_and_clear();
        let found = found?;
        let is_empty = found.hits.is_empty() && found.summaries.is_empty();
        if is_empty && !context.output.json {
            context.output.say("Nothing found.");
        } else {
            let messages = found.hits.iter().map(|hit| (&hit.session_id, hit.id));
            let places = Places::new(&oneiro, messages)?;
            context.output.show(&found, |found| show::hits(found, &places, context.ink))?;
        }
        if let Some(note) = &found.note {
            context.output.say(&format!("note: {note}"));
        } else if is_empty {
            context.output.say(match in_summaries {
                true => "hint: only what was compacted has summaries; without --in-summaries the messages are searched",
                false => "hint: try other words or fewer filters; `oneiro session search` shows what was active lately",
            });
        }
        context.after(&oneiro);
        Ok(())
    }

    fn request(self, oneiro: &Oneiro, json: bool) -> anyhow::Result<SearchRequest> {
        let query = query(&self.query)?;
        if self.in_summaries && query.trim().is_empty() {
            return Err(Error::field("query", "is empty")
                .remedy("give words to look for in summaries; `oneiro session tree` shows all of a session's")
                .into());
        }
        // Summaries are those of a whole lineage: a session goes on in its continuations.
        let (kinds, session, lineage) = match self.in_summaries {
            true => (vec![HitKind::Summary], None, resolved(oneiro, self.session.as_deref())?),
            false => (Vec::new(), self.session, None),
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
                "roles": self.role,
                "project": self.project,
                "since": self.since,
                "until": self.until,
                "one_per_lineage": self.one_per_lineage,
                "sort": Sort::from(self.sort),
                "limit": self.limit,
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
            std::io::stdin().lock().take(QUERY_BYTES).read_to_end(&mut bytes)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| Error::field("query", "is not UTF-8").remedy("convert it first"))?;
            // As every control character of a query, it is a space; no request holds one.
            Ok(text.replace('\0', " "))
        }
        words => Ok(words.join(" ")),
    }
}
