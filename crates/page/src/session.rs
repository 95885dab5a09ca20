//! A conversation: what the session is, its family, and a page of what was said. It must not know
//! how a message looks.

use crate::budget::share;
use crate::figures::{counted, dollars, number, short};
use crate::layout::{Frame, Tab, document};
use crate::lineage::{self, Relative};
use crate::text::{one_line, plain};
use crate::turn::{Reading, article, costs, name_of};
use crate::{link, markdown, when};
use maud::{Markup, html};
use oneiro::{Cursor, Message, MessageId, Part, Role, Session, Visibility, parts};

/// Messages to a page: with fewer, reading is turning pages; with more, long ones would have to be
/// cut short for the page to stay quick.
pub const MESSAGES: usize = 100;

/// A session and a page of its messages.
#[derive(Debug, Clone)]
pub struct ConversationView {
    /// What every page knows.
    pub frame: Frame,
    /// The session, with its system prompt.
    pub session: Session,
    /// Its family, itself included; may be empty when it has none.
    pub family: Vec<Relative>,
    /// The messages of this page in their order, rewound ones included.
    pub messages: Vec<Message>,
    /// The page before, where there is one.
    pub earlier: Option<Cursor>,
    /// The page after, where there is one.
    pub later: Option<Cursor>,
    /// Show what was rewound.
    pub hidden: bool,
    /// The message that was asked for.
    pub at: Option<MessageId>,
}

/// The whole page.
pub fn page(view: &ConversationView) -> String {
    document(&view.frame, Tab::Sessions, &title(&view.session), &main(view))
}

/// The content alone.
pub fn fragment(view: &ConversationView) -> String {
    main(view).into_string()
}

/// What a session is called: its title, how it begins, or its id.
pub(crate) fn title(session: &Session) -> String {
    let named = session.title.as_deref().filter(|title| !title.trim().is_empty());
    let begins = session.preview.as_deref().filter(|preview| !preview.trim().is_empty());
    one_line(named.or(begins).unwrap_or(session.id.as_str()), 120)
}

fn main(view: &ConversationView) -> Markup {
    let session = &view.session;
    let last = view.messages.last().map_or(0, |message| message.id.0);
    html! {
        div #view .reading data-view="session" data-session=(session.id) data-last=(last)
            data-end[view.later.is_none()] {
            (head(view))
            (turner(view, true))
            div #turns { (turns(view)) }
            @if view.messages.is_empty() { p.none { "Nothing has been said here yet." } }
            (turner(view, false))
        }
    }
}

fn head(view: &ConversationView) -> Markup {
    let (session, now) = (&view.session, view.frame.now);
    let family = lineage::drawing(&view.family, &session.id);
    html! {
        header.head {
            p.trail { a href="/sessions" { "Sessions" } }
            h1 { bdi { (plain(&title(session))) } }
            p.facts {
                span.badge { (plain(&session.source)) }
                @if session.archived { span.badge { "archived" } }
                @match (session.ended_at, session.end_reason.as_deref()) {
                    (Some(at), reason) => span title=(when::exact(at)) {
                        "ended " (when::distance(at, now)) @if let Some(reason) = reason { ": " bdi { (plain(&one_line(reason, 60))) } }
                    },
                    (None, _) => span.open { "open" },
                }
                @if let Some(model) = &session.model { span { bdi { (plain(&one_line(model, 60))) } } }
                @if let Some(project) = &session.project {
                    a href=(link::query("/sessions", &[("project", project)])) { "project " bdi { (plain(&one_line(project, 60))) } }
                }
                @if let Some(user) = &session.user_id { span { "with " bdi { (plain(&one_line(user, 60))) } } }
            }
            p.facts {
                span { "begun " (when::ago(session.started_at, now)) }
                span { "last active " (when::ago(session.last_active_at, now)) }
                span { (counted(session.message_count, "message")) }
                @if session.tool_call_count > 0 { span { (counted(session.tool_call_count, "tool call")) } }
                @if session.input_tokens + session.output_tokens > 0 {
                    span title={ (number(session.input_tokens)) " in, " (number(session.output_tokens)) " out, " (number(session.cache_read_tokens)) " from the cache" } {
                        (short(session.input_tokens)) " tokens in, " (short(session.output_tokens)) " out"
                    }
                }
                @if let Some(cost) = cost(session) { span { (cost) } }
            }
            p.facts.ids {
                code { bdi { (plain(session.id.as_str())) } }
                button.scripted type="button" data-copy=(session.id) aria-label="Copy id of this session" { "Copy id" }
                @if session.rewind_count > 0 {
                    @let toggle = if view.hidden { "" } else { "1" };
                    a href=(link::query(&link::session(&session.id), &[("hidden", toggle)])) {
                        @if view.hidden { "Hide what was rewound" } @else { "Show what was rewound" }
                    }
                }
            }
            @if let Some(drawn) = family {
                details.family open { summary { "Family of " (counted(view.family.len() as i64, "session")) } (drawn) }
            }
            @if let Some(prompt) = &session.system_prompt {
                details.instructions {
                    summary { "System prompt, " (counted(prompt.chars().count() as i64, "character")) }
                    div.words dir="auto" { (markdown::set(crate::budget::cut(prompt, 8_000).unwrap_or(prompt))) }
                }
            }
        }
    }
}

