//! `oneiro search`: a query in, hits out.

pub mod show;
mod summaries;

use crate::context::Context;
use crate::progress;
use clap::{Args, ValueEnum};
use oneiro::{
    Cursor, Error, Found, Oneiro, Query, Role, SEARCH_LIMIT, SearchRequest, SessionId, Sort,
    Timestamp,
};
use std::io::Read;
use std::time::{Duration, Instant};

/// How long a pattern is looked for in one go.
const PATIENCE: Duration = Duration::from_secs(10);

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
    #[arg(long, visible_alias = "neighbors", value_name = "N", value_parser = clap::value_parser!(u8).range(0..=20))]
    neighbours: Option<u8>,
    /// Tell why each hit ranked where it did
    #[arg(long)]
    explain: bool,
    /// Search summaries instead of messages; with --session, those of its whole lineage
    #[arg(long, conflicts_with_all = ["exclude_lineage", "source", "exclude_source", "role",
        "project", "sort", "one_per_lineage", "cursor", "neighbours", "explain"])]
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
        let oneiro = context.open_to_read()?;
        if self.in_summaries {
            return summaries::search(self, context, &oneiro);
        }
        let request = self.request(context.output.json, oneiro.now())?;
        let found = follow(&oneiro, request, context.output.json)?;
        if found.hits.is_empty() && !context.output.json {
            context.output.say("Nothing found.");
        } else {
            context.output.show(&found, |found| show::hits(found, context.ink))?;
        }
        if let Some(note) = &found.note {
            context.output.say(&format!("note: {note}"));
        } else if found.hits.is_empty() {
            context.output.say("hint: try other words or fewer filters; `oneiro session search` shows what was active lately");
        }
        context.after(&oneiro);
        Ok(())
    }

    fn request(self, json: bool, now: Timestamp) -> anyhow::Result<SearchRequest> {
        let session = |text: Option<String>| text.map(SessionId::new).transpose();
        Ok(SearchRequest {
            roles: roles(&self.role)?,
            sources: self.source,
            exclude_sources: self.exclude_source,
            session: session(self.session)?,
            exclude_lineage: session(self.exclude_lineage)?,
            project: self.project,
            since: time("since", self.since.as_deref(), now)?,
            until: time("until", self.until.as_deref(), now)?,
            one_per_lineage: self.one_per_lineage,
            sort: self.sort.into(),
            limit: self.limit,
            cursor: self.cursor.as_deref().map(Cursor::parse).transpose()?,
            neighbours: self.neighbours.map_or(usize::from(!json), usize::from),
            explain: self.explain,
            ..SearchRequest::new(query(&self.query)?)
        })
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
            Ok(text)
        }
        words => Ok(words.join(" ")),
    }
}

/// The roles that were typed.
pub fn roles(names: &[String]) -> oneiro::Result<Vec<Role>> {
    names.iter().map(|name| Role::parse(name)).collect()
}

/// A moment as the query language reads it.
fn time(
    field: &'static str,
    text: Option<&str>,
    now: Timestamp,
) -> oneiro::Result<Option<Timestamp>> {
    let Some(text) = text else { return Ok(None) };
    let query = Query::parse(&format!("{field}:\"{text}\""), now)?;
    let found = if field == "since" { query.filters.since } else { query.filters.until };
    match found.filter(|_| query.expr.is_none()) {
        Some(found) => Ok(Some(found)),
        None => Err(Error::field(field, format!("{text:?} is not a date, a time or an age"))
            .remedy("write a date (2026-01-31), a time (2026-01-31T09:30:00Z) or an age (3d)")),
    }
}

/// Searches, and goes on where only part was read for a pattern, until the page is full, everything
/// was read, or it has taken long enough.
fn follow(oneiro: &Oneiro, mut request: SearchRequest, quiet: bool) -> anyhow::Result<Found> {
    let began = Instant::now();
    let wanted = request.limit;
    let mut found = oneiro.search(&request)?;
    let bar = progress::counter("searching, stretches of messages read", quiet);
    while let Some(next) = found.next.filter(|_| found.hits.len() < wanted)
        && began.elapsed() < PATIENCE
    {
        bar.inc(1);
        if request.cursor.replace(next) == Some(next) {
            break;
        }
        request.limit = wanted - found.hits.len();
        let more = oneiro.search(&request)?;
        found.tier = found.tier.or(more.tier);
        found.hits.extend(more.hits);
        found.next = more.next;
        found.note = more.note;
    }
    bar.finish_and_clear();
    Ok(found)
}
