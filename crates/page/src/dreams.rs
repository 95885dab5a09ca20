//! The dreams of a space: whether it dreams, a calendar of the last weeks, and the runs.

use crate::layout::{Frame, Tab, document};
use crate::numbers::{counted, number};
use crate::text::{line, plain};
use crate::{forms, link, when};
use jiff::ToSpan;
use jiff::civil::Date;
use maud::{Markup, html};
use oneiro::{Dream, DreamDetail, DreamMode, DreamOutcome, DreamStatus, Page, Timestamp};
use std::collections::BTreeMap;

/// Weeks of the calendar.
const WEEKS: i64 = 6;
const WEEK_DAYS: i64 = 7;

/// Characters of a sentence that says why a dream did not run.
const REASON_CHARS: usize = 160;

/// The list of dreams.
#[derive(Debug, Clone)]
pub struct DreamsView {
    /// The frame of the page.
    pub frame: Frame,
    /// Whether the space dreams, and what its candidates are.
    pub status: DreamStatus,
    /// The last dream, if it was a dry run that would change something.
    pub digest: Option<DreamDetail>,
    /// The runs, newest first.
    pub dreams: Page<Dream>,
}

/// The whole page.
pub fn page(view: &DreamsView) -> String {
    document(&view.frame, Tab::Dreams, "Dreams", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &DreamsView) -> String {
    main(view).into_string()
}

fn main(view: &DreamsView) -> Markup {
    html! {
        div #view data-view="dreams" {
            h1 { "Dreams" }
            (status(view))
            (start_forms(&view.frame))
            div #list data-refresh {
                @if let Some(digest) = &view.digest { (waiting(digest, &view.frame)) }
                @if view.dreams.items.is_empty() {
                    div.empty {
                        p { "No dreams yet." }
                        p { "A dream looks at what was said, asked and confirmed, and keeps the best of it in MEMORY.md." }
                    }
                } @else {
                    (calendar(view))
                    h2 { "Runs" }
                    ul.rows {
                        @for dream in &view.dreams.items { (row(dream, &view.frame)) }
                    }
                    @if let Some(next) = view.dreams.next {
                        p.pager {
                            a href=(link::query("/dreams", &[("cursor", &next.to_string())])) { "Older dreams" }
                        }
                    }
                }
            }
        }
    }
}

fn status(view: &DreamsView) -> Markup {
    let status = &view.status;
    html! {
        p.note {
            @if status.mode == DreamMode::Off {
                "This space does not dream by itself. "
                code { "oneiro dream schedule --preset core" }
                " switches it on."
            } @else {
                "This space dreams by the preset " (status.mode.as_str())
                @if let Some(next) = status.next_at { ", next on " (when::exact(next)) }
                ". "
                @if status.apply {
                    "Such dreams change memories and notes."
                } @else {
                    "Such dreams only say what they would change."
                }
            }
        }
        @if !status.candidates.is_empty() {
            p.facts {
                @for one in &status.candidates {
                    span { (number(one.count)) " " (one.decision.as_str()) }
                }
            }
        }
    }
}

/// What the last dry run would change, with a button that applies it.
pub(crate) fn waiting(digest: &DreamDetail, frame: &Frame) -> Markup {
    html! {
        section.digest aria-labelledby="digest" {
            h2 #digest { "The last dream would change" }
            div.rendered { (diary(&digest.diary)) }
            div.actions {
                (apply_form(&digest.dream, frame))
                a href=(address(&digest.dream)) { "Details" }
            }
        }
    }
}

/// Dreams again with the thresholds of a dry run, and applies the result.
pub(crate) fn apply_form(dream: &Dream, frame: &Frame) -> Markup {
    let fields = html! {
        input type="hidden" name="apply" value="yes";
        input type="hidden" name="preset" value=(dream.preset.as_str());
        button type="submit" { "Apply: dream now" }
    };
    forms::post(frame, "/dreams", "/dreams", &fields)
}

/// Starts a dream now, with or without changes.
fn start_forms(frame: &Frame) -> Markup {
    let button = |apply: &str, label: &str| {
        let fields = html! {
            input type="hidden" name="apply" value=(apply);
            button type="submit" { (label) }
        };
        forms::post(frame, "/dreams", "/dreams", &fields)
    };
    html! {
        div.actions {
            (button("no", "Dry run"))
            (button("yes", "Dream now"))
        }
    }
}

