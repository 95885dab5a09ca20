//! Plots as SVG that stretches to its box. Labels are text beside it, and a hidden table has the same
//! numbers for screen readers.

use crate::numbers::{counted, millis, number, short};
use crate::text::plain;
use crate::when;
use maud::{Markup, html};
use oneiro::Timestamp;

/// Messages of one day by role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Day {
    /// The day, as 2026-01-31.
    pub date: String,
    /// Messages of people.
    pub user: i64,
    /// Messages of agents.
    pub assistant: i64,
    /// Results of tools.
    pub tool: i64,
    /// All others.
    pub other: i64,
}

impl Day {
    /// All messages of the day.
    pub fn total(&self) -> i64 {
        self.user + self.assistant + self.tool + self.other
    }

    fn add(&mut self, other: &Day) {
        self.user += other.user;
        self.assistant += other.assistant;
        self.tool += other.tool;
        self.other += other.other;
    }
}

/// Latency of the searches of one minute.
#[derive(Debug, Clone, PartialEq)]
pub struct Minute {
    /// The minute.
    pub at: Timestamp,
    /// Searches in it.
    pub count: u64,
    /// The median, in milliseconds.
    pub p50_ms: f64,
    /// The 95th percentile, in milliseconds.
    pub p95_ms: f64,
}

/// More days than these are shown as weeks.
const DAYS: usize = 62;

/// Points of a line; more are thinned out.
const POINTS: usize = 120;

const SPEAKERS: [(&str, &str); 4] =
    [("s-user", "user"), ("s-assistant", "assistant"), ("s-tool", "tool"), ("s-other", "other")];

