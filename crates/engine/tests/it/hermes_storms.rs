//! Importing from hermes under faults, in crowds, and while hermes writes: each message once, and
//! what was cut short is completed.

use crate::hermes_files::{Hermes, import, try_import};
use crate::support::{assert_sound, clock, id, ids, open, target};
use oneiro::{Durability, Oneiro, Options, Result};
use oneiro_store::{Fault, FaultPlan, Store};
use oneiro_testkit::{TestSpace, on_both_backends};
use rusqlite::params;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn with_faults(space: &TestSpace, fault: &Fault) -> Result<Oneiro> {
    let options = Options { clock: clock(), ids: ids(), ..Options::default() };
    let store = oneiro_store::Options {
        durability: Durability::Normal,
        ..oneiro_store::Options::default()
    };
    let store = Store::open_with_faults(&target(space), &store, options.clock.now(), fault)?;
    Ok(Oneiro::over(store, options))
}

/// Sessions whose messages lie between each other's, more than a batch of each.
fn crowded(path: &Path, sessions: usize, messages: usize) {
    let db = Hermes::at(path.to_owned(), 22).db();
    db.execute_batch("BEGIN").unwrap();
    for session in 0..sessions {
        let parent = session.checked_sub(1).map(|parent| format!("s{parent}"));
        db.execute(
            "INSERT INTO sessions (id, source, title, parent_session_id, started_at, input_tokens) \
             VALUES (?1, 'cli', ?2, ?3, ?4, 5)",
            params![format!("s{session}"), format!("T{session}"), parent, session as f64],
        )
        .unwrap();
    }
    for number in 0..messages {
        db.execute(
            "INSERT INTO messages (session_id, role, content, timestamp, active) \
             VALUES (?1, 'user', ?2, 5, ?3)",
            params![format!("s{}", number % sessions), format!("n{number}"), number % 7 != 0],
        )
        .unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
}

/// Every message once, in the order of hermes.
fn assert_once(oneiro: &Oneiro, sessions: usize, messages: usize) {
    let mut all = HashSet::new();
    for session in 0..sessions {
        let view = oneiro.sessions().show(&id(&format!("s{session}")), true).unwrap();
        let numbers: Vec<i64> = view
            .messages
            .iter()
            .map(|message| message.external_id.as_ref().unwrap()[7..].parse().unwrap())
            .collect();
        assert!(numbers.is_sorted());
        assert_eq!(view.session.title, Some(format!("T{session}")));
        assert_eq!(view.session.parent_id.is_some(), session > 0);
        assert_eq!(view.session.input_tokens, 5);
        all.extend(numbers);
    }
    assert_eq!(all.len(), messages);
    assert_sound(oneiro);
}

const FILE: &str = "ONEIRO_TEST_HERMES_FILE";

/// Writes to a file from a process of its own, as hermes does: it appends, takes back and compacts
/// until its input ends.
fn writer(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "hermes_storms::writes_until_its_parent_stops_it", "--nocapture"]);
    command.env(FILE, path).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
fn writes_until_its_parent_stops_it() {
    let Ok(path) = std::env::var(FILE) else { return };
    let is_over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_over);
    std::thread::spawn(move || {
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        told.store(true, Ordering::SeqCst);
    });
    let db = Hermes { path: path.into() }.db();
    db.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
    db.execute_batch("PRAGMA wal_autocheckpoint = 20; PRAGMA synchronous = OFF").unwrap();
    let sql =
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?1, 'user', ?2, 5)";
    let mut round = 0;
    while !is_over.load(Ordering::SeqCst) {
        let text = format!("live {round} {}", "y".repeat(2_000));
        db.execute(sql, params![format!("s{}", round % 3), text]).unwrap();
        let number = db.last_insert_rowid();
        let hide = |stands: &str, number: i64| {
            let sql = format!("UPDATE messages SET active = 0, {stands} WHERE id = ?1");
            db.execute(&sql, params![number]).unwrap()
        };
        match round % 5 {
            1 => hide("compacted = 0", number - 1),
            3 => hide("compacted = 1", number - 2),
            _ => 0,
        };
        if round == 0 {
            writeln!(std::io::stdout(), "@@ begun").unwrap();
        }
        round += 1;
    }
}

on_both_backends! {
    fn after_a_fault_at_any_call_the_next_import_completes_it(space) {
        let folder = TestSpace::new(oneiro_testkit::Backend::Sqlite);
        let path = folder.folder().join("state.db");
        crowded(&path, 3, 40);
        let mut fired_in_all = 0;
        for plan in [FaultPlan::FailAt, FaultPlan::CrashBefore, FaultPlan::CrashAfter] {
            let mut at = 1;
            loop {
                let space = TestSpace::new(space.backend);
                drop(open(&space));
                let fault = Fault::new(plan(at));
                let outcome = with_faults(&space, &fault).and_then(|oneiro| try_import(&oneiro, &path));
                let fired = fault.calls() >= at;
                assert!(fired || outcome.is_ok(), "failed without a fault: {outcome:?}");
                let oneiro = open(&space);
                assert_sound(&oneiro);
                let done = import(&oneiro, &path);
                assert_eq!(done.file, done.store);
                assert_once(&oneiro, 3, 40);
                if !fired {
                    break;
                }
                fired_in_all += 1;
                // Most calls are the same again: every call of the beginning, then a sample.
                at += if at < 24 { 1 } else { 37 };
            }
        }
        assert!(fired_in_all > 60, "only {fired_in_all} faults were tried");
    }

    fn concurrent_imports_store_each_message_once(space) {
        let path = space.folder().join("state.db");
        crowded(&path, 5, 6_000);
        drop(open(space));
        let stored: usize = std::thread::scope(|scope| {
            let path = &path;
            let imports: Vec<_> = (0..3)
                .map(|_| scope.spawn(move || {
                    let oneiro = open(space);
                    try_import(&oneiro, path).unwrap().messages
                }))
                .collect();
            imports.into_iter().map(|import| import.join().unwrap()).sum()
        });
        assert_eq!(stored, 6_000);
        let oneiro = open(space);
        assert_once(&oneiro, 5, 6_000);
        assert_eq!(import(&oneiro, &path).messages, 0);
    }

    fn an_import_of_a_file_in_use_reads_one_snapshot(space) {
        let path = space.folder().join("state.db");
        crowded(&path, 3, 300);
        let oneiro = open(space);
        let mut child = writer(&path);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().map_while(std::io::Result::ok).any(|line| line.contains("@@ begun")));
        // Each of these finds what was written during the one before.
        let (mut stored, mut rounds) = (0, 0);
        while rounds < 6 {
            let done = import(&oneiro, &path);
            assert_eq!(done.file, done.store);
            stored += done.messages;
            rounds += usize::from(done.messages > 0);
        }
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        stored += import(&oneiro, &path).messages;
        let all = Hermes { path: path.clone() }.count("messages") as usize;
        assert_eq!(stored, all);
        assert_once(&oneiro, 3, all);
        let db = Hermes { path: path.clone() }.db();
        let live: i64 = db.query_row("SELECT COUNT(*) FROM messages WHERE active", [], |row| row.get(0)).unwrap();
        drop(db);
        assert_eq!(import(&oneiro, &path).store.live, live);
    }
}
