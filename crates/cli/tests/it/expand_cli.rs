//! `expand`: from any summary back to the exact words, and no further than is allowed.

use crate::support::{json, run};
use crate::talk::{as_said, small_summaries, summaries, talk};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::Value;
use std::collections::BTreeMap;

/// The messages of an answer as they were said.
fn said_of(answer: &Value) -> Vec<Value> {
    answer["messages"].as_array().unwrap().iter().map(as_said).collect()
}

on_both_backends! {
    fn every_word_comes_back(space) {
        small_summaries(space);
        let said = talk(space, "long", 400);
        talk(space, "other", 40);
        run(space, &["compact", "long", "--until", "3k"]);
        let nodes = summaries(space, "long");
        assert!(nodes.iter().any(|node| node["depth"].as_i64() > Some(0)), "no tree");
        let mut back = BTreeMap::new();
        let mut put = |message: &Value, is_covered: bool| {
            let again = back.insert(message["id"].as_i64().unwrap(), as_said(message));
            assert!(again.is_none() || !is_covered, "{} is covered twice", message["id"]);
        };
        for node in nodes.iter().filter(|node| node["in_context"] == true) {
            let answer = json(space, &["expand", node["id"].as_str().unwrap(), "--all"]);
            assert_eq!((&answer["next"], &answer["tokens"]), (&Value::Null, &node["message_tokens"]));
            let messages = answer["messages"].as_array().unwrap();
            assert_eq!(messages.len() as i64, node["message_count"].as_i64().unwrap());
            messages.iter().for_each(|message| put(message, true));
        }
        // What no summary covers is in the window itself.
        let window = json(space, &["context", "long", "--explain", "--peek"]);
        let items = window["items"].as_array().unwrap();
        for item in items.iter().filter(|item| item["kind"] == "message") {
            put(&json(space, &["expand", &item["id"].to_string()])["messages"][0], false);
        }
        let back: Vec<Value> = back.into_values().collect();
        assert_eq!(back, said);
    }

    fn continuations_meet_without_gaps(space) {
        let said = talk(space, "long", 200);
        run(space, &["compact", "long", "--until", "2k"]);
        let id = summaries(space, "long")[0]["id"].as_str().unwrap().to_owned();
        let whole = said_of(&json(space, &["expand", &id, "--all"]));
        let (mut back, mut cursor, mut pages) = (Vec::new(), None::<String>, 0);
        loop {
            let mut args = vec!["expand", &id, "--tokens", "1k"];
            args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
            let page = json(space, &args);
            assert!(page["tokens"].as_u64() <= Some(1_000), "{}", page["tokens"]);
            back.extend(said_of(&page));
            pages += 1;
            match page["next"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert!(pages > 3, "{pages}");
        assert_eq!(back, whole);
        let first = said.iter().position(|message| *message == back[0]).unwrap();
        assert_eq!(back, said[first..first + back.len()]);
    }
}

#[test]
fn people_read_messages_whole() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 100);
    run(&space, &["compact", "long", "--until", "1k"]);
    let id = summaries(&space, "long")[0]["id"].as_str().unwrap().to_owned();
    let beginning = &id[..10];
    let some = run(&space, &["expand", beginning, "--tokens", "500"]);
    assert_eq!(some.code, 0, "{}", some.err);
    assert!(
        some.out.starts_with("long#1 user  2026-01-01T00:00:00Z  id 1\nIn long, number 0:"),
        "{}",
        some.out
    );
    assert!(
        some.err.contains("; more: --cursor ") && some.err.contains(", or --all"),
        "{}",
        some.err
    );
    let all = run(&space, &["expand", beginning, "--tokens", "500", "--all"]);
    assert!(all.out.starts_with(some.out.trim_end()), "the pages are not joined alike");
    assert!(!all.err.contains("more: "), "{}", all.err);
    // `session show` cuts what a tool answered, an expansion never does.
    assert!(
        all.out.contains("row 6.11 ") && all.out.contains("calls list {\"page\":5}"),
        "{}",
        all.out
    );
    assert!(!run(&space, &["session", "show", "long", "--all"]).out.contains("row 6.11 "));
    assert!(run(&space, &["expand", "6"]).out.starts_with("long#6 assistant"));
    let range = run(&space, &["expand", "3-5", "--session", "long"]);
    let heads: Vec<&str> = range.out.lines().filter(|line| line.starts_with("long#")).collect();
    assert_eq!(heads.len(), 3, "{}", range.out);
    assert!(range.err.starts_with("3 messages, "), "{}", range.err);
}

#[test]
fn nothing_is_read_beyond_what_is_allowed() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 100);
    talk(&space, "other", 10);
    run(&space, &["compact", "long", "--until", "1k"]);
    let id = summaries(&space, "long")[0]["id"].as_str().unwrap().to_owned();
    let code = |args: &[&str]| run(&space, args).code;
    assert_eq!(code(&["expand", &id]), 0);
    assert_eq!(code(&["expand", &id, "--session", "other"]), 3, "another's lineage");
    assert_eq!(code(&["summary", &id, "--session", "other"]), 3);
    assert_eq!(code(&["expand", "3", "--session", "other"]), 3);

    assert_eq!(code(&["config", "set", "other_sessions", "refuse"]), 0);
    for args in [
        &["expand", &id][..],
        &["expand", "3"],
        &["expand", "3-5"],
        &["summary", &id],
        &["search", "box", "--in-summaries"],
    ] {
        let refused = run(&space, args);
        assert_eq!(refused.code, 6, "{args:?}: {}", refused.err);
        assert!(refused.err.contains("beyond a session's own lineage"), "{}", refused.err);
        assert!(refused.out.is_empty());
    }
    assert_eq!(code(&["expand", &id, "--session", "long"]), 0);
    assert_eq!(code(&["summary", &id, "--session", "long"]), 0);
}

#[test]
fn what_is_not_there_is_told() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 4);
    for (args, code, says) in [
        (
            &["expand", "sum_aaaaaaaaaaaaaaaa"][..],
            3,
            "there is no summary \"sum_aaaaaaaaaaaaaaaa\"",
        ),
        (&["summary", "sum_zz"], 3, "there is no summary \"sum_zz\""),
        (&["expand", "99"], 3, "there is no message 99"),
        (&["expand", "1", "--session", "nothing"], 3, "there is no session \"nothing\""),
        (&["expand", "monday"], 2, "is not a summary, a message or a range"),
        (&["expand", "7-3"], 2, "is not a summary, a message or a range"),
        (&["expand", "1", "--tokens", "0"], 2, "tokens: is not a whole number between"),
        (&["expand", "1", "--cursor", "x"], 2, "cursor: was not made by an earlier page"),
        (&["summary", "12"], 2, "is not the id of a summary"),
    ] {
        let answer = run(&space, args);
        assert_eq!(answer.code, code, "{args:?}: {}", answer.err);
        assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
        assert!(answer.out.is_empty(), "{args:?} printed data: {}", answer.out);
    }
}
