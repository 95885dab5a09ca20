//! The review: one candidate after another with its evidence beside what is already known, and a
//! button and a key for each decision.

use crate::belief::{facts, percent, relation_badge, source, status_badges};
use crate::decided::{Decided, notice};
use crate::forms::{self, Change, key_cap};
use crate::layout::{Frame, Tab, document};
use crate::memories::MemoriesForm;
use crate::numbers::number;
use crate::text::{line, plain};
use crate::{link, when, why};
use maud::{Markup, html};
use oneiro::{Memory, RelatedMemory, Relation, Why};

/// A cursor that no memory comes after.
const PAST_THE_LAST: &str = "0.0";

/// A memory that relates to the candidate, with its sources.
#[derive(Debug, Clone)]
pub struct Known {
    /// How it relates.
    pub related: RelatedMemory,
    /// The memory.
    pub memory: Memory,
}

/// A candidate to decide about.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The candidate.
    pub memory: Memory,
    /// Why it was proposed.
    pub why: Why,
    /// Near-duplicates and contradictions.
    pub known: Vec<Known>,
    /// The cursor that skips it; `None` for the last one.
    pub skip: Option<String>,
}

/// The review.
#[derive(Debug, Clone)]
pub struct ReviewView {
    /// The frame of the page.
    pub frame: Frame,
    /// The filters of the queue; the status is not used.
    pub form: MemoriesForm,
    /// The cursor of the candidate.
    pub cursor: String,
    /// How many candidates there are without filters.
    pub waiting: i64,
    /// The candidate; `None` at the end of the queue.
    pub candidate: Option<Box<Candidate>>,
    /// What the last form did.
    pub decided: Option<Decided>,
}

/// The whole page.
pub fn page(view: &ReviewView) -> String {
    document(&view.frame, Tab::Review, "Review", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &ReviewView) -> String {
    main(view).into_string()
}

fn main(view: &ReviewView) -> Markup {
    let back = view.form.address("/review", &view.cursor);
    html! {
        div #view.review
            data-view="review"
            data-memory=[view.candidate.as_ref().map(|candidate| &candidate.memory.id)]
        {
            @if let Some(decided) = &view.decided { (notice(decided, &view.frame, &back)) }
            header.heading {
                h1 { "Review" }
                p.count { (number(view.waiting)) " waiting" }
            }
            @if view.form.is_filtered() {
                p.note {
                    "Only candidates that match your filters. "
                    a href="/review" { "Review all" }
                }
            }
            @match &view.candidate {
                Some(candidate) => (candidate_view(view, candidate, &back)),
                None => (empty_queue(view)),
            }
        }
    }
}

fn empty_queue(view: &ReviewView) -> Markup {
    html! {
        div.empty {
            @if view.waiting == 0 {
                p { "Nothing waits for review." }
                p { "What agents propose, and what is learnt from text you did not write, appears here." }
            } @else {
                p { "You have seen every candidate." }
                p {
                    a href=(view.form.address("/review", "")) { "Start again with the newest" }
                }
            }
            p {
                a href="/memories" { "All memories" }
            }
        }
    }
}

fn candidate_view(view: &ReviewView, candidate: &Candidate, back: &str) -> Markup {
    let (memory, frame) = (&candidate.memory, &view.frame);
    html! {
        article.candidate aria-labelledby="statement" {
            h2.statement #statement { (plain(&memory.content)) }
            (facts(memory, frame))
            (decisions(view, candidate, back))
        }
        div.sides {
            section aria-labelledby="evidence" {
                h2 #evidence { "Evidence" }
                (evidence(memory, &candidate.why, frame))
            }
            section aria-labelledby="known" {
                h2 #known { "Already known" }
                @if candidate.known.is_empty() {
                    p.note { "Nothing similar, and nothing that contradicts it." }
                }
                @for known in &candidate.known { (known_memory(view, candidate, known, back)) }
            }
        }
        @if frame.form_token.is_some() {
            details #edit.edit {
                summary { "Edit" }
                (forms::edit(frame, memory, back))
            }
        }
        details #why.edit {
            summary { "Why" }
            (why::chain(&candidate.why, &memory.citations, frame.now))
        }
    }
}

/// A button and a key for each decision. Edit and Why open below.
fn decisions(view: &ReviewView, candidate: &Candidate, back: &str) -> Markup {
    let (memory, frame) = (&candidate.memory, &view.frame);
    let button = |verb, label, key| {
        forms::change(frame, &Change { memory, verb, label, key: Some(key), back }, &html! {})
    };
    let may_write = frame.form_token.is_some();
    let skip = candidate.skip.as_deref().unwrap_or(PAST_THE_LAST);
    html! {
        div.acts role="group" aria-label="Decide" {
            (button("promote", "Promote", 'p'))
            (button("reject", "Reject", 'r'))
            @if may_write {
                a.button href="#edit" data-key="e" { "Edit" (key_cap('e')) }
                @if candidate.known.iter().any(is_mergeable) {
                    a.button href="#known" data-key="m" { "Merge" (key_cap('m')) }
                }
            }
            a.button href="#why" data-key="w" { "Why" (key_cap('w')) }
            a.button href=(view.form.address("/review", skip)) data-key="s" { "Skip" (key_cap('s')) }
        }
        @if !may_write {
            p.note { "Your token may only read: deciding needs one with the role write." }
        }
    }
}

fn evidence(memory: &Memory, why: &Why, frame: &Frame) -> Markup {
    let recorded = why.children.iter().find_map(|child| child.actor.as_ref());
    html! {
        (why::sources(why, &memory.citations, frame.now))
        @if memory.citations.is_empty() {
            p.note { "It was proposed without a quote." }
        }
        p.facts {
            span {
                "Proposed "
                (when::ago(memory.created_at, frame.now))
                @if let Some(actor) = recorded {
                    " by "
                    (crate::belief::actor(actor))
                }
            }
        }
    }
}

fn known_memory(view: &ReviewView, candidate: &Candidate, known: &Known, back: &str) -> Markup {
    let Known { related, memory } = known;
    let into = html! {
        input type="hidden" name="into" value=(memory.id);
    };
    let merge = Change {
        memory: &candidate.memory,
        verb: "merge",
        label: "Merge into this",
        key: None,
        back,
    };
    html! {
        div.known {
            p.said {
                a href=(link::memory(&memory.id)) { (line(&memory.content, 400)) }
            }
            p.facts {
                (relation_badge(related))
                (status_badges(memory))
                span { "trust " (memory.trust.as_str()) }
                span { "confidence " (percent(memory.confidence)) }
                span.when { (when::ago(memory.created_at, view.frame.now)) }
            }
            p.note { (line(&related.reason, 240)) }
            @for citation in &memory.citations { (source(citation)) }
            @if is_mergeable(known) { (forms::change(&view.frame, &merge, &into)) }
            @else if related.relation == Relation::Contradicts {
                p.note { "Promoting the candidate suspends this one until you settle which holds." }
            }
        }
    }
}

/// Whether the candidate can be merged into a known memory: not if one of them must be wrong.
fn is_mergeable(known: &Known) -> bool {
    known.related.relation != Relation::Contradicts && known.memory.status.is_standing()
}