/// Bars of messages by day, or by week where there are many days.
pub fn activity(days: &[Day]) -> Markup {
    let weekly = days.len() > DAYS;
    let bars = if weekly { weeks(days) } else { days.to_vec() };
    let most = bars.iter().map(Day::total).max().unwrap_or(0).max(1);
    let total: i64 = bars.iter().map(Day::total).sum();
    let unit = if weekly { "week" } else { "day" };
    let date = |day: &Day| when::short_day(&day.date);
    let (first, last) = (bars.first().map(date), bars.last().map(date));
    let summary = format!(
        "{} in {}; maximum {} per {unit}.",
        counted(total, "message"),
        counted(bars.len() as i64, unit),
        number(most)
    );
    html! {
        figure.plot {
            figcaption {
                span.title { "Messages by " (unit) }
                ul.key {
                    @for (class, name) in SPEAKERS {
                        li class=(class) { (name) }
                    }
                }
            }
            div.canvas {
                span.top aria-hidden="true" { (short(most)) }
                svg role="img"
                    aria-label={ "Messages by " (unit) ". " (summary) }
                    viewBox={ "0 0 " (bars.len().max(1) * 10) " 100" }
                    preserveAspectRatio="none"
                {
                    @for (at, day) in bars.iter().enumerate() { (bar(at, day, most)) }
                }
            }
            (ends(first, last))
            div.visually-hidden {
                table {
                    caption { "Messages by " (unit) }
                    thead {
                        tr {
                            th scope="col" { (unit) }
                            @for (_, name) in SPEAKERS {
                                th scope="col" { (name) }
                            }
                        }
                    }
                    tbody {
                        @for day in bars.iter().filter(|day| day.total() > 0) {
                            tr {
                                th scope="row" { (plain(&day.date)) }
                                td { (day.user) }
                                td { (day.assistant) }
                                td { (day.tool) }
                                td { (day.other) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn bar(at: usize, day: &Day, most: i64) -> Markup {
    let x = at * 10 + 1;
    let parts = [day.user, day.assistant, day.tool, day.other];
    let mut top = 100.0;
    let mut rects = Vec::new();
    for ((class, _), count) in SPEAKERS.iter().zip(parts) {
        let height = 100.0 * count.max(0) as f64 / most as f64;
        top -= height;
        if count > 0 {
            rects.push(html! {
                rect class=(class) x=(x) y=(round(top)) width="8" height=(round(height)) {}
            });
        }
    }
    html! {
        @if day.total() > 0 {
            g {
                title { (when::short_day(&day.date)) ": " (counted(day.total(), "message")) }
                @for rect in rects { (rect) }
            }
        } @else {
            rect.nothing x=(x) y="99" width="8" height="1" {}
        }
    }
}

fn weeks(days: &[Day]) -> Vec<Day> {
    let week = |days: &[Day]| {
        let mut sum = Day {
            date: days.first().map(|day| day.date.clone()).unwrap_or_default(),
            ..Day::default()
        };
        days.iter().for_each(|day| sum.add(day));
        sum
    };
    days.rchunks(7).rev().map(week).collect()
}

/// Lines of the latency of searches, minute by minute.
pub fn latency(minutes: &[Minute], now: Timestamp) -> Markup {
    let every = minutes.len().div_ceil(POINTS).max(1);
    // Of minutes that share a point, the slowest is shown.
    let slowest =
        |some: &'_ [Minute]| some.iter().max_by(|a, b| a.p95_ms.total_cmp(&b.p95_ms)).cloned();
    let points: Vec<Minute> = minutes.chunks(every).filter_map(slowest).collect();
    let most = points.iter().map(|m| m.p95_ms.max(m.p50_ms)).fold(1.0, f64::max);
    let count: u64 = minutes.iter().map(|minute| minute.count).sum();
    let (first, last) = (points.first(), points.last());
    let age = |minute: &Minute| when::distance(minute.at, now);
    let micros = |minute: &Minute| minute.at.micros() as f64;
    let (begin, end) = (first.map_or(0.0, micros), last.map_or(0.0, micros));
    let place = |minute: &Minute| (micros(minute) - begin) / (end - begin).max(1.0);
    let p50: Vec<(f64, f64)> = points.iter().map(|one| (place(one), one.p50_ms)).collect();
    let p95: Vec<(f64, f64)> = points.iter().map(|one| (place(one), one.p95_ms)).collect();
    let summary = last.map(|last| {
        let count = counted(count as i64, "search");
        let (p50, p95) = (millis(last.p50_ms), millis(last.p95_ms));
        format!("{count}; latest minute: p50 {p50}, p95 {p95}.")
    });
    html! {
        figure.plot {
            figcaption {
                span.title { "Search latency" }
                ul.key {
                    li.s-p50 { "p50" }
                    li.s-p95 { "p95" }
                }
            }
            @if let Some(summary) = summary {
                div.canvas {
                    span.top aria-hidden="true" { (millis(most)) }
                    svg role="img"
                        aria-label={ "Search latency. " (summary) }
                        viewBox="0 0 1000 100"
                        preserveAspectRatio="none"
                    {
                        path.s-p95-area d={ (path(&p95, most)) " V100 H0 Z" } {}
                        path.s-p95-line d=(path(&p95, most)) {}
                        path.s-p50-line d=(path(&p50, most)) {}
                    }
                }
                (ends(first.map(age), last.map(age)))
                p.caption { (summary) }
                (latency_table(&points))
            } @else {
                p.none { "No searches yet since the server started." }
            }
        }
    }
}

/// The same as a table, for screen readers.
fn latency_table(points: &[Minute]) -> Markup {
    html! {
        div.visually-hidden {
            table {
                caption { "Search latency in milliseconds" }
                thead {
                    tr {
                        th scope="col" { "minute" }
                        th scope="col" { "p50" }
                        th scope="col" { "p95" }
                    }
                }
                tbody {
                    @for minute in points {
                        tr {
                            th scope="row" { (when::clock(minute.at)) }
                            td { (round(minute.p50_ms)) }
                            td { (round(minute.p95_ms)) }
                        }
                    }
                }
            }
        }
    }
}

/// A line without axes, from the least to the most there is, as wide as its place.
pub fn sparkline(values: &[i64]) -> Markup {
    let least = values.iter().copied().min().unwrap_or(0);
    let step = 1.0 / values.len().saturating_sub(1).max(1) as f64;
    let point = |(at, value): (usize, &i64)| (at as f64 * step, value.saturating_sub(least) as f64);
    let values: Vec<(f64, f64)> = values.iter().enumerate().map(point).collect();
    let most = values.iter().map(|(_, value)| *value).fold(1.0, f64::max);
    html! {
        svg .spark
            viewBox="0 0 1000 100"
            preserveAspectRatio="none"
            aria-hidden="true"
            focusable="false"
        {
            path.area d={ (path(&values, most)) " V100 H0 Z" } {}
            path d=(path(&values, most)) {}
        }
    }
}

/// A bar of a share between nothing and the most there is, or below nothing.
pub fn share(value: f64, most: f64) -> Markup {
    let width = (100.0 * value.abs() / most.max(f64::MIN_POSITIVE)).clamp(0.0, 100.0);
    html! {
        svg .share
            viewBox="0 0 100 8"
            preserveAspectRatio="none"
            aria-hidden="true"
            focusable="false"
        {
            rect.ground width="100" height="8" {}
            rect.less[value < 0.0] width=(round(width)) height="8" {}
        }
    }
}

/// A line through points: how far to the right, from 0 to 1, and how high.
fn path(points: &[(f64, f64)], most: f64) -> String {
    let point = |(at, (x, y)): (usize, &(f64, f64))| {
        let letter = if at == 0 { 'M' } else { 'L' };
        format!("{letter}{} {}", round(1000.0 * x), round(98.0 - 96.0 * y / most))
    };
    let line = points.iter().enumerate().map(point).collect::<Vec<_>>().join("");
    // One point is a line too.
    if points.len() == 1 { line + "H1000" } else { line }
}

fn ends(first: Option<String>, last: Option<String>) -> Markup {
    html! {
        div.ends aria-hidden="true" {
            span { (first.unwrap_or_default()) }
            span { (last.unwrap_or_default()) }
        }
    }
}

/// To a tenth; what is not a number is nothing.
fn round(value: f64) -> f64 {
    if value.is_finite() { (value * 10.0).round() / 10.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_days_are_weeks_that_end_today() {
        let days: Vec<Day> = (0..365)
            .map(|day| Day { date: format!("d{day}"), user: 1, ..Day::default() })
            .collect();
        let weeks = weeks(&days);
        assert_eq!(weeks.len(), 53);
        assert_eq!(weeks.iter().map(Day::total).sum::<i64>(), 365);
        assert_eq!(weeks.last().map(|week| (week.date.as_str(), week.user)), Some(("d358", 7)));
        assert!(activity(&days).0.contains("in 53 weeks"));
    }

    #[test]
    fn lines_stay_in_the_picture_whatever_the_values() {
        assert_eq!(path(&[(0.0, 1.0)], 1.0), "M0 2H1000");
        assert_eq!(path(&[(0.0, 0.0), (1.0, 2.0)], 2.0), "M0 98L1000 2");
        assert_eq!(path(&[], 1.0), "");
        assert_eq!(path(&[(0.0, f64::NAN), (1.0, 1.0)], 1.0), "M0 0L1000 2");
        let now = Timestamp::from_micros(0);
        let minute = |at: i64| Minute {
            at: Timestamp::from_micros(at * 60_000_000),
            count: 1,
            p50_ms: 1.0,
            p95_ms: if at == 5_001 { 900.0 } else { 2.0 },
        };
        let drawn = latency(&(0..10_000).map(minute).collect::<Vec<_>>(), now).0;
        assert!(drawn.len() < 24_000, "{}", drawn.len());
        assert!(drawn.contains("900 ms"), "no peak is lost");
    }

    #[test]
    fn minutes_stand_where_they_were_in_time() {
        let at = |minute: i64| Timestamp::from_micros(minute * 60_000_000);
        let one = |minute: i64| Minute { at: at(minute), count: 1, p50_ms: 1.0, p95_ms: 1.0 };
        let drawn = latency(&[one(0), one(1), one(10)], at(10)).0;
        assert!(drawn.contains("M0 2L100 2L1000 2"), "{drawn}");
    }
}
