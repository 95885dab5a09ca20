//! One memory: the statement, how far it is trusted and why, its sources, the chain of reasons, what
//! it relates to, and its history.

use crate::belief::{
    STATEMENT_CHARS, percent, relation_badge, source, status_badges, status_name, trust_name,
};
use crate::decided::{Decided, notice};
use crate::forms::{self, Change};
use crate::layout::{Frame, Tab, document};
use crate::text::{bare, line, one_line, plain};
use crate::when;
use crate::{history, link, why};
use maud::{Markup, html};
use oneiro::{ConfidenceExplained, GroupId, Memory, MemoryStatus, Operation, RelatedMemory, Why};
use std::collections::BTreeMap;

/// A memory with everything that is known about it.
#[derive(Debug, Clone)]
pub struct MemoryDetailView {
    /// The frame of the page.
    pub frame: Frame,
    /// The memory.
    pub memory: Memory,
    /// The parts that add up to its confidence.
    pub explanation: Option<ConfidenceExplained>,
    /// Memories that say the same or contradict it.
    pub related: Vec<RelatedMemory>,
    /// The memory that contradicts it, while it is suspended.
    pub suspended_by: Option<Memory>,
    /// The memory that replaced it.
    pub superseded_by: Option<Memory>,
    /// The memories that it replaced.
    pub supersedes: Vec<Memory>,
    /// Why it is believed.
    pub why: Why,
    /// Its operations, oldest first.
    pub operations: Vec<Operation>,
    /// How many operations each group of these has.
    pub group_sizes: BTreeMap<GroupId, usize>,
    /// Projects whose packs leave it out, because they never used it.
    pub muted_in: Vec<String>,
    /// What the last form did.
    pub decided: Option<Decided>,
}

/// The whole page.
pub fn page(view: &MemoryDetailView) -> String {
    let title = bare(&one_line(&view.memory.content, 60));
    document(&view.frame, Tab::Memories, &title, &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &MemoryDetailView) -> String {
    main(view).into_string()
}

fn main(view: &MemoryDetailView) -> Markup {
    let (memory, frame) = (&view.memory, &view.frame);
    let back = link::memory(&memory.id);
    html! {
        div #view.reading.memory data-view="memory" data-memory=(memory.id) {
            @if let Some(decided) = &view.decided { (notice(decided, frame, &back)) }
            header.head {
                p.breadcrumbs {
                    a href="/memories" { "All memories" }
                }
                h1.statement { (plain(&memory.content)) }
                p.facts {
                    (status_badges(memory))
                    span { "kind " (memory.kind.as_str()) }
                    @if let Some(subject) = &memory.subject {
                        @let same = link::query("/memories", &[("subject", subject)]);
                        span { "about " a href=(same) { (line(subject, 60)) } }
                    }
                    @if let Some(project) = &memory.project {
                        @let same = link::query("/memories", &[("project", project)]);
                        span { "project " a href=(same) { (line(project, 60)) } }
                    }
                    @for tag in &memory.tags {
                        a href=(link::query("/memories", &[("tag", tag)])) { "#" (line(tag, 40)) }
                    }
                }
                @for project in &view.muted_in {
                    p.note {
                        "Muted in "
                        (line(project, 60))
                        ": its packs showed it often and it was never used."
                    }
                    (unmute(view, project, &back))
                }
                (actions(view, &back))
            }
            (contradiction(view, &back))
            section aria-labelledby="trust" {
                h2 #trust { "Trust and confidence" }
                (confidence(view))
            }
            section aria-labelledby="sources" {
                h2 #sources { "Sources" }
                @if memory.citations.is_empty() {
                    p.note { "No quote: the only source is who recorded it." }
                }
                @for citation in &memory.citations { (source(citation)) }
            }
            section aria-labelledby="why" {
                h2 #why { "Why" }
                (why::chain(&view.why, &memory.citations, frame.now))
            }
            @if !view.related.is_empty() {
                section aria-labelledby="related" {
                    h2 #related { "Related memories" }
                    ul.rows {
                        @for other in &view.related { (related(other, frame)) }
                    }
                }
            }
            section aria-labelledby="history" {
                h2 #history { "History" }
                (history::list(&view.operations, &view.group_sizes, frame, &back))
            }
        }
    }
}

/// What can be done to a memory in its status.
fn actions(view: &MemoryDetailView, back: &str) -> Markup {
    let (memory, frame) = (&view.memory, &view.frame);
    let button = |verb, label| {
        forms::change(frame, &Change { memory, verb, label, key: None, back }, &html! {})
    };
    html! {
        @if frame.form_token.is_some() {
            div.acts {
                @match memory.status {
                    MemoryStatus::Candidate => {
                        (button("promote", "Promote"))
                        (button("reject", "Reject"))
                    }
                    MemoryStatus::Active => {
                        @if memory.suspended_by.is_none() { (button("confirm", "Confirm")) }
                        (button("forget", "Forget"))
                    }
                    MemoryStatus::Superseded | MemoryStatus::Invalid => {}
                }
            }
            details.edit {
                summary { "Edit" }
                (forms::edit(frame, memory, back))
            }
            @if memory.status == MemoryStatus::Active {
                details.edit {
                    summary { "Replace by a new statement" }
                    (replace(view, back))
                }
            }
        }
    }
}

