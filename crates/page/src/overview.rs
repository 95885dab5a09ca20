//! The overview: how much there is, how it grows, how fast it answers, how the store is. It must
//! not know how any of it was measured.

use crate::figures::{bytes, counted, figure, number, short};
use crate::layout::{Frame, Tab, document};
use crate::plot::{self, Day, Minute};
use crate::text::{line, plain};
use crate::{jobs, search, sessions, welcome, when};
use maud::{Markup, html};
use oneiro::{Job, Session, Stats};

/// What the overview shows.
#[derive(Debug, Clone)]
pub struct OverviewView {
    /// What every page knows.
    pub frame: Frame,
    /// Figures of the space.
    pub stats: Stats,
    /// What was said day by day, oldest first, with the days on which nothing was.
    pub days: Vec<Day>,
    /// How long requests to this server took, oldest first.
    pub minutes: Vec<Minute>,
    /// What was active lately.
    pub recent: Vec<Session>,
    /// Jobs that wait, run or failed.
    pub jobs: Vec<Job>,
}

/// The whole page.
pub fn page(view: &OverviewView) -> String {
    document(&view.frame, Tab::Overview, "Overview", &main(view))
}

/// The content alone.
pub fn fragment(view: &OverviewView) -> String {
    main(view).into_string()
}

fn main(view: &OverviewView) -> Markup {
    let stats = &view.stats;
    html! {
        div #view data-view="overview" {
            h1.heard { "Overview" }
            form action="/search" method="get" role="search" { (search::field("", false)) }
            div #overview data-refresh {
                @if stats.messages == 0 && stats.sessions == 0 { (welcome::first_steps()) } @else {
                    (figures(view))
                    div.plots {
                        (plot::activity(&view.days))
                        (plot::latency(&view.minutes, view.frame.now))
                    }
                    div.columns {
                        section aria-labelledby="recent" {
                            h2 #recent { "Active lately" }
                            (sessions::rows(&view.recent, &view.frame))
                            p.turner {
                                a href="/sessions" { "All sessions" }
                            }
                        }
                        div {
                            (health(view))
                            @if !view.jobs.is_empty() {
                                section aria-labelledby="jobs" {
                                    h2 #jobs {
                                        a href="/jobs" { "Jobs" }
                                    }
                                    (jobs::table(&view.jobs, view.frame.now))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn figures(view: &OverviewView) -> Markup {
    let (stats, now) = (&view.stats, view.frame.now);
    let week: i64 = view.days.iter().rev().take(7).map(Day::total).sum();
    let growth = growth(view);
    let first = growth.first().copied().unwrap_or(0);
    let open = format!("{} open", number(stats.open_sessions));
    let lately = format!("{} in the last 7 days", short(week));
    html! {
        dl.figures {
            (figure(&number(stats.messages), "Messages", &lately))
            (figure(&number(stats.sessions), "Sessions", &open))
            (figure(&bytes(stats.bytes), "On disk", &per_message(stats)))
            @if let Some(at) = stats.last_active_at {
                (figure(&when::distance(at, now), "Last word", &when::exact(at)))
            }
        }
        @if growth.len() > 1 {
            div.trend { (plot::sparkline(&growth)) }
            p.heard {
                "Messages kept, over the days shown: from "
                (number(first))
                " to "
                (number(stats.messages))
                "."
            }
        }
    }
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

fn per_message(stats: &Stats) -> String {
    let all = (stats.messages + stats.rewound).max(1);
    format!("{} a message", bytes(stats.bytes / all))
}

fn health(view: &OverviewView) -> Markup {
    let stats = &view.stats;
    let engine = format!("{}, schema {}", stats.engine, stats.schema);
    let jobs = format!("{} waiting or running", counted(stats.jobs, "job"));
    let set_aside = format!("{}, each once", counted(stats.payloads, "large value"));
    let rewound = format!("{}, kept and hidden", counted(stats.rewound, "message"));
    html! {
        section aria-labelledby="health" {
            h2 #health { "The store" }
            dl.facts-list {
                (fact("Kept in", &line(&stats.store, 120)))
                (fact("Engine", &plain(&engine)))
                (fact("Text index", &index(stats)))
                (fact("Meaning", &meaning(stats)))
                (fact("Set aside", &plain(&set_aside)))
                @if stats.rewound > 0 { (fact("Rewound", &plain(&rewound))) }
                (fact("Backup", &backup(view)))
                (fact("Jobs", &plain(&jobs)))
            }
        }
    }
}

/// How far the text index reaches.
fn index(stats: &Stats) -> Markup {
    let index = &stats.index;
    let covered = (stats.messages - index.tail).max(0) as f64;
    html! {
        (counted(index.segments as i64, "segment"))
        ", "
        (counted(index.docs, "document"))
        (plot::share(covered, stats.messages as f64))
        @if index.tail > 0 { (counted(index.tail, "newer message")) " searched as they are" }
    }
}

fn meaning(stats: &Stats) -> Markup {
    html! {
        @match &stats.index.vectors {
            Some(model) => { "vectors of " (line(model, 60)) }
            None => "words alone, or a model that is not yet used throughout",
        }
    }
}

fn backup(view: &OverviewView) -> Markup {
    let latest = view.stats.backups.iter().max_by_key(|backup| backup.at);
    html! {
        @match latest {
            Some(backup) => (when::ago(backup.at, view.frame.now)),
            None => {
                "none known; "
                code { "oneiro backup copy.db" }
                " makes one"
            }
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
