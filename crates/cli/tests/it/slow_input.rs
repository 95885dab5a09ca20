//! Input that comes slowly, through a pipe or standard input: other writers do not wait for it.

use crate::support::{json, oneiro, run};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::{Value, json as value};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// More than a pipe holds, so that a write of it ends only after somebody has begun to read.
const MORE_THAN_A_PIPE: usize = 256 << 10;

/// How long the other writer may wait for the lock, in milliseconds: a held lock fails the test
/// instead of delaying it.
const BUSY_TIMEOUT_MS: &str = "1000";

fn new_fifo(space: &TestSpace) -> PathBuf {
    let path = space.folder().join("sessions.fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// A session as a line of an export.
fn exported_session(id: &str, text: &str) -> String {
    let message = value!({"role": "user", "content": text, "at": "2026-01-01T00:00:00Z"});
    let session = value!({"id": id, "started_at": "2026-01-01T00:00:00Z", "messages": [message]});
    format!("{session}\n")
}

fn start(space: &TestSpace, args: &[&str]) -> Child {
    let mut command = oneiro(space);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn finish(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn assert_another_process_can_append(space: &TestSpace) {
    let mut command = oneiro(space);
    command.env("ONEIRO_BUSY_TIMEOUT_MS", BUSY_TIMEOUT_MS);
    let args = ["append", "other", "--create", "--text", "meanwhile"];
    let answer = crate::support::run_with(command, &args, b"");
    assert_eq!(answer.code, 0, "{}", answer.err);
}

fn content(space: &TestSpace, session: &str) -> String {
    let shown = json(space, &["session", "show", session]);
    shown["messages"][0]["content"].as_str().unwrap().to_owned()
}

/// Sends two sessions with a pause between them, in which another process appends.
fn assert_import_waits_without_the_lock(space: &TestSpace, child: Child, mut input: impl Write) {
    let long = "slow ".repeat(MORE_THAN_A_PIPE / 5);
    input.write_all(exported_session("first", &long).as_bytes()).unwrap();
    assert_another_process_can_append(space);
    input.write_all(exported_session("second", "the end").as_bytes()).unwrap();
    drop(input);
    let imported = finish(child);
    assert_eq!((&imported["sessions"], &imported["messages"]), (&value!(2), &value!(2)));
    assert_eq!(content(space, "first"), long);
    assert_eq!(content(space, "second"), "the end");
    assert_eq!(content(space, "other"), "meanwhile");
}

on_both_backends! {
    fn an_import_from_a_fifo_waits_for_its_writer_without_the_write_lock(space) {
        run(space, &["stats"]);
        let fifo = new_fifo(space);
        let child = start(space, &["session", "import", fifo.to_str().unwrap(), "--json"]);
        // Opening a FIFO waits for its reader.
        let input = File::options().write(true).open(&fifo).unwrap();
        assert_import_waits_without_the_lock(space, child, input);
    }

    fn an_import_from_standard_input_waits_without_the_write_lock(space) {
        run(space, &["stats"]);
        for name in ["-", "/dev/stdin"] {
            let space = &TestSpace::new(space.backend);
            run(space, &["stats"]);
            let mut child = start(space, &["session", "import", name, "--json"]);
            let input = child.stdin.take().unwrap();
            assert_import_waits_without_the_lock(space, child, input);
        }
    }

    fn an_append_from_standard_input_waits_without_the_write_lock(space) {
        run(space, &["session", "new", "--id", "slow"]);
        let mut child = start(space, &["append", "slow", "--json"]);
        let mut input = child.stdin.take().unwrap();
        let long = "slow ".repeat(MORE_THAN_A_PIPE / 5);
        writeln!(input, "{}", value!({"role": "user", "content": long})).unwrap();
        assert_another_process_can_append(space);
        writeln!(input, "{}", value!({"role": "user", "content": "the end"})).unwrap();
        drop(input);
        assert_eq!(finish(child)["ids"].as_array().unwrap().len(), 2);
        assert_eq!(content(space, "slow"), long);
    }
}
