//! The summaries of a session, as a picture of their tree and as a list.

use crate::layout::{Frame, Tab, document};
use crate::numbers::{counted, metric, number, short};
use crate::session::title;
use crate::session_nav::{SessionTab, breadcrumbs, session_nav};
use crate::text::{line, plain};
pub use crate::tree::Along;
use crate::tree::{Drawn, along_time, from, tree};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{MessageId, Session, Summary, SummaryId, SummaryKind, SummaryLevel, Timestamp};

/// A session and its summaries.
#[derive(Debug, Clone)]
pub struct SummariesView {
    /// The frame of the page.
    pub frame: Frame,
    /// The session.
    pub session: Session,
    /// Its summaries, and those it took over, by the messages they cover.
    pub summaries: Vec<Summary>,
    /// Messages that no summary covers, in their order, with their times.
    pub loose: Vec<(MessageId, Timestamp)>,
    /// Whether there are more of them than were read.
    pub more_loose: bool,
    /// The horizontal axis, if one was chosen.
    pub along: Option<Along>,
    /// The summary that the list begins with.
    pub from: Option<SummaryId>,
}

/// Bytes that the list may take, and that one summary in it takes besides its address.
const BYTES: usize = 32_000;
const ITEM_BYTES: usize = 620;

/// The whole page.
pub fn page(view: &SummariesView) -> String {
    let name = format!("Summaries of {}", title(&view.session));
    document(&view.frame, Tab::Sessions, &name, &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &SummariesView) -> String {
    main(view).into_string()
}

fn main(view: &SummariesView) -> Markup {
    let session = &view.session;
    html! {
        div #view.reading data-view="summaries" data-session=(session.id) {
            header.head {
                (breadcrumbs(session, None))
                h1 { "Summaries" }
                (session_nav(&session.id, Some(SessionTab::Summaries)))
            }
            @if view.summaries.is_empty() { (nothing(view)) } @else {
                (metrics(view))
                (picture(view))
                (list(view))
                p.note {
                    "Summaries delete nothing: each one links to its original messages. "
                    code { "oneiro compact " (plain(&shell_quoted(session))) }
                    " prepares them now."
                }
            }
        }
    }
}

/// The id of a session, quoted for a shell.
pub(crate) fn shell_quoted(session: &Session) -> String {
    let id = session.id.as_str();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/@".contains(letter);
    if id.chars().all(is_plain) && !id.starts_with('-') {
        id.to_owned()
    } else {
        format!("'{}'", id.replace('\'', "'\\''"))
    }
}

fn nothing(view: &SummariesView) -> Markup {
    let session = &view.session;
    html! {
        div.empty {
            p {
                "This conversation has no summaries. They are prepared when a context window cannot \
                 show every message."
            }
            ul {
                li {
                    code { "oneiro compact " (plain(&shell_quoted(session))) }
                    " prepares them now."
                }
            }
        }
    }
}

fn metrics(view: &SummariesView) -> Markup {
    let now = || view.summaries.iter().filter(|node| node.in_context);
    let covered: i64 = now().map(|node| node.message_count).sum();
    let message_tokens: i64 = now().map(|node| node.message_tokens).sum();
    let summary_tokens: i64 = now().map(|node| node.tokens).sum();
    let deepest = view.summaries.iter().map(|node| node.depth).max().unwrap_or(0);
    let depth =
        format!("{} at the top level, maximum depth {deepest}", number(now().count() as i64));
    let full = format!("{} tokens originally", short(message_tokens));
    let loose = number(view.loose.len() as i64) + if view.more_loose { " or more" } else { "" };
    html! {
        dl.metrics {
            (metric(&number(view.summaries.len() as i64), "Summaries", &depth))
            (metric(&number(covered), "Summarised messages", &full))
            (metric(&short(summary_tokens), "Summary tokens", &share(summary_tokens, message_tokens)))
            (metric(&loose, "Other messages", "not summarised"))
        }
    }
}

/// How much of a size is left.
pub(crate) fn share(part: i64, whole: i64) -> String {
    match whole {
        ..=0 => String::new(),
        _ if part * 100 < whole => "under 1 % of the original".to_owned(),
        _ => format!("{:.0} % of the original", 100.0 * part as f64 / whole as f64),
    }
}

fn picture(view: &SummariesView) -> Markup {
    let drawn = Drawn {
        session: &view.session.id,
        nodes: &view.summaries,
        loose: &view.loose,
        along: view.along,
    };
    let (can, does) = along_time(&drawn);
    let (along, name) =
        if does { ("order", "Show by message order") } else { ("time", "Show by time") };
    html! {
        (tree(&drawn))
        p.note {
            "Each bar is a summary, from its first to its last message. "
            @if can {
                a href=(link::query(&link::summaries(&view.session.id), &[("along", along)])) {
                    (name)
                }
            }
        }
    }
}

/// The same as a list, for people who cannot see the picture or point at its bars.
fn list(view: &SummariesView) -> Markup {
    let session = &view.session.id;
    let most = (BYTES / (ITEM_BYTES + link::summaries(session).len())).max(1);
    let begins = |id: &SummaryId| view.summaries.iter().position(|node| node.id == *id);
    let first = view.from.as_ref().and_then(begins).unwrap_or(0);
    let shown = view.summaries.iter().skip(first).take(most);
    let next = view.summaries.get(first + most);
    let name = if first == 0 && next.is_none() {
        format!("All {} as a list", counted(view.summaries.len() as i64, "summary"))
    } else {
        format!(
            "Summaries {} to {} of {} as a list",
            number(first as i64 + 1),
            number((first + most).min(view.summaries.len()) as i64),
            number(view.summaries.len() as i64)
        )
    };
    html! {
        details #nodes.nodes open[view.from.is_some()] {
            summary { (name) }
            ol.rows {
                @for node in shown {
                    li { (row(session, node)) }
                }
            }
            @if first > 0 && let Some(earliest) = view.summaries.first() {
                p.pager {
                    a href=(from(session, &earliest.id)) { "First page" }
                }
            }
            @if let Some(next) = next {
                p.pager {
                    a href=(from(session, &next.id)) { "Later summaries" }
                }
            }
        }
    }
}

/// A summary in a list.
pub(crate) fn row(session: &oneiro::SessionId, node: &Summary) -> Markup {
    html! {
        a.name href=(link::summary(session, &node.id)) {
            (when::exact(node.earliest_at)) " to " (when::exact(node.latest_at))
        }
        p.preview { (line(&node.content, 120)) }
        p.facts {
            @if node.in_context {
                span.badge.now { "top level" }
            }
            span { (kind(node.kind)) ", depth " (node.depth) }
            span { (counted(node.message_count, "message")) }
            span { (counted(node.tokens, "token")) }
            span { (how(node.level)) }
        }
    }
}

/// What a summary covers, in words.
pub(crate) fn kind(kind: SummaryKind) -> &'static str {
    match kind {
        SummaryKind::Leaf => "of messages",
        SummaryKind::Condensed => "of summaries",
        SummaryKind::Written => "by hand",
    }
}

/// How a summary was made, in words.
pub(crate) fn how(level: SummaryLevel) -> &'static str {
    match level {
        SummaryLevel::Model => "written by a model",
        SummaryLevel::Strict => "written by a model, second attempt",
        SummaryLevel::Extract => "extracted without a model",
        SummaryLevel::Hand => "written by a person or a host",
    }
}
