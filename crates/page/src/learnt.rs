//! What was learnt from a message, beside it.

use crate::belief::{STATEMENT_CHARS, status_badges};
use crate::link;
use crate::text::line;
use maud::{Markup, html};
use oneiro::Memory;

/// The memories that cite a message, each with its status and the way to why it is believed.
pub(crate) fn section(memories: &[Memory]) -> Markup {
    html! {
        @if !memories.is_empty() {
            section.learnt aria-label="Learnt from this message" {
                p.note { "Learnt from this" }
                ul {
                    @for memory in memories {
                        li {
                            (status_badges(memory))
                            " "
                            (line(&memory.content, STATEMENT_CHARS))
                            " "
                            a href={ (link::memory(&memory.id)) "#why" } { "why" }
                        }
                    }
                }
            }
        }
    }
}