fn cost(session: &Session) -> Option<String> {
    let (actual, estimated) = (session.actual_cost_usd, session.estimated_cost_usd);
    match actual > 0.0 {
        true => Some(dollars(actual)),
        false => (estimated > 0.0).then(|| format!("about {}", dollars(estimated))),
    }
}

fn turner(view: &ConversationView, up: bool) -> Markup {
    let (cursor, words) = match up {
        true => (view.earlier, "Earlier messages"),
        false => (view.later, "Later messages"),
    };
    let hidden = if view.hidden { "1" } else { "" };
    let href = |cursor: Cursor| {
        let pairs = [("hidden", hidden), ("cursor", &cursor.to_string())];
        link::query(&link::session(&view.session.id), &pairs)
    };
    html! { @if let Some(cursor) = cursor { p.turner { a href=(href(cursor)) { (words) } } } }
}

fn turns(view: &ConversationView) -> Markup {
    let shown = view.messages.iter().filter(|message| view.hidden || !is_rewound(message));
    let room = share(shown.flat_map(costs).collect());
    let now = view.frame.now;
    let mut day = None;
    let runs: Vec<&[Message]> =
        view.messages.chunk_by(|one, next| is_rewound(one) == is_rewound(next)).collect();
    let replaced = |at: usize| runs.get(at + 1).and_then(|run| run.first());
    html! {
        @for (at, run) in runs.iter().enumerate() {
            @if run.first().is_some_and(is_rewound) {
                (rewound(view, run, (room, replaced(at))))
            } @else {
                @let reading = Reading::of(run, room, view.at);
                @for (before, message) in with_before(run, &reading) {
                    @let said_on = when::day(message.at);
                    @let new_day = said_on != day;
                    @if new_day { h2.day id={ "d" (message.id) } { (when::day_name(said_on, now)) } }
                    ({ day = said_on; "" })
                    (article(message, &reading, !new_day && before.is_some_and(|before| goes_on(before, message))))
                }
            }
        }
    }
}

/// The messages that stand for themselves, each with the one before it.
fn with_before<'a>(
    run: &'a [Message],
    reading: &Reading<'_>,
) -> Vec<(Option<&'a Message>, &'a Message)> {
    let shown: Vec<&Message> = run.iter().filter(|message| !reading.is_told(message)).collect();
    let before = std::iter::once(None).chain(shown.iter().copied().map(Some));
    before.zip(shown.iter().copied()).collect()
}

fn goes_on(before: &Message, message: &Message) -> bool {
    before.role == message.role && name_of(before) == name_of(message)
}

fn is_rewound(message: &Message) -> bool {
    message.visibility == Visibility::Rewound
}

/// A stretch that was taken back: its beginning and what came instead, or that there is one.
fn rewound(
    view: &ConversationView,
    run: &[Message],
    (room, next): (usize, Option<&Message>),
) -> Markup {
    let first = run.first().map_or(0, |message| message.id.0);
    let turns = run.iter().filter(|message| message.role == Role::User).count().max(1);
    let words = counted(turns as i64, "turn");
    let were = if turns == 1 { "was" } else { "were" };
    let show =
        format!("{}#r{first}", link::query(&link::session(&view.session.id), &[("hidden", "1")]));
    html! {
        div.rewound id={ "r" (first) } {
            @if view.hidden {
                @let reading = Reading::of(run, room, view.at);
                details open[run.iter().any(|message| view.at == Some(message.id))] {
                    summary {
                        (words) " " (were) " rewound here"
                        @if let Some(next) = next { ", replaced by " q { bdi { (plain(&gist(next))) } } }
                    }
                    @for (_, message) in with_before(run, &reading) { (article(message, &reading, false)) }
                }
            } @else {
                p { (words) " " (were) " rewound here. " a href=(show) { "Show" } }
            }
        }
    }
}

fn gist(message: &Message) -> String {
    let text = parts(&message.role, &message.body).into_iter().find_map(|part| match part {
        Part::Text(text) => Some(one_line(text, 60)),
        _ => None,
    });
    text.unwrap_or_else(|| format!("message {}", message.id))
}
