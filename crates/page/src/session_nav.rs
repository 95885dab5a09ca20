//! Navigation between the views of one session, and the breadcrumbs above them.

use crate::link;
use crate::session::title;
use crate::text::line;
use maud::{Markup, html};
use oneiro::{Session, SessionId};

/// A view of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionTab {
    Conversation,
    Summaries,
    Window,
}

/// Links to the views of a session, with the current one marked.
pub fn session_nav(id: &SessionId, current: Option<SessionTab>) -> Markup {
    let tabs = [
        (SessionTab::Conversation, link::session(id), "Conversation"),
        (SessionTab::Summaries, link::summaries(id), "Summaries"),
        (SessionTab::Window, link::window(id), "Window"),
    ];
    html! {
        nav.session-nav aria-label="Session" {
            ul {
                @for (tab, href, name) in tabs {
                    li {
                        a href=(href) aria-current=[(current == Some(tab)).then_some("page")] {
                            (name)
                        }
                    }
                }
            }
        }
    }
}

/// Links from a view of a session up to the session and the list of sessions.
pub fn breadcrumbs(session: &Session, parent: Option<(String, &str)>) -> Markup {
    html! {
        p.breadcrumbs {
            a href="/sessions" { "Sessions" }
            " / "
            a href=(link::session(&session.id)) { (line(&title(session), 60)) }
            @if let Some((href, name)) = parent {
                " / "
                a href=(href) { (name) }
            }
        }
    }
}
