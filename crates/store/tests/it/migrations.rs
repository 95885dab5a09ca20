//! Migrations: forward only, after a copy, under a lock, all or nothing.

use crate::child;
use crate::support::{NOW, client, current_and, names, open, open_with, target, write};
use oneiro_model::ErrorKind;
use oneiro_store::{CURRENT, Migration, Options, SchemaSet, Store, Target, backups};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::path::PathBuf;
use std::sync::Barrier;

/// The version of this schema, and that of the next.
const HERE: i64 = CURRENT.len() as i64;
const THERE: i64 = NEXT.len() as i64;

const NEXT: SchemaSet = &current_and(Migration {
    name: "extra",
    sqlite: "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT;\n",
    postgres: "CREATE TABLE extra (id BIGINT PRIMARY KEY);\n",
});

const BROKEN: SchemaSet = &current_and(Migration {
    name: "broken",
    sqlite: "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT;\nDROP TABLE no_such_table;\n",
    postgres: "CREATE TABLE extra (id BIGINT PRIMARY KEY);\nDROP TABLE no_such_table;\n",
});

fn with(schema: SchemaSet) -> Options {
    Options { schema, ..Options::default() }
}

fn copy_of(space: &TestSpace) -> PathBuf {
    PathBuf::from(format!("{}.schema-{HERE}.bak", space.file().display()))
}

/// The version that the store itself records, and whether the new table is there.
fn version(space: &TestSpace) -> (i64, bool) {
    match space.backend {
        Backend::Sqlite => {
            let sqlite = rusqlite::Connection::open(space.file()).unwrap();
            let number = |sql| sqlite.query_row(sql, [], |row| row.get(0)).unwrap();
            let extra = "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'extra'";
            (number("SELECT MAX(version) FROM migrations"), number(extra) == 1)
        }
        Backend::Postgres => {
            let mut client = client(space);
            let extra = "SELECT to_regclass('extra') IS NOT NULL";
            (
                client.query_one("SELECT MAX(version) FROM migrations", &[]).unwrap().get(0),
                client.query_one(extra, &[]).unwrap().get(0),
            )
        }
    }
}

on_both_backends! {
    fn a_newer_schema_is_refused_and_not_touched(space) {
        drop(open_with(space, &with(NEXT)).unwrap());
        let bytes = || match space.backend {
            Backend::Sqlite => std::fs::read(space.file()).unwrap(),
            Backend::Postgres => Vec::new(),
        };
        let before = bytes();
        let error = open_with(space, &Options::default()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::NewerSchema);
        assert!(error.message().contains(&format!("schema {THERE}")) && error.remedy_text().is_some());
        assert!(bytes() == before, "the file was changed");
        assert_eq!(version(space), (THERE, true));
    }

    fn an_older_store_is_copied_and_migrated(space) {
        write(&open(space), "kept").unwrap();
        let store = open_with(space, &with(NEXT)).unwrap();
        assert_eq!((store.schema(), names(&store)), (THERE, vec!["kept".to_owned()]));
        assert_eq!(version(space), (THERE, true));
        let recorded = store.read(backups::all).unwrap();
        if space.backend == Backend::Postgres {
            assert_eq!(recorded, []);
            return;
        }
        let copy = copy_of(space);
        assert_eq!((recorded[0].path.as_str(), recorded[0].reason.as_str()), (copy.to_str().unwrap(), "migration"));
        let target = Target::File { path: copy, space: space.space.clone() };
        let copy = Store::open(&target, &Options::default(), NOW).unwrap();
        assert_eq!((copy.schema(), names(&copy)), (HERE, vec!["kept".to_owned()]));
    }

    fn a_migration_that_fails_leaves_the_old_version(space) {
        write(&open(space), "kept").unwrap();
        assert!(open_with(space, &with(BROKEN)).is_err());
        assert_eq!(version(space), (HERE, false));
        let store = open(space);
        assert_eq!(names(&store), ["kept"]);
        write(&store, "later").unwrap();
        drop(store);
        // The copy of the failed attempt is old by now; the next attempt makes its own.
        let store = open_with(space, &with(NEXT)).unwrap();
        assert_eq!(names(&store), ["kept", "later"]);
        if space.backend == Backend::Sqlite {
            let target = Target::File { path: copy_of(space), space: space.space.clone() };
            let copy = Store::open(&target, &Options::default(), NOW).unwrap();
            assert_eq!(names(&copy), ["kept", "later"]);
        }
    }

    /// old:  open ..................... write, bulk, derived, read: refused
    /// new:          migrate, write
    fn a_process_stops_when_a_newer_one_migrated_the_store_it_has_open(space) {
        let old = open(space);
        write(&old, "before").unwrap();
        assert_eq!(names(&old), ["before"]);
        let new = open_with(space, &with(NEXT)).unwrap();
        write(&new, "migrated").unwrap();
        let refusals = [
            write(&old, "late").unwrap_err(),
            old.write_bulk(|tx| crate::support::put(tx, "late")).unwrap_err(),
            old.write_derived(|tx| crate::support::put(tx, "late")).unwrap_err(),
            write(&old, "late").unwrap_err(),
        ];
        for error in refusals {
            assert_eq!(error.kind(), ErrorKind::NewerSchema, "{error:?}");
            assert!(error.remedy_text().is_some());
        }
        // A reader on PostgreSQL looks now and then.
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let refused = loop {
            match old.read(oneiro_store::settings::all) {
                Err(error) => break error,
                Ok(_) => assert!(std::time::Instant::now() < limit, "reads are never refused"),
            }
            std::thread::yield_now();
        };
        assert_eq!(refused.kind(), ErrorKind::NewerSchema, "{refused:?}");
        write(&new, "later").unwrap();
        assert_eq!(names(&new), ["before", "later", "migrated"]);
    }

    fn many_threads_may_open_a_new_or_an_old_store_at_once(space) {
        for (done, schema) in (1..).zip([CURRENT, NEXT]) {
            let start = Barrier::new(6);
            std::thread::scope(|scope| {
                for thread in 0..6 {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        let store = open_with(space, &with(schema)).unwrap();
                        write(&store, &format!("{}-{thread}", schema.len())).unwrap();
                    });
                }
            });
            let store = open_with(space, &with(schema)).unwrap();
            assert_eq!(names(&store).len(), 6 * done);
        }
        let left = std::fs::read_dir(space.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        let parts = left.filter(|name| name.to_string_lossy().contains(".part"));
        assert_eq!(parts.count(), 0);
    }
}

#[test]
fn many_processes_may_create_one_store_at_once() {
    let space = TestSpace::new(Backend::Sqlite);
    let path = space.folder().join("shared.db");
    let children: Vec<_> = (0..4).map(|_| child::command("open", &path).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let target = Target::File { path, space: space.space.clone() };
    assert_eq!(names(&Store::open(&target, &Options::default(), NOW).unwrap()).len(), 4);
}

#[test]
fn a_store_that_must_exist_is_not_created() {
    let space = TestSpace::new(Backend::Sqlite);
    let options = Options { must_exist: true, ..Options::default() };
    let error = Store::open(&target(&space), &options, NOW).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    crate::support::assert_helpful(&error, &space.file());
    assert!(!space.file().exists());
    // Nor is one made of an empty file.
    std::fs::write(space.file(), "").unwrap();
    let error = Store::open(&target(&space), &options, NOW).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(std::fs::metadata(space.file()).unwrap().len(), 0);
}
