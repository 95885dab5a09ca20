//! The list of background jobs: state, attempts, next run and last error.

use crate::layout::{Frame, Tab, document};
use crate::text::{line, plain};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{Job, JobState, Page, Timestamp};

/// A page of the list.
#[derive(Debug, Clone)]
pub struct JobsView {
    /// The frame of the page.
    pub frame: Frame,
    /// The jobs, newest first.
    pub jobs: Page<Job>,
}

/// The whole page.
pub fn page(view: &JobsView) -> String {
    document(&view.frame, Tab::Jobs, "Jobs", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &JobsView) -> String {
    main(view).into_string()
}

fn main(view: &JobsView) -> Markup {
    html! {
        div #view data-view="jobs" {
            h1 { "Jobs" }
            p.lead {
                "Background work of this space: summaries, the text index, and erasure. The server \
                 runs jobs when they are due; "
                code { "oneiro jobs run" }
                " runs them now."
            }
            div #jobs data-refresh {
                @if view.jobs.items.is_empty() {
                    div.empty {
                        p { "No jobs: nothing is waiting, and nothing has failed." }
                    }
                } @else { (table(&view.jobs.items, view.frame.now)) }
                @if let Some(next) = &view.jobs.next {
                    p.pager {
                        a href=(link::query("/jobs", &[("cursor", &next.to_string())])) {
                            "Older jobs"
                        }
                    }
                }
            }
        }
    }
}

fn table(jobs: &[Job], now: Timestamp) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Jobs" {
            table.items {
                thead {
                    tr {
                        th scope="col" { "Job" }
                        th scope="col" { "State" }
                        th.number scope="col" { "Attempts" }
                        th scope="col" { "Next run" }
                        th scope="col" { "Last error" }
                    }
                }
                tbody {
                    @for job in jobs { (row(job, now)) }
                }
            }
        }
    }
}

fn row(job: &Job, now: Timestamp) -> Markup {
    html! {
        tr {
            th scope="row" {
                @match description(&job.kind) {
                    Some(text) => {
                        (text)
                        " "
                        code.note { (plain(&job.kind)) }
                    }
                    None => code { (line(&job.kind, 60)) },
                }
            }
            td {
                span.badge.failed[job.state == JobState::Failed] { (job.state.as_str()) }
            }
            td.number { (job.attempts) }
            td { (next_run(job, now)) }
            td.error { (line(job.last_error.as_deref().unwrap_or("none"), 240)) }
        }
    }
}

fn next_run(job: &Job, now: Timestamp) -> Markup {
    html! {
        @match (job.state, job.lease_until) {
            (JobState::Queued, _) => (when::ago(job.next_run_at, now)),
            (JobState::Running, Some(until)) => {
                "running, lease until "
                (when::clock(until))
            }
            (JobState::Running, None) => "running",
            (JobState::Done | JobState::Failed, _) => "none",
        }
    }
}

/// What a job of this kind does.
fn description(kind: &str) -> Option<&'static str> {
    match kind {
        "compact" => Some("Summarise older messages"),
        "scrub" => Some("Overwrite erased data"),
        "decay_memories" => Some("Retire memories that no answer used"),
        "purge_index" => Some("Remove erased messages from the text index"),
        "rebuild_index" => Some("Rebuild the text index"),
        _ => None,
    }
}
