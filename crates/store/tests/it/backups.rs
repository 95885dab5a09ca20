//! Backups under faults: nothing is overwritten, every copy that exists is recorded, and nothing
//! that a dead process began stays for ever.

use crate::child;
use crate::support::{NOW, current_and, names, open, open_with, target, write};
use oneiro_model::ErrorKind;
use oneiro_store::{Fault, FaultPlan, Migration, Options, Store, Target, backups};
use oneiro_testkit::{Backend, Faults, TestSpace, on_both_backends};
use std::fs;
use std::path::{Path, PathBuf};

/// Path and reason of every copy on record.
fn recorded(store: &Store) -> Vec<(PathBuf, String)> {
    let rows = store.read(backups::all).unwrap();
    rows.into_iter().map(|row| (PathBuf::from(row.path), row.reason)).collect()
}

/// The files in a folder whose names mark an unfinished copy.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.to_string_lossy().contains(".part")).collect()
}

fn open_copy(path: &Path, space: &TestSpace) -> Store {
    let target = Target::File { path: path.to_owned(), space: space.space.clone() };
    Store::open(&target, &Options::default(), NOW).unwrap()
}

/// Child: copies the store at `path` to `copies/copy.db` beside it, prints the outcome.
#[expect(clippy::print_stdout, reason = "a child answers its parent")]
pub fn back_up(target: &Target, path: &Path) {
    let store = Store::open(target, &Options::default(), NOW).unwrap();
    match store.backup(&path.with_file_name("copies").join("copy.db"), NOW, &mut |_| {}) {
        Ok(()) => println!("made"),
        Err(error) => println!("failed {}: {error:?}", error.kind().name()),
    }
}

/// Child: dies in the middle of a copy.
pub fn back_up_and_die(target: &Target, path: &Path) {
    let store = Store::open(target, &Options::default(), NOW).unwrap();
    let copy = path.with_file_name("copy.db");
    let _ = store.backup(&copy, NOW, &mut |_| std::process::abort());
}

fn run(command: &mut std::process::Command) -> String {
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}

on_both_backends! {
    fn a_file_that_appears_while_a_copy_is_made_is_not_overwritten(space) {
        let store = open(space);
        write(&store, "kept").unwrap();
        let path = space.folder().join("copy.db");
        let mut appear = |_| fs::write(&path, b"precious").unwrap();
        let error = store.backup(&path, NOW, &mut appear).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!((recorded(&store), parts(space.folder())), (vec![], vec![]));
    }

    fn a_copy_that_another_thread_is_making_is_not_taken_for_abandoned(space) {
        let store = open(space);
        write(&store, "kept").unwrap();
        let (outer, inner) = (space.folder().join("outer.db"), space.folder().join("inner.db"));
        let mut made = false;
        store.backup(&outer, NOW, &mut |_| {
            if !std::mem::replace(&mut made, true) {
                store.backup(&inner, NOW, &mut |_| {}).unwrap();
            }
        }).unwrap();
        for copy in [&outer, &inner] {
            assert_eq!(names(&open_copy(copy, space)), ["kept"]);
        }
        let reasons: Vec<_> = recorded(&store).into_iter().map(|(_, reason)| reason).collect();
        assert_eq!(reasons, ["backup", "backup"]);
        assert!(parts(space.folder()).is_empty());
    }
}

#[test]
fn a_backup_whose_folder_cannot_be_synced_is_recorded_and_the_cause_is_named() {
    let (space, faults) = (TestSpace::new(Backend::Sqlite), Faults::new());
    let path = space.folder().join("x.db");
    let store = open_copy(&path, &space);
    write(&store, "kept").unwrap();
    faults.arm();
    let said = run(faults.apply(&mut child::command("backup", &path), "sync:copies:0:*:EIO"));
    assert!(said.contains("failed unavailable"), "{said}");
    assert!(said.contains("Input/output error") && said.contains("copy.db"), "{said}");
    let copy = fs::canonicalize(space.folder().join("copies/copy.db")).unwrap();
    assert_eq!(recorded(&store), [(copy.clone(), "backup".to_owned())]);
    assert_eq!(names(&open_copy(&copy, &space)), ["kept"]);
}

