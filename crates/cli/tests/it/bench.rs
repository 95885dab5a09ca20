//! `oneiro bench`: what it measures over HTTP has a value, and its server ends with it.

use crate::support::run;
use oneiro_testkit::{Backend, TestSpace};

#[test]
fn the_way_over_http_is_measured() {
    let space = TestSpace::new(Backend::Sqlite);
    let folder = space.folder().join("bench");
    std::fs::create_dir(&folder).unwrap();
    let size = ["--clients", "2", "--each", "3", "--messages", "120"];
    let rounds = ["--questions", "3", "--rounds", "1"];
    let dir = ["--dir", folder.to_str().unwrap(), "--json"];
    let stats =
        run(&space, &[&["bench", "http"], &size[..], &rounds[..], &dir[..]].concat()).json();
    for figure in [
        "/append/per_s",
        "/append/engine_per_s",
        "/append/p50_ms",
        "/search/p50_ms",
        "/search/engine_p50_ms",
        "/idle_rss_mb",
        "/used_rss_mb",
    ] {
        let value = stats.pointer(figure).and_then(serde_json::Value::as_f64).unwrap_or_default();
        assert!(value > 0.0, "{figure} of {stats}");
    }
    // What was acknowledged is in the store that was served.
    let served = folder.join("served.db");
    let mut stats = crate::support::bare();
    stats.args(["--store", served.to_str().unwrap(), "--json", "stats"]);
    let stats = crate::support::run_with(stats, &[], b"").json();
    assert_eq!(stats["messages"], 120 + 2 * 3);
}
