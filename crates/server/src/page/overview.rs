//! The overview and the jobs.

use super::look::Look;
use oneiro::{JobState, ListSessions, Result};
use oneiro_page::jobs::JobsView;
use oneiro_page::overview::OverviewView;
use oneiro_page::plot::{Day, Minute};

/// Days that are plotted.
const DAYS: usize = 30;

/// Sessions that are shown.
const RECENT: usize = 8;

/// Jobs that are looked through.
const JOBS: usize = 100;

pub(super) fn overview(look: &Look) -> Result<String> {
    let oneiro = look.oneiro()?;
    let days = oneiro.activity(DAYS)?.days.into_iter().map(|day| Day {
        date: day.date,
        user: day.user as i64,
        assistant: day.assistant as i64,
        tool: day.tool as i64,
        other: day.other as i64,
    });
    let minutes = look.state.metrics.minutes(look.frame.now).into_iter().map(|minute| Minute {
        at: minute.at,
        count: minute.count,
        p50_ms: minute.p50_ms,
        p95_ms: minute.p95_ms,
    });
    let recent = ListSessions { limit: RECENT, ..ListSessions::default() };
    let mut jobs = oneiro.jobs().list(None, JOBS)?.items;
    jobs.retain(|job| job.state != JobState::Done);
    let view = OverviewView {
        frame: look.frame.clone(),
        stats: oneiro.stats()?,
        days: days.collect(),
        minutes: minutes.collect(),
        recent: oneiro.sessions().list(&recent)?.items,
        jobs,
    };
    Ok(look.draw(&view, oneiro_page::overview::page, oneiro_page::overview::fragment))
}

pub(super) fn jobs(look: &Look) -> Result<String> {
    let jobs = look.oneiro()?.jobs().list(look.cursor()?, JOBS)?.items;
    let view = JobsView { frame: look.frame.clone(), jobs };
    Ok(look.draw(&view, oneiro_page::jobs::page, oneiro_page::jobs::fragment))
}
