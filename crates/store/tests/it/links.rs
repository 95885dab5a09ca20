//! A store behind symbolic links: SQLite keeps its log beside the file that the link leads to, and
//! so must everything that looks for the log.

use crate::child;
use crate::support::{NOW, names, put, write};
use oneiro_store::{
    FileKind, ForeignFile, ForeignLocking, ForeignRows, Options, Store, Target, backups,
};
use oneiro_testkit::{Backend, Faults, TestSpace};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A folder `real`, a link to it, links to a store in it, and a relative way there.
fn paths(space: &TestSpace) -> Vec<PathBuf> {
    let root = space.folder();
    fs::create_dir(root.join("real")).unwrap();
    symlink("real", root.join("folder")).unwrap();
    symlink("real/x.db", root.join("file.db")).unwrap();
    symlink(root.join("folder/x.db"), root.join("far.db")).unwrap();
    let here = std::env::current_dir().unwrap();
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    let relative = up.join(root.strip_prefix("/").unwrap()).join("file.db");
    vec![root.join("file.db"), root.join("folder/x.db"), root.join("far.db"), relative]
}

fn open_path(path: &Path, space: &TestSpace) -> Store {
    let target = Target::File { path: path.to_owned(), space: space.space.clone() };
    Store::open(&target, &Options::default(), NOW).unwrap()
}

fn real(space: &TestSpace) -> PathBuf {
    fs::canonicalize(space.folder()).unwrap().join("real/x.db")
}

#[test]
fn a_store_behind_any_link_is_one_store_and_acknowledges_each_write_once() {
    for place in 0..4 {
        let space = TestSpace::new(Backend::Sqlite);
        let path = paths(&space)[place].clone();
        let store = open_path(&path, &space);
        write(&store, "first").unwrap();
        store.write_bulk(|tx| put(tx, "second")).unwrap();
        assert_eq!(names(&store), ["first", "second"]);
        assert_eq!(store.target().to_string(), real(&space).display().to_string());
        assert!(real(&space).is_file(), "{} was not followed", path.display());
        let direct = open_path(&real(&space), &space);
        write(&direct, "third").unwrap();
        assert_eq!(names(&store), ["first", "second", "third"]);
    }
}

/// A log of an older store beside the link: syncing that one would acknowledge what is lost.
#[test]
fn a_stale_log_beside_a_link_is_not_taken_for_the_log_of_the_store() {
    for place in 0..4 {
        let (space, faults) = (TestSpace::new(Backend::Sqlite), Faults::new());
        let path = paths(&space)[place].clone();
        let stale = PathBuf::from(format!("{}-wal", space.folder().join("file.db").display()));
        fs::write(&stale, b"a log of long ago").unwrap();
        let mut command = child::command("write-again", &path);
        let output = faults.apply(&mut command, "").output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("acknowledged failed"));
        faults.cut_power(&real(&space));
        assert_eq!(names(&open_path(&real(&space), &space)), ["failed"], "{}", path.display());
        assert_eq!(fs::read(&stale).unwrap(), b"a log of long ago");
    }
}

#[test]
fn retargeting_a_link_does_not_affect_an_open_store() {
    let space = TestSpace::new(Backend::Sqlite);
    let link = paths(&space)[0].clone();
    let store = open_path(&link, &space);
    write(&store, "before").unwrap();
    fs::remove_file(&link).unwrap();
    symlink("real/y.db", &link).unwrap();
    drop(open_path(&link, &space));
    write(&store, "after").unwrap();
    assert_eq!(names(&store), ["after", "before"]);
    assert_eq!(names(&open_path(&real(&space), &space)).len(), 2);
}

#[test]
fn a_backup_through_a_link_is_recorded_under_its_real_path() {
    let space = TestSpace::new(Backend::Sqlite);
    let store = open_path(&paths(&space)[0], &space);
    write(&store, "kept").unwrap();
    symlink("real/copy.db", space.folder().join("copy.db")).unwrap();
    store.backup(&space.folder().join("copy.db"), NOW, &mut |_| {}).unwrap();
    let copy = real(&space).with_file_name("copy.db");
    let recorded = store.read(backups::all).unwrap();
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0].path, copy.display().to_string());
    assert_eq!(names(&open_path(&copy, &space)), ["kept"]);
}

#[test]
fn the_log_of_another_programs_database_is_read_through_a_link() {
    let space = TestSpace::new(Backend::Sqlite);
    paths(&space);
    let theirs = rusqlite::Connection::open(real(&space)).unwrap();
    theirs
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    // A process of its own: in this one the other SQLite holds the locks.
    let link = space.folder().join("file.db");
    assert_eq!(oneiro_store::kind_of_file(&link), FileKind::Sqlite(vec!["t".to_owned()]));
    let status = child::command("read-foreign", &link).status().unwrap();
    assert!(status.success());
}

/// Child: reads the one row that is only in the log.
pub fn assert_foreign_row_is_read(path: &Path) {
    let file = ForeignFile::open(path, ForeignLocking::IfInUse).unwrap();
    let mut rows = 0;
    let columns = ["x".to_owned()];
    let asked = ForeignRows { table: "t", columns: &columns, from: None, equals: None };
    file.each(asked, |_| {
        rows += 1;
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(rows, 1);
}
