//! `context` and pins: windows within their budgets, for people and for programs.

use crate::support::{append, json, run};
use crate::talk::talk;
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::Value;

/// The window of a session, as JSON.
fn window(space: &TestSpace, session: &str, args: &[&str]) -> Value {
    json(space, &[&["context", session], args].concat())
}

on_both_backends! {
    fn windows_keep_to_their_budgets(space) {
        talk(space, "long", 400);
        for budget in ["1k", "4000", "9k", "20k", "1M"] {
            for format in ["openai", "anthropic", "text"] {
                let window = window(space, "long", &["--budget", budget, "--format", format]);
                let (tokens, limit) = (window["tokens"].as_u64(), window["budget"].as_u64());
                assert!(tokens > Some(0) && tokens <= limit, "{budget} {format}: {window}");
                assert!(window.get("over_budget").is_none(), "{budget} {format}");
                let text = window["text"].as_str();
                let messages = window["messages"].as_array().unwrap().len();
                assert_eq!(text.is_some(), format == "text");
                assert_eq!(messages > 0, format != "text");
                assert_eq!(window["prefix_hash"].as_str().map(str::len), Some(16));
            }
        }
        let reserved = window(space, "long", &["--budget", "9k", "--reserve", "3k"]);
        assert!(reserved["tokens"].as_u64() <= Some(6_000), "{reserved}");
        assert_eq!((&reserved["budget"], &reserved["reserve"]), (&9_000.into(), &3_000.into()));
    }
}

#[test]
fn people_read_a_transcript_and_figures() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 60);
    let all = run(&space, &["context", "long"]);
    assert_eq!(all.code, 0, "{}", all.err);
    assert!(all.out.contains("In long, number 0: we decided that box B0000 goes"), "{}", all.out);
    assert!(all.out.contains("[2026-01-01 00:00] user:"), "{}", all.out);
    assert!(all.err.contains(" of 100,000 tokens; no summaries; nothing left out"), "{}", all.err);
    assert_eq!(all.err.lines().count(), 1, "{}", all.err);

    let little = run(&space, &["context", "long", "--budget", "1k", "--reserve", "100"]);
    assert!(little.err.contains(" of 1,000 tokens, 100 of them reserved;"), "{}", little.err);
    let omitted = &window(&space, "long", &["--budget", "1k", "--reserve", "100"])["omitted"];
    let range = format!("`oneiro expand {}-{}`", omitted["first"], omitted["last"]);
    let messages = format!("{} messages left out (", omitted["messages"]);
    assert!(little.err.contains(&messages) && little.err.contains(&range), "{}", little.err);
}

#[test]
fn a_format_for_programs_is_json_that_can_be_sent() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 300);
    run(&space, &["compact", "long", "--until", "4k"]);
    let budget = ["--budget", "4k"];
    let in_format = |format: &str| {
        run(&space, &["context", "long", "--budget", "4k", "--format", format]).json()
    };
    let openai = in_format("openai");
    assert_eq!(openai, window(&space, "long", &budget)["messages"]);
    assert_eq!(openai[0]["role"], "system");
    let anthropic = in_format("anthropic");
    let whole = window(&space, "long", &["--budget", "4k", "--format", "anthropic"]);
    assert_eq!(
        (&anthropic["system"], &anthropic["messages"]),
        (&whole["system"], &whole["messages"])
    );
    assert!(anthropic["system"].as_str().unwrap().contains("<summary id=\"sum_"));
}

#[test]
fn every_item_is_explained() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 300);
    run(&space, &["compact", "long", "--until", "4k"]);
    let args = ["context", "long", "--explain", "--peek"];
    let items = json(&space, &args)["items"].as_array().unwrap().clone();
    let table = run(&space, &args);
    let head: Vec<&str> = table.out.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["place", "kind", "id", "tokens", "why"]);
    for summary in items.iter().filter(|item| item["kind"] == "summary") {
        let id = summary["id"].as_str().unwrap();
        assert!(table.out.lines().any(|line| line.starts_with("in ") && line.contains(id)), "{id}");
        let under = format!("messages under {id}");
        let is_under = |line: &str| line.starts_with("summarised") && line.contains(&under);
        assert!(table.out.lines().any(is_under), "{}", table.out);
    }
    // Messages side by side share a row.
    let shown: Vec<&Value> = items.iter().filter(|item| item["kind"] == "message").collect();
    let (first, last) = (&shown[0]["id"], &shown[shown.len() - 1]["id"]);
    assert!(shown.len() > 2 && table.out.contains(&format!("{first}-{last}")), "{}", table.out);
    let out = run(&space, &["context", "long", "--budget", "600", "--explain", "--peek"]).out;
    assert!(out.lines().any(|line| line.starts_with("out ")), "{out}");
}

