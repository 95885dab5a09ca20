//! `oneiro hook`: captures what is new, and is never noticed.

use crate::fake_home::{GARDEN, Home};
use crate::support::{Answer, json, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json as value};
use std::io::Write;
use std::process::Stdio;

fn hook(space: &TestSpace, home: &Home, event: &[u8]) -> Answer {
    let answer = run_with(home.oneiro(space), &["hook", "claude-code"], event);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{}", answer.err);
    answer
}

fn event(home: &Home, name: &str) -> Value {
    value!({
        "session_id": GARDEN, "transcript_path": home.garden(), "cwd": "/srv/ann/garden",
        "permission_mode": "default", "hook_event_name": name, "stop_hook_active": false,
    })
}

on_both_backends! {
    fn each_event_captures_what_is_new(space) {
        let home = Home::of_ann(space);
        let shown = || json(space, &["session", "show", GARDEN])["message_count"].as_i64().unwrap();
        let events = ["Stop", "SubagentStop", "PreCompact", "SessionEnd"];
        for (expected, name) in (17..).zip(events) {
            let answer = hook(space, &home, event(&home, name).to_string().as_bytes());
            assert_eq!(answer.err, "");
            assert_eq!(shown(), expected, "{name}");
            let mut file = std::fs::OpenOptions::new().append(true).open(home.garden()).unwrap();
            writeln!(file, "{}", value!({"type": "user", "uuid": format!("after-{name}"), "sessionId": GARDEN,
                "message": {"role": "user", "content": name}})).unwrap();
        }
        // The end of a session takes its subagents along.
        let delegate = format!("{GARDEN}:agent-a3f9c21");
        assert_eq!(json(space, &["session", "show", &delegate])["message_count"], 2);
    }

    fn the_end_of_a_subagent_captures_its_transcript(space) {
        let home = Home::of_ann(space);
        let agent = home.at(&format!(".claude/projects/-srv-ann-garden/{GARDEN}/subagents/agent-a3f9c21.jsonl"));
        let delegate = format!("{GARDEN}:agent-a3f9c21");
        let named = [("agent_transcript_path", value!(agent)), ("agent_id", "a3f9c21".into())];
        for (count, (name, path)) in (2..).zip(named) {
            let mut stop = event(&home, "SubagentStop");
            stop[name] = path;
            hook(space, &home, stop.to_string().as_bytes());
            let shown = json(space, &["session", "show", &delegate]);
            assert_eq!((shown["message_count"].as_i64(), shown["parent_id"].as_str()), (Some(count), Some(GARDEN)), "{name}");
            let mut file = std::fs::OpenOptions::new().append(true).open(&agent).unwrap();
            writeln!(file, "{}", value!({"type": "user", "uuid": name, "sessionId": GARDEN, "agentId": "a3f9c21",
                "isSidechain": true, "message": {"role": "user", "content": name}})).unwrap();
        }
    }

    fn a_backlog_is_taken_bit_by_bit(space) {
        let home = Home::of_ann(space);
        let mut file = std::fs::OpenOptions::new().append(true).open(home.garden()).unwrap();
        let lines: String = (0..30_000).map(|n| format!("{}\n", value!({"type": "user", "uuid": format!("u{n}"),
            "sessionId": GARDEN, "message": {"role": "user", "content": format!("number {n}")}}))).collect();
        file.write_all(lines.as_bytes()).unwrap();
        hook(space, &home, event(&home, "Stop").to_string().as_bytes());
        let first = json(space, &["stats"])["messages"].as_i64().unwrap();
        assert!((1..30_017).contains(&first), "{first}");
        hook(space, &home, event(&home, "Stop").to_string().as_bytes());
        let second = json(space, &["stats"])["messages"].as_i64().unwrap();
        assert!(second > first);
        let rest = run_with(home.oneiro(space), &["import", "claude-code", home.garden().to_str().unwrap(), "--json"], b"").json();
        assert_eq!((rest["messages"].as_i64().unwrap() + second, rest["duplicates"].as_i64()), (30_017, Some(0)));
    }
}

#[test]
fn whatever_happens_the_agent_does_not_notice() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::of_ann(&space);
    let outside = space.folder().join("outside.jsonl");
    std::fs::write(&outside, "{}\n").unwrap();
    for (event, says) in [
        (b"".to_vec(), "the event"),
        (b"nonsense".to_vec(), "the event: not JSON"),
        (b"\xff\xfe".to_vec(), "not UTF-8"),
        (b"[]".to_vec(), "transcript_path"),
        (b"{\"transcript_path\":5}".to_vec(), "transcript_path"),
        (vec![b' '; 5 << 20], "longer than"),
        (value!({"transcript_path": outside}).to_string().into_bytes(), "leads out of"),
        (
            value!({"transcript_path": home.path.join(".claude")}).to_string().into_bytes(),
            "is not a file",
        ),
        // Not written yet, which is no fault.
        (
            value!({"transcript_path": home.path.join(".claude/none.jsonl")})
                .to_string()
                .into_bytes(),
            "",
        ),
    ] {
        let answer = hook(&space, &home, &event);
        assert!(answer.err.contains(says) && answer.err.lines().count() <= 1, "{}", answer.err);
    }
    let event = event(&home, "Stop").to_string();
    for args in [
        &["hook"][..],
        &["hook", "emacs"],
        &["hook", "claude-code", "--nonsense"],
        &["hook", "claude-code", "--space", "NOT A NAME"],
        &["hook", "claude-code", "--config", "/nonexistent/config.toml"],
        &["hook", "claude-code", "--store", "/proc/nowhere"],
        &["hook", "claude-code", "--store", "postgres://nobody@127.0.0.1:1/none"],
    ] {
        let answer = run_with(home.oneiro(&space), args, event.as_bytes());
        assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{args:?}: {}", answer.err);
        assert!(answer.err.starts_with("oneiro hook: "), "{args:?}: {}", answer.err);
    }
}

