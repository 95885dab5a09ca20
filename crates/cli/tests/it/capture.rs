//! Capture from outside: after `setup`, `serve` and `mcp` store new turns without a hook; `project`,
//! `pause` and `secrets` do what they say.

use crate::fake_home::{GARDEN, Home};
use crate::serve_support::{Server, eventually};
use crate::support::{Answer, json, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json as value};
use std::io::Write;
use std::process::Stdio;

fn run(space: &TestSpace, home: &Home, args: &[&str]) -> Answer {
    let answer = run_with(home.oneiro(space), args, b"");
    assert_eq!(answer.code, 0, "{args:?}: {}", answer.err);
    answer
}

fn add_turn(home: &Home, words: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(home.garden()).unwrap();
    let now = oneiro::Clock::now(&oneiro::SystemClock);
    let line = value!({"type": "user", "uuid": words, "sessionId": GARDEN, "cwd": "/srv/ann/garden",
        "timestamp": now, "message": {"role": "user", "content": words}});
    writeln!(file, "{line}").unwrap();
}

/// What the garden session holds beyond the fixture, as far as it was added by a test.
fn added_turns(space: &TestSpace) -> Vec<String> {
    let shown = json(space, &["session", "show", GARDEN]);
    let contents = shown["messages"].as_array().unwrap().iter().map(|message| &message["content"]);
    let turns = contents.filter_map(Value::as_str).filter(|words| words.starts_with("turn "));
    turns.map(str::to_owned).collect()
}

fn hook(space: &TestSpace, home: &Home) {
    let event = value!({"transcript_path": home.garden(), "hook_event_name": "Stop"}).to_string();
    let answer = run_with(home.oneiro(space), &["hook", "claude-code"], event.as_bytes());
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
}

on_both_backends! {
    fn serve_and_mcp_capture_new_turns_without_a_hook(space) {
        let home = Home::of_ann(space);
        run(space, &home, &["setup", "--yes"]);
        let mut command = home.oneiro(space);
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
        let server = Server::run(space, command);
        add_turn(&home, "turn one");
        eventually("serve captures", || added_turns(space) == ["turn one"]);
        let status = server.call("GET", "/v1/capture", None).is(200);
        assert_eq!(status["projects"].as_array().unwrap().len(), 4);
        server.stop();
        let mut mcp = home.oneiro(space);
        let mut mcp = mcp.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        add_turn(&home, "turn two");
        eventually("mcp captures", || added_turns(space) == ["turn one", "turn two"]);
        drop(mcp.stdin.take());
        assert!(mcp.wait().unwrap().success());
    }

    fn exclusions_and_pauses_hold_for_hooks(space) {
        let home = Home::of_ann(space);
        run(space, &home, &["setup", "claude-code", "--yes"]);
        run(space, &home, &["pause", "1h"]);
        add_turn(&home, "turn in the pause");
        hook(space, &home);
        run(space, &home, &["resume"]);
        add_turn(&home, "turn one");
        hook(space, &home);
        // Setup and an import that goes on from there leave out the pause too.
        run(space, &home, &["setup", "claude-code", "--yes"]);
        run(space, &home, &["import", "claude-code"]);
        assert_eq!(added_turns(space), ["turn one"]);
        for new in [1, 0] {
            let imported = run(space, &home, &["import", "claude-code", "--from-start", "--json"]).json();
            assert_eq!(imported["messages"], new);
            assert_eq!(added_turns(space), ["turn one", "turn in the pause"]);
        }
        let message = json(space, &["search", "\"turn in the pause\""])["hits"][0]["id"].to_string();
        run(space, &home, &["erase", &message, "--yes"]);
        run(space, &home, &["import", "claude-code", "--from-start"]);
        assert_eq!(added_turns(space), ["turn one"]);
        run(space, &home, &["project", "exclude", "/srv/ann"]);
        run(space, &home, &["project", "exclude", "/srv/ann/garden"]);
        add_turn(&home, "turn two");
        hook(space, &home);
        assert_eq!(added_turns(space), ["turn one"]);
        run(space, &home, &["project", "include", "/srv/ann/garden"]);
        add_turn(&home, "turn three");
        hook(space, &home);
        assert_eq!(added_turns(space), ["turn one", "turn three"]);
    }
}

fn choices(space: &TestSpace, home: &Home) -> Vec<(String, Value)> {
    let listed = run(space, home, &["project", "list", "--json"]).json();
    let projects = listed["projects"].as_array().unwrap().iter();
    let mut choices: Vec<_> = projects
        .map(|row| (row["folder"].as_str().unwrap().to_owned(), row["capture"].clone()))
        .collect();
    choices.push(("others".to_owned(), listed["other_projects"].clone()));
    choices.sort_by(|one, other| one.0.cmp(&other.0));
    choices
}