/// File systems without hard links take another way, which overwrites nothing either.
#[test]
fn without_hard_links_a_backup_is_made_and_overwrites_nothing() {
    let (space, faults) = (TestSpace::new(Backend::Sqlite), Faults::new());
    let path = space.folder().join("x.db");
    write(&open_copy(&path, &space), "kept").unwrap();
    faults.arm();
    let rules = "link:copy.db:0:*:EPERM";
    let said = run(faults.apply(&mut child::command("backup", &path), rules));
    assert!(said.contains("made"), "{said}");
    let copy = space.folder().join("copies/copy.db");
    assert_eq!(names(&open_copy(&copy, &space)), ["kept"]);
    let said = run(faults.apply(&mut child::command("backup", &path), rules));
    assert!(said.contains("failed conflict"), "{said}");
    assert!(parts(copy.parent().unwrap()).is_empty());
}

#[test]
fn files_of_a_killed_backup_are_removed_by_the_next_one() {
    let space = TestSpace::new(Backend::Sqlite);
    let path = space.folder().join("x.db");
    let store = open_copy(&path, &space);
    write(&store, "kept").unwrap();
    assert!(!child::command("backup-and-die", &path).output().unwrap().status.success());
    assert!(!parts(space.folder()).is_empty(), "nothing was left to be removed");
    // An erasure must know of it until it is gone.
    let known: Vec<_> = recorded(&store).into_iter().map(|(path, _)| path).collect();
    assert!(
        parts(space.folder()).iter().any(|part| known.contains(&fs::canonicalize(part).unwrap()))
    );
    let other = space.folder().join("other.db");
    store.backup(&other, NOW, &mut |_| {}).unwrap();
    assert!(parts(space.folder()).is_empty());
    let other = fs::canonicalize(other).unwrap();
    assert_eq!(recorded(&store), [(other, "backup".to_owned())]);
}

#[test]
fn a_finished_copy_whose_record_was_cut_short_is_recorded_and_never_removed() {
    let space = TestSpace::new(Backend::Sqlite);
    let store = open(&space);
    let copy = fs::canonicalize(space.folder()).unwrap().join("copy.db");
    store.backup(&copy, NOW, &mut |_| {}).unwrap();
    store
        .write(|tx| {
            tx.raw("UPDATE backups SET reason = 'unfinished backup' RETURNING at").map(|_| ())
        })
        .unwrap();
    assert_eq!(store.remove_abandoned_backups().unwrap(), [""; 0]);
    assert_eq!(recorded(&store), [(copy.clone(), "backup".to_owned())]);
    assert!(copy.is_file());
}

/// The fault back end fails or crashes at every call of a migration. Whatever copy of the store is
/// then there is known to the version that did not migrate.
#[test]
fn a_copy_of_a_migration_that_was_interrupted_anywhere_is_on_record() {
    const NEXT: &[Migration] = &current_and(Migration {
        name: "extra",
        sqlite: "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT;\n",
        postgres: "CREATE TABLE extra (id BIGINT PRIMARY KEY);\n",
    });
    let mut left_a_copy = 0;
    for plan in [FaultPlan::FailAt, FaultPlan::CrashBefore, FaultPlan::CrashAfter] {
        let mut at = 0;
        loop {
            at += 1;
            let space = TestSpace::new(Backend::Sqlite);
            write(&open(&space), "kept").unwrap();
            let fault = Fault::new(plan(at));
            let options = Options { schema: NEXT, ..Options::default() };
            let migrated = Store::open_with_faults(&target(&space), &options, NOW, &fault);
            if fault.calls() < at {
                break;
            }
            drop(migrated);
            let copies: Vec<_> = fs::read_dir(space.folder())
                .unwrap()
                .map(|entry| fs::canonicalize(entry.unwrap().path()).unwrap())
                .filter(|path| path.to_string_lossy().ends_with(".bak"))
                .collect();
            left_a_copy += copies.len();
            // Read with a bare driver: opening would migrate, or refuse what is migrated.
            let sqlite = rusqlite::Connection::open(space.file()).unwrap();
            let known = |path: &Path| {
                let sql = "SELECT COUNT(*) FROM backups WHERE path = ?1";
                sqlite.query_row(sql, [path.to_str()], |row| row.get::<_, i64>(0)).unwrap() == 1
            };
            for copy in &copies {
                assert!(known(copy), "{:?}: nobody knows of {}", plan(at), copy.display());
            }
            drop(sqlite);
            // Whatever is on record is set right by the next process.
            let store = open_with(&space, &options).unwrap();
            store.remove_abandoned_backups().unwrap();
            assert_eq!(names(&store), ["kept"]);
            for (path, reason) in recorded(&store) {
                assert!(path.is_file() && reason == "migration", "{path:?} {reason}");
            }
        }
    }
    assert!(left_a_copy > 5, "only {left_a_copy} copies were left");
}
