//! The overview: what the space holds, what is recent in it, and the state of its store. It must
//! not know how any of it was measured.

use crate::layout::{Frame, Tab, document};
use crate::memories::CONTRADICTED;
use crate::numbers::{bytes, counted, metric, number, short};
use crate::plot::{self, Day, Minute};
use crate::text::{line, plain};
use crate::{belief, dreams, link, search, sessions, welcome, when};
use maud::{Markup, html};
use oneiro::{
    DreamDetail, Memory, MemoryStats, MemoryStatus, Session, SessionGroup, Stats, Timestamp,
};

/// What is believed in a space.
#[derive(Debug, Clone, Default)]
pub struct Beliefs {
    /// Memories that are believed.
    pub active: i64,
    /// Candidates.
    pub waiting: i64,
    /// Active memories that a contradiction suspends.
    pub contradicted: i64,
    /// The newest active memories and candidates.
    pub newest: Vec<Memory>,
}

/// What the overview shows.
#[derive(Debug, Clone)]
pub struct OverviewView {
    /// The frame of the page.
    pub frame: Frame,
    /// Statistics of the space.
    pub stats: Stats,
    /// What is believed.
    pub beliefs: Beliefs,
    /// The last dream, if it was a dry run that would change something.
    pub digest: Option<DreamDetail>,
    /// What packs gave in the last seven days.
    pub packs: MemoryStats,
    /// Messages by day, oldest first, with empty days.
    pub days: Vec<Day>,
    /// Latency of searches by minute, oldest first.
    pub minutes: Vec<Minute>,
    /// The most recently active sessions.
    pub recent: Vec<Session>,
    /// The number of jobs that have failed.
    pub failed_jobs: usize,
}

/// Projects or sources that are listed; the others are counted.
const GROUPS_SHOWN: usize = 8;

/// Muted memories that are listed; `oneiro stats --memory` lists all.
const MUTED_SHOWN: usize = 20;

/// The whole page.
pub fn page(view: &OverviewView) -> String {
    document(&view.frame, Tab::Overview, "Overview", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &OverviewView) -> String {
    main(view).into_string()
}

fn main(view: &OverviewView) -> Markup {
    let stats = &view.stats;
    html! {
        div #view data-view="overview" {
            h1.visually-hidden { "Overview" }
            form action="/search" method="get" role="search" { (search::field("", false)) }
            div #overview data-refresh {
                @if stats.messages == 0 && stats.sessions == 0 { (welcome::first_steps()) } @else {
                    (beliefs(view))
                    @if let Some(digest) = &view.digest { (dreams::waiting(digest, &view.frame)) }
                    (packs(&view.packs))
                    (totals(view))
                    div.columns {
                        section aria-labelledby="recent" {
                            h2 #recent { "Recent conversations" }
                            (sessions::rows(&view.recent, &view.frame))
                            p.pager {
                                a href="/sessions" { "All sessions" }
                            }
                        }
                        div {
                            (groups(&stats.projects, "project"))
                            (groups(&stats.sources, "source"))
                            (store(view))
                        }
                    }
                    div.plots {
                        (plot::activity(&view.days))
                        (plot::latency(&view.minutes, view.frame.now))
                    }
                }
            }
        }
    }
}

/// Counts of memories as links to them, and the newest; nothing in a space that has none.
fn beliefs(view: &OverviewView) -> Markup {
    let Beliefs { active, waiting, contradicted, newest } = &view.beliefs;
    let of_status = |status: &str| link::query("/memories", &[("status", status)]);
    let counts = [
        (active, "Believed", of_status(MemoryStatus::Active.as_str()), "active memories"),
        (waiting, "Waiting for review", "/review".to_owned(), "candidates"),
        (contradicted, "Contradicted", of_status(CONTRADICTED), "suspended until settled"),
    ];
    html! {
        @if active + waiting + contradicted > 0 {
            section.beliefs aria-labelledby="beliefs" {
                h2 #beliefs { "What is believed" }
                dl.metrics {
                    @for (count, name, href, detail) in counts {
                        div.metric {
                            dt { (name) }
                            dd {
                                a href=(href) { (number(*count)) }
                                small { (detail) }
                            }
                        }
                    }
                }
                (belief::rows(newest, &view.frame))
                p.pager {
                    a href="/memories" { "All memories" }
                }
            }
        }
    }
}

