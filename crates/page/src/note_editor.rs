//! The editor of a note. What cannot be saved is shown again with the reason, and beside the text that
//! somebody else wrote meanwhile.

use crate::layout::{Frame, Tab, document};
use crate::notes::NAME_CHARS;
use crate::text::{bare, line, plain};
use crate::{forms, link, problem};
use maud::{Markup, html};
use oneiro::{Error, NoteName};

/// Rows of the field for the text.
const ROWS: usize = 24;

/// A note to edit, or to create.
#[derive(Debug, Clone)]
pub struct EditorView {
    /// The frame of the page.
    pub frame: Frame,
    /// The note; `None` for one that gets its name here.
    pub name: Option<NoteName>,
    /// The name that was typed for a new note.
    pub typed_name: String,
    /// The text to edit.
    pub text: String,
    /// The `etag` of the text that it is based on.
    pub base: Option<String>,
    /// What the revision says about itself.
    pub message: String,
    /// Why it was not saved.
    pub refused: Option<Error>,
    /// The text that the note has now, if somebody else changed it in the same place.
    pub theirs: Option<String>,
}

/// The whole page.
pub fn page(view: &EditorView) -> String {
    let title = match &view.name {
        Some(name) => format!("Edit {}", bare(name.as_str())),
        None => "New note".to_owned(),
    };
    document(&view.frame, Tab::Notes, &title, &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &EditorView) -> String {
    main(view).into_string()
}

fn main(view: &EditorView) -> Markup {
    let back = view.name.as_ref().map_or_else(|| "/notes".to_owned(), link::note);
    let action = match &view.name {
        Some(_) => format!("{back}/edit"),
        None => back.clone(),
    };
    html! {
        div #view.reading data-view="note-editor" {
            p.breadcrumbs {
                a href=(back) {
                    @if view.name.is_some() { "Back to the note" } @else { "All notes" }
                }
            }
            h1 {
                @match &view.name {
                    Some(name) => { "Edit " (line(name.as_str(), NAME_CHARS)) },
                    None => "New note",
                }
            }
            @if let Some(error) = &view.refused {
                div.notice role="alert" {
                    @if view.theirs.is_some() {
                        p {
                            strong { "Somebody else changed this note in the same place." }
                            " Your text is not saved. Take over what you need, and save again."
                        }
                    } @else {
                        p { strong { "Not saved." } }
                    }
                    (problem::inline(error))
                }
            }
            @if view.frame.form_token.is_none() {
                p.note { "This login may only read." }
            }
            div.sides.texts {
                @if let Some(theirs) = &view.theirs {
                    div {
                        h2 { "As it is now" }
                        pre.source tabindex="0" dir="auto" { (plain(theirs)) }
                    }
                }
                div.editor { (forms::post(&view.frame, &action, &back, &fields(view))) }
            }
        }
    }
}

fn fields(view: &EditorView) -> Markup {
    html! {
        @if let Some(base) = &view.base {
            input type="hidden" name="base" value=(base);
        }
        @if view.name.is_none() {
            label.whole {
                span { "Name, such as MEMORY.md or memory/2026-01-31.md" }
                input type="text" name="name" value=(view.typed_name) required autocomplete="off";
            }
        }
        label.whole {
            span { @if view.theirs.is_some() { "Your text" } @else { "Text, in Markdown" } }
            // A browser drops one line break at the beginning.
            textarea name="content" rows=(ROWS) spellcheck="true" { "\n" (view.text) }
        }
        label.whole {
            span { "What you changed (optional)" }
            input type="text" name="message" value=(view.message) maxlength="500" autocomplete="off";
        }
        button type="submit" { "Save" }
    }
}