fn replace(view: &MemoryDetailView, back: &str) -> Markup {
    let (memory, frame) = (&view.memory, &view.frame);
    let fields = html! {
        label.whole {
            span { "New statement; this one is kept as superseded" }
            textarea name="content" rows="3" required {}
        }
    };
    let change = Change { memory, verb: "supersede", label: "Replace", key: None, back };
    html! {
        div.editor { (forms::change(frame, &change, &fields)) }
    }
}

/// Lets the packs of a project show the memory again.
fn unmute(view: &MemoryDetailView, project: &str, back: &str) -> Markup {
    let change = Change {
        memory: &view.memory,
        verb: "unmute",
        label: "Show it in packs again",
        key: None,
        back,
    };
    let fields = html! {
        input type="hidden" name="project" value=(project);
    };
    forms::change(&view.frame, &change, &fields)
}

/// Both sides of a contradiction, with a button for each way to settle it.
fn contradiction(view: &MemoryDetailView, back: &str) -> Markup {
    let (memory, frame) = (&view.memory, &view.frame);
    let Some(other) = &view.suspended_by else { return html! {} };
    let keep_other = Change { memory, verb: "supersede", label: "Keep the other", key: None, back };
    let keep_this =
        Change { memory: other, verb: "supersede", label: "Keep this", key: None, back };
    let both = Change { memory, verb: "confirm", label: "Both hold", key: None, back };
    let by = |memory: &Memory| {
        html! {
            input type="hidden" name="by" value=(memory.id);
        }
    };
    html! {
        section.notice aria-labelledby="contradiction" {
            h2 #contradiction { "Contradicted: which one holds?" }
            div.sides {
                div {
                    p.what { "This one, " (when::ago(memory.created_at, frame.now)) }
                    p.said { (plain(&memory.content)) }
                    @for citation in &memory.citations { (source(citation)) }
                    (forms::change(frame, &keep_this, &by(memory)))
                }
                div {
                    p.what {
                        a href=(link::memory(&other.id)) { "The other" }
                        ", "
                        (when::ago(other.created_at, frame.now))
                    }
                    p.said { (plain(&other.content)) }
                    @for citation in &other.citations { (source(citation)) }
                    (forms::change(frame, &keep_other, &by(other)))
                }
            }
            (forms::change(frame, &both, &html! {}))
            p.note { "Until a person decides, this one is not recalled as true." }
        }
    }
}

/// Trust, confidence with its parts, validity and lineage.
fn confidence(view: &MemoryDetailView) -> Markup {
    let (memory, now) = (&view.memory, view.frame.now);
    let fact = |name: &str, value: Markup| {
        html! {
            div {
                dt { (name) }
                dd { (value) }
            }
        }
    };
    let named = |other: &Memory| {
        html! {
            a href=(link::memory(&other.id)) { (line(&other.content, STATEMENT_CHARS)) }
        }
    };
    let date = |at| html! { (when::ago(at, now)) };
    html! {
        dl.facts-list {
            (fact("Trust", html! { (trust_name(memory.trust)) }))
            (fact("Confidence", html! {
                (percent(memory.confidence))
                @if let Some(explained) = &view.explanation { (explanation(explained)) }
            }))
            (fact("Created", html! { (when::ago(memory.created_at, now)) " by " (memory.origin.as_str()) }))
            @if let Some(at) = memory.confirmed_at { (fact("Confirmed", date(at))) }
            @if let Some(at) = memory.valid_from { (fact("Valid from", date(at))) }
            @if let Some(at) = memory.valid_until { (fact("Valid until", date(at))) }
            @if let Some(by) = &view.superseded_by { (fact("Superseded by", named(by))) }
            @for old in &view.supersedes { (fact("Supersedes", named(old))) }
            (fact("Id", html! { code { (memory.id) } }))
        }
    }
}

/// How a confidence adds up, and the signals behind it.
fn explanation(explained: &ConfidenceExplained) -> Markup {
    html! {
        p.note.explained {
            @for (at, part) in explained.parts.iter().enumerate() {
                @if at + 1 == explained.parts.len() { " = " } @else if at > 0 { " + " }
                (part.name.replace('_', " "))
                " "
                (format!("{:.2}", part.value))
            }
        }
        @if !explained.signals.is_empty() {
            p.note {
                "Signals: "
                @for (at, signal) in explained.signals.iter().enumerate() {
                    @if at > 0 { ", " }
                    (signal.kind.as_str())
                    " "
                    (signal.count)
                }
            }
        }
    }
}

fn related(other: &RelatedMemory, frame: &Frame) -> Markup {
    html! {
        li {
            a.name href=(link::memory(&other.id)) { (line(&other.content, STATEMENT_CHARS)) }
            p.facts {
                (relation_badge(other))
                span { (status_name(other.status)) }
                span { (line(&other.reason, STATEMENT_CHARS)) }
                span.when { (when::ago(other.created_at, frame.now)) }
            }
        }
    }
}
