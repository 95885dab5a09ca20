//! Group commit: many writes, one commit, and each write still stands or falls alone.

use crate::support::{NOW, names, open, put, target, write};
use oneiro_model::{Error, ErrorKind, Result};
use oneiro_store::{Fault, FaultPlan, Options, Store, Tx, sequence};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};

type Work = Arc<dyn Fn(&Tx<'_>) -> Result<()> + Send + Sync>;

/// Opened once; whoever waits then passes.
#[derive(Default)]
struct Signal(Mutex<bool>, Condvar);

impl Signal {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        drop(self.1.wait_while(self.0.lock().unwrap(), |open| !*open).unwrap());
    }
}

/// Runs `works` as one group, in this order: one writer holds the lead until all of them wait.
fn group(store: &Store, works: &[Work]) -> Vec<Result<()>> {
    let (has_leader, may_continue) = (Arc::new(Signal::default()), Arc::new(Signal::default()));
    std::thread::scope(|scope| {
        let (begun, held) = (Arc::clone(&has_leader), Arc::clone(&may_continue));
        let leader = scope.spawn(move || {
            let passed = Arc::clone(&begun);
            let _ = write_caught(store, move |_| {
                begun.open();
                held.wait();
                Ok(())
            });
            // A fault may have kept the leader from its write; then there is no group.
            passed.open();
        });
        has_leader.wait();
        let mut writers = Vec::new();
        for (place, work) in works.iter().enumerate() {
            let work = Arc::clone(work);
            writers.push(scope.spawn(move || write_caught(store, move |tx| work(tx))));
            while store.queued_writes() <= place && !leader.is_finished() {
                std::thread::yield_now();
            }
        }
        may_continue.open();
        leader.join().unwrap();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    })
}

/// The same where calls of the engine may panic, which is then the outcome of a write. Everybody
/// must be answered; a minute without an answer is a hang.
fn group_with_panics(store: &Store, works: &[Work]) -> Vec<Result<()>> {
    let (store, works) = (store.clone(), works.to_vec());
    let (answer, answered) = std::sync::mpsc::channel();
    std::thread::spawn(move || answer.send(group(&store, &works)));
    let minute = std::time::Duration::from_secs(60);
    answered.recv_timeout(minute).expect("a write was never answered")
}

