//! `oneiro session tree`: the summaries of a session, from the top level down to what
//! covers messages.

use crate::commands::search::show::when;
use crate::context::Context;
use crate::output::{count, one_line, thousands};
use crate::style::Style;
use clap::Args;
use oneiro::{
    Oneiro, Page, Session, SessionId, Summary, SummaryId, SummaryKind, Window, WindowRequest,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Columns of the first line of a summary's words.
const WORDS_WIDTH: usize = 96;

/// Show the tree of a session's summaries
///
/// A filled mark (●) is in the window now. Below a summary are those that it condenses; `oneiro
/// expand ID` prints the messages that a summary covers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session tree monday
  oneiro session tree monday --depth 1      only the two upper levels
  oneiro summary sum_k3v                    one summary, complete")]
pub struct TreeArgs {
    /// The session
    session: String,
    /// Maximum depth below the top level; 0 shows only that
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

impl TreeArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let page = Page { items: oneiro.context().summaries(&id)?, next: None };
        if context.output.json {
            return context.output.show(&page, |_| String::new());
        }
        let state = State::of(&oneiro, &id, &page.items)?;
        context.output.show(&page, |page| {
            let most = self.depth.unwrap_or(usize::MAX);
            describe(&page.items, &state, (most, context.style))
        })
    }
}

/// What of a session no summary covers.
struct State {
    session: Session,
    uncovered: usize,
}

impl State {
    fn of(oneiro: &Oneiro, id: &SessionId, summaries: &[Summary]) -> anyhow::Result<State> {
        let request = WindowRequest { explain: true, peek: true, ..WindowRequest::default() };
        let window = oneiro.context().window(id, &request)?;
        let session = oneiro.sessions().find(id)?.ok_or_else(|| {
            oneiro::Error::not_found(format!("there is no session {:?}", id.as_str()))
        })?;
        Ok(State { uncovered: uncovered(&window, summaries, id), session })
    }
}

/// Messages that no summary covers: those that a window leaves out, and those it shows for
/// themselves. One that is pinned may be under a summary nevertheless.
fn uncovered(window: &Window, summaries: &[Summary], id: &SessionId) -> usize {
    let shown = |summary: &&Summary| summary.in_context && summary.session_id == *id;
    let ranges: Vec<(i64, i64)> = summaries
        .iter()
        .filter(shown)
        .filter_map(|summary| Some((summary.first_message?.0, summary.last_message?.0)))
        .collect();
    let left_out = window.omitted.last.map_or(0, |last| last.0);
    let items = window.items.iter().flatten().filter(|item| item.kind == "message");
    let ids: BTreeSet<i64> =
        items.filter_map(|item| item.id.as_ref().and_then(Value::as_i64)).collect();
    let bare = |message: &&i64| {
        **message > left_out
            && !ranges.iter().any(|(first, last)| (*first..=*last).contains(*message))
    };
    window.omitted.messages + ids.iter().filter(bare).count()
}

fn describe(summaries: &[Summary], state: &State, (most, style): (usize, Style)) -> String {
    let session = &state.session;
    let title = session.title.as_ref().map(|title| format!("  {}", one_line(title, 60)));
    let mut lines = vec![format!(
        "{}{}  {}",
        style.bold(&one_line(session.id.as_str(), 60)),
        title.unwrap_or_default(),
        count(usize::try_from(session.message_count).unwrap_or(0), "message"),
    )];
    let mut tree = Tree {
        nodes: summaries.iter().map(|summary| (&summary.id, summary)).collect(),
        rendered: BTreeSet::new(),
        lines: Vec::new(),
        most,
        style,
    };
    let is_root = |summary: &&Summary| tree.is_root(summary) && !is_overview(summary, summaries);
    let roots: Vec<&Summary> = summaries.iter().filter(is_root).collect();
    for root in roots {
        tree.render_summary(root, &Place { before: String::new(), is_last: true, depth: 0 });
    }
    lines.append(&mut tree.lines);
    let shown: Vec<&Summary> = summaries.iter().filter(|summary| summary.in_context).collect();
    let tokens: i64 = shown.iter().map(|summary| summary.tokens).sum();
    let summarised = match shown.len() {
        0 => "no summaries".to_owned(),
        many => format!("● {} at the top level ({})", count(many, "summary"), tokens_text(tokens)),
    };
    let uncovered = match state.uncovered {
        0 => "all messages summarised".to_owned(),
        1 => "1 message not summarised".to_owned(),
        many => format!("{} not summarised", count(many, "message")),
    };
    lines.push(style.dim(&format!("{summarised}; {uncovered}")));
    lines.join("\n")
}