/// What packs cost and what became of their lines; nothing while there are none.
fn packs(stats: &MemoryStats) -> Markup {
    let used = stats.used_share.map_or("-".to_owned(), belief::percent);
    let of_lines = format!("of {}", counted(stats.memory_lines, "memory line"));
    let corrected = format!("{} contradicted", number(stats.contradicted));
    let lines = format!("in {}, {} empty", counted(stats.packs, "pack"), number(stats.empty_packs));
    html! {
        @if stats.packs + stats.empty_packs > 0 || !stats.muted.is_empty() {
            section.beliefs aria-labelledby="packs" {
                h2 #packs { "What memory gave, last 7 days" }
                dl.metrics {
                    (metric(&number(stats.tokens), "Tokens added", "to prompts"))
                    (metric(&number(stats.lines), "Lines", &lines))
                    (metric(&used, "Used", &of_lines))
                    (metric(&number(stats.corrected), "Corrected", &corrected))
                    (metric(&number(stats.muted.len() as i64), "Muted", "never used"))
                }
                @if !stats.muted.is_empty() {
                    details.muted {
                        summary { "Muted memories" }
                        ul {
                            @for muted in stats.muted.iter().take(MUTED_SHOWN) {
                                li {
                                    a href=(link::memory(&muted.id)) { (line(&muted.content, 120)) }
                                    " in "
                                    (line(&muted.project, 60))
                                }
                            }
                        }
                    }
                }
                p.pager {
                    a href="/packs" { "All packs" }
                }
            }
        }
    }
}

fn totals(view: &OverviewView) -> Markup {
    let stats = &view.stats;
    let week: i64 = view.days.iter().rev().take(7).map(Day::total).sum();
    let growth = growth(view);
    let first = growth.first().copied().unwrap_or(0);
    let open = format!("{} open", number(stats.open_sessions));
    let this_week = format!("{} in the last 7 days", short(week));
    let sources = format!("from {}", counted(stats.sources.len() as i64, "source"));
    html! {
        dl.metrics {
            (metric(&number(stats.sessions), "Sessions", &open))
            (metric(&number(stats.messages), "Messages", &this_week))
            (metric(&number(stats.projects.len() as i64), "Projects", &sources))
            @if let (Some(first), Some(last)) = (stats.first_active_at, stats.last_active_at) {
                (metric(&days_between(first, last), "Time span", &dates(first, last)))
            }
        }
        @if growth.len() > 1 {
            div.trend { (plot::sparkline(&growth)) }
            p.visually-hidden {
                "Stored messages over these days: from "
                (number(first))
                " to "
                (number(stats.messages))
                "."
            }
        }
    }
}

/// The number of calendar days from one moment to another, both included.
fn days_between(first: Timestamp, last: Timestamp) -> String {
    const MICROS_PER_DAY: i64 = oneiro::Span::DAY.micros();
    let day = |at: Timestamp| at.micros().div_euclid(MICROS_PER_DAY);
    counted(day(last).saturating_sub(day(first)).saturating_add(1).max(1), "day")
}

fn dates(first: Timestamp, last: Timestamp) -> String {
    let (first, last) = (when::date(first), when::date(last));
    if first == last { first } else { format!("{first} to {last}") }
}

/// How many messages there were at the end of each day.
fn growth(view: &OverviewView) -> Vec<i64> {
    let mut left = view.stats.messages;
    let mut back = Vec::with_capacity(view.days.len());
    for day in view.days.iter().rev() {
        back.push(left);
        left = left.saturating_sub(day.total()).max(0);
    }
    back.reverse();
    back
}