/// Writes, and answers a panic of the engine as an error.
fn write_caught(
    store: &Store,
    work: impl Fn(&Tx<'_>) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    let caught = catch_unwind(AssertUnwindSafe(|| store.write(work)));
    caught.unwrap_or_else(|_| Err(Error::internal("panicked")))
}

fn good(name: &'static str) -> Work {
    Arc::new(move |tx| put(tx, name))
}

/// Writes and then fails.
fn bad(name: &'static str) -> Work {
    Arc::new(move |tx| {
        put(tx, name)?;
        Err(Error::invalid("bad on purpose"))
    })
}

/// Writes and then is refused by the engine itself.
fn refused(name: &'static str) -> Work {
    Arc::new(move |tx| {
        put(tx, name)?;
        tx.raw("INSERT INTO settings (name, value, updated_at) VALUES ('x', NULL, 1)").map(|_| ())
    })
}

fn panics(name: &'static str) -> Work {
    Arc::new(move |tx| {
        put(tx, name)?;
        panic!("on purpose")
    })
}

on_both_backends! {
    fn concurrent_writes_are_neither_lost_nor_repeated(space) {
        let store = open(space);
        let mut taken: Vec<i64> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..16).map(|thread| {
                let store = store.clone();
                scope.spawn(move || {
                    let one = |turn| store.write(move |tx| {
                        put(tx, &format!("{thread}-{turn}"))?;
                        sequence::take_key(tx)
                    });
                    (0..50).map(|turn| one(turn).unwrap()).collect::<Vec<_>>()
                })
            }).collect();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        taken.sort_unstable();
        assert_eq!(taken, (1..=800).collect::<Vec<_>>());
        drop(store);
        assert_eq!(names(&open(space)).len(), 800);
    }

    fn a_failed_a_refused_and_a_panicking_write_of_a_group_each_fail_alone(space) {
        let store = open(space);
        let works = [good("a"), bad("b"), good("c"), refused("d"), panics("e"), good("f")];
        let kinds: Vec<_> = group(&store, &works)
            .into_iter()
            .map(|outcome| outcome.err().map(|error| error.kind()))
            .collect();
        let (invalid, conflict, internal) =
            (Some(ErrorKind::Invalid), Some(ErrorKind::Conflict), Some(ErrorKind::Internal));
        assert_eq!(kinds, [None, invalid, None, conflict, internal, None]);
        assert_eq!(names(&store), ["a", "c", "f"]);
        write(&store, "later").unwrap();
        assert_eq!(names(&store), ["a", "c", "f", "later"]);
    }

    fn a_panic_of_a_lone_writer_fails_alone(space) {
        let store = open(space);
        let panics = panics("a");
        let error = store.write(move |tx| panics(tx)).unwrap_err();
        assert!(error.message().contains("on purpose"), "{error:?}");
        write(&store, "later").unwrap();
        assert_eq!(names(&store), ["later"]);
    }

    fn after_a_fault_at_any_call_of_a_group_every_write_is_atomic(space) {
        let works = [good("a"), bad("b"), good("c")];
        for plan in [FaultPlan::FailAt, FaultPlan::CrashBefore, FaultPlan::CrashAfter] {
            let mut fired = true;
            let mut at = 0;
            while fired {
                at += 1;
                let space = TestSpace::new(space.backend);
                drop(open(&space));
                let fault = Fault::new(plan(at));
                let Ok(store) =
                    Store::open_with_faults(&target(&space), &Options::default(), NOW, &fault)
                else {
                    continue;
                };
                let outcomes = group(&store, &works);
                fired = fault.calls() >= at;
                drop(store);
                let there = names(&open(&space));
                assert!(!there.contains(&"b".to_owned()), "{:?}: half a write", plan(at));
                for (name, outcome) in ["a", "b", "c"].iter().zip(&outcomes) {
                    let is_there = there.iter().any(|there| there == name);
                    let is_unknown = matches!(plan(at), FaultPlan::CrashAfter(_)) || fault.hit_sync();
                    assert!(is_there || outcome.is_err(), "{:?}: {name} was lost", plan(at));
                    assert!(!is_there || outcome.is_ok() || is_unknown, "{:?}: {name}", plan(at));
                }
            }
            assert!(at > 8, "the faults never reached the group");
        }
    }

    /// Every call of the engine panics once: while a leader opens, begins, runs, commits and syncs.
    fn after_a_panic_at_any_call_every_writer_gets_a_result_and_later_writes_succeed(space) {
        let works = [good("a"), bad("b"), good("c")];
        let (mut at, mut fired, mut syncs) = (0, true, 0);
        while fired {
            at += 1;
            let space = TestSpace::new(space.backend);
            drop(open(&space));
            let fault = Fault::new(FaultPlan::PanicAt(at));
            let opened = catch_unwind(AssertUnwindSafe(|| {
                Store::open_with_faults(&target(&space), &Options::default(), NOW, &fault)
            }));
            let Ok(store) = opened else { continue };
            let store = store.unwrap();
            let outcomes = group_with_panics(&store, &works);
            fired = fault.calls() >= at;
            if !fired {
                break;
            }
            syncs += usize::from(fault.hit_sync());
            // The panic came once; whoever writes next is not disturbed by it.
            write(&store, "later").unwrap();
            let there = names(&store);
            assert!(there.contains(&"later".to_owned()), "call {at}");
            assert!(!there.contains(&"b".to_owned()), "call {at}: half a write");
            for (name, outcome) in ["a", "b", "c"].iter().zip(&outcomes) {
                let is_there = there.iter().any(|there| there == name);
                assert!(is_there || outcome.is_err(), "call {at}: {name} was lost");
                assert!(!is_there || outcome.is_ok() || fault.hit_sync(), "call {at}: {name}");
            }
        }
        assert!(at > 8 && syncs >= 1, "the panics never reached the group: {at} calls, {syncs} syncs");
    }

    fn only_commits_that_were_made_are_counted_with_the_writes_they_hold(space) {
        let store = open(space);
        let counted = |store: &Store| {
            let stats = store.commit_stats();
            (stats.writes, stats.commits.iter().sum::<u64>())
        };
        let (writes, commits) = counted(&store);
        // One commit for the write that holds the group up, one for the two good ones.
        group(&store, &[good("a"), bad("b"), good("c")]);
        assert_eq!(counted(&store), (writes + 3, commits + 2));
        group(&store, &[bad("b"), bad("b")]);
        assert_eq!(counted(&store), (writes + 4, commits + 3));
        assert!(store.write(|_| Err::<(), _>(Error::invalid("no"))).is_err());
        assert_eq!(counted(&store), (writes + 4, commits + 3));
    }

    fn nothing_is_acknowledged_before_it_is_synced(space) {
        let mut synced = 0;
        for at in 1..40 {
            let space = TestSpace::new(space.backend);
            drop(open(&space));
            let fault = Fault::new(FaultPlan::FailAt(at));
            let opened = Store::open_with_faults(&target(&space), &Options::default(), NOW, &fault);
            let Ok(store) = opened else { continue };
            let outcomes = [write(&store, "a"), store.write_bulk(|tx| put(tx, "b"))];
            if fault.hit_sync() {
                synced += 1;
                assert!(outcomes.iter().any(Result::is_err), "call {at}: acknowledged, not synced");
            }
        }
        assert_eq!(synced, 2, "a write and a bulk write are synced once each");
    }

    fn a_settings_generation_that_was_rolled_back_is_not_reused(space) {
        let store = open(space);
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        for turn in 0..4 {
            let noted = Arc::clone(&seen);
            let _ = store.write(move |tx| {
                put(tx, "changed")?;
                assert!(noted.lock().unwrap().insert(sequence::settings_generation(tx)?));
                if turn % 2 == 0 { Err(Error::invalid("taken back")) } else { Ok(()) }
            });
        }
        assert_eq!(seen.lock().unwrap().len(), 4);
    }
}

