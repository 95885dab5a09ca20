//! A sync of the log that fails: nothing that it was to bring to the disk is acknowledged, by this
//! process or a later one, until the log was proved and synced again.
//!
//! The kernel marks the pages of a failed sync as clean, so that the next sync succeeds without
//! them. The fault library does the same, and keeps what a power cut would leave.

use crate::child;
use crate::support::{NOW, names, write};
use oneiro_model::{ErrorKind, Result};
use oneiro_store::{Options, Store, Target};
use oneiro_testkit::{Backend, Faults, TestSpace};
use std::path::Path;
use std::process::Command;

/// Fails one sync of the log.
const ONCE: &str = "sync:-wal:0:1:EIO";

/// Fails every sync of the log while the rules are armed.
const ALWAYS: &str = "sync:-wal:0:*:ENOSPC";

fn open_target(target: &Target) -> Store {
    Store::open(target, &Options::default(), NOW).unwrap()
}

/// The file whose existence arms the rules of the fault library.
fn arm_path() -> std::ffi::OsString {
    std::env::var_os("FAULT_ARM").unwrap()
}

#[expect(clippy::print_stdout, reason = "a child answers its parent")]
fn report(name: &str, outcome: &Result<()>) {
    match outcome {
        Ok(()) => println!("acknowledged {name}"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
            assert!(error.remedy_text().is_some(), "{error:?}");
            println!("refused {name}");
        }
    }
}

/// Child: writes before, during and after the failure, and dies without closing anything.
pub fn write_while_a_sync_fails(target: &Target) {
    let store = open_target(target);
    report("before", &write(&store, "before"));
    std::fs::write(arm_path(), b"").unwrap();
    report("failed", &write(&store, "failed"));
    report("bulk", &store.write_bulk(|tx| crate::support::put(tx, "bulk")));
    let _ = store.write_derived(|tx| crate::support::put(tx, "derived"));
    for turn in 0..4 {
        let name = format!("after-{turn}");
        report(&name, &write(&store, &name));
    }
    std::fs::remove_file(arm_path()).unwrap();
    report("disarmed", &write(&store, "disarmed"));
    std::process::abort();
}

/// Child: one write whose sync fails, then a crash.
pub fn write_until_a_sync_fails(target: &Target) {
    let store = open_target(target);
    report("before", &write(&store, "before"));
    std::fs::write(arm_path(), b"").unwrap();
    report("failed", &write(&store, "failed"));
    std::fs::remove_file(arm_path()).unwrap();
    std::process::abort();
}

/// Child: sends again what was refused, as a process that never saw the failure.
pub fn write_again(target: &Target) {
    let store = open_target(target);
    report("failed", &write(&store, "failed"));
    std::process::abort();
}

/// What a child acknowledged and refused.
#[derive(Debug, Default)]
struct Outcome {
    acknowledged: Vec<String>,
    refused: Vec<String>,
}

fn run(command: &mut Command) -> Outcome {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut outcome = Outcome::default();
    // The name of the test stands before the first word of the child.
    for line in text.lines() {
        if let Some((_, name)) = line.split_once("acknowledged ") {
            outcome.acknowledged.push(name.to_owned());
        } else if let Some((_, name)) = line.split_once("refused ") {
            outcome.refused.push(name.to_owned());
        }
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{text}{errors}");
    outcome
}

/// Cuts the power and opens the store again.
fn names_after_power_cut(faults: &Faults, path: &Path, space: &TestSpace) -> Vec<String> {
    faults.cut_power(path);
    let target = Target::File { path: path.to_owned(), space: space.space.clone() };
    let store = open_target(&target);
    assert_eq!(store.integrity().unwrap(), [""; 0]);
    names(&store)
}

#[track_caller]
fn assert_all_kept(outcome: &Outcome, kept: &[String]) {
    for name in &outcome.acknowledged {
        assert!(kept.contains(name), "{name} was acknowledged and is lost: {outcome:?}, {kept:?}");
    }
}

#[test]
fn writes_acknowledged_after_a_failed_sync_survive_a_power_cut() {
    let (space, faults) = (TestSpace::new(Backend::Sqlite), Faults::new());
    let path = space.folder().join("x.db");
    let outcome = run(faults.apply(&mut child::command("sync-fails", &path), ONCE));
    assert_eq!(outcome.refused, ["failed"], "only the write of the failed sync is refused");
    assert_eq!(outcome.acknowledged.len(), 7, "{outcome:?}");
    let kept = names_after_power_cut(&faults, &path, &space);
    assert_all_kept(&outcome, &kept);
}

#[test]
fn while_the_log_cannot_be_synced_every_write_is_refused() {
    let (space, faults) = (TestSpace::new(Backend::Sqlite), Faults::new());
    let path = space.folder().join("x.db");
    let outcome = run(faults.apply(&mut child::command("sync-fails", &path), ALWAYS));
    assert_eq!(outcome.refused.len(), 6, "{outcome:?}");
    assert_eq!(outcome.acknowledged, ["before", "disarmed"]);
    let kept = names_after_power_cut(&faults, &path, &space);
    assert_all_kept(&outcome, &kept);
}

#[test]
fn a_process_never_writes_again_to_a_log_that_lost_pages() {
    let (space, faults) = (TestSpace::new(Backend::Sqlite), Faults::new());
    let path = space.folder().join("x.db");
    let mut command = child::command("sync-fails", &path);
    let outcome = run(faults.apply(&mut command, ONCE).env("FAULT_FORGET", "1"));
    assert_eq!(outcome.acknowledged, ["before"]);
    assert_eq!(outcome.refused.len(), 7, "{outcome:?}");
    // The next process recovers what is on the disk, with or without a power cut.
    let target = Target::File { path: path.clone(), space: space.space.clone() };
    let store = open_target(&target);
    assert_eq!(names(&store), ["before"]);
    write(&store, "later").unwrap();
    assert_eq!(store.integrity().unwrap(), [""; 0]);
    assert!(!space.folder().join("x.db-sync-failed").exists());
}

#[test]
fn a_later_process_does_not_acknowledge_writes_that_are_only_in_the_page_cache() {
    let (space, faults) = (TestSpace::new(Backend::Sqlite), Faults::new());
    let path = space.folder().join("x.db");
    let first = run(faults.apply(&mut child::command("sync-fails-then-crash", &path), ONCE));
    assert_eq!(first.refused, ["failed"]);
    let second = run(faults.apply(&mut child::command("write-again", &path), ""));
    assert_eq!(second.acknowledged, ["failed"]);
    let kept = names_after_power_cut(&faults, &path, &space);
    assert_all_kept(&first, &kept);
    assert_all_kept(&second, &kept);
}
