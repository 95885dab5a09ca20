//! The notes of a space: how full each is, and the newest revisions.

use crate::layout::{Frame, Tab, document};
use crate::numbers::{counted, number};
use crate::revisions::{self, Changed};
use crate::text::line;
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{NoteInfo, Revision};

/// Characters of a name.
pub(crate) const NAME_CHARS: usize = 100;

/// The list of notes.
#[derive(Debug, Clone)]
pub struct NotesView {
    /// The frame of the page.
    pub frame: Frame,
    /// The notes, by name.
    pub notes: Vec<NoteInfo>,
    /// The newest revisions of all notes.
    pub revisions: Vec<Revision>,
    /// What the last form did.
    pub changed: Option<Changed>,
}

/// The whole page.
pub fn page(view: &NotesView) -> String {
    document(&view.frame, Tab::Notes, "Notes", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &NotesView) -> String {
    main(view).into_string()
}

fn main(view: &NotesView) -> Markup {
    let frame = &view.frame;
    html! {
        div #view data-view="notes" {
            @if let Some(changed) = &view.changed { (revisions::notice(changed, frame, "/notes")) }
            div.heading {
                h1 { "Notes" }
                @if frame.form_token.is_some() {
                    a.button href="/new-note" { "New note" }
                }
            }
            div #list data-refresh {
                @if view.notes.is_empty() {
                    div.empty {
                        p { "No notes." }
                        p {
                            code { "oneiro note add MEMORY.md \"TEXT\"" }
                            " adds an entry, and agents add theirs by the tool "
                            code { "memory_note" }
                            "."
                        }
                    }
                } @else {
                    ul.rows {
                        @for note in &view.notes { (row(note, frame)) }
                    }
                }
                @if !view.revisions.is_empty() {
                    h2 { "Latest changes" }
                    (revisions::timeline(&view.revisions, None, frame, "/notes"))
                }
            }
        }
    }
}

fn row(note: &NoteInfo, frame: &Frame) -> Markup {
    html! {
        li {
            a.name href=(link::note(&note.name)) { (line(note.name.as_str(), NAME_CHARS)) }
            p.facts {
                @match note.limit {
                    Some(limit) => (gauge(note.chars, limit)),
                    None => span { (counted(note.chars as i64, "character")) },
                }
                span.when { (when::ago(note.updated_at, frame.now)) }
            }
        }
    }
}

/// How full a note with a budget is.
pub(crate) fn gauge(chars: usize, limit: usize) -> Markup {
    let percent = chars * 100 / limit.max(1);
    let high = limit - limit / 5;
    html! {
        span.gauge {
            meter min="0" max=(limit) high=(high) value=(chars.min(limit)) aria-hidden="true" {}
            " "
            (percent) "% full: "
            (number(chars as i64)) " of " (counted(limit as i64, "character"))
        }
    }
}