/// The days of the last weeks, Monday first, each with its last run.
fn calendar(view: &DreamsView) -> Markup {
    let Some(today) = when::day(view.frame.now) else { return html! {} };
    let mut runs: BTreeMap<Date, &Dream> = BTreeMap::new();
    for dream in view.dreams.items.iter().rev() {
        if let Some(day) = when::day(missed_night(dream).unwrap_or(dream.started_at)) {
            runs.insert(day, dream);
        }
    }
    let since_monday = i64::from(today.weekday().to_monday_zero_offset());
    let back = (WEEKS - 1) * WEEK_DAYS + since_monday;
    let Ok(first) = today.checked_sub(back.days()) else { return html! {} };
    html! {
        table.calendar {
            caption { "The last " (WEEKS) " weeks" }
            thead {
                tr {
                    @for name in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] { th scope="col" { (name) } }
                }
            }
            tbody {
                @for week in 0..WEEKS {
                    tr {
                        @for weekday in 0..WEEK_DAYS {
                            @let day = first.checked_add((week * WEEK_DAYS + weekday).days()).ok();
                            (cell(day.filter(|day| *day <= today), &runs))
                        }
                    }
                }
            }
        }
    }
}

fn cell(day: Option<Date>, runs: &BTreeMap<Date, &Dream>) -> Markup {
    let Some(day) = day else {
        return html! { td {} };
    };
    html! {
        @match runs.get(&day) {
            Some(dream) => td data-outcome=(dream.outcome.as_str()) {
                a href=(address(dream)) title=(summary(dream)) {
                    (day.day())
                    @if dream.counts.lines_added > 0 { span.added { "+" (dream.counts.lines_added) } }
                    @if dream.counts.lines_removed > 0 { span.removed { "-" (dream.counts.lines_removed) } }
                }
            },
            None => td { (day.day()) },
        }
    }
}

fn row(dream: &Dream, frame: &Frame) -> Markup {
    html! {
        li {
            a.name href=(address(dream)) { (when::exact(dream.started_at)) }
            p.facts {
                span { (summary(dream)) }
                @if !dream.apply && dream.ran { span { "dry run" } }
                @if dream.undone_at.is_some() { span { "undone" } }
                @if let Some(night) = missed_night(dream) { span { "the dream of " (when::exact(night)) } }
                @if let Some(reason) = &dream.reason { span { (line(reason, REASON_CHARS)) } }
                span.when { (when::ago(dream.started_at, frame.now)) }
            }
        }
    }
}

/// When a dream was due that nobody ran.
fn missed_night(dream: &Dream) -> Option<Timestamp> {
    dream.period.filter(|_| dream.outcome == DreamOutcome::Missed)
}

/// The address of a dream.
pub(crate) fn address(dream: &Dream) -> String {
    format!("/dreams/{}", dream.id)
}

/// What a dream did, in a few words.
pub(crate) fn summary(dream: &Dream) -> String {
    if dream.outcome != DreamOutcome::Processed {
        return dream.outcome.as_str().replace('_', " ");
    }
    let counts = &dream.counts;
    let parts = [
        (counts.promoted, "promoted"),
        (counts.merged, "merged"),
        (counts.superseded, "superseded"),
        (counts.retired, "retired"),
    ];
    let lines = [(counts.lines_added, "added"), (counts.lines_removed, "removed")];
    let lines = lines.iter().filter(|(count, _)| *count > 0);
    let done: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .chain(lines.map(|(count, word)| format!("{} {word}", counted(*count as i64, "line"))))
        .collect();
    let looked = counted(counts.candidates as i64, "candidate");
    if done.is_empty() {
        format!("{looked}, no change")
    } else {
        format!("{looked}: {}", done.join(", "))
    }
}

/// The text of a diary entry, paragraph by paragraph.
pub(crate) fn diary(text: &str) -> Markup {
    html! {
        @for paragraph in text.split("\n\n").map(str::trim).filter(|it| !it.is_empty()) {
            p { (plain(paragraph)) }
        }
    }
}
