//! What the last form did, above the view that it returned to: the change with a button that undoes
//! it, or that somebody else was faster.

use crate::belief::{actor, operation_name, status_name};
use crate::layout::Frame;
use crate::text::line;
use crate::{forms, link, when};
use maud::{Markup, html};
use oneiro::{Memory, Operation};

/// Characters of the statement that a notice names.
const NAMED_CHARS: usize = 120;

/// The outcome of a form.
#[derive(Debug, Clone)]
pub enum Decided {
    /// It was recorded as an operation.
    Done {
        /// The operation.
        operation: Box<Operation>,
        /// The memory, unless its creation was undone.
        memory: Option<Box<Memory>>,
    },
    /// Somebody else changed the memory first, and nothing was done.
    ByOthers {
        /// The memory as it is now.
        memory: Box<Memory>,
        /// The change of the other.
        operation: Option<Box<Operation>>,
    },
}

/// The notice; `back` is where its undo returns to.
pub(crate) fn notice(decided: &Decided, frame: &Frame, back: &str) -> Markup {
    match decided {
        Decided::Done { operation, memory } => {
            let is_undone = operation.undone_by.is_some();
            let label = if operation.undoes.is_some() { "Redo" } else { "Undo" };
            html! {
                div.notice.mild.decided role="status" {
                    p {
                        strong { (operation_name(&operation.kind)) ":" }
                        " "
                        @match memory {
                            Some(memory) => (named(memory)),
                            None => "the memory was removed",
                        }
                        @if is_undone { " (undone since)" }
                    }
                    @if !is_undone {
                        @match &operation.group {
                            Some(group) => (forms::undo_group(frame, group, label, back)),
                            None => (forms::undo(frame, &operation.id, label, back)),
                        }
                    }
                }
            }
        }
        Decided::ByOthers { memory, operation } => html! {
            div.notice.decided role="alert" {
                p {
                    strong { "Somebody else decided first:" }
                    " "
                    (named(memory))
                    " is now "
                    (status_name(memory.status))
                    "."
                    @if let Some(operation) = operation {
                        " "
                        (operation_name(&operation.kind))
                        " by "
                        (actor(&operation.actor))
                        ", "
                        (when::ago(operation.at, frame.now))
                        "."
                    }
                    " Your decision was not applied."
                }
            }
        },
    }
}

fn named(memory: &Memory) -> Markup {
    html! {
        a href=(link::memory(&memory.id)) { (line(&memory.content, NAMED_CHARS)) }
    }
}
