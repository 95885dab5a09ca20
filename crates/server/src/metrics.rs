//! Metrics of this server: counts and durations of requests, in total for Prometheus and per minute
//! for the page.

use crate::spaces::Space;
use oneiro::{CommitStats, LaneStatus, Oneiro, Result, SpaceName, Timestamp};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the duration buckets, in seconds.
const DURATION_BUCKETS_SECONDS: [f64; 16] = [
    0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0, 2.0,
    5.0, 10.0,
];

/// Routes whose durations are kept per minute.
const SEARCH_ROUTES: [&str; 3] = ["/v1/search", "/v1/session-search", "/search"];

/// Minutes kept.
const MINUTES_KEPT: usize = 60;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct InSpace {
    space: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CommitSize {
    space: String,
    le: String,
}

/// Search durations of one minute.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Minute {
    /// The minute.
    pub(crate) at: Timestamp,
    /// Number of searches.
    pub(crate) count: u64,
    /// Median duration.
    pub(crate) p50_ms: f64,
    /// 95th percentile.
    pub(crate) p95_ms: f64,
}

/// An answered request.
pub(crate) struct RequestRecord {
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    pub(crate) status: u16,
    pub(crate) took: Duration,
}

struct MinuteCounts {
    minute: i64,
    buckets: [u64; DURATION_BUCKETS_SECONDS.len() + 1],
}

pub(crate) struct Metrics {
    registry: Registry,
    durations: Family<Route, Histogram, fn() -> Histogram>,
    outcomes: Family<Outcome, Counter>,
    minutes: Mutex<VecDeque<MinuteCounts>>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::with_prefix("oneiro");
        let histogram: fn() -> Histogram = || Histogram::new(DURATION_BUCKETS_SECONDS);
        let durations = Family::new_with_constructor(histogram);
        let outcomes = Family::<Outcome, Counter>::default();
        let took = "How long requests took";
        registry.register_with_unit("request_duration", took, Unit::Seconds, durations.clone());
        registry.register("requests", "Requests by status", outcomes.clone());
        Metrics { registry, durations, outcomes, minutes: Mutex::default() }
    }
}

impl Metrics {
    /// Records an answered request.
    pub(crate) fn count(&self, record: RequestRecord, now: Timestamp) {
        let RequestRecord { method, route, status, took } = record;
        let seconds = took.as_secs_f64();
        self.durations.get_or_create(&Route { method, route }).observe(seconds);
        self.outcomes.get_or_create(&Outcome { method, route, status }).inc();
        if !SEARCH_ROUTES.contains(&route) {
            return;
        }
        let minute = now.micros().div_euclid(60_000_000);
        let place = DURATION_BUCKETS_SECONDS
            .iter()
            .position(|most| seconds <= *most)
            .unwrap_or(DURATION_BUCKETS_SECONDS.len());
        let mut minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        if minutes.back().is_none_or(|last| last.minute < minute) {
            minutes.push_back(MinuteCounts {
                minute,
                buckets: [0; DURATION_BUCKETS_SECONDS.len() + 1],
            });
        }
        if minutes.len() > MINUTES_KEPT {
            minutes.pop_front();
        }
        let last = minutes.back_mut().and_then(|last| last.buckets.get_mut(place));
        if let Some(count) = last {
            *count += 1;
        }
    }

    /// The minutes of the last hour with searches, oldest first.
    pub(crate) fn minutes(&self, now: Timestamp) -> Vec<Minute> {
        let first = now.micros().div_euclid(60_000_000) - MINUTES_KEPT as i64;
        let minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        let recent_tokens = minutes.iter().filter(|counted| counted.minute > first);
        recent_tokens
            .map(|counted| Minute {
                at: Timestamp::from_micros(counted.minute * 60_000_000),
                count: counted.buckets.iter().sum(),
                p50_ms: quantile(&counted.buckets, 0.5),
                p95_ms: quantile(&counted.buckets, 0.95),
            })
            .collect()
    }

