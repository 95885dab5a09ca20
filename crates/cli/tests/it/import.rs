//! `oneiro import`: transcripts of other agents, once.

use crate::fake_home::{GARDEN, HIVE, Home};
use crate::support::{Answer, json, oneiro, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json as value};
use std::io::Write;
use std::process::Stdio;

fn import(space: &TestSpace, home: &Home, args: &[&str]) -> Answer {
    run_with(home.oneiro(space), &[&["import"], args].concat(), b"")
}

fn counts(answer: &Answer) -> (i64, i64) {
    let answer = answer.json();
    (answer["sessions"].as_i64().unwrap(), answer["messages"].as_i64().unwrap())
}

on_both_backends! {
    fn everything_is_imported_once_and_found(space) {
        let home = Home::of_ann(space);
        assert_eq!(counts(&import(space, &home, &["claude-code", "--json", "--dry-run"])), (6, 34));
        // Copies within one import are told only by importing.
        assert_eq!(counts(&import(space, &home, &["claude-code", "--json"])), (6, 26));
        assert_eq!(counts(&import(space, &home, &["codex", "--json"])), (2, 17));
        for agent in ["claude-code", "codex"] {
            assert_eq!(counts(&import(space, &home, &[agent, "--json"])), (0, 0));
            let again = import(space, &home, &[agent]);
            assert!(again.out.starts_with("0 new messages in 0 new sessions"), "{}", again.out);
        }
        let garden = json(space, &["session", "show", GARDEN]);
        assert_eq!((garden["title"].as_str(), garden["project"].as_str()), (Some("Tomatoes in bed B"), Some("garden")));
        assert_eq!((garden["output_tokens"].as_i64(), garden["api_call_count"].as_i64()), (Some(191), Some(4)));
        assert_eq!(garden["tool_call_count"], 1);
        let said: Vec<&str> = garden["messages"].as_array().unwrap().iter()
            .filter(|message| message["role"] == "user")
            .filter_map(|message| message["content"].as_str())
            .collect();
        // The command /cost and its output are harness text.
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains("<private withheld/>") && !said[0].contains("third pot"), "{}", said[0]);
        let pots = json(space, &["session", "show", "Tomatoes in pots"]);
        assert_eq!((pots["parent_id"].as_str(), pots["lineage"].as_str()), (Some(GARDEN), Some("branch")));
        assert_eq!(pots["message_count"], 2);
        let delegate = json(space, &["session", "show", &format!("{GARDEN}:agent-a3f9c21")]);
        assert_eq!((delegate["source"].as_str(), delegate["lineage"].as_str()), (Some("subagent"), Some("delegate")));
        let rescue = json(space, &["session", "show", "Sourdough starter rescue"]);
        assert_eq!(rescue["message_count"], 2);
        for (words, session) in [("basil whitefly", GARDEN), ("HX711 drifts", HIVE), ("hx711.py", HIVE)] {
            let hits = json(space, &["search", words]);
            assert_eq!(hits["hits"][0]["session_id"], session, "{words}");
        }
        let clock = json(space, &["session", "show", "6f1d2c3b-0a09-4807-9605-040302010009"]);
        assert_eq!((clock["cwd"].as_str(), clock["started_at"].as_str()), (Some("/srv/ann/clock"), Some("2025-05-21T10:00:00Z")));
    }

    fn what_was_erased_stays_erased(space) {
        let home = Home::of_ann(space);
        import(space, &home, &["claude-code"]);
        let erased = run_with(home.oneiro(space), &["erase", GARDEN, "--yes"], b"");
        assert_eq!(erased.code, 0, "{}", erased.err);
        assert_eq!(counts(&import(space, &home, &["claude-code", "--json"])), (0, 0));
        assert_eq!(run_with(home.oneiro(space), &["session", "show", GARDEN], b"").code, 3);
    }

    fn two_processes_import_one_file_once(space) {
        let home = Home::of_ann(space);
        let path = home.garden();
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        for n in 0..3_000 {
            let line = value!({"type": "user", "uuid": format!("storm-{n:05}"), "sessionId": GARDEN,
                "timestamp": "2026-03-02T10:00:00Z", "message": {"role": "user", "content": format!("number {n}")}});
            writeln!(file, "{line}").unwrap();
        }
        // The store is there before: making it is not what is tested.
        json(space, &["token", "create"]);
        let started: Vec<_> = (0..3).map(|_| {
            let mut command = home.oneiro(space);
            command.args(["import", "claude-code", path.to_str().unwrap(), "--json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        }).collect();
        let mut stored = 0;
        for child in started {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(answer["duplicates"], 0);
            stored += answer["messages"].as_i64().unwrap();
        }
        assert_eq!(stored, 3_017);
        assert_eq!(json(space, &["session", "show", GARDEN])["message_count"], 3_017);
    }

    fn killed_at_any_time_it_goes_on_where_it_was(space) {
        let home = Home::of_ann(space);
        let path = home.garden();
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        for n in 0..20_000 {
            writeln!(file, "{}", value!({"type": "user", "uuid": format!("storm-{n:05}"), "sessionId": GARDEN,
                "message": {"role": "user", "content": format!("number {n}")}})).unwrap();
        }
        json(space, &["token", "create"]);
        let mut before = 0;
        for round in 1..=4 {
            let mut child = home.oneiro(space).args(["import", "claude-code", path.to_str().unwrap()])
                .stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Killed as soon as somebody else sees that it stored more than before.
            while child.try_wait().unwrap().is_none() && json(space, &["stats"])["messages"] == before {}
            child.kill().unwrap();
            child.wait().unwrap();
            before = json(space, &["stats"])["messages"].as_i64().unwrap();
            assert!(before > 0, "round {round}");
        }
        let rest = import(space, &home, &["claude-code", path.to_str().unwrap(), "--json"]).json();
        assert_eq!(rest["messages"].as_i64().unwrap() + before, 20_017);
        assert_eq!(rest["duplicates"], 0);
    }
}

#[test]
fn bad_input_gets_a_clear_error() {
    let space = TestSpace::new(oneiro_testkit::Backend::Sqlite);
    let home = Home::empty(&space);
    let none = import(&space, &home, &["claude-code", "--json"]);
    assert_eq!((none.code, none.error()["kind"].as_str()), (3, Some("not_found")));
    assert!(none.error()["hint"].as_str().unwrap().contains(".claude"), "{}", none.err);
    assert_eq!(import(&space, &home, &["codex", "/nonexistent/file.jsonl"]).code, 3);
    assert_eq!(import(&space, &home, &["emacs"]).code, 2);
    // A dry run makes no store.
    let path = home.at("x.jsonl");
    std::fs::write(&path, "nonsense\n").unwrap();
    let answer = import(&space, &home, &["codex", path.to_str().unwrap(), "--dry-run"]);
    assert_eq!(answer.code, 2, "{}", answer.err);
    assert!(answer.err.contains("x.jsonl is not a transcript of Codex"), "{}", answer.err);
    assert!(!space.file().exists());
}

#[test]
fn a_transcript_given_as_an_export_is_refused_with_the_command_that_imports_it() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::of_ann(&space);
    let codex = format!(".codex/sessions/2026/02/20/rollout-2026-02-20T14-00-00-{HIVE}.jsonl");
    for (agent, file) in [("claude-code", home.garden()), ("codex", home.at(&codex))] {
        let lines = std::fs::read(file).unwrap();
        let copy = space.folder().join("backup.txt");
        std::fs::write(&copy, &lines).unwrap();
        for (args, input) in
            [(["import", "-"], lines.as_slice()), (["import", copy.to_str().unwrap()], b"")]
        {
            let answer = run_with(oneiro(&space), &args, input);
            assert_eq!(answer.code, 2, "{args:?}: {}", answer.err);
            let command = format!("oneiro import {agent} FILE");
            assert!(answer.err.contains(&command), "{args:?}: {}", answer.err);
        }
    }
}

#[test]
fn a_file_of_another_agent_is_told_apart_and_not_remembered() {
    let space = TestSpace::new(oneiro_testkit::Backend::Sqlite);
    let home = Home::empty(&space);
    let path = home.at("s1.jsonl");
    let line = value!({"type": "user", "uuid": "a", "sessionId": "s", "message": {"role": "user", "content": "hello"}});
    std::fs::write(&path, format!("{line}\n")).unwrap();
    let path = path.to_str().unwrap();
    let refused = import(&space, &home, &["codex", path, "--json"]);
    assert_eq!((refused.code, refused.error()["kind"].as_str()), (2, Some("invalid")));
    let hint = refused.error()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("Claude Code") && hint.contains("import claude-code"), "{hint}");
    assert_eq!(counts(&import(&space, &home, &["claude-code", path, "--json"])), (1, 1));
    // In a folder it is named, and is no failure. What ends without a line is nonsense as well.
    std::fs::write(home.at("x.jsonl"), "x").unwrap();
    std::fs::write(home.at("empty.jsonl"), "").unwrap();
    let folder = home.at("").to_str().unwrap().to_owned();
    let taken = import(&space, &home, &["codex", &folder]);
    assert_eq!(taken.code, 0, "{}", taken.err);
    assert!(taken.out.contains("2 files skipped, not transcripts"), "{}", taken.out);
    assert!(taken.out.contains("s1.jsonl") && taken.out.contains("x.jsonl"), "{}", taken.out);
    assert_eq!(import(&space, &home, &["codex", home.at("x.jsonl").to_str().unwrap()]).code, 2);
}

#[test]
fn what_is_counted_is_told_in_words_that_fit() {
    let space = TestSpace::new(oneiro_testkit::Backend::Sqlite);
    let home = Home::of_ann(&space);
    let first = import(&space, &home, &["claude-code"]);
    assert!(first.out.contains("\n  8 copies of lines of other sessions\n"), "{}", first.out);
    assert!(!first.out.contains("already imported"), "{}", first.out);
    let listed = |args: &[&str]| {
        let listed = json(&space, &[&["session", "list"], args].concat());
        listed["items"].as_array().unwrap().len()
    };
    assert_eq!((listed(&[]), listed(&["--all"])), (4, 6));
    let all = "\n  2 delegates among them: `oneiro session list --all` shows those too\n";
    assert!(first.out.contains(all), "{}", first.out);
    let said = |n: u32| value!({"type": "user", "uuid": n.to_string(), "sessionId": "s", "message": {"role": "user", "content": "<private>x</private> y"}});
    let none = value!({"type": "mode", "sessionId": "s"});
    let path = home.at("one.jsonl");
    std::fs::write(&path, format!("{}\n{none}\n", said(1))).unwrap();
    let one = import(&space, &home, &["claude-code", path.to_str().unwrap()]);
    for words in [
        "1 new message in 1 new session from 1 transcript",
        "1 private span withheld",
        "1 metadata line skipped",
    ] {
        assert!(one.out.contains(words), "{words}: {}", one.out);
    }
    assert!(!one.out.contains("--all"), "{}", one.out);
    let copy = home.at("two.jsonl");
    std::fs::write(&copy, format!("{}\n{none}\n{none}\n", said(1))).unwrap();
    let again = import(&space, &home, &["claude-code", copy.to_str().unwrap()]);
    for words in ["1 already imported", "2 metadata lines skipped"] {
        assert!(again.out.contains(words), "{words}: {}", again.out);
    }
}

#[test]
fn a_line_of_fifty_megabytes_is_a_line() {
    let space = TestSpace::new(oneiro_testkit::Backend::Sqlite);
    let home = Home::empty(&space);
    let path = home.at("long.jsonl");
    let line = |uuid: &str, words: String| value!({"type": "user", "uuid": uuid, "sessionId": "s", "message": {"role": "user", "content": words}});
    let lines =
        [line("a", "before".into()), line("b", "x".repeat(50 << 20)), line("c", "after".into())];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    assert_eq!(
        counts(&import(&space, &home, &["claude-code", path.to_str().unwrap(), "--json"])),
        (1, 3)
    );
    let shown = json(&space, &["session", "show", "s"]);
    assert_eq!(shown["messages"][1]["content"].as_str().unwrap().len(), 50 << 20);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_are_taken() {
    let space = TestSpace::new(oneiro_testkit::Backend::Sqlite);
    let home = Home::of_ann(&space);
    let gone = home.at(".claude/projects/-srv-ann-garden/gone.jsonl");
    std::fs::create_dir(&gone).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", home.at(".claude/projects/link.jsonl")).unwrap();
    assert_eq!(counts(&import(&space, &home, &["claude-code", "--json"])), (6, 26));
}