/// Whether a summary only stands in for the top level, where a window is too small for it.
fn is_overview(summary: &Summary, all: &[Summary]) -> bool {
    let is_top = |id: &SummaryId| all.iter().any(|one| one.id == *id && one.in_context);
    !summary.in_context && !summary.children.is_empty() && summary.children.iter().all(is_top)
}

struct Tree<'a> {
    nodes: BTreeMap<&'a SummaryId, &'a Summary>,
    rendered: BTreeSet<&'a SummaryId>,
    lines: Vec<String>,
    most: usize,
    style: Style,
}

/// Where a summary stands in the picture.
struct Place {
    /// What is drawn before it, by those above it.
    before: String,
    is_last: bool,
    depth: usize,
}

impl<'a> Tree<'a> {
    /// What nothing here covers, or a window shows although something does.
    fn is_root(&self, summary: &Summary) -> bool {
        summary.in_context || !summary.parents.iter().any(|id| self.nodes.contains_key(id))
    }

    fn render_summary(&mut self, summary: &'a Summary, place: &Place) {
        let (branch, below) = match (place.depth, place.is_last) {
            (0, _) => ("", String::new()),
            (_, true) => ("└─ ", format!("{}   ", place.before)),
            (_, false) => ("├─ ", format!("{}│  ", place.before)),
        };
        let again = !self.rendered.insert(&summary.id);
        let mark = if summary.in_context { "●" } else { "○" };
        let id = self.style.bold(summary.id.as_str());
        let head = format!("{}{branch}{mark} {id}", place.before);
        if again {
            self.lines.push(format!("{head}  {}", self.style.dim("as above")));
            return;
        }
        self.lines.push(format!("{head}  {}", facts(summary)));
        let children: Vec<&'a Summary> =
            summary.children.iter().filter_map(|id| self.nodes.get(id).copied()).collect();
        let missing = summary.children.len() - children.len();
        let goes_on = !summary.children.is_empty();
        let stem = if goes_on && place.depth < self.most { "│ " } else { "  " };
        let words = one_line(first_line(&summary.content), WORDS_WIDTH);
        self.lines.push(format!("{below}{stem}{}", self.style.dim(&words)));
        if place.depth >= self.most {
            if goes_on {
                let deeper = format!("... {} below", count(summary.children.len(), "summary"));
                self.lines.push(format!("{below}  {}", self.style.dim(&deeper)));
            }
            return;
        }
        for (at, child) in children.iter().enumerate() {
            let is_last = at + 1 == children.len() && missing == 0;
            self.render_summary(
                child,
                &Place { before: below.clone(), is_last, depth: place.depth + 1 },
            );
        }
        if missing > 0 {
            let of = one_line(summary.session_id.as_str(), 60);
            let elsewhere = format!("└─ {} in the tree of {of}", count(missing, "summary"));
            self.lines.push(format!("{below}{}", self.style.dim(&elsewhere)));
        }
    }
}

fn tokens_text(tokens: i64) -> String {
    count(usize::try_from(tokens).unwrap_or(0), "token")
}

/// A summary on one line: what it is, what it covers, and how it was made.
fn facts(summary: &Summary) -> String {
    let made = summary.level.as_str();
    if summary.kind == SummaryKind::Written {
        return format!("written  {}  {}", tokens_text(summary.tokens), when(summary.created_at));
    }
    format!(
        "depth {}  {}  {}  {} -> {}  {made}",
        summary.depth,
        span(summary),
        count(usize::try_from(summary.message_count).unwrap_or(0), "message"),
        number(summary.message_tokens),
        tokens_text(summary.tokens),
    )
}

/// From when to when, without saying one day twice.
fn span(summary: &Summary) -> String {
    let (from, to) = (when(summary.earliest_at), when(summary.latest_at));
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((day, _)), Some((same, time))) if day == same => format!("{from}-{time}"),
        _ => format!("{from} to {to}"),
    }
}

fn number(number: i64) -> String {
    thousands(usize::try_from(number).unwrap_or(0))
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}
