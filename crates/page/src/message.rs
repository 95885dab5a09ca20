//! One message in full: its own page, and what the script puts in place of a message that was cut.

use crate::layout::{Frame, Tab, document};
use crate::text::{line, plain};
use crate::turn::{Reading, article};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{Message, Session, Visibility};

/// A message and its session.
#[derive(Debug, Clone)]
pub struct MessageView {
    /// The frame of the page.
    pub frame: Frame,
    /// The message.
    pub message: Message,
    /// Its session.
    pub session: Session,
}

/// The whole page.
pub fn page(view: &MessageView) -> String {
    let title = format!("Message {}", view.message.id);
    document(&view.frame, Tab::Sessions, &title, &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &MessageView) -> String {
    main(view).into_string()
}

fn main(view: &MessageView) -> Markup {
    let message = &view.message;
    let stored = serde_json::to_string_pretty(message).unwrap_or_default();
    html! {
        div #view.reading data-view="message" {
            header.head {
                p.breadcrumbs {
                    a href=(link::at(&message.session_id, message.id)) {
                        "Conversation: "
                        (line(view.session.display_name(), 80))
                    }
                }
                h1 { "Message " (message.id) }
                p.facts {
                    span { (when::exact(message.at)) }
                    " "
                    @if let Some(id) = &message.external_id {
                        span { "external id " (line(id, 80)) }
                    }
                    @if message.visibility == Visibility::Rewound {
                        " "
                        span.badge.rewound { "rewound" }
                    }
                }
            }
            (article(message, &Reading::default(), false))
            details.stored {
                summary { "Stored JSON" }
                pre tabindex="0" { (plain(&stored)) }
            }
        }
    }
}
