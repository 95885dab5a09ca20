//! The overview and the list of jobs.

use super::view_request::ViewRequest;
use oneiro::{JobState, ListSessions, Result};
use oneiro_page::jobs::JobsView;
use oneiro_page::overview::OverviewView;
use oneiro_page::plot::{Day, Minute};

/// Days of the activity plot.
const DAYS: usize = 30;

/// Recent sessions on the overview.
const RECENT: usize = 8;

/// Jobs per page, and those in which the overview counts failures.
const JOBS: usize = 100;

pub(super) fn overview(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let days = oneiro.activity(DAYS)?.days.into_iter().map(|day| Day {
        date: day.date,
        user: day.user as i64,
        assistant: day.assistant as i64,
        tool: day.tool as i64,
        other: day.other as i64,
    });
    let minutes = request.state.metrics.minutes(request.frame.now).into_iter().map(|minute| {
        Minute { at: minute.at, count: minute.count, p50_ms: minute.p50_ms, p95_ms: minute.p95_ms }
    });
    let recent = ListSessions { limit: RECENT, ..ListSessions::default() };
    let jobs = oneiro.jobs().list(None, JOBS)?.items;
    let view = OverviewView {
        frame: request.frame.clone(),
        stats: oneiro.stats()?,
        beliefs: super::memories::beliefs(oneiro)?,
        digest: oneiro.dreams().digest()?,
        packs: super::packs::stats(oneiro)?,
        days: days.collect(),
        minutes: minutes.collect(),
        recent: oneiro.sessions().list(&recent)?.items,
        failed_jobs: jobs.iter().filter(|job| job.state == JobState::Failed).count(),
    };
    Ok(request.render(&view, oneiro_page::overview::page, oneiro_page::overview::fragment))
}

pub(super) fn jobs(request: &ViewRequest) -> Result<String> {
    let jobs = request.oneiro()?.jobs().list(request.cursor()?, JOBS)?;
    let view = JobsView { frame: request.frame.clone(), jobs };
    Ok(request.render(&view, oneiro_page::jobs::page, oneiro_page::jobs::fragment))
}
