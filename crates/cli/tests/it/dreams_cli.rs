//! Dreams at the command line: a dry run and its digest, the dream itself, why, undo, replay, and the
//! schedule.

use crate::support::{json, oneiro, run, run_with};
use jiff::{Timestamp, ToSpan};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::{Value, json as value};

/// What Ana asked later, and how many days ago: three prompts on three days.
const ASKED: [(i64, &str); 3] = [
    (4, "Which foods is Ana allergic to?"),
    (3, "Is Ana allergic to peanuts?"),
    (2, "Ana and peanuts: is she allergic?"),
];

#[expect(clippy::disallowed_methods, reason = "evidence counts by days before the real clock")]
fn append(space: &TestSpace, session: &str, days_ago: i64, text: &str) {
    let at = (Timestamp::now() - (days_ago * 24).hours()).to_string();
    let line = value!({"role": "user", "name": "Ana", "content": text, "at": at}).to_string();
    let answer = run_with(oneiro(space), &["append", session, "--create"], line.as_bytes());
    assert_eq!(answer.code, 0, "{}", answer.err);
}

/// A space in which one claim has earned its promotion.
fn learn(space: &TestSpace) {
    append(space, "kitchen", 5, "I'm allergic to peanuts.");
    json(space, &["extract"]);
    for (days_ago, prompt) in ASKED {
        append(space, "asking", days_ago, prompt);
        json(space, &["recall", prompt, "--for-session", "asking"]);
    }
}

fn memory_note(space: &TestSpace) -> String {
    run(space, &["note", "show", "MEMORY.md"]).out
}

fn id(dream: &Value) -> &str {
    dream["dream"]["id"].as_str().unwrap_or_else(|| panic!("no dream: {dream}"))
}

on_both_backends! {
    fn a_dry_run_changes_nothing_and_its_digest_is_in_the_status(space) {
        learn(space);
        assert_eq!(json(space, &["status"])["digest"], value!(null));
        let dry = json(space, &["dream", "--dry-run"]);
        assert_eq!((&dry["outcome"], &dry["dream"]["counts"]["promoted"]), (&value!("processed"), &value!(1)), "{dry}");
        assert!(!memory_note(space).contains("peanuts"));
        let status = json(space, &["status"]);
        assert_eq!(status["digest"]["id"], dry["dream"]["id"], "{status}");
        assert_eq!((&status["messages"], &status["memories"]["active"]), (&value!(4), &value!(1)), "{status}");
        let shown = run(space, &["status"]).out;
        for part in ["2 sessions, 4 messages", "Believed: 1 memory", "Nothing was changed: a dry run.", "; would make 1 change.", "Would keep “"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        json(space, &["dream"]);
        assert_eq!(json(space, &["status"])["digest"], value!(null));
    }

    fn a_dream_is_explained_replayed_and_undone(space) {
        learn(space);
        let ran = json(space, &["dream"]);
        let dream = id(&ran);
        assert!(memory_note(space).contains("peanuts"), "{ran}");
        let logged = json(space, &["dream", "log"]);
        assert_eq!((&logged["items"][0]["id"], logged["items"].as_array().unwrap().len()), (&value!(dream), 1));
        let promoted = json(space, &["dream", "candidates", "--decision", "promoted"]);
        let candidate = promoted["items"][0]["id"].as_str().unwrap();
        let explained = run(space, &["dream", "explain", candidate]).out;
        for part in [
            "3 recalls by 3 prompts on 3 days", "promoted 2", "preset core: score at least 0.75, 3 recalls by 2 prompts",
            "weight 0.24", "MEMORY.md: ", " asked: Is Ana allergic to peanuts?", " said: I'm allergic to peanuts",
        ] {
            assert!(explained.contains(part), "{part}: {explained}");
        }
        assert_eq!(run(space, &["dream", "explain", "allergic", "peanuts"]).out, explained);
        // Another night: what holds still is counted, and not listed.
        let again = run(space, &["dream"]).out;
        assert!(again.contains("1 earlier promotion still holds.") && !again.contains("cnd_"), "{again}");
        assert!(run(space, &["dream", "show", &dream[..10]]).out.contains("peanuts"));
        assert_eq!(json(space, &["dream", "replay", dream])["same"], true);
        let undone = json(space, &["dream", "undo", dream]);
        assert_eq!(undone["left"], value!([]), "{undone}");
        assert!(!memory_note(space).contains("peanuts"));
        // What was undone stays undone without newer evidence.
        json(space, &["dream"]);
        assert!(!memory_note(space).contains("peanuts"));
        let missing = run(space, &["dream", "show", "drm_nosuchdream"]);
        assert_eq!(missing.code, 3, "{}", missing.err);
    }

    fn a_schedule_is_set_by_anybody_and_applies_by_people_only(space) {
        learn(space);
        assert_eq!(json(space, &["dream", "--if-due"])["outcome"], "disabled");
        let scheduled = json(space, &["dream", "schedule", "--preset", "core"]);
        assert_eq!((&scheduled["mode"], &scheduled["apply"]), (&value!("core"), &value!(false)), "{scheduled}");
        assert_eq!(json(space, &["dream", "--if-due"])["outcome"], "not_due");
        let told = run(space, &["dream", "--if-due"]).out;
        assert!(told.starts_with("Not due: the next dream is at "), "{told}");
        let status = run(space, &["dream", "status"]).out;
        assert!(status.starts_with("Scheduled dreams use preset core (0 3 * * * "), "{status}");
        for args in [&["dream", "schedule", "--apply"][..], &["config", "set", "dream_apply", "true"]] {
            let refused = run(space, args);
            assert_eq!(refused.code, 6, "{args:?}: {}", refused.err);
            assert!(refused.err.contains("only a person"), "{}", refused.err);
        }
        assert_eq!(json(space, &["dream", "status"])["apply"], false);
        let wrong = run(space, &["dream", "schedule", "--cron", "61 * * * *"]);
        assert_eq!(wrong.code, 2, "{}", wrong.err);
    }
}
