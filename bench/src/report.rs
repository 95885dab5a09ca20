//! Formats the metrics of `bench load` for people.

use crate::load::{Load, Rate};
use crate::search::SearchTimes;
use std::collections::BTreeMap;

/// Formats the metrics of `bench load`.
pub fn describe(load: &Load) -> String {
    let rate = |name: &str, rate: &Rate| {
        format!(
            "{name:<24} {:>9.0}/s   raw {:>9.0}/s   {:.2}x",
            rate.per_s, rate.raw_per_s, rate.ratio
        )
    };
    let time =
        |name: &str, ours: f64, raw: f64| format!("{name:<24} {ours:>8.3} ms   raw {raw:>8.3} ms");
    [
        format!("{}, {} messages", load.machine, load.messages),
        rate("append, one writer", &load.append_single),
        rate("append, 16 threads", &load.append_16),
        rate("append, 4 processes", &load.append_4_processes),
        rate("bulk import, indexed", &load.bulk),
        rate("ingest, indexed", &load.ingest),
        time("read 120 messages", load.read_120_ms, load.read_120_raw_ms),
        time("list 20 sessions", load.list_ms, load.list_raw_ms),
        time("open", load.open_ms, load.open_raw_ms),
        format!(
            "{:<24} {:.2}x the text   raw {:.2}x",
            "size", load.size_ratio, load.size_raw_ratio
        ),
        format!("{:<24} {:.1} MB", "resident", load.rss_mb),
        describe_search(&load.search),
    ]
    .join("\n")
}

/// Formats search latencies.
pub fn describe_search(search: &BTreeMap<&'static str, SearchTimes>) -> String {
    let line = |(size, times): (&&str, &SearchTimes)| {
        let beside = times.fts_p50_ms.map(|fts| {
            format!("   plain FTS5 p50 {fts:>9.2} ms   {:.0}x", fts / times.p50_ms.max(0.001))
        });
        let name = format!("search, {size}");
        let (p50, p95) = (times.p50_ms, times.p95_ms);
        format!("{name:<24} p50 {p50:>7.2} ms   p95 {p95:>7.2} ms{}", beside.unwrap_or_default())
    };
    search.iter().map(line).collect::<Vec<_>>().join("\n")
}