/// Projects or sources with the number of their sessions, as links to these.
fn groups(groups: &[SessionGroup], filter: &str) -> Markup {
    let heading = if filter == "project" { "Projects" } else { "Sources" };
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    html! {
        @if !groups.is_empty() {
            section aria-labelledby=(filter) {
                h2 id=(filter) { (heading) }
                ul.session-groups {
                    @for group in groups.iter().take(GROUPS_SHOWN) {
                        li {
                            a href=(link::query("/sessions", &[(filter, &group.name)])) {
                                (line(&group.name, 40))
                            }
                            " "
                            span.note { (counted(group.sessions, "session")) }
                        }
                    }
                    @if more > 0 {
                        li.note { (number(more as i64)) " more" }
                    }
                }
            }
        }
    }
}

fn store(view: &OverviewView) -> Markup {
    let stats = &view.stats;
    let engine = format!("{}, schema {}", stats.engine, stats.schema);
    let stored = (stats.messages + stats.rewound).max(1);
    let size = format!("{}, {} per message", bytes(stats.bytes), bytes(stats.bytes / stored));
    let large_values = format!("{}, stored once", number(stats.payloads));
    let rewound = format!("{}, hidden", counted(stats.rewound, "message"));
    html! {
        section aria-labelledby="store" {
            h2 #store { "Store" }
            dl.facts-list {
                (fact("Location", &line(&stats.store, 120)))
                (fact("Engine", &plain(&engine)))
                (fact("Size", &plain(&size)))
                (fact("Text index", &index(stats)))
                (fact("Vectors", &vectors(stats)))
                (fact("Large values", &plain(&large_values)))
                @if stats.rewound > 0 { (fact("Rewound", &plain(&rewound))) }
                (fact("Backup", &backup(view)))
                (fact("Jobs", &jobs(view)))
            }
        }
    }
}

/// How much of the messages the text index covers.
fn index(stats: &Stats) -> Markup {
    let index = &stats.index;
    let covered = (stats.messages - index.tail).max(0) as f64;
    html! {
        (counted(index.segments as i64, "segment"))
        ", "
        (counted(index.docs, "document"))
        (plot::share(covered, stats.messages as f64))
        @if index.tail > 0 { (counted(index.tail, "message")) " not yet indexed" }
    }
}

fn vectors(stats: &Stats) -> Markup {
    html! {
        @match &stats.index.vectors {
            Some(model) => (line(model, 60)),
            None => "not available for all messages",
        }
    }
}

fn backup(view: &OverviewView) -> Markup {
    let latest = view.stats.backups.iter().max_by_key(|backup| backup.at);
    html! {
        @match latest {
            Some(backup) => (when::ago(backup.at, view.frame.now)),
            None => {
                "none; "
                code { "oneiro backup copy.db" }
                " creates one"
            }
        }
    }
}

fn jobs(view: &OverviewView) -> Markup {
    let unfinished = format!("{} waiting or running", number(view.stats.jobs));
    html! {
        a href="/jobs" { (unfinished) }
        @if view.failed_jobs > 0 {
            ", "
            span.badge.failed { (number(view.failed_jobs as i64)) " failed" }
        }
    }
}

fn fact(name: &str, value: &Markup) -> Markup {
    html! {
        div {
            dt { (name) }
            dd { (value) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_span_counts_both_its_days() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let morning = at("2026-11-15T08:00:00Z");
        for (last, days, named) in [
            ("2026-11-15T08:00:00Z", "1 day", "15 Nov 2026"),
            ("2026-11-16T00:00:00Z", "2 days", "15 Nov 2026 to 16 Nov 2026"),
            ("2027-11-15T08:00:00Z", "366 days", "15 Nov 2026 to 15 Nov 2027"),
        ] {
            assert_eq!(days_between(morning, at(last)), days);
            assert_eq!(dates(morning, at(last)), named);
        }
        assert_eq!(days_between(at("2026-11-16T00:00:00Z"), morning), "1 day");
    }
}
