//! Waiting for another writer: bounded, and then a clear answer.

use crate::child;
use crate::support::{Holder, NOW, names, open, open_with, put, with_busy_timeout, write};
use oneiro_model::ErrorKind;
use oneiro_store::{Options, Store, Target};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a child says stands in a line of its own; the harness prints others.
const HAS_LOCK: &str = "@@ has the lock";

/// Another process that is stopped in the middle of a write.
struct FrozenWriter {
    child: Child,
    input: ChildStdin,
    /// Open for as long as the child may print.
    _output: Lines<BufReader<ChildStdout>>,
}

impl FrozenWriter {
    fn start(space: &TestSpace) -> FrozenWriter {
        let mut command = child::command("write-when-told", &space.file());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            lines.by_ref().any(|line| line.unwrap().ends_with(HAS_LOCK)),
            "the child has no lock"
        );
        let frozen = FrozenWriter { input: child.stdin.take().unwrap(), child, _output: lines };
        frozen.signal("-STOP");
        frozen
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    fn go_on_and_commit(&mut self) {
        self.signal("-CONT");
        writeln!(self.input).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for FrozenWriter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The work of the child.
pub fn write_when_told(target: &Target) {
    let store = Store::open(target, &Options::default(), NOW).unwrap();
    let written = store.write_bulk(|tx| {
        put(tx, "frozen")?;
        std::io::stdout().write_all(format!("{HAS_LOCK}\n").as_bytes()).unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        Ok(())
    });
    written.unwrap();
}

/// On PostgreSQL the server ends the transaction of a writer that pauses; SQLite has nobody who
/// could, so all the others can do is to say so and to go on afterwards.
#[test]
fn writers_fail_while_a_frozen_process_holds_the_lock_and_succeed_afterwards() {
    let space = TestSpace::new(Backend::Sqlite);
    let store = open_with(&space, &with_busy_timeout(200)).unwrap();
    write(&store, "before").unwrap();
    let mut frozen = FrozenWriter::start(&space);
    for _ in 0..2 {
        let error = write(&store, "refused").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
        assert!(error.is_retryable() && error.remedy_text().is_some());
        assert_eq!(names(&store), ["before"], "readers go on");
    }
    let error = open_with(&space, &with_busy_timeout(200)).map(|store| write(&store, "refused"));
    assert!(!matches!(error, Ok(Ok(()))));
    frozen.go_on_and_commit();
    write(&store, "after").unwrap();
    assert_eq!(names(&store), ["after", "before", "frozen"]);
}

on_both_backends! {
    fn a_writer_that_waits_too_long_fails_at_the_busy_timeout(space) {
        drop(open(space));
        let store = open_with(space, &with_busy_timeout(200)).unwrap();
        let holder = Holder::of(space);
        // The writer gives up while the lock is held.
        let error = write(&store, "late").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
        assert!(error.is_retryable() && error.remedy_text().is_some());
        holder.let_go();
        write(&store, "again").unwrap();
        assert_eq!(names(&store), ["again"]);
    }

    fn a_writer_that_gets_the_lock_within_the_busy_timeout_succeeds(space) {
        let store = open(space);
        let holder = Holder::of(space);
        let (done, is_done) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| done.send(write(&store, "patient")).unwrap());
            // While the lock is held the writer cannot be done.
            let early = is_done.recv_timeout(Duration::from_millis(150));
            assert_eq!(early.err(), Some(mpsc::RecvTimeoutError::Timeout));
            holder.let_go();
            is_done.recv().unwrap().unwrap();
        });
        assert_eq!(names(&store), ["patient"]);
    }

    fn a_long_write_of_the_same_process_does_not_exceed_the_busy_timeout(space) {
        let store = open_with(space, &with_busy_timeout(200)).unwrap();
        let (began, has_begun) = mpsc::channel();
        let (go, may_go) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let bulk = scope.spawn(|| store.write_bulk(move |tx| {
                put(tx, "bulk")?;
                began.send(()).unwrap();
                may_go.recv().unwrap();
                Ok(())
            }));
            has_begun.recv().unwrap();
            let error = write(&store, "late").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
            go.send(()).unwrap();
            bulk.join().unwrap().unwrap();
        });
        write(&store, "again").unwrap();
        assert_eq!(names(&store), ["again", "bulk"]);
    }

    fn readers_never_wait_for_a_writer(space) {
        let store = open_with(space, &with_busy_timeout(100)).unwrap();
        write(&store, "there").unwrap();
        let _holder = Holder::of(space);
        assert_eq!(names(&store), ["there"]);
    }

    /// Writers of one process queue behind the first, whose wait counts for them too.
    fn each_of_many_waiting_writers_fails_at_its_own_busy_timeout(space) {
        const BUSY_TIMEOUT: Duration = Duration::from_millis(2_000);
        let store = open_with(space, &with_busy_timeout(BUSY_TIMEOUT.as_millis() as u64)).unwrap();
        write(&store, "before").unwrap();
        let holder = Holder::of(space);
        let wait = |name: &str| {
            let began = Instant::now();
            assert_eq!(write(&store, name).unwrap_err().kind(), ErrorKind::Busy, "{name}");
            began.elapsed()
        };
        let alone = wait("alone");
        let waits: Vec<Duration> = std::thread::scope(|scope| {
            let early: Vec<_> = (0..4).map(|_| scope.spawn(|| wait("early"))).collect();
            let late = scope.spawn(|| {
                std::thread::sleep(BUSY_TIMEOUT / 2);
                wait("late")
            });
            early.into_iter().chain([late]).map(|writer| writer.join().unwrap()).collect()
        });
        // Twice as long as one alone is what a queue without deadlines makes of it.
        assert!(waits.iter().all(|waited| *waited < alone * 8 / 5), "{waits:?}, alone {alone:?}");
        // Nobody gets it before.
        assert!(waits.iter().all(|waited| *waited >= BUSY_TIMEOUT * 9 / 10), "{waits:?}");
        holder.let_go();
        write(&store, "after").unwrap();
        assert_eq!(names(&store), ["after", "before"]);
    }
}
