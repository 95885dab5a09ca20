//! Packs at the command line: what was shown, where it came from, what became of it, what is muted; and
//! turns of sessions as interactions.

use crate::support::{bare, json, oneiro, run, run_with};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::json as value;

const PROMPT: &str = "On which port does the staging database of the garden run?";
const LINE: &str = "The staging database of the garden runs on port 5433";

/// Remembers what a user said in a session.
fn remember(space: &TestSpace) -> String {
    let said = value!({"role": "user", "content": LINE}).to_string();
    let answer = run_with(oneiro(space), &["append", "heard", "--create"], said.as_bytes());
    assert_eq!(answer.code, 0, "{}", answer.err);
    let memory =
        &json(space, &["remember", LINE, "--quote", LINE, "--kind", "knowledge"])["memory"];
    assert_eq!(memory["status"], "active");
    memory["id"].as_str().unwrap().to_owned()
}

on_both_backends! {
    fn memory_measures_itself_and_a_muted_line_can_be_unmuted(space) {
        let id = remember(space);
        let pack = || json(space, &["pack", PROMPT, "--project", "garden"]);
        for _ in 0..8 {
            assert_eq!(pack()["items"][0]["id"], id.as_str());
        }
        let ninth = pack();
        assert_eq!(ninth["omitted"][0]["reason"], "muted", "{ninth}");
        let stats = json(space, &["stats", "--memory"]);
        assert_eq!((stats["packs"].as_i64(), stats["memory_lines"].as_i64()), (Some(8), Some(8)), "{stats}");
        assert!(stats["tokens"].as_i64() > Some(80));
        assert_eq!((&stats["muted"][0]["id"], &stats["muted"][0]["project"]), (&value!(id), &value!("garden")));
        let shown = run(space, &["stats", "--memory", "--days", "30"]).out;
        assert!(shown.contains("period        the last 30 days") && shown.contains("in garden"), "{shown}");
        let shown = run(space, &["memory", "show", &id]).out;
        assert!(shown.contains("muted in     garden; `oneiro memory unmute"), "{shown}");
        assert_eq!(json(space, &["memory", "show", &id])["muted_in"], value!(["garden"]));
        let unmuted = json(space, &["memory", "unmute", &id, "--project", "garden"]);
        assert!(unmuted["muted_in"].is_null(), "{unmuted}");
        assert_eq!(pack()["items"][0]["id"], id.as_str());
        assert_eq!(run(space, &["stats", "--days", "3"]).code, 2, "days are only for --memory");
    }

    fn why_without_an_id_explains_what_a_session_was_shown(space) {
        let id = remember(space);
        assert_eq!(json(space, &["why"])["pack"], value!(null));
        let made = json(space, &["pack", PROMPT, "--session", "asking"]);
        json(space, &["pack", PROMPT, "--session", "other"]);
        let why = json(space, &["why", "--session", "asking"]);
        assert_eq!(why["pack"]["id"], made["id"]);
        assert_eq!((&why["lines"][0]["id"], &why["lines"][0]["why"]["kind"]), (&value!(id), &value!("memory")));
        let text = run(space, &["why", "--session", "asking"]).out;
        assert!(text.contains(&format!("1. {LINE}")) && text.contains("quote: "), "{text}");
        // The last pack of all, where the working directory has none.
        assert_eq!(json(space, &["why"])["pack"]["session_id"], "other");
        let listed = json(space, &["pack", "list", "--session", "asking"]);
        assert_eq!((&listed["items"][0]["id"], listed["items"][0]["lines"].as_i64()), (&made["id"], Some(1)));
        let words = run(space, &["pack", "list"]).out;
        assert!(words.contains("  1 line"), "{words}");
    }

    fn turns_of_sessions_are_listed_as_interactions(space) {
        let turns = [
            value!({"role": "user", "content": "Where is the key?"}),
            value!({"role": "assistant", "content": "Under the mat."}),
            value!({"role": "user", "content": "And the car?"}),
        ];
        let lines: String = turns.iter().map(|turn| format!("{turn}\n")).collect();
        let answer = run_with(oneiro(space), &["append", "house", "--create"], lines.as_bytes());
        assert_eq!(answer.code, 0, "{}", answer.err);
        let listed = json(space, &["capture", "list", "--session", "house"]);
        assert_eq!(listed["items"].as_array().unwrap().len(), 1);
        let turn = &listed["items"][0];
        assert_eq!((&turn["prompt"], &turn["response"]), (&value!("Where is the key?"), &value!(null)));
        let id = turn["id"].as_str().unwrap();
        assert_eq!(json(space, &["capture", "show", id])["response"], "Under the mat.");
        let words = run(space, &["capture", "show", id]).out;
        assert_eq!(words.trim(), "Where is the key?\n\nUnder the mat.");
    }
}

#[test]
fn listing_interactions_creates_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("none.db");
    let mut command = bare();
    command.args(["--store", store.to_str().unwrap()]);
    assert_eq!(run_with(command, &["capture", "list"], b"").code, 3);
    assert!(!store.exists());
}
