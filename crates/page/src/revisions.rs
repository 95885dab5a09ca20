//! Revisions of notes: the timeline, with buttons that undo or restore, and one revision with what it
//! changed.

use crate::layout::{Frame, Tab, document};
use crate::numbers::counted;
use crate::text::{line, one_line, plain};
use crate::{diff, forms, link, when};
use maud::{Markup, html};
use oneiro::{ActorKind, NoteName, Revision, RevisionDetail, RevisionId};

/// Characters of what a revision says about itself.
const MESSAGE_CHARS: usize = 200;

/// Characters of who made a revision.
const AUTHOR_CHARS: usize = 40;

/// Names of notes that a row shows.
const NOTES_SHOWN: usize = 5;

/// One revision.
#[derive(Debug, Clone)]
pub struct RevisionView {
    /// The frame of the page.
    pub frame: Frame,
    /// The revision with what it changed.
    pub detail: RevisionDetail,
    /// Whether all of a long difference is shown.
    pub whole: bool,
    /// What the last form did.
    pub changed: Option<Changed>,
}

/// What a form did to notes.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The revision that it made.
    pub revision: Revision,
    /// Whether changes of others were kept beside it.
    pub merged: bool,
}

/// The whole page of one revision.
pub fn page(view: &RevisionView) -> String {
    let title = one_line(&view.detail.revision.message, 60);
    document(&view.frame, Tab::Notes, &title, &main(view))
}

/// The content of `<main>` of one revision.
pub fn fragment(view: &RevisionView) -> String {
    main(view).into_string()
}

fn main(view: &RevisionView) -> Markup {
    let (frame, revision) = (&view.frame, &view.detail.revision);
    let back = address(&revision.id);
    html! {
        div #view.reading.memory data-view="revision" {
            @if let Some(changed) = &view.changed { (notice(changed, frame, &back)) }
            header.head {
                p.breadcrumbs {
                    a href="/notes" { "All notes" }
                }
                h1.statement { (plain(&revision.message)) }
                p.facts {
                    (author(revision.author_kind, &revision.author))
                    span { (when::ago(revision.at, frame.now)) }
                    span { (when::exact(revision.at)) }
                    @if let Some(by) = &revision.undone_by {
                        a.badge href=(address(by)) { "undone" }
                    }
                    code { (revision.id) }
                }
                (actions(revision, None, frame, &back))
            }
            @if view.detail.diffs.is_empty() {
                p.note { "It changed nothing that is still stored." }
            }
            @for one in &view.detail.diffs {
                section {
                    h2 {
                        a href=(link::note(&one.name)) { (line(one.name.as_str(), MESSAGE_CHARS)) }
                    }
                    p.facts {
                        span.added { (counted(one.added as i64, "line")) " added" }
                        span.removed { (counted(one.removed as i64, "line")) " removed" }
                    }
                    (diff::coloured(&one.text, (!view.whole).then(|| format!("{back}?all=1"))))
                    (restore(revision, &one.name, frame))
                }
            }
        }
    }
}

/// The address of a revision.
pub(crate) fn address(id: &RevisionId) -> String {
    format!("/revisions/{}", link::encoded(id.as_str()))
}

/// Revisions, newest first. With a note, they are those of the note, which can be restored to each.
pub(crate) fn timeline(
    revisions: &[Revision],
    note: Option<&NoteName>,
    frame: &Frame,
    back: &str,
) -> Markup {
    html! {
        ol.history.revisions {
            @for (at, revision) in revisions.iter().enumerate() {
                // The newest one is what the note is.
                @let restorable = note.filter(|_| at > 0);
                li {
                    p.what {
                        a href=(address(&revision.id)) { (line(&revision.message, MESSAGE_CHARS)) }
                        @if revision.undone_by.is_some() {
                            " "
                            span.badge { "undone" }
                        }
                    }
                    p.facts {
                        (author(revision.author_kind, &revision.author))
                        span { (when::ago(revision.at, frame.now)) }
                        @if note.is_none() { (names(&revision.notes)) }
                    }
                    (actions(revision, restorable, frame, back))
                }
            }
        }
    }
}

fn names(notes: &[NoteName]) -> Markup {
    html! {
        @for name in notes.iter().take(NOTES_SHOWN) {
            a href=(link::note(name)) { (line(name.as_str(), AUTHOR_CHARS)) }
        }
        @if notes.len() > NOTES_SHOWN {
            span { "and " (notes.len() - NOTES_SHOWN) " more" }
        }
    }
}

/// Undoing a revision, and restoring a note to it.
fn actions(revision: &Revision, note: Option<&NoteName>, frame: &Frame, back: &str) -> Markup {
    // The empty beginning of a history changed nothing.
    let is_undoable = revision.undone_by.is_none() && !revision.notes.is_empty();
    html! {
        @if frame.form_token.is_some() && (is_undoable || note.is_some()) {
            div.acts {
                @if is_undoable {
                    (forms::post(frame, &format!("{}/undo", address(&revision.id)), back, &html! {
                        button type="submit" { "Undo this change" }
                    }))
                }
                @if let Some(name) = note { (restore(revision, name, frame)) }
            }
        }
    }
}

/// Restores one note to what it was after a revision.
fn restore(revision: &Revision, name: &NoteName, frame: &Frame) -> Markup {
    let fields = html! {
        input type="hidden" name="note" value=(name);
        button type="submit" { "Restore the note to this" }
    };
    let action = format!("{}/restore", address(&revision.id));
    forms::post(frame, &action, &link::note(name), &fields)
}

/// Who made a change.
pub(crate) fn author(kind: ActorKind, name: &str) -> Markup {
    html! {
        span.author data-author=(kind.as_str()) {
            (kind.as_str())
            ", "
            (line(name, AUTHOR_CHARS))
        }
    }
}

/// What the last form did, with a button that undoes it.
pub(crate) fn notice(changed: &Changed, frame: &Frame, back: &str) -> Markup {
    let revision = &changed.revision;
    html! {
        div.notice.mild.decided role="status" {
            p {
                strong { "Saved:" }
                " "
                a href=(address(&revision.id)) { (line(&revision.message, MESSAGE_CHARS)) }
                @if changed.merged { ", together with changes that others made meanwhile" }
                @if revision.undone_by.is_some() { " (undone since)" }
            }
            @if revision.undone_by.is_none() {
                (forms::post(frame, &format!("{}/undo", address(&revision.id)), back, &html! {
                    button type="submit" { "Undo" }
                }))
            }
        }
    }
}