    /// All metrics in the Prometheus text format; gauges of the spaces are read now.
    pub(crate) fn text(
        &self,
        spaces: &[(SpaceName, Arc<Space>)],
        background: &[LaneStatus],
    ) -> Result<String> {
        let mut of_spaces = Registry::with_prefix("oneiro");
        register_lanes(&mut of_spaces, background);
        let gauges = Gauges::new(&mut of_spaces);
        for (name, space) in spaces {
            gauges.fill(&name.to_string(), space.oneiro()?)?;
        }
        let mut out = String::new();
        let encoded = text::encode_registry(&mut out, &self.registry)
            .and_then(|()| text::encode_registry(&mut out, &of_spaces))
            .and_then(|()| text::encode_eof(&mut out));
        encoded
            .map_err(|error| oneiro::Error::internal("metrics are unavailable").because(error))?;
        Ok(out)
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct InLane {
    lane: &'static str,
}

/// Adds the status of each background lane.
fn register_lanes(registry: &mut Registry, background: &[LaneStatus]) {
    let mut gauge = |name: &str, help: &str, value: fn(&LaneStatus) -> i64| {
        let family = Family::<InLane, Gauge>::default();
        registry.register(name, help, family.clone());
        for status in background {
            family.get_or_create(&InLane { lane: status.lane }).set(value(status));
        }
    };
    gauge("background_up", "Whether the thread of a lane runs", |s| i64::from(s.is_alive));
    gauge("background_rounds", "Rounds of background work", |s| s.rounds as i64);
    gauge("background_errors", "Rounds that failed", |s| s.errors as i64);
    gauge("background_panics", "Rounds that panicked", |s| s.panics as i64);
}

/// Gauges read from the spaces.
struct Gauges {
    queued: Family<InSpace, Gauge>,
    lag: Family<InSpace, Gauge>,
    jobs: Family<InSpace, Gauge>,
    messages: Family<InSpace, Gauge>,
    sessions: Family<InSpace, Gauge>,
    bytes: Family<InSpace, Gauge>,
    writes: Family<InSpace, Gauge>,
    commits: Family<CommitSize, Gauge>,
}

impl Gauges {
    fn new(registry: &mut Registry) -> Gauges {
        let mut gauge = |name: &str, help: &str| {
            let family = Family::<InSpace, Gauge>::default();
            registry.register(name, help, family.clone());
            family
        };
        let gauges = Gauges {
            queued: gauge("writes_queued", "Writes that wait for their turn"),
            lag: gauge("index_lag_messages", "Messages that no segment of the index covers yet"),
            jobs: gauge("jobs_unfinished", "Jobs that wait or run"),
            messages: gauge("messages", "Messages that are not rewound"),
            sessions: gauge("sessions", "Sessions"),
            bytes: gauge("store_bytes", "Bytes on disk"),
            writes: gauge("writes_committed", "Writes this server committed"),
            commits: Family::default(),
        };
        let help = "Commits of this server, by how many writes shared one, at most";
        registry.register("group_commits", help, gauges.commits.clone());
        gauges
    }

    fn fill(&self, space: &str, oneiro: &Oneiro) -> Result<()> {
        let stats = oneiro.stats()?;
        let written = oneiro.commit_stats();
        let set = |family: &Family<InSpace, Gauge>, value: i64| {
            family.get_or_create(&InSpace { space: space.to_owned() }).set(value);
        };
        set(&self.queued, oneiro.writes_queued() as i64);
        set(&self.lag, stats.index.tail);
        set(&self.jobs, stats.jobs);
        set(&self.messages, stats.messages);
        set(&self.sessions, stats.sessions);
        set(&self.bytes, stats.bytes);
        set(&self.writes, written.writes as i64);
        let bounds =
            CommitStats::BUCKET_BOUNDS.iter().map(u64::to_string).chain(["+Inf".to_owned()]);
        let mut so_far = 0;
        for (le, commits) in bounds.zip(written.commits) {
            so_far += commits;
            let size = CommitSize { space: space.to_owned(), le };
            self.commits.get_or_create(&size).set(so_far as i64);
        }
        Ok(())
    }
}

/// A quantile in milliseconds, interpolated within its bucket.
fn quantile(buckets: &[u64], share: f64) -> f64 {
    let total: u64 = buckets.iter().sum();
    let wanted = share * total as f64;
    let mut before = 0.0;
    for (at, count) in buckets.iter().enumerate() {
        let count = *count as f64;
        if count > 0.0 && before + count >= wanted {
            let low = at
                .checked_sub(1)
                .and_then(|at| DURATION_BUCKETS_SECONDS.get(at))
                .copied()
                .unwrap_or(0.0);
            let high = DURATION_BUCKETS_SECONDS.get(at).copied().unwrap_or(low * 2.0);
            return (low + (high - low) * ((wanted - before) / count)) * 1_000.0;
        }
        before += count;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_told_apart_and_old_ones_go() {
        let metrics = Metrics::default();
        let at = |minute: i64| Timestamp::from_micros(minute * 60_000_000);
        let count = |minute, micros| {
            let took = Duration::from_micros(micros);
            metrics.count(
                RequestRecord { method: "GET", route: "/v1/search", status: 200, took },
                at(minute),
            );
        };
        (0..90).for_each(|_| count(1_000, 900));
        (0..10).for_each(|_| count(1_000, 100_000));
        count(1_001, 3_000);
        let minutes = metrics.minutes(at(1_001));
        assert_eq!(minutes.iter().map(|minute| minute.count).collect::<Vec<_>>(), [100, 1]);
        assert!((0.5..=1.0).contains(&minutes[0].p50_ms), "{minutes:?}");
        assert!((64.0..=125.0).contains(&minutes[0].p95_ms), "{minutes:?}");
        assert_eq!(metrics.minutes(at(1_060)).len(), 1);
        assert_eq!(metrics.minutes(at(2_000)).len(), 0);
        assert_eq!(quantile(&[0; 17], 0.5), 0.0);
    }
}
