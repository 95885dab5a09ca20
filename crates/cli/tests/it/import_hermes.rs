//! `oneiro import hermes`: what it says, and what its exit code tells.

use crate::fake_home::Home;
use crate::support::{Answer, bare, json, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use rusqlite::{Connection, params};
use std::path::Path;
use std::process::Stdio;

/// A `state.db` in which two sessions have said so much.
fn state(path: &Path, messages: i64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE schema_version (version INTEGER NOT NULL);
         INSERT INTO schema_version VALUES (22);
         CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT,
           parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT);
         CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
           role TEXT NOT NULL, content TEXT, timestamp REAL NOT NULL,
           active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
         INSERT INTO sessions (id, source, title, started_at) VALUES ('a', 'cli', 'Tins', 1), ('b', 'cli', NULL, 2);
         BEGIN;",
    )
    .unwrap();
    for number in 0..messages {
        db.execute(
            "INSERT INTO messages (session_id, role, content, timestamp, active) \
             VALUES (?1, 'user', ?2, 1700000000 + ?3, ?4)",
            params![
                if number % 2 == 0 { "a" } else { "b" },
                format!("the marzipan is in tin {number}"),
                number,
                number % 5 != 4
            ],
        )
        .unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
    db.close().unwrap();
}

fn import(space: &TestSpace, home: &Home, args: &[&str]) -> Answer {
    run_with(home.oneiro(space), &[&["import", "hermes"], args].concat(), b"")
}

on_both_backends! {
    fn it_is_imported_once_counted_and_found(space) {
        let home = Home::empty(space);
        state(&home.at(".hermes/state.db"), 10);
        let before = home.snapshot();
        let preview = import(space, &home, &["--dry-run"]);
        assert_eq!(preview.code, 0, "{}", preview.err);
        assert!(preview.out.starts_with("10 messages to import in 2 new sessions"), "{}", preview.out);
        let done = import(space, &home, &[]);
        assert_eq!(done.code, 0, "{}", done.err);
        for words in [
            "10 new messages, 2 new sessions",
            "in the file:  2 sessions, 10 messages (8 live, 0 compacted, 2 rewound)",
            "in the store: 2 sessions, 10 messages (8 live, 0 compacted, 2 rewound)",
            "both sides are equal",
        ] {
            assert!(done.out.contains(words), "{words}: {}", done.out);
        }
        let hits = json(space, &["search", "marzipan"]);
        assert_eq!(hits["hits"].as_array().unwrap().len(), 8);
        assert_eq!(json(space, &["session", "show", "Tins"])["id"], "a");
        let again = import(space, &home, &["--json"]).json();
        assert_eq!((again["messages"].as_i64(), again["agrees"].as_bool()), (Some(0), Some(true)));
        assert_eq!((again["version"].as_i64(), again["dry_run"].as_bool()), (Some(22), Some(false)));
        assert_eq!(home.snapshot(), before);
    }

    fn killed_at_any_time_the_next_import_completes_it(space) {
        let home = Home::empty(space);
        let path = home.at("state.db");
        state(&path, 20_000);
        let path = path.to_str().unwrap();
        json(space, &["token", "create"]);
        let stored = || json(space, &["session", "list", "--all"])["items"].as_array().unwrap()
            .iter().map(|item| item["message_count"].as_i64().unwrap()).sum::<i64>();
        let mut before = 0;
        for round in 1..=3 {
            let mut child = home.oneiro(space).args(["import", "hermes", path])
                .stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Killed as soon as somebody else sees that it stored more than before.
            while child.try_wait().unwrap().is_none() && stored() == before {}
            child.kill().unwrap();
            child.wait().unwrap();
            before = stored();
            assert!(before > 0, "round {round}");
        }
        let rest = import(space, &home, &[path, "--json"]).json();
        assert_eq!((&rest["file"], rest["agrees"].as_bool()), (&rest["store"], Some(true)));
        assert_eq!(stored(), 16_000);
    }
}

#[test]
fn a_folder_a_variable_and_the_home_folder_lead_to_it() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::empty(&space);
    let nowhere = import(&space, &home, &["--json"]);
    assert_eq!((nowhere.code, nowhere.error()["kind"].as_str()), (3, Some("not_found")));
    assert!(nowhere.error()["hint"].as_str().unwrap().contains(".hermes"), "{}", nowhere.err);
    let elsewhere = home.at("elsewhere");
    state(&elsewhere.join("state.db"), 3);
    let mut command = home.oneiro(&space);
    command.env("HERMES_HOME", &elsewhere);
    let done = run_with(command, &["import", "hermes", "--json"], b"").json();
    assert_eq!(done["messages"], 3);
    let again = import(&space, &home, &[elsewhere.to_str().unwrap(), "--json"]).json();
    assert_eq!((&again["messages"], &again["file"]["sessions"]), (&0.into(), &2.into()));
}

