//! `session split`, `session history` and `session summary`: what other agents' session stores do,
//! with nothing lost.

use crate::support::{json, oneiro, run, run_with};
use crate::talk::{as_said, talk};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::Value;

fn history(space: &TestSpace, id: &str) -> Vec<Value> {
    let page = json(space, &["session", "history", id]);
    page["items"].as_array().unwrap().iter().map(as_said).collect()
}

on_both_backends! {
    fn a_history_is_set_from_lines_or_a_list(space) {
        let said = talk(space, "s", 12);
        assert_eq!(history(space, "s"), said);
        let mut wanted = said[..4].to_vec();
        wanted.push(serde_json::json!({"role": "user", "content": "another way", "at": "2026-03-01T00:00:00Z"}));
        let list = Value::from(wanted.clone()).to_string();
        let set = run_with(oneiro(space), &["session", "history", "s", "--set", "-", "--json"], list.as_bytes()).json();
        let shown: Vec<Value> = set["items"].as_array().unwrap().iter().map(as_said).collect();
        assert_eq!(shown, wanted);
        assert_eq!(history(space, "s"), wanted);
        let all = json(space, &["session", "show", "s", "--all"]);
        assert_eq!(all["messages"].as_array().unwrap().len(), 13, "nothing is deleted");

        let file = space.folder().join("history.jsonl");
        let lines: String = said[..2].iter().map(|message| format!("{message}\n")).collect();
        std::fs::write(&file, lines).unwrap();
        let told = run(space, &["session", "history", "s", "--set", file.to_str().unwrap()]);
        assert_eq!(told.out, "The session now shows 2 messages.\n", "{}", told.err);
        assert_eq!(history(space, "s"), said[..2]);
    }

    fn a_history_is_shortened(space) {
        let said = talk(space, "s", 12);
        assert_eq!(json(space, &["session", "history", "s", "--keep", "5"])["hidden"], 7);
        assert_eq!(history(space, "s"), said[7..]);
        assert_eq!(run(space, &["session", "history", "s", "--keep", "5"]).out, "0 messages hidden\n");
        assert!(run(space, &["session", "history", "s"]).out.starts_with("#8 assistant"));
    }

    fn a_summary_is_written_by_hand(space) {
        talk(space, "s", 6);
        assert_eq!(run(space, &["session", "summary", "s"]).err, "The session has no summary.\n");
        assert_eq!(json(space, &["session", "summary", "s"])["summary"], "");
        let written = json(space, &["session", "summary", "s", "--set", "We move house in May."]);
        assert_eq!(written["written"]["kind"], "written");
        assert_eq!(written["summary"], "We move house in May.");
        assert_eq!(run(space, &["session", "summary", "s"]).out, "We move house in May.\n");
        assert!(run(space, &["context", "s"]).out.contains("We move house in May."));
        let read = run_with(oneiro(space), &["session", "summary", "s", "--set", "-"], "In June.".as_bytes());
        assert!(read.out.starts_with("sum_"), "{} {}", read.out, read.err);
        assert_eq!(json(space, &["session", "summary", "s"])["summary"], "In June.");
        assert_eq!(run(space, &["session", "summary", "s", "--clear"]).out, "There is no summary written by hand.\n");
        assert_eq!(json(space, &["session", "summary", "s"])["summary"], "");
    }

    fn a_split_goes_on_with_the_compacted_context(space) {
        talk(space, "s", 300);
        run(space, &["session", "title", "s", "The move"]);
        let tip = json(space, &["session", "split", "s", "--id", "s2", "--until", "4k"]);
        for (field, want) in [("id", "s2"), ("parent_id", "s"), ("lineage", "continuation"), ("title", "The move #2")] {
            assert_eq!(tip[field], want, "{field}");
        }
        let ended = json(space, &["session", "show", "s"]);
        assert_eq!(ended["end_reason"], "compression");
        let window = json(space, &["context", "s2", "--peek", "--budget", "4400"]);
        assert!(window["tokens"].as_u64() <= Some(4_400), "{}", window["tokens"]);
        assert!(!window["summaries"].as_array().unwrap().is_empty());
        let summary = window["summaries"][0].as_str().unwrap();
        assert_eq!(run(space, &["expand", summary, "--session", "s2"]).code, 0);
        assert_eq!(json(space, &["session", "show", "s", "--tip"])["id"], "s2");
        let drawn = run(space, &["session", "tree", "s2"]).out;
        assert!(drawn.contains(summary), "{drawn}");
    }
}

#[test]
fn what_cannot_be_set_is_refused() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "s", 4);
    let bad = space.folder().join("bad.json");
    std::fs::write(&bad, "[{\"role\":\"user\"},{\"content\":\"x\"}]").unwrap();
    let bad = bad.to_str().unwrap();
    for (args, code, says) in [
        (&["session", "history", "s", "--set", bad][..], 2, "message 2: role: is missing"),
        (&["session", "history", "s", "--set", "/nonexistent/file"], 3, "/nonexistent/file"),
        (&["session", "history", "s", "--set", bad, "--keep", "1"], 2, "cannot be used with"),
        (&["session", "history", "nothing"], 3, "there is no session"),
        (&["session", "summary", "s", "--set", " "], 2, "--clear removes the summary"),
        (&["session", "summary", "s", "--set", "x", "--clear"], 2, "cannot be used with"),
        (&["session", "summary", "nothing", "--set", "x"], 3, "there is no session"),
        (&["session", "split", "nothing"], 3, "there is no session"),
        (&["session", "split", "s", "--until", "x"], 2, "is not a number of tokens"),
    ] {
        let answer = run(&space, args);
        assert_eq!(answer.code, code, "{args:?}: {}", answer.err);
        assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
        assert!(answer.out.is_empty(), "{args:?} printed data: {}", answer.out);
    }
}