#[test]
fn setup_stores_the_choice_for_each_project_and_undo_takes_back_what_is_on() {
    let folders = ["/srv/ann/beehive", "/srv/ann/clock", "/srv/ann/garden", "/srv/ann/recipes"];
    for (which, found, others) in [
        (&[][..], value!("on"), Value::Null),
        (&["--capture", "all"], value!("on"), value!("on")),
        (&["--capture", "none"], value!("off"), Value::Null),
    ] {
        let space = TestSpace::new(Backend::Sqlite);
        let home = Home::of_ann(&space);
        let shown = run(&space, &home, &[&["setup", "--dry-run"], which].concat());
        assert!(shown.out.contains("project exclude DIR"), "{}", shown.out);
        assert!(!space.file().exists());
        run(&space, &home, &[&["setup", "--yes", "--no-import"], which].concat());
        let mut expected: Vec<(String, Value)> = vec![("others".to_owned(), others)];
        expected.splice(0..0, folders.map(|folder| (folder.to_owned(), found.clone())));
        assert_eq!(choices(&space, &home), expected);
        // What was chosen is not asked again.
        let again = run(&space, &home, &["setup", "--no-import", "--json"]).json();
        assert_eq!(again["capture"]["choices"], value!([]));
        run(&space, &home, &["setup", "--undo", "--yes"]);
        let left = if found == "off" { found } else { Value::Null };
        assert!(
            choices(&space, &home).iter().all(|(name, choice)| name == "others" || *choice == left)
        );
    }
}

#[test]
fn a_no_in_setup_is_for_that_folder_and_an_exclusion_for_those_below_too() {
    for (is_excluded, captured) in [(false, &["turn one"][..]), (true, &[])] {
        let space = TestSpace::new(Backend::Sqlite);
        let home = Home::of_ann(&space);
        // Ann's home folder is a project too.
        let text = home.read(&format!(".claude/projects/-srv-ann-garden/{GARDEN}.jsonl"));
        let other = "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1cff";
        let above = text.replace("/srv/ann/garden", "/srv/ann").replace(GARDEN, other);
        std::fs::write(home.at(&format!(".claude/projects/-srv-ann-garden/{other}.jsonl")), above)
            .unwrap();
        run(&space, &home, &["setup", "claude-code", "--yes", "--capture", "none"]);
        assert_eq!(choices(&space, &home)[0], ("/srv/ann".to_owned(), value!("off")));
        run(&space, &home, &["project", "include", "/srv/ann/garden"]);
        run(&space, &home, &["setup", "--undo", "--yes"]);
        if is_excluded {
            run(&space, &home, &["project", "exclude", "/srv/ann"]);
        }
        add_turn(&home, "turn one");
        hook(&space, &home);
        assert_eq!(added_turns(&space), captured);
    }
}

#[test]
fn setup_imports_nothing_of_an_excluded_folder() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::of_ann(&space);
    run(&space, &home, &["project", "exclude", "/srv/ann/garden"]);
    let imported = run(&space, &home, &["setup", "claude-code", "--yes", "--json"]).json();
    let agents = imported["agents"].as_array().unwrap();
    let claude = agents.iter().find(|agent| agent["agent"] == "claude-code").unwrap();
    assert!(claude["imported"]["excluded"].as_u64().unwrap() > 0, "{claude}");
    let shown = run_with(home.oneiro(&space), &["session", "show", GARDEN], b"");
    assert_eq!(shown.code, 3, "{}", shown.out);
    // Somebody who asks for it gets it.
    run(&space, &home, &["import", "claude-code", "--from-start"]);
    run(&space, &home, &["session", "show", GARDEN]);
}

#[test]
fn secrets_are_listed_masked_and_erased_in_one_step() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::of_ann(&space);
    let key = "sk-abcdefghijklmnop1234";
    add_turn(&home, &format!("turn with {key}"));
    run(&space, &home, &["setup", "claude-code", "--yes"]);
    let shown = run(&space, &home, &["secrets"]).out;
    assert!(
        shown.contains("API key") && shown.contains("sk-a…") && shown.contains(GARDEN),
        "{shown}"
    );
    assert!(!shown.contains(key), "{shown}");
    let erased = run(&space, &home, &["secrets", "--erase", "--yes", "--json"]).json();
    assert_eq!((&erased["messages"], &erased["proof"]["found"]), (&value!(1), &value!(0)));
    assert!(run(&space, &home, &["secrets"]).out.contains("No secrets were found."));
    assert!(added_turns(&space).is_empty());
}

#[test]
fn a_wrong_duration_is_refused() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::empty(&space);
    let refused = run_with(home.oneiro(&space), &["pause", "tomorrow"], b"");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("30m, 2h or 1d"), "{}", refused.err);
}
