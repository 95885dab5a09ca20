//! A store that lost its newest writes while it was closed: a check says so, and no id is given
//! twice.

use crate::search_support::{find, fold};
use crate::support::{begin, export, id, new, open, open_at, say};
use oneiro::{Oneiro, SessionPatch, Target};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::collections::BTreeSet;
use std::path::PathBuf;

on_both_backends! {
    fn messages_older_than_the_index_are_reported_and_ids_are_not_reused(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["one", "two", "three", "four"]);
        fold(&oneiro);
        assert_eq!(oneiro.check().unwrap().lost_writes, [""; 0]);
        // As if the pages of this table were those of an hour ago.
        oneiro.store().write_bulk(|tx| tx.raw("DELETE FROM messages WHERE seq > 2 RETURNING seq")).unwrap();
        let checked = oneiro.check().unwrap();
        assert!(!checked.ok);
        assert!(checked.lost_writes.iter().any(|sign| sign.contains("text index")), "{checked:?}");
        oneiro.raise_counters().unwrap();
        assert_eq!(oneiro.check().unwrap().lost_writes, [""; 0]);
        assert_eq!(say(&oneiro, "s", &["five"]), [5]);
    }

    fn keys_beyond_the_sequence_are_reported(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        oneiro.store().write_bulk(|tx| tx.raw("UPDATE sequence SET key = 0 RETURNING key")).unwrap();
        let checked = oneiro.check().unwrap();
        assert!(checked.lost_writes.iter().any(|sign| sign.contains("sessions")), "{checked:?}");
        oneiro.raise_counters().unwrap();
        assert!(oneiro.check().unwrap().ok);
        begin(&oneiro, "t");
    }
}

/// A log of 4096-byte pages that is cut after a number of its frames.
const LOG_HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

type Step = fn(&Oneiro);

fn say_here(oneiro: &Oneiro) {
    say(oneiro, "s0", &["something to be said", "and answered"]);
}

fn say_there(oneiro: &Oneiro) {
    say(oneiro, "s1", &["something else"]);
}

fn change_title(oneiro: &Oneiro) {
    let patch = SessionPatch { title: Some(Some("a title".into())), ..SessionPatch::default() };
    oneiro.sessions().change(&id("s2"), patch).unwrap();
}

fn create_session(oneiro: &Oneiro) {
    oneiro.sessions().create(new("extra")).unwrap();
}

fn delete_session(oneiro: &Oneiro) {
    oneiro.sessions().delete(&id("s3")).unwrap();
}

/// Pages of messages, of sessions and of the index get into the log at different times.
const SCRIPTS: &[&[Step]] = &[
    &[say_here, say_there, say_here, say_there, fold, say_here, say_there],
    &[say_here, say_there, change_title, create_session, fold, delete_session, say_here, say_there],
    &[delete_session, say_here, say_there, fold, create_session, change_title, fold],
];

/// The database already holds everything that is in the log, so that a log that is cut puts old
/// pages over newer ones. What a check then calls sound is a state that the store was once in, and
/// what is said next is found.
#[test]
fn a_log_truncated_while_the_store_was_closed_is_reported() {
    for script in SCRIPTS {
        let space = TestSpace::new(Backend::Sqlite);
        let oneiro = open(&space);
        (0..4).for_each(|name| drop(begin(&oneiro, &format!("s{name}"))));
        // Closing empties the log, so that it begins with what is done below.
        drop(oneiro);
        let oneiro = open(&space);
        let mut states = BTreeSet::from([export(&oneiro)]);
        for step in *script {
            step(&oneiro);
            states.insert(export(&oneiro));
        }
        let file = space.file();
        assert!(checkpoint(&file) > 0, "nothing was copied to the database");
        let (data, log) = (std::fs::read(&file).unwrap(), std::fs::read(log_of(&file)).unwrap());
        let frames = (log.len() - LOG_HEADER) / FRAME;
        let mut noticed = 0;
        for keep in 0..=frames {
            let copy = space.folder().join(format!("cut{keep}.db"));
            std::fs::write(&copy, &data).unwrap();
            std::fs::write(log_of(&copy), &log[..LOG_HEADER + keep * FRAME]).unwrap();
            let target = Target::File { path: copy, space: space.space.clone() };
            let cut = Oneiro::open(&target, oneiro::Options::default());
            if cut.and_then(|cut| cut.check()).is_ok_and(|checked| checked.ok) {
                let cut = open_at(&target);
                let state = export(&cut);
                assert!(states.contains(&state), "{keep} of {frames} frames: {state}");
                let said = say(&cut, "s0", &["zebrafish"]);
                assert_eq!(find(&cut, "zebrafish"), said, "{keep} of {frames} frames");
            } else {
                noticed += 1;
            }
        }
        assert!(noticed > 0, "no cut did any harm");
    }
}

fn log_of(path: &std::path::Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

/// Copies the log to the database without emptying it; answers how many frames.
fn checkpoint(path: &std::path::Path) -> i64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2)).unwrap()
}
