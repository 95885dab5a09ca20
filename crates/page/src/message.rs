//! One message, whole: its own page, and what the script puts in place of one that was cut. It must
//! not know the rest of the conversation.

use crate::layout::{Frame, Tab, document};
use crate::text::{line, plain};
use crate::turn::{Reading, article};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{Message, Session, Visibility};

/// A message and where it was said.
#[derive(Debug, Clone)]
pub struct MessageView {
    /// What every page knows.
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

/// The content alone.
pub fn fragment(view: &MessageView) -> String {
    main(view).into_string()
}

fn main(view: &MessageView) -> Markup {
    let message = &view.message;
    let title = view.session.title.as_deref().unwrap_or(message.session_id.as_str());
    let stored = serde_json::to_string_pretty(message).unwrap_or_default();
    html! {
        div #view.reading data-view="message" {
            header.head {
                p.trail {
                    a href=(link::at(&message.session_id, message.id)) {
                        "In its conversation: "
                        (line(title, 80))
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
                summary { "As it is stored" }
                pre tabindex="0" { (plain(&stored)) }
            }
        }
    }
}