#[test]
fn a_full_disk_fails_only_what_does_not_fit() {
    let space = TestSpace::new(Backend::Sqlite);
    let store = open(&space);
    write(&store, "before").unwrap();
    let limit = |pages: i64| {
        store
            .write(move |tx| {
                let size = tx.raw("PRAGMA page_count")?[0];
                tx.raw(&format!("PRAGMA max_page_count = {}", size + pages)).map(|_| ())
            })
            .unwrap();
    };
    limit(30);
    let large: Work = Arc::new(|tx| {
        put(tx, "large")?;
        let sql = "INSERT INTO payloads (key, hash, size, data) \
                   VALUES (900, randomblob(32), 1, randomblob(4000000)) RETURNING key";
        tx.raw(sql).map(|_| ())
    });
    let works = [good("a"), Arc::clone(&large), good("b")];
    let outcomes = group(&store, &works);
    let error = outcomes[1].clone().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.message().contains("full"), "{error:?}");
    crate::support::assert_helpful(&error, &space.file());
    assert!(outcomes[0].is_ok() && outcomes[2].is_ok(), "{outcomes:?}");
    assert_eq!(names(&store), ["a", "b", "before"]);

    limit(10_000);
    store.write(move |tx| large(tx)).unwrap();
    assert_eq!(store.integrity().unwrap(), [""; 0]);
    assert_eq!(names(&store), ["a", "b", "before", "large"]);
}
