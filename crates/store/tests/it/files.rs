//! Files that are not as they should be: a clear answer each, and nothing touched.

use crate::child;
use crate::support::{NOW, assert_helpful, names, open, open_with, write};
use oneiro_model::{Error, ErrorKind};
use oneiro_store::{Options, Store, Target};
use oneiro_testkit::{Backend, TestSpace};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn sqlite() -> TestSpace {
    TestSpace::new(Backend::Sqlite)
}

fn at(space: &TestSpace, path: &Path) -> Target {
    Target::File { path: path.to_owned(), space: space.space.clone() }
}

fn refusal(space: &TestSpace) -> Error {
    let error = open_with(space, &Options::default()).err().expect("the store was opened");
    assert_helpful(&error, &space.file());
    error
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_store_is_readable_by_its_owner_only() {
    let space = sqlite();
    let path = space.folder().join("deep/er/x.db");
    let store = Store::open(&at(&space, &path), &Options::default(), NOW).unwrap();
    write(&store, "x").unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&PathBuf::from(format!("{}-wal", path.display()))), 0o600);
    assert_eq!((mode(path.parent().unwrap()), mode(&space.folder().join("deep"))), (0o700, 0o700));
    let copy = space.folder().join("copies/y.db");
    store.backup(&copy, NOW, &mut |_| {}).unwrap();
    assert_eq!((mode(&copy), mode(copy.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_folder_in_place_of_the_file_is_refused() {
    let space = sqlite();
    fs::create_dir(space.file()).unwrap();
    let error = refusal(&space);
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.message().contains("folder"), "{error:?}");
}

#[test]
fn a_file_that_is_not_a_database_is_refused_and_not_touched() {
    for content in [&b"hello, I am a letter of some length"[..], &[0x5A; 40_000], &[0; 4096]] {
        let space = sqlite();
        fs::write(space.file(), content).unwrap();
        let error = refusal(&space);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
        assert!(fs::read(space.file()).unwrap() == content, "the file was changed");
    }
}

#[test]
fn the_database_of_another_program_is_refused_and_not_touched() {
    for make in [
        "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)",
        "PRAGMA application_id = 7",
        "PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)",
    ] {
        let space = sqlite();
        let other = rusqlite::Connection::open(space.file()).unwrap();
        other.execute_batch(make).unwrap();
        other.close().unwrap();
        let before = fs::read(space.file()).unwrap();
        let error = refusal(&space);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error:?}");
        assert!(fs::read(space.file()).unwrap() == before, "the file was changed");
    }
}

#[test]
fn a_truncated_file_is_corrupt() {
    let space = sqlite();
    let store = open(&space);
    for turn in 0..200 {
        write(&store, &format!("{turn}-{}", "x".repeat(500))).unwrap();
    }
    drop(store);
    let whole = fs::read(space.file()).unwrap();
    for keep in [whole.len() / 2, 4096, 100, 10] {
        fs::write(space.file(), &whole[..keep]).unwrap();
        let error = refusal(&space);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "cut to {keep}: {error:?}");
        assert!(fs::read(space.file()).unwrap() == whole[..keep], "the file was changed");
    }
    fs::write(space.file(), &whole).unwrap();
    assert_eq!(names(&open(&space)).len(), 200);
}

#[test]
fn an_emptied_file_beside_its_log_is_corrupt_and_the_log_is_kept() {
    let space = sqlite();
    write(&open(&space), "kept").unwrap();
    let log = PathBuf::from(format!("{}-wal", space.file().display()));
    fs::write(space.file(), b"").unwrap();
    fs::write(&log, [7; 5_000]).unwrap();
    let error = refusal(&space);
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
    assert_eq!(fs::read(&log).unwrap(), [7; 5_000]);
}

#[test]
fn pages_that_were_overwritten_are_reported() {
    let space = sqlite();
    let store = open(&space);
    for turn in 0..200 {
        write(&store, &format!("{turn}-{}", "x".repeat(500))).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(space.file()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8_192].fill(0xA5);
    fs::write(space.file(), &bytes).unwrap();
    let found = open_with(&space, &Options::default()).and_then(|store| store.integrity());
    assert!(found.is_err() || found.is_ok_and(|problems| !problems.is_empty()));
}

#[test]
fn a_read_only_file_is_read_and_writes_are_refused() {
    let space = sqlite();
    let folder = space.folder().join("shelf");
    let path = folder.join("x.db");
    let store = Store::open(&at(&space, &path), &Options::default(), NOW).unwrap();
    write(&store, "kept").unwrap();
    drop(store);
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(space.folder(), 0o755);
    // The folder may be written to, so that SQLite can make its shared memory there.
    allow(&folder, 0o777);
    allow(&path, 0o444);
    assert!(child::command_of_nobody("read-only", &path).status().unwrap().success());
    allow(&path, 0o000);
    assert!(child::command_of_nobody("no-access", &path).status().unwrap().success());
    allow(&folder, 0o555);
    assert!(
        child::command_of_nobody("no-access", &folder.join("new.db")).status().unwrap().success()
    );
}

#[test]
fn a_file_that_is_moved_away_is_not_created_again() {
    let space = sqlite();
    let store = open(&space);
    write(&store, "kept").unwrap();
    let away = space.folder().join("away.db");
    fs::rename(space.file(), &away).unwrap();
    let error = store.read(oneiro_store::settings::all).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert_helpful(&error, &space.file());
    assert!(!space.file().exists(), "an empty store took its place");
    fs::write(space.file(), b"").unwrap();
    assert!(store.read(oneiro_store::settings::all).is_err());
    assert_eq!(fs::metadata(space.file()).unwrap().len(), 0);
}
