//! One note: its text as it reads, as it is written, or with the origin of each line, how full it is,
//! and its revisions.

use crate::budget::{TEXT_BYTES, cut};
use crate::layout::{Frame, Tab, document};
use crate::notes::{NAME_CHARS, gauge};
use crate::numbers::counted;
use crate::revisions::{self, Changed, author, timeline};
use crate::text::{bare, line, plain};
use crate::{forms, link, markdown, when};
use maud::{Markup, html};
use oneiro::{BlameLine, Note, NoteName, Page, Revision};

/// Lines with their origin that are shown before the rest is cut.
const BLAME_LINES: usize = 120;

/// Characters of a line with its origin.
const BLAME_CHARS: usize = 200;

/// How the text of a note is shown.
#[derive(Debug, Clone)]
pub enum TextMode {
    /// As it reads.
    Rendered,
    /// As it is written.
    Source,
    /// Its lines with who wrote them.
    Blame(Vec<BlameLine>),
}

impl TextMode {
    fn name(&self) -> &'static str {
        match self {
            TextMode::Rendered => "rendered",
            TextMode::Source => "source",
            TextMode::Blame(_) => "blame",
        }
    }
}

/// A note.
#[derive(Debug, Clone)]
pub struct NoteView {
    /// The frame of the page.
    pub frame: Frame,
    /// Its name.
    pub name: NoteName,
    /// The note; `None` if it is deleted.
    pub note: Option<Note>,
    /// How its text is shown.
    pub shown: TextMode,
    /// Whether all of a long text is shown.
    pub whole: bool,
    /// Its revisions, newest first.
    pub revisions: Page<Revision>,
    /// What the last form did.
    pub changed: Option<Changed>,
}

/// The whole page.
pub fn page(view: &NoteView) -> String {
    document(&view.frame, Tab::Notes, &bare(view.name.as_str()), &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &NoteView) -> String {
    main(view).into_string()
}

fn main(view: &NoteView) -> Markup {
    let frame = &view.frame;
    let here = link::note(&view.name);
    html! {
        div #view.reading.memory data-view="note" data-note=(view.name) {
            @if let Some(changed) = &view.changed { (revisions::notice(changed, frame, &here)) }
            header.head {
                p.breadcrumbs {
                    a href="/notes" { "All notes" }
                }
                h1 { (line(view.name.as_str(), NAME_CHARS)) }
                @match &view.note {
                    Some(note) => (facts(note, frame)),
                    None => p.note { "This note is deleted. It can be restored to one of its revisions." },
                }
            }
            @if let Some(note) = &view.note {
                (text(view, note, &here))
            }
            section aria-labelledby="revisions" {
                h2 #revisions { "Revisions" }
                (timeline(&view.revisions.items, Some(&view.name), frame, &here))
                @if let Some(next) = &view.revisions.next {
                    p.pager {
                        a href=(link::query(&here, &[("cursor", &next.to_string())])) { "Older" }
                    }
                }
            }
        }
    }
}

fn facts(note: &Note, frame: &Frame) -> Markup {
    let here = link::note(&note.name);
    let delete = html! {
        input type="hidden" name="base" value=(note.etag);
        button type="submit" { "Delete" }
    };
    html! {
        p.facts {
            @match note.limit {
                Some(limit) => (gauge(note.chars, limit)),
                None => span { (counted(note.chars as i64, "character")) },
            }
            span { "changed " (when::ago(note.updated_at, frame.now)) }
        }
        @if frame.form_token.is_some() {
            div.acts {
                a.button href={ (here) "/edit" } { "Edit" }
                (forms::post(frame, &format!("{here}/delete"), &here, &delete))
            }
        }
    }
}

fn text(view: &NoteView, note: &Note, here: &str) -> Markup {
    let shown = view.shown.name();
    let views = [("rendered", "Rendered"), ("source", "Source"), ("blame", "Lines and authors")];
    let whole = || link::query(here, &[("view", shown), ("all", "1")]);
    let room = if view.whole { usize::MAX } else { TEXT_BYTES };
    let shortened = cut(&note.content, room);
    let content = shortened.unwrap_or(&note.content);
    html! {
        nav.views aria-label="How the text is shown" {
            @for (name, label) in views {
                a href=(link::query(here, &[("view", name)])) aria-current=[(name == shown).then_some("page")] {
                    (label)
                }
            }
        }
        @if note.content.trim().is_empty() {
            p.empty { "This note is empty." }
        }
        @match &view.shown {
            TextMode::Rendered => {
                // The line that delimits entries reads as a rule.
                article.rendered dir="auto" { (markdown::set(&without_delimiters(content))) }
                (more(shortened.is_some(), &whole()))
            }
            TextMode::Source => {
                pre.source tabindex="0" dir="auto" { (plain(content)) }
                (more(shortened.is_some(), &whole()))
            }
            TextMode::Blame(lines) => {
                @let limit = if view.whole { usize::MAX } else { BLAME_LINES };
                (blame(lines.get(..limit).unwrap_or(lines)))
                (more(lines.len() > limit, &whole()))
            }
        }
    }
}

fn more(is_cut: bool, whole: &str) -> Markup {
    html! {
        @if is_cut {
            p.more {
                a href=(whole) { "Show all of it" }
            }
        }
    }
}

/// Lines with `§` alone as rules.
fn without_delimiters(text: &str) -> String {
    let lines = text.lines().map(|line| if line.trim() == "§" { "\n---\n" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// Each line with its age, its author, and the revision that wrote it.
fn blame(lines: &[BlameLine]) -> Markup {
    html! {
        div.wide tabindex="0" {
            table.blame {
                thead {
                    tr {
                        th scope="col" { "Age" }
                        th scope="col" { "Author" }
                        th scope="col" { "Line" }
                    }
                }
                tbody {
                    @for one in lines {
                        tr {
                            td.age {
                                a href=(revisions::address(&one.revision)) title=(when::exact(one.at)) {
                                    (counted(one.age_days, "day"))
                                }
                            }
                            td { (author(one.author_kind, &one.author)) }
                            td.line dir="auto" { (line(&one.text, BLAME_CHARS)) }
                        }
                    }
                }
            }
        }
    }
}
