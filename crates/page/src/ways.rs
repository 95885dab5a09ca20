//! The ways through one session: what was said, its summaries, and what an agent would get of it.
//! It must not know what any of them shows.

use crate::link;
use crate::session::title;
use crate::text::line;
use maud::{Markup, html};
use oneiro::{Session, SessionId};

/// A view of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Conversation,
    Summaries,
    Window,
}

/// Links to the views of a session, with the one that is shown marked.
pub fn ways(id: &SessionId, here: Option<Way>) -> Markup {
    let all = [
        (Way::Conversation, link::session(id), "Conversation"),
        (Way::Summaries, link::summaries(id), "Summaries"),
        (Way::Window, link::window(id), "Window"),
    ];
    html! {
        nav.ways aria-label="This session" {
            ul {
                @for (way, href, name) in all {
                    li {
                        a href=(href) aria-current=[(here == Some(way)).then_some("page")] {
                            (name)
                        }
                    }
                }
            }
        }
    }
}

/// The way back from a view of a session, to it and to all of them.
pub fn trail(session: &Session, more: Option<(String, &str)>) -> Markup {
    html! {
        p.trail {
            a href="/sessions" { "Sessions" }
            " / "
            a href=(link::session(&session.id)) { (line(&title(session), 60)) }
            @if let Some((href, name)) = more {
                " / "
                a href=(href) { (name) }
            }
        }
    }
}
