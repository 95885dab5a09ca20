//! Background work: what waits, runs or failed. It must not know what a job does.

use crate::layout::{Frame, Tab, document};
use crate::text::{one_line, plain};
use crate::when;
use maud::{Markup, html};
use oneiro::{Job, JobState, Timestamp};

/// The list of jobs.
#[derive(Debug, Clone)]
pub struct JobsView {
    /// What every page knows.
    pub frame: Frame,
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// The whole page.
pub fn page(view: &JobsView) -> String {
    document(&view.frame, Tab::Overview, "Jobs", &main(view))
}

/// The content alone.
pub fn fragment(view: &JobsView) -> String {
    main(view).into_string()
}

fn main(view: &JobsView) -> Markup {
    html! {
        div #view data-view="jobs" {
            h1 { "Jobs" }
            p.lead {
                "Work behind the conversations: the text index is folded and merged, vectors are "
                "made. This server does it as it comes; "
                code { "oneiro jobs run" }
                " does it at once."
            }
            @if view.jobs.is_empty() {
                div.empty {
                    p { "Nothing waits, and nothing has failed." }
                }
            } @else { (table(&view.jobs, view.frame.now)) }
        }
    }
}

/// Jobs, a row to each.
pub(crate) fn table(jobs: &[Job], now: Timestamp) -> Markup {
    html! {
        ul.rows.jobs {
            @for job in jobs {
                li {
                    p.name { (plain(&one_line(&job.kind, 60))) }
                    p.facts {
                        span.badge.failed[job.state == JobState::Failed] { (job.state.as_str()) }
                        @if job.attempts > 1 {
                            span { "begun " (job.attempts) " times" }
                        }
                        @match (job.state, job.lease_until) {
                            (JobState::Queued, _) => span {
                                "runs "
                                (when::distance(job.next_run_at, now))
                            },
                            (JobState::Running, Some(until)) => span {
                                "held until "
                                (when::exact(until))
                            },
                            _ => {}
                        }
                    }
                    @if let Some(error) = &job.last_error {
                        p.preview { (plain(&one_line(error, 240))) }
                    }
                }
            }
        }
    }
}