#[test]
fn a_damaged_store_and_a_busy_one_are_no_concern_of_the_agent() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::of_ann(&space);
    hook(&space, &home, event(&home, "Stop").to_string().as_bytes());
    let mut file = std::fs::OpenOptions::new().append(true).open(home.garden()).unwrap();
    writeln!(
        file,
        "{}",
        value!({"type": "user", "uuid": "later", "sessionId": GARDEN,
        "message": {"role": "user", "content": "later"}})
    )
    .unwrap();
    let busy = rusqlite::Connection::open(space.file()).unwrap();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The default wait for other writers is twenty seconds, a hook's is a quarter of one: a hook
    // that begins after an append gives up before it.
    let mut append = home.oneiro(&space);
    append
        .args(["append", "waits", "--create", "--text", "hello"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut append = append.spawn().unwrap();
    let answer = hook(&space, &home, event(&home, "Stop").to_string().as_bytes());
    assert!(answer.err.starts_with("oneiro hook: "), "{}", answer.err);
    assert!(append.try_wait().unwrap().is_none(), "the hook waited as long as an append");
    busy.execute_batch("ROLLBACK").unwrap();
    drop(busy);
    assert!(append.wait().unwrap().success());
    assert_eq!(hook(&space, &home, event(&home, "Stop").to_string().as_bytes()).err, "");
    assert_eq!(json(&space, &["session", "show", GARDEN])["message_count"], 18);
    std::fs::write(space.file(), b"this is no database, but it is long enough to look at").unwrap();
    let answer = hook(&space, &home, event(&home, "Stop").to_string().as_bytes());
    assert!(answer.err.starts_with("oneiro hook: "), "{}", answer.err);
}

/// The context that the hook adds to an event; none if it prints nothing.
fn added(space: &TestSpace, home: &Home, event: &Value, off: bool) -> Option<String> {
    let mut command = home.oneiro(space);
    if off {
        command.env("ONEIRO_HOOK", "off");
    }
    let answer = run_with(command, &["hook", "claude-code"], event.to_string().as_bytes());
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    if answer.out.is_empty() {
        return None;
    }
    let out: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(out["hookSpecificOutput"]["hookEventName"], event["hook_event_name"]);
    Some(out["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
}

/// Remembers something that an agent heard the user say.
fn remember(space: &TestSpace, home: &Home, content: &str, project: &str) {
    let said = value!({"role": "user", "content": content}).to_string();
    let answer = run_with(home.oneiro(space), &["append", "heard", "--create"], said.as_bytes());
    assert_eq!(answer.code, 0, "{}", answer.err);
    let mut words = vec!["remember", content, "--quote", content];
    if !project.is_empty() {
        words.extend(["--project", project]);
    }
    let answer = run_with(home.oneiro(space), &words, b"");
    assert_eq!(answer.code, 0, "{}", answer.err);
}

#[test]
fn prompts_and_starts_get_what_is_relevant_once() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::of_ann(&space);
    let folder = space.folder().join("work");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    let folder_name = folder.canonicalize().unwrap().to_string_lossy().into_owned();
    remember(&space, &home, "The staging database of the garden runs on port 5433", &folder_name);
    remember(&space, &home, "The staging database of the cellar runs on port 7000", "cellar");
    remember(&space, &home, "The garden gate needs two keys to open", "");
    let event = |name: &str, more: Value| {
        let mut event = value!({"session_id": "s1", "cwd": folder, "hook_event_name": name});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let ask = |prompt: &str| {
        added(&space, &home, &event("UserPromptSubmit", value!({"prompt": prompt})), false)
    };
    let port = "On which port does the staging database of the garden run?";
    assert_eq!(
        added(&space, &home, &event("UserPromptSubmit", value!({"prompt": port})), true),
        None
    );
    for prompt in
        ["ok", "/compact staging database port garden", "", "What is the capital of Australia?"]
    {
        assert_eq!(ask(prompt), None, "{prompt}");
    }
    let first = ask(port).unwrap();
    assert!(first.contains("5433") && !first.contains("7000"), "{first}");
    assert_eq!(ask(port), None, "no line twice in a session");
    assert!(
        added(&space, &home, &event("SessionStart", value!({"source": "compact"})), false)
            .unwrap()
            .contains("5433")
    );
    // What the host loads is not repeated.
    std::fs::write(folder.join("CLAUDE.md"), "- the garden gate *needs two keys* to open\n")
        .unwrap();
    assert_eq!(ask("How many keys does the garden gate need to open?"), None);
    // Another folder is another project.
    let other = value!({"session_id": "s2", "cwd": space.folder(), "hook_event_name": "UserPromptSubmit", "prompt": port});
    assert!(
        added(&space, &home, &other, false)
            .is_none_or(|text| !text.contains("5433") && !text.contains("7000"))
    );
    // A project that is switched off is neither read nor written.
    let off = run_with(home.oneiro(&space), &["project", "exclude", folder.to_str().unwrap()], b"");
    assert_eq!(off.code, 0, "{}", off.err);
    let start = event("SessionStart", value!({"source": "startup", "session_id": "s3"}));
    assert_eq!(added(&space, &home, &start, false), None);
}

#[test]
fn a_hook_on_a_store_that_does_not_exist_prints_nothing() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::of_ann(&space);
    let event = value!({"session_id": "s", "cwd": space.folder(), "hook_event_name": "SessionStart", "source": "startup"});
    assert_eq!(added(&space, &home, &event, false), None);
}
