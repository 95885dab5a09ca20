//! A conversation: facts of the session, its lineage, and a page of messages. It must not know how a
//! message looks.

use crate::budget::cut;
use crate::layout::{Frame, Tab, document};
use crate::lineage::{self, Relative};
use crate::numbers::{counted, dollars, number, short};
use crate::session_nav::{SessionTab, session_nav};
use crate::text::{line, one_line, plain};
use crate::turns::turns;
use crate::{link, markdown, when};
use maud::{Markup, html};
use oneiro::{Cursor, Memory, Message, MessageId, Session};
use std::collections::BTreeMap;

/// Messages per page: with more, long ones would have to be cut for the page to stay small.
pub const MESSAGES: usize = 100;

/// Bytes shown of a system prompt.
const PROMPT_BYTES: usize = 8_000;

/// A session and a page of its messages.
#[derive(Debug, Clone)]
pub struct ConversationView {
    /// The frame of the page.
    pub frame: Frame,
    /// The session, with its system prompt.
    pub session: Session,
    /// The sessions of its lineage, itself included; may be empty when it has no relatives.
    pub family: Vec<Relative>,
    /// The messages of this page in their order, rewound ones included.
    pub messages: Vec<Message>,
    /// The page before, where there is one.
    pub earlier: Option<Cursor>,
    /// The page after, where there is one.
    pub later: Option<Cursor>,
    /// Show rewound messages.
    pub hidden: bool,
    /// The message that the address names.
    pub at: Option<MessageId>,
    /// The messages of this session that every window of it shows.
    pub pinned: Vec<MessageId>,
    /// What was learnt from these messages.
    pub learnt: BTreeMap<MessageId, Vec<Memory>>,
}

/// The whole page.
pub fn page(view: &ConversationView) -> String {
    document(&view.frame, Tab::Sessions, &title(&view.session), &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &ConversationView) -> String {
    main(view).into_string()
}

/// The name of a session on one line.
pub(crate) fn title(session: &Session) -> String {
    one_line(session.display_name(), 120)
}

fn main(view: &ConversationView) -> Markup {
    let session = &view.session;
    let last = view.messages.last().map_or(0, |message| message.id.0);
    html! {
        div #view
            .reading
            data-view="session"
            data-session=(session.id)
            data-last=(last)
            data-end[view.later.is_none()]
        {
            (head(view))
            (pager(view, true))
            div #turns { (turns(view)) }
            @if view.messages.is_empty() {
                p.none { "No messages yet." }
            }
            (pager(view, false))
        }
    }
}

fn head(view: &ConversationView) -> Markup {
    let (session, now) = (&view.session, view.frame.now);
    let family = lineage::lineage_graph(&view.family, &session.id);
    html! {
        header.head {
            p.breadcrumbs {
                a href="/sessions" { "Sessions" }
            }
            h1 {
                bdi { (plain(&title(session))) }
            }
            p.facts {
                span.badge { (plain(&session.source)) }
                @if session.archived {
                    span.badge { "archived" }
                }
                @match (session.ended_at, session.end_reason.as_deref()) {
                    (Some(at), reason) => span title=(when::exact(at)) {
                        "ended "
                        (when::distance(at, now))
                        @if let Some(reason) = reason { ": " (line(reason, 60)) }
                    },
                    (None, _) => span.open { "open" },
                }
                @if let Some(model) = &session.model {
                    span { (line(model, 60)) }
                }
                @if let Some(project) = &session.project {
                    a href=(link::query("/sessions", &[("project", project)])) {
                        "project "
                        (line(project, 60))
                    }
                }
                @if let Some(user) = &session.user_id {
                    span { "user " (line(user, 60)) }
                }
            }
            p.facts {
                span { "started " (when::ago(session.started_at, now)) }
                span { "last active " (when::ago(session.last_active_at, now)) }
                span { (counted(session.message_count, "message")) }
                @if session.tool_call_count > 0 {
                    span { (counted(session.tool_call_count, "tool call")) }
                }
                @if session.input_tokens + session.output_tokens > 0 {
                    span
                        title={
                            (number(session.input_tokens))
                            " input tokens, "
                            (number(session.output_tokens))
                            " output, "
                            (number(session.cache_read_tokens))
                            " read from the cache"
                        }
                    {
                        "tokens: "
                        (short(session.input_tokens))
                        " in, "
                        (short(session.output_tokens))
                        " out"
                    }
                }
                @if let Some(cost) = cost(session) {
                    span { (cost) }
                }
            }
            p.facts.ids {
                code {
                    bdi { (plain(session.id.as_str())) }
                }
                button
                    .scripted
                    type="button"
                    data-copy=(session.id)
                    aria-label="Copy id of the session"
                { "Copy id" }
                a href=(link::query("/packs", &[("session", session.id.as_str())])) {
                    "What it was shown"
                }
                @if session.rewind_count > 0 {
                    @let toggle = if view.hidden { "" } else { "1" };
                    a href=(link::query(&link::session(&session.id), &[("hidden", toggle)])) {
                        @if view.hidden { "Hide rewound messages" } @else {
                            "Show rewound messages"
                        }
                    }
                }
            }
            (session_nav(&session.id, Some(SessionTab::Conversation)))
            @if let Some(drawn) = family {
                details.family open {
                    summary { "Lineage, " (counted(view.family.len() as i64, "session")) }
                    (drawn)
                }
            }
            @if let Some(prompt) = &session.system_prompt {
                details.instructions {
                    summary {
                        "System prompt, "
                        (counted(prompt.chars().count() as i64, "character"))
                    }
                    (system_prompt(session, prompt))
                }
            }
        }
    }
}

/// The system prompt, cut where it is long.
fn system_prompt(session: &Session, prompt: &str) -> Markup {
    let shown = cut(prompt, PROMPT_BYTES);
    let whole = format!("/v1/sessions/{}", link::encoded(session.id.as_str()));
    html! {
        div.words dir="auto" {
            (markdown::set(shown.unwrap_or(prompt)))
            @if shown.is_some() {
                p {
                    a href=(whole) { "Show all as JSON" }
                }
            }
        }
    }
}

fn cost(session: &Session) -> Option<String> {
    let (actual, estimated) = (session.actual_cost_usd, session.estimated_cost_usd);
    if actual > 0.0 {
        Some(dollars(actual))
    } else {
        (estimated > 0.0).then(|| format!("about {}", dollars(estimated)))
    }
}

fn pager(view: &ConversationView, up: bool) -> Markup {
    let (cursor, words) =
        if up { (view.earlier, "Earlier messages") } else { (view.later, "Later messages") };
    let hidden = if view.hidden { "1" } else { "" };
    let href = |cursor: Cursor| {
        let pairs = [("hidden", hidden), ("cursor", &cursor.to_string())];
        link::query(&link::session(&view.session.id), &pairs)
    };
    html! {
        @if let Some(cursor) = cursor {
            p.pager {
                a href=(href(cursor)) { (words) }
            }
        }
    }
}
