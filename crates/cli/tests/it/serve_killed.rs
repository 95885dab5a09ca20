//! A server that stops or is killed in the middle of long work: it waits for none of it, and the
//! next process goes on at once, however long the leases of the first would last.

use crate::serve_support::{Server, eventually};
use crate::support::json;
use oneiro_testkit::{Backend, TestSpace, words};
use rusqlite::Connection;

/// Enough that indexing them takes much longer than taking a lock.
const MESSAGES: usize = 10_000;

/// How often a rebuild is begun until one is still running when the lock is taken.
const TRIES: usize = 50;

fn fill(space: &TestSpace) {
    let target = oneiro::Target::parse(&space.store, Some(&space.space)).unwrap();
    let opened = oneiro::Oneiro::open(&target, oneiro::Options::default()).unwrap();
    let id = oneiro::SessionId::new("s").unwrap();
    opened.sessions().create(oneiro::NewSession::with_id(id.clone())).unwrap();
    for batch in 0..MESSAGES / 1_000 {
        let message = |n: usize| {
            let text = words((batch * 1_000 + n) as u64, 20);
            oneiro::NewMessage::text(oneiro::Role::User, text)
        };
        opened.messages().append(&id, (0..1_000).map(message).collect()).unwrap();
    }
}

fn queue_rebuild(file: &Connection, number: u8) -> String {
    let id = oneiro::JobId::from_random([number; 10]).to_string();
    file.execute_batch(&format!(
        "BEGIN IMMEDIATE; UPDATE sequence SET key = key + 1; \
         INSERT INTO jobs (key, id, kind, state, payload, unique_key, attempts, next_run_at, \
         created_at, updated_at) \
         SELECT key, '{id}', 'rebuild_index', 'queued', 'null', NULL, 0, 0, 0, 0 FROM sequence; \
         COMMIT"
    ))
    .unwrap();
    id
}

fn state(file: &Connection, id: &str) -> String {
    file.query_row("SELECT state FROM jobs WHERE id = ?1", [id], |row| row.get(0)).unwrap()
}

/// A server in the middle of a rebuild that cannot end: the lock of the store is held.
struct Rebuilding {
    server: Server,
    lock: Connection,
    job: String,
}

fn start_rebuilding(space: &TestSpace) -> Rebuilding {
    fill(space);
    let server = Server::start(space, &[]);
    let lock = Connection::open(space.file()).unwrap();
    lock.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    for number in 0..TRIES {
        let job = queue_rebuild(&lock, number as u8);
        eventually("the rebuild does not begin", || state(&lock, &job) != "queued");
        lock.execute_batch("BEGIN IMMEDIATE").unwrap();
        if state(&lock, &job) == "running" {
            return Rebuilding { server, lock, job };
        }
        lock.execute_batch("ROLLBACK").unwrap();
    }
    panic!("every rebuild was done before the lock was taken");
}

fn assert_goes_on_at_once(space: &TestSpace, job: &str, attempts: u64) {
    let ran = json(space, &["jobs", "run"]);
    assert!(ran["done"].as_u64().unwrap() >= 1, "{ran}");
    let listed = json(space, &["jobs", "--limit", "100"]);
    let found = listed["items"].as_array().unwrap().iter().find(|one| one["id"] == job).unwrap();
    assert_eq!(
        (&found["state"], &found["attempts"]),
        (&"done".into(), &attempts.into()),
        "{found}"
    );
    assert_eq!(json(space, &["doctor"])["ok"], true);
}

#[test]
fn a_stop_in_the_middle_of_a_rebuild_does_not_wait_for_it_and_the_next_process_finishes_it() {
    let space = TestSpace::new(Backend::Sqlite);
    let Rebuilding { mut server, lock, job } = start_rebuilding(&space);
    server.signal("-TERM");
    // The lock is held until the server has ended, so it did not wait for the rebuild.
    assert_eq!(server.wait(), Some(0));
    assert_eq!(state(&lock, &job), "running");
    lock.execute_batch("ROLLBACK").unwrap();
    assert_goes_on_at_once(&space, &job, 2);
}

#[test]
fn a_job_of_a_killed_process_is_taken_over_by_the_next_one_before_its_lease_ends() {
    let space = TestSpace::new(Backend::Sqlite);
    let Rebuilding { mut server, lock, job } = start_rebuilding(&space);
    server.signal("-KILL");
    assert_eq!(server.wait(), None);
    lock.execute_batch("ROLLBACK").unwrap();
    assert_goes_on_at_once(&space, &job, 2);
}
