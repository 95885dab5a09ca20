//! One summary: its text, the summaries above and below it, and its original messages.

use crate::budget::{cost, cut, share_beside};
use crate::layout::{Frame, Tab, document};
use crate::numbers::{counted, number};
use crate::session_nav::{breadcrumbs, session_nav};
use crate::summaries::{how, kind, row, share};
use crate::text::{line, plain};
use crate::turn::{Reading, article, costs};
use crate::{link, markdown, when};
use maud::{Markup, html};
use oneiro::{Cursor, Message, Session, Summary};

/// A summary and a page of the messages under it.
#[derive(Debug, Clone)]
pub struct SummaryView {
    /// The frame of the page.
    pub frame: Frame,
    /// The session from which it is viewed.
    pub session: Session,
    /// The summary.
    pub summary: Summary,
    /// The summaries it covers, in their order.
    pub children: Vec<Summary>,
    /// The summaries that cover it.
    pub parents: Vec<Summary>,
    /// Messages under it, in their order.
    pub messages: Vec<Message>,
    /// Whether others come before them.
    pub goes_on: bool,
    /// Where the next of them begin.
    pub next: Option<Cursor>,
}

/// Messages to a page; those beside a summary share it with what the summary says.
pub const MESSAGES: usize = 60;

/// Summaries above or below that are shown.
pub const NEAR: usize = 16;

/// What each of them takes besides its address.
const NEAR_BYTES: usize = 600;

/// The most that is shown of a summary's words, which the messages share the page with.
const WORDS: usize = 12_000;

/// The whole page.
pub fn page(view: &SummaryView) -> String {
    document(&view.frame, Tab::Sessions, &name(view), &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &SummaryView) -> String {
    main(view).into_string()
}

fn name(view: &SummaryView) -> String {
    let summary = &view.summary;
    match summary.message_count {
        0 => "Summary written by hand".to_owned(),
        count => format!("Summary of {}", counted(count, "message")),
    }
}

fn main(view: &SummaryView) -> Markup {
    let (session, summary) = (&view.session, &view.summary);
    let words = cut(&summary.content, WORDS);
    html! {
        div #view.reading data-view="summary" data-session=(session.id) {
            header.head {
                (breadcrumbs(session, Some((link::summaries(&session.id), "Summaries"))))
                h1 { (name(view)) }
                p.facts {
                    span.badge.now[summary.in_context] {
                        @if summary.in_context { "top level" } @else { "under another summary" }
                    }
                    span { (kind(summary.kind)) ", depth " (summary.depth) }
                    span {
                        (how(summary.level))
                        @if let Some(model) = &summary.model { ": " (line(model, 60)) }
                    }
                    span { "created " (when::ago(summary.created_at, view.frame.now)) }
                }
                p.facts {
                    @if summary.message_count > 0 {
                        span {
                            (when::exact(summary.earliest_at))
                            " to "
                            (when::exact(summary.latest_at))
                        }
                    }
                    span {
                        (counted(summary.tokens, "token"))
                        @if summary.message_tokens > 0 {
                            ", " (share(summary.tokens, summary.message_tokens))
                        }
                    }
                }
                p.facts.ids {
                    code { (plain(summary.id.as_str())) }
                    button
                        .scripted
                        type="button"
                        data-copy=(summary.id)
                        aria-label="Copy id of the summary"
                    { "Copy id" }
                }
                (session_nav(&session.id, None))
            }
            section.gist aria-labelledby="says" {
                h2 #says { "Text" }
                div.words dir="auto" { (markdown::set(words.unwrap_or(&summary.content))) }
                @if words.is_some() {
                    p {
                        a href={ "/v1/summaries/" (link::encoded(summary.id.as_str())) } {
                            "Show all as JSON"
                        }
                    }
                }
            }
            (near(view, &view.parents, ("above", "Condensed into")))
            (near(view, &view.children, ("below", "Made from")))
            (original_messages(view))
        }
    }
}

fn near(view: &SummaryView, nodes: &[Summary], (id, name): (&str, &str)) -> Markup {
    html! {
        @if !nodes.is_empty() {
            section aria-labelledby=(id) {
                h2 id=(id) { (name) }
                ol.rows {
                    @for node in nodes.iter().take(NEAR) {
                        li { (row(&view.session.id, node)) }
                    }
                }
                @if nodes.len() > NEAR {
                    p.note { (number((nodes.len() - NEAR) as i64)) " more" }
                }
            }
        }
    }
}

/// Its original messages.
fn original_messages(view: &SummaryView) -> Markup {
    let near = (view.children.len() + view.parents.len()).min(NEAR * 2);
    let each = NEAR_BYTES + link::summaries(&view.session.id).len();
    let taken = cost(&view.summary.content).min(WORDS) + near * each;
    let texts = view.messages.iter().flat_map(costs).collect();
    let room = share_beside(texts, view.messages.len(), taken);
    let reading = Reading::of(&view.messages, room, None).linking_to_conversation();
    let here = link::summary(&view.session.id, &view.summary.id);
    let more = |cursor: Cursor| {
        format!("{}#exact", link::query(&here, &[("cursor", &cursor.to_string())]))
    };
    html! {
        section.exact aria-labelledby="exact" {
            h2 #exact { "Original messages" }
            @if view.goes_on {
                p.pager {
                    a href={ (here) "#exact" } { "First page" }
                }
            }
            @if view.messages.is_empty() {
                p.none { "No messages." }
            }
            @for message in view.messages.iter().filter(|message| !reading.is_shown_with_calls(message)) {
                (article(message, &reading, false))
            }
            @if let Some(next) = view.next {
                p.pager {
                    a href=(more(next)) { "More messages" }
                }
            }
        }
    }
}