#[test]
fn what_is_not_of_hermes_is_refused_with_a_word_on_what_to_do() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::empty(&space);
    let garbage = home.at("garbage.db");
    std::fs::write(&garbage, [9; 9_000]).unwrap();
    let plain = home.at("plain.db");
    Connection::open(&plain).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    for (path, code, words) in [
        ("/nonexistent/state.db", 3, "does not exist"),
        (home.path.to_str().unwrap(), 3, "state.db does not exist"),
        (garbage.to_str().unwrap(), 2, "is not a SQLite database"),
        (plain.to_str().unwrap(), 2, "but not a state.db of hermes"),
    ] {
        let refused = import(&space, &home, &[path, "--json"]);
        assert_eq!(refused.code, code, "{}", refused.err);
        assert!(refused.error()["message"].as_str().unwrap().contains(words), "{}", refused.err);
        assert!(refused.error()["hint"].is_string(), "{}", refused.err);
    }
}

#[test]
fn the_exit_code_is_4_when_the_sides_differ() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::empty(&space);
    let path = home.at("state.db");
    state(&path, 2_000);
    // A leaf of the table, overwritten.
    let mut bytes = std::fs::read(&path).unwrap();
    let page = bytes
        .chunks(4_096)
        .position(|page| page[0] == 13 && page.windows(10).any(|part| part == b"n tin 1000"));
    let page = page.unwrap() * 4_096;
    bytes[page..page + 4_096].fill(0xAA);
    std::fs::write(&path, bytes).unwrap();
    let done = import(&space, &home, &[path.to_str().unwrap()]);
    assert_eq!(done.code, 4, "{}{}", done.out, done.err);
    assert!(
        done.out.contains("two sides DIFFER") && done.out.contains("not imported: messages "),
        "{}",
        done.out
    );
    assert!(done.err.contains("the store differ"), "{}", done.err);
    let stats = json(&space, &["stats"]);
    let stored = stats["messages"].as_i64().unwrap() + stats["rewound"].as_i64().unwrap();
    assert!((1_900..2_000).contains(&stored), "{stored}");
}

#[test]
fn a_state_db_given_as_a_store_is_named_and_not_touched() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::empty(&space);
    let path = home.at(".hermes/state.db");
    state(&path, 3);
    let before = home.snapshot();
    for args in [&["stats"][..], &["append", "a", "--text", "x"], &["doctor"]] {
        let mut command = bare();
        command.args(["--store", path.to_str().unwrap()]).env("HOME", &home.path);
        let refused = run_with(command, args, b"");
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("is the state.db of hermes"), "{}", refused.err);
        assert!(refused.err.contains("oneiro import hermes "), "{}", refused.err);
    }
    assert_eq!(home.snapshot(), before);
}

#[test]
fn setup_offers_it() {
    let space = TestSpace::new(Backend::Sqlite);
    let home = Home::empty(&space);
    state(&home.at(".hermes/state.db"), 6);
    let setup =
        |args: &[&str]| run_with(home.oneiro(&space), &[&["setup", "hermes"], args].concat(), b"");
    let shown = setup(&["--dry-run"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    for words in ["1 file, ", "6 messages to import", "`oneiro import hermes`"] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    assert!(!shown.out.contains("no import yet"), "{}", shown.out);
    // Where nobody can be asked, nothing is done, and the command is named.
    let refused = setup(&[]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.out.contains("`oneiro import hermes`"), "{}", refused.out);
    assert!(!space.file().exists());
    let done = setup(&["--yes", "--json"]).json();
    assert_eq!(
        (&done["agents"][0]["imported"]["messages"], &done["agents"][0]["imported"]["agrees"]),
        (&6.into(), &true.into())
    );
    assert_eq!(json(&space, &["stats"])["sessions"], 2);
    let again = setup(&["--yes"]);
    assert!(again.out.contains("0 new messages"), "{}", again.out);
    // Not hermes's file: nothing is offered.
    let other = TestSpace::new(Backend::Sqlite);
    let home = Home::empty(&other);
    std::fs::create_dir(home.at(".hermes")).unwrap();
    std::fs::write(home.at(".hermes/state.db"), "nonsense").unwrap();
    let shown = run_with(home.oneiro(&other), &["setup", "hermes", "--dry-run"], b"");
    assert!(!shown.out.contains("to import"), "{}", shown.out);
}
