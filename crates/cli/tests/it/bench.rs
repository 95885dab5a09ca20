//! `oneiro bench`: what it measures over HTTP and of searches has a value, and its server ends with
//! it.

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

/// Two transcripts with one question each, and one about something that neither says.
const TRANSCRIPTS: &str = r#"[
 {"id": "tea", "domain": "household", "language": "en", "half": "tune",
  "messages": [
   {"role": "user", "at": "2026-01-01T09:00:00Z", "content": "The oolong needs water of 90 degrees."},
   {"role": "assistant", "at": "2026-01-01T09:01:00Z", "content": "I noted it."}],
  "questions": [
   {"text": "which temperature for oolong?", "kind": "value", "language": "en", "holder": "user", "gold": [0]},
   {"text": "who repaired the bicycle?", "kind": "never_said", "language": "en", "holder": null, "gold": []}]},
 {"id": "server", "domain": "operations", "language": "en", "half": "held_out",
  "messages": [
   {"role": "user", "at": "2026-01-02T09:00:00Z", "content": "Why did the gateway restart?"},
   {"role": "assistant", "at": "2026-01-02T09:01:00Z", "content": "The gateway ran out of memory."}],
  "questions": [
   {"text": "what happened to the gateway's memory?", "kind": "cause", "language": "en", "holder": "assistant", "gold": [1]}]}
]"#;

#[test]
fn recall_over_transcripts_is_measured_by_half_and_beside_fts5() {
    let space = TestSpace::new(Backend::Sqlite);
    let file = space.folder().join("transcripts.json");
    std::fs::write(&file, TRANSCRIPTS).unwrap();
    let data = ["bench", "recall", "--data", file.to_str().unwrap(), "--json"];
    let all = run(&space, &data).json();
    for (group, questions) in [("", 2), ("/by_half/tune", 1), ("/by_kind/cause", 1)] {
        assert_eq!(all.pointer(&format!("{group}/questions")).unwrap(), questions, "{all}");
        assert_eq!(all.pointer(&format!("{group}/recall@10")).unwrap(), 100.0, "{all}");
        assert_eq!(all.pointer(&format!("{group}/fts5/recall@10")).unwrap(), 100.0, "{all}");
    }
    assert_eq!(all["asked"].as_array().unwrap().len(), 3);
    let held_out = run(&space, &[&data[..], &["--split", "test"]].concat()).json();
    assert_eq!(held_out["questions"], 1);
    assert_eq!(held_out["by_half"].as_object().unwrap().len(), 1);
}

#[test]
fn a_wrong_file_of_transcripts_gets_an_error_that_names_the_place() {
    let space = TestSpace::new(Backend::Sqlite);
    let file = space.folder().join("transcripts.json");
    std::fs::write(&file, TRANSCRIPTS.replace("\"gold\": [1]", "\"gold\": [7]")).unwrap();
    let answer = run(&space, &["bench", "recall", "--data", file.to_str().unwrap()]);
    let error = answer.err;
    assert!(error.contains("transcript \"server\": question \"what happened"), "{error}");
    assert!(error.contains("gold 7: there are 2 messages"), "{error}");
}
