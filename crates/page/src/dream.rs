//! One dream: what it changed, what it noticed, and each candidate with the parts of its score and the
//! reason for the decision.

use crate::dreams::{address, apply_form, diary, summary};
use crate::layout::{Frame, Tab, document};
use crate::numbers::counted;
use crate::text::{line, plain};
use crate::{forms, link, when};
use maud::{Markup, html};
use oneiro::{
    DreamDecision, DreamDetail, DreamFindingKind, DreamTrigger, DreamVerdict, LeftOperation,
    ScoreParts,
};

/// Characters of a claim, a reason and a finding.
const CLAIM_CHARS: usize = 280;

/// Decisions that are shown; the others are counted.
const DECISIONS_SHOWN: usize = 50;

/// One dream.
#[derive(Debug, Clone)]
pub struct DreamView {
    /// The frame of the page.
    pub frame: Frame,
    /// The dream with its decisions.
    pub detail: DreamDetail,
    /// What an undo could not take back.
    pub left: Vec<LeftOperation>,
}

/// The whole page.
pub fn page(view: &DreamView) -> String {
    document(&view.frame, Tab::Dreams, "Dream", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &DreamView) -> String {
    main(view).into_string()
}

fn main(view: &DreamView) -> Markup {
    let dream = &view.detail.dream;
    html! {
        div #view.reading data-view="dream" data-dream=(dream.id) {
            header.head {
                p.breadcrumbs { a href="/dreams" { "All dreams" } }
                h1 { "Dream of " (when::exact(dream.started_at)) }
                p.facts {
                    span { (summary(dream)) }
                    span { "preset " (dream.preset.as_str()) }
                    span { (started(dream.trigger)) }
                    @if dream.undone_at.is_some() { span { "undone" } }
                    @if let Some(revision) = &dream.revision {
                        a href=(format!("/revisions/{revision}")) { "Changes of notes" }
                    }
                }
                (actions(view))
            }
            @if !view.left.is_empty() {
                section aria-labelledby="left" {
                    h2 #left { "Not undone" }
                    ul {
                        @for one in &view.left {
                            li { code { (line(&one.subject, CLAIM_CHARS)) } ": " (line(&one.reason, CLAIM_CHARS)) }
                        }
                    }
                }
            }
            @if !view.detail.diary.trim().is_empty() {
                section aria-labelledby="diary" {
                    h2 #diary { "Diary" }
                    div.rendered { (diary(&view.detail.diary)) }
                }
            }
            (decisions(view))
            (findings(view))
        }
    }
}

/// What started a dream.
fn started(trigger: DreamTrigger) -> &'static str {
    match trigger {
        DreamTrigger::Manual => "started by hand",
        DreamTrigger::Heartbeat => "started by the host",
        DreamTrigger::Cron => "started by the schedule",
    }
}

fn actions(view: &DreamView) -> Markup {
    let dream = &view.detail.dream;
    let undo = html! { button type="submit" { "Undo this dream" } };
    html! {
        div.actions {
            @if dream.ran && dream.apply && dream.undone_at.is_none() && dream.group.is_some() {
                (forms::post(&view.frame, &format!("{}/undo", address(dream)), &address(dream), &undo))
            }
            @if dream.ran && !dream.apply {
                (apply_form(dream, &view.frame))
            }
        }
    }
}

fn decisions(view: &DreamView) -> Markup {
    let all = &view.detail.decisions;
    html! {
        section aria-labelledby="candidates" {
            h2 #candidates { "Candidates" }
            @if all.is_empty() {
                p.note { "No candidates." }
            }
            ul.candidates {
                @for decision in all.iter().take(DECISIONS_SHOWN) { (row(decision)) }
            }
            @if all.len() > DECISIONS_SHOWN {
                p.note { (counted((all.len() - DECISIONS_SHOWN) as i64, "more candidate")) "." }
            }
        }
    }
}

fn row(decision: &DreamDecision) -> Markup {
    html! {
        li data-decision=(decision.decision.as_str()) {
            a href=(link::memory(&decision.memory_id)) { (line(&decision.claim, CLAIM_CHARS)) }
            p.facts {
                span.decision { (decision.decision.as_str()) }
                @if let Some(subject) = &decision.subject { span { "about " (line(subject, 60)) } }
                @if let Some(project) = &decision.project { span { "project " (line(project, 60)) } }
            }
            p { (plain(&decision.reason)) }
            @if decision.decision != DreamVerdict::Merged {
                details.score {
                    summary { "Score " (percent(decision.score)) }
                    (bars(&decision.parts))
                    p.note {
                        (counted(i64::from(decision.evidence.recalls), "recall"))
                        " by " (counted(i64::from(decision.evidence.prompts), "prompt"))
                        " on " (counted(i64::from(decision.evidence.days), "day"))
                    }
                }
            }
        }
    }
}

/// The parts of a score as bars.
fn bars(parts: &ScoreParts) -> Markup {
    let bars = [
        ("Frequency", parts.frequency),
        ("Relevance", parts.relevance),
        ("Diversity", parts.diversity),
        ("Recency", parts.recency),
        ("Consolidation", parts.consolidation),
        ("Conceptual", parts.conceptual),
        ("Boost", parts.boost),
    ];
    html! {
        dl.bars {
            @for (name, value) in bars {
                dt { (name) }
                dd {
                    meter min="0" max="100" value=(whole_percent(value)) aria-hidden="true" {}
                    " " (percent(value))
                }
            }
        }
    }
}

fn whole_percent(value: f64) -> i64 {
    (value.clamp(0.0, 1.0) * 100.0).round() as i64
}

fn percent(value: f64) -> String {
    format!("{}%", whole_percent(value))
}

fn findings(view: &DreamView) -> Markup {
    let found = &view.detail.dream.findings;
    html! {
        @if !found.is_empty() {
            section aria-labelledby="findings" {
                h2 #findings { "Noticed" }
                ul {
                    @for one in found {
                        li {
                            strong { (finding_label(one.kind)) }
                            " " (line(&with_claims(&one.what, &view.detail.decisions), CLAIM_CHARS))
                            ": " (line(&one.reason, CLAIM_CHARS))
                        }
                    }
                }
            }
        }
    }
}

fn finding_label(kind: DreamFindingKind) -> &'static str {
    match kind {
        DreamFindingKind::Theme => "Topic",
        DreamFindingKind::Truth => "Not kept yet",
        DreamFindingKind::Contradiction => "Contradiction",
        DreamFindingKind::Stale => "May be out of date",
    }
}

/// A text with the claims of the memories that it names by id.
fn with_claims(text: &str, decisions: &[DreamDecision]) -> String {
    let named = decisions.iter().filter(|one| text.contains(one.memory_id.as_str()));
    named.fold(text.to_owned(), |text, one| {
        text.replace(one.memory_id.as_str(), &format!("“{}”", one.claim.trim()))
    })
}
