//! Packs: the list of what was given, and one pack with what was in it, and what was left out and why.

use crate::layout::{Frame, Tab, document};
use crate::numbers::{counted, number};
use crate::text::{line, one_line, plain};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{GivenPack, MemoryId, MessageId, OmitReason, Pack, PackItem, PackKind, PackOmission};
use std::collections::BTreeMap;

/// Characters of a name.
const NAME_CHARS: usize = 60;

/// Characters of a statement that was left out.
const STATEMENT_CHARS: usize = 160;

/// The packs of the last 30 days.
#[derive(Debug, Clone)]
pub struct PacksView {
    /// The frame of the page.
    pub frame: Frame,
    /// Only of this session.
    pub session: String,
    /// Only of this project.
    pub project: String,
    /// The packs, newest first.
    pub packs: Vec<GivenPack>,
}

/// One pack.
#[derive(Debug, Clone)]
pub struct PackView {
    /// The frame of the page.
    pub frame: Frame,
    /// To whom it was given.
    pub given: GivenPack,
    /// What it holds.
    pub pack: Pack,
    /// The statements of memories that were left out, as they are now.
    pub statements: BTreeMap<String, String>,
}

/// The whole page of the list.
pub fn list_page(view: &PacksView) -> String {
    document(&view.frame, Tab::Memories, "Packs", &list(view))
}

/// The content of `<main>` of the list.
pub fn list_fragment(view: &PacksView) -> String {
    list(view).into_string()
}

/// The whole page of one pack.
pub fn page(view: &PackView) -> String {
    document(&view.frame, Tab::Memories, "Pack", &main(view))
}

/// The content of `<main>` of one pack.
pub fn fragment(view: &PackView) -> String {
    main(view).into_string()
}

fn list(view: &PacksView) -> Markup {
    let is_filtered = !view.session.is_empty() || !view.project.is_empty();
    html! {
        div #view data-view="packs" {
            p.breadcrumbs {
                a href="/memories" { "All memories" }
            }
            h1 { "Packs" }
            p.note { "What agents were shown in the last 30 days, newest first." }
            @if is_filtered {
                p.pager {
                    a href="/packs" { "Show all packs" }
                }
            }
            div #list data-refresh {
                @if view.packs.is_empty() {
                    div.empty {
                        p { "No packs." }
                        p {
                            code { "oneiro pack \"PROMPT\"" }
                            " makes one; the hooks of an agent make one for each prompt."
                        }
                    }
                } @else {
                    ul.rows {
                        @for pack in &view.packs { (row(pack, &view.frame)) }
                    }
                }
            }
        }
    }
}

fn row(pack: &GivenPack, frame: &Frame) -> Markup {
    html! {
        li {
            a.name href=(address(pack)) {
                @if pack.lines == 0 { "Nothing was relevant" } @else {
                    (counted(pack.lines as i64, "line"))
                    ", "
                    (counted(pack.tokens as i64, "token"))
                }
            }
            p.facts {
                (asked_by(pack))
                span { (number(pack.omitted as i64)) " left out" }
                span.when { (when::ago(pack.created_at, frame.now)) }
            }
        }
    }
}

fn address(pack: &GivenPack) -> String {
    format!("/packs/{}", link::encoded(pack.id.as_str()))
}

/// The session, the project and the program of a pack.
fn asked_by(pack: &GivenPack) -> Markup {
    html! {
        @if let Some(client) = &pack.client {
            span.badge { (line(client, NAME_CHARS)) }
        }
        @if let Some(project) = &pack.project {
            @let same = link::query("/packs", &[("project", project)]);
            span { "project " a href=(same) { (line(project, NAME_CHARS)) } }
        }
        @if let Some(session) = &pack.session_id {
            @let name = one_line(session.as_str(), NAME_CHARS);
            span { "session " a href=(link::session(session)) { (plain(&name)) } }
        }
    }
}

fn main(view: &PackView) -> Markup {
    let (pack, given) = (&view.pack, &view.given);
    html! {
        div #view.reading.memory data-view="pack" data-pack=(pack.id) {
            header.head {
                p.breadcrumbs {
                    a href="/packs" { "All packs" }
                }
                h1 {
                    @if pack.items.is_empty() { "Nothing was relevant" } @else {
                        (counted(pack.items.len() as i64, "line"))
                        ", "
                        (counted(pack.tokens as i64, "token"))
                    }
                }
                p.facts {
                    (asked_by(given))
                    span { "given " (when::ago(given.created_at, view.frame.now)) }
                }
                p.facts.ids {
                    code { (pack.id) }
                }
            }
            section aria-labelledby="in" {
                h2 #in { "In the pack" }
                @if pack.items.is_empty() {
                    p.none { "No lines." }
                } @else {
                    div.wide { (items(&pack.items)) }
                }
            }
            section aria-labelledby="out" {
                h2 #out { "Left out" }
                @if pack.omitted.is_empty() {
                    p.none { "Nothing was left out." }
                } @else {
                    div.wide { (omitted(view)) }
                }
            }
        }
    }
}

fn items(items: &[PackItem]) -> Markup {
    html! {
        table.items {
            thead {
                tr {
                    th scope="col" { "Part" }
                    th scope="col" { "Line" }
                    th scope="col" { "Since" }
                    th scope="col" { "Source" }
                }
            }
            tbody {
                @for item in items {
                    tr {
                        td { (item.band.as_str()) }
                        td { (plain(&item.text)) }
                        td { (when::date(item.at)) }
                        td { (source((item.kind, &item.id), "why")) }
                    }
                }
            }
        }
    }
}

fn omitted(view: &PackView) -> Markup {
    let statement = |one: &PackOmission| view.statements.get(&one.id);
    html! {
        table.items {
            thead {
                tr {
                    th scope="col" { "Part" }
                    th scope="col" { "Line" }
                    th scope="col" { "Left out because" }
                }
            }
            tbody {
                @for one in &view.pack.omitted {
                    tr data-reason=(one.reason.as_str()) {
                        td { (one.band.as_str()) }
                        td {
                            @if let Some(statement) = statement(one) {
                                (line(statement, STATEMENT_CHARS))
                                " "
                            }
                            (source((one.kind, &one.id), &one.id))
                        }
                        td { (reason_name(one.reason)) }
                    }
                }
            }
        }
    }
}

/// A link to what a line came from.
fn source((kind, id): (PackKind, &str), words: &str) -> Markup {
    let href = match kind {
        PackKind::Memory => MemoryId::parse(id).ok().map(|id| format!("{}#why", link::memory(&id))),
        PackKind::Message => id.parse().ok().map(|seq| link::message(MessageId(seq))),
        PackKind::State | PackKind::Note => None,
    };
    let words = if kind == PackKind::Message { format!("message {id}") } else { words.to_owned() };
    html! {
        @match href {
            Some(href) => a href=(href) { (plain(&words)) },
            None => "set by a person",
        }
    }
}

fn reason_name(reason: OmitReason) -> &'static str {
    match reason {
        OmitReason::Budget => "it does not fit into the budget",
        OmitReason::Irrelevant => "it is not relevant enough",
        OmitReason::Duplicate => "another line says the same",
        OmitReason::Candidate => "nobody reviewed it",
        OmitReason::Suspended => "another memory contradicts it",
        OmitReason::Superseded => "another memory replaced it",
        OmitReason::Ended => "it did not hold at that time",
        OmitReason::Shown => "the session was shown it already",
        OmitReason::Host => "the agent loads it itself",
        OmitReason::Muted => "muted: often shown in this project, never used",
        OmitReason::Echo => "it holds text that was served before",
    }
}
