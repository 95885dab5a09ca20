//! Errors: kinds, exit codes, hints, and stores that cannot be used.

use crate::support::{bare, json, oneiro, run, run_with};
use oneiro_testkit::{Backend, TestSpace};

fn at(store: &std::path::Path, args: &[&str]) -> crate::support::Answer {
    let mut command = bare();
    command.args(["--store", store.to_str().unwrap()]);
    run_with(command, args, b"")
}

#[test]
fn stores_that_cannot_be_used_are_refused_clearly() {
    let space = TestSpace::new(Backend::Sqlite);
    let folder = space.folder();
    let text = folder.join("text.db");
    std::fs::write(&text, "this is not a database, however long it may be").unwrap();
    let directory = folder.join("dir.db");
    std::fs::create_dir(&directory).unwrap();
    let cut = folder.join("cut.db");
    at(&cut, &["append", "s", "--create", "--text", "hello"]);
    let whole = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for (store, code, says) in [
        (&text, 7, "not a SQLite database"),
        (&directory, 2, "is a folder"),
        (&cut, 7, "is damaged"),
        (&folder.join("new/folder/y.db"), 3, "there is no store at"),
    ] {
        let answer = at(store, &["stats"]);
        assert_eq!(answer.code, code, "{}: {}", store.display(), answer.err);
        assert!(answer.err.contains(says) && answer.err.contains("hint: "), "{}", answer.err);
    }
    assert!(!folder.join("new").exists());
    assert_eq!(std::fs::read(&text).unwrap(), b"this is not a database, however long it may be");
    assert_eq!(std::fs::read(&cut).unwrap(), &whole[..whole.len() / 2]);
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let mut command = bare();
    command.args(["--store", "postgres://nobody:secret@127.0.0.1:1/none", "--json"]);
    let answer = run_with(command, &["stats"], b"");
    assert_eq!(answer.code, 5);
    assert_eq!(answer.error()["kind"], "unavailable");
    assert!(!answer.err.contains("secret"), "the password was printed");
}

/// As in `oneiro note add .. 2>&1 | head -1`, where notes find nobody who reads them.
#[test]
fn the_exit_code_stays_when_standard_error_is_closed() {
    let space = TestSpace::new(Backend::Sqlite);
    for (args, code) in [
        (&["note", "add", "MEMORY.md", "tea"][..], 0),
        (&["note", "remove", "MEMORY.md", "coffee"], 4),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = oneiro(&space).args(args).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn bad_arguments_say_what_to_do() {
    let space = TestSpace::new(Backend::Sqlite);
    run(&space, &["session", "new", "--id", "s"]);
    for (args, code, says) in [
        (&["session", "show", "nothing"][..], 3, "there is no session \"nothing\""),
        (&["session", "new", "--id", ""], 2, "id: is empty"),
        (&["session", "new", "--id", "x", "--parent", "none"], 3, "there is no parent session"),
        (&["session", "list", "--since", "whenever"], 2, "is not a time"),
        (&["session", "list", "--limit", "0"], 2, "limit: is not a whole number between"),
        (&["erase", "12345"], 3, "nothing has the id"),
        (&["session", "title", "none", "t"], 3, "there is no session"),
        (&["nonsense"], 2, "unrecognized subcommand"),
    ] {
        let answer = run(&space, args);
        assert_eq!(answer.code, code, "{args:?}: {}", answer.err);
        assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
        assert!(answer.out.is_empty(), "{args:?} printed data: {}", answer.out);
    }
    let mut command = bare();
    command.args(["--store", "x.db", "--space", "Not A Space"]);
    assert_eq!(run_with(command, &["stats"], b"").code, 2);
}

#[test]
fn usage_errors_are_json_for_programs() {
    let space = TestSpace::new(Backend::Sqlite);
    let answer = run(&space, &["session", "list", "--limit", "many", "--json"]);
    assert_eq!((answer.code, answer.error()["kind"].as_str()), (2, Some("invalid")));
    assert!(answer.error()["message"].as_str().unwrap().contains("many"));
}

#[test]
fn a_damaged_store_is_neither_sound_nor_worth_a_backup() {
    let space = TestSpace::new(Backend::Sqlite);
    let missing = run(&space, &["doctor"]);
    assert_eq!(missing.code, 3, "a mistyped path is not a sound store");
    run(&space, &["session", "new", "--id", "s"]);
    let lines: String = (0..2_000)
        .map(|n| format!("{{\"role\":\"user\",\"content\":\"message {n}\"}}\n"))
        .collect();
    crate::support::append(&space, "s", &lines);
    let mut bytes = std::fs::read(space.file()).unwrap();
    // Among the rows of messages, which follow the tables that opening a store reads.
    let damaged = bytes.len() * 4 / 5 / 4096 * 4096;
    bytes[damaged..damaged + 3 * 4096].fill(0xA5);
    std::fs::write(space.file(), &bytes).unwrap();
    let checked = run(&space, &["doctor", "--json"]);
    assert_eq!(checked.code, 7, "{}", checked.err);
    let found: serde_json::Value = serde_json::from_str(&checked.out).unwrap();
    assert!(found["ok"] == false && !found["integrity"].as_array().unwrap().is_empty(), "{found}");
    let copy = space.folder().join("copy.db");
    assert_eq!(run(&space, &["backup", copy.to_str().unwrap()]).code, 7);
    assert!(!copy.exists());
}

#[test]
fn a_sound_store_passes_the_doctor() {
    let space = TestSpace::new(Backend::Sqlite);
    run(&space, &["session", "new", "--id", "s"]);
    assert_eq!(json(&space, &["doctor"])["ok"], true);
    assert_eq!(json(&space, &["jobs"])["items"], serde_json::json!([]));
    assert_eq!(json(&space, &["jobs", "run"])["done"], 0);
}