#[test]
fn a_peek_compacts_nothing_and_a_window_may() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 300);
    assert_eq!(
        window(&space, "long", &["--budget", "5k", "--peek"])["summaries"].to_string(),
        "[]"
    );
    // A window makes summaries within a time limit, so a slow machine needs several.
    let windows = (0..100).map(|_| window(&space, "long", &["--budget", "5k"]));
    let complete = windows.into_iter().find(|window| window["omitted"]["messages"] == 0).unwrap();
    assert_ne!(complete["summaries"].to_string(), "[]");
    let peeked = window(&space, "long", &["--budget", "5k", "--peek"]);
    assert!(peeked["omitted"]["messages"] == 0, "{}", peeked["omitted"]);
}

#[test]
fn a_newest_turn_that_is_larger_than_the_budget_is_told() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 8);
    let mut turn = String::from("{\"role\":\"user\",\"content\":\"go on\"}\n");
    for seed in 0..20 {
        let text = oneiro_testkit::words(seed, 60);
        turn.push_str(&format!("{{\"role\":\"assistant\",\"content\":\"{text}\"}}\n"));
    }
    append(&space, "long", &turn);
    let answer = window(&space, "long", &["--budget", "1k"]);
    assert!(answer["over_budget"].as_u64() > Some(500), "{}", answer["over_budget"]);
    let told = run(&space, &["context", "long", "--budget", "1k"]);
    assert!(told.err.contains("over budget by "), "{}", told.err);
    for seed in 0..20 {
        assert!(told.out.contains(&oneiro_testkit::words(seed, 60)), "the newest turn is cut");
    }
}

#[test]
fn a_window_that_begins_anew_says_why_and_what_it_costs() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 200);
    assert!(window(&space, "long", &[]).get("broke").is_none());
    assert!(window(&space, "long", &[]).get("broke").is_none());
    run(&space, &["session", "summary", "long", "--set", "We move house in May."]);
    let told = run(&space, &["context", "long", "--peek", "--format", "openai"]);
    assert!(told.err.contains("prompt cache invalidated ("), "{}", told.err);
    assert!(told.err.contains("summaries changed"), "{}", told.err);
    let broke = &window(&space, "long", &[])["broke"];
    assert_eq!(broke["reason"], "compaction");
    assert!(broke["tokens"].as_u64() > Some(0));
    assert!(window(&space, "long", &[]).get("broke").is_none(), "told once");
}

on_both_backends! {
    fn pinned_messages_stand_in_every_window(space) {
        talk(space, "long", 300);
        let first = json(space, &["session", "pin", "long", "1"]);
        assert_eq!(first, serde_json::json!({"message_id": 1, "pinned": true, "changed": true}));
        assert_eq!(json(space, &["session", "pin", "long", "1"])["changed"], false);
        for budget in ["1k", "5k", "100k"] {
            let window = run(space, &["context", "long", "--budget", budget]);
            assert!(window.out.contains("box B0000 goes"), "{budget}: {}", window.out);
        }
        assert_eq!(json(space, &["session", "pins", "long"])["items"][0]["id"], 1);
        assert!(run(space, &["session", "pins", "long"]).out.starts_with("#1 user  2026-01-01"));
        assert_eq!(json(space, &["session", "unpin", "long", "1"])["changed"], true);
        assert_eq!(run(space, &["session", "unpin", "long", "1"]).out, "Message 1 of session long was not pinned.\n");
        assert_eq!(run(space, &["session", "pins", "long"]).err, "No pinned messages.\n");
        assert_eq!(json(space, &["session", "pins", "long"]), serde_json::json!({"items": [], "next": null}));
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_exit_code() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 4);
    talk(&space, "other", 4);
    for (args, code, says) in [
        (&["context", "nothing"][..], 3, "there is no session \"nothing\""),
        (&["context", "long", "--budget", "0"], 2, "budget: is not a whole number between"),
        (&["context", "long", "--budget", "many"], 2, "write 4000, 8k or 1M"),
        (&["context", "long", "--budget", "-5"], 2, "unexpected argument"),
        (&["context", "long", "--budget", "1k", "--reserve", "1k"], 2, "reserve: leaves nothing"),
        (&["context", "long", "--format", "gemini"], 2, "openai, anthropic, text"),
        (&["session", "pin", "long", "99"], 3, "has no message 99"),
        (&["session", "pin", "long", "5"], 3, "has no message 5"),
        (&["session", "pins", "nothing"], 3, "there is no session"),
    ] {
        let answer = run(&space, args);
        assert_eq!(answer.code, code, "{args:?}: {}", answer.err);
        assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
        assert!(answer.out.is_empty(), "{args:?} printed data: {}", answer.out);
    }
    let refused = run(&space, &["context", "long", "--budget", "8x", "--json"]);
    assert_eq!((refused.code, refused.error()["kind"].as_str()), (2, Some("invalid")));
}
