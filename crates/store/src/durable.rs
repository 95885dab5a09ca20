//! Bringing commits to the disk: one sync at a time, shared by every commit that came before it
//! began. It knows nothing of what is synced.
//!
//! A sync that fails is not simply tried again: Linux marks the pages that it could not write as
//! clean, so that the next sync succeeds without them. From the first failure on every sync is
//! refused, until [`Syncs::recovered`] is called by somebody who proved that nothing is missing.

use oneiro_model::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Shares syncs between the commits of a process.
#[derive(Default)]
pub(crate) struct Syncs {
    state: Mutex<State>,
    ended: Condvar,
    /// Whether `state` holds a failure, readable without its lock: every write asks.
    has_failed: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The last commit that asked.
    asked: u64,
    /// The last commit that is on disk.
    durable: u64,
    /// Why nothing can be made durable.
    failure: Option<Error>,
    running: bool,
    waiting: usize,
}

impl Syncs {
    /// Returns when a sync that began after this call has ended; runs it if nobody else does.
    pub(crate) fn sync(&self, sync: impl Fn() -> Result<()>) -> Result<()> {
        let mut state = self.lock();
        state.asked += 1;
        let mine = state.asked;
        loop {
            if state.durable >= mine {
                return Ok(());
            }
            if let Some(error) = &state.failure {
                return Err(error.clone());
            }
            if state.running {
                state.waiting += 1;
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
                continue;
            }
            state.running = true;
            let mut run = Run { syncs: self, until: state.asked, outcome: None };
            drop(state);
            run.outcome = Some(sync());
            drop(run);
            state = self.lock();
        }
    }

    /// Why nothing can be made durable, if a sync failed.
    pub(crate) fn failure(&self) -> Option<Error> {
        if !self.has_failed.load(Ordering::Acquire) {
            return None;
        }
        self.lock().failure.clone()
    }

    /// Accepts syncs again. The caller has proved that every commit so far is on disk, and keeps
    /// others from committing until this returns.
    pub(crate) fn recovered(&self) {
        let mut state = self.lock();
        state.durable = state.asked;
        state.failure = None;
        self.has_failed.store(false, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One running sync. Ends on drop, so that a panic in it is a failure and nobody waits for ever.
struct Run<'s> {
    syncs: &'s Syncs,
    until: u64,
    outcome: Option<Result<()>>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let mut state = self.syncs.lock();
        state.running = false;
        match self.outcome.take() {
            Some(Ok(())) => state.durable = state.durable.max(self.until),
            failed => {
                let panicked = || Error::internal("the sync of the store panicked");
                state.failure = Some(failed.and_then(Result::err).unwrap_or_else(panicked));
                self.syncs.has_failed.store(true, Ordering::Release);
            }
        }
        // Waking nobody still costs a system call.
        if state.waiting > 0 {
            self.syncs.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn commits_share_syncs_and_none_returns_before_its_own() {
        let syncs = Syncs::default();
        let (written, synced, count) =
            (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let mine = written.fetch_add(1, Ordering::SeqCst) + 1;
                        let sync = || {
                            count.fetch_add(1, Ordering::SeqCst);
                            let reached = written.load(Ordering::SeqCst);
                            std::thread::yield_now();
                            synced.fetch_max(reached, Ordering::SeqCst);
                            Ok(())
                        };
                        syncs.sync(sync).unwrap();
                        assert!(synced.load(Ordering::SeqCst) >= mine);
                    }
                });
            }
        });
        assert!(count.load(Ordering::SeqCst) <= 1_600);
    }

    #[test]
    fn after_a_failed_sync_none_is_run_until_recovery_is_proved() {
        let syncs = Syncs::default();
        let count = AtomicUsize::new(0);
        let succeed = || {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        assert!(syncs.failure().is_none());
        assert!(syncs.sync(|| Err(Error::internal("disk"))).is_err());
        for _ in 0..3 {
            assert_eq!(syncs.sync(succeed).unwrap_err().message(), "disk");
        }
        assert_eq!(syncs.failure().unwrap().message(), "disk");
        assert_eq!(count.load(Ordering::SeqCst), 0);
        syncs.recovered();
        syncs.sync(succeed).unwrap();
        assert!(syncs.failure().is_none());
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    /// Four commits wait while a fifth runs a sync that panics: all five end, none with success.
    #[test]
    fn a_sync_that_panics_fails_everybody_who_waits_for_it() {
        let syncs = Syncs::default();
        let running = Barrier::new(2);
        std::thread::scope(|scope| {
            let runner = scope.spawn(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    syncs.sync(|| {
                        running.wait();
                        while syncs.lock().waiting < 4 {
                            std::thread::yield_now();
                        }
                        panic!("on purpose")
                    })
                }))
            });
            running.wait();
            let waiters: Vec<_> = (0..4).map(|_| scope.spawn(|| syncs.sync(|| Ok(())))).collect();
            assert!(runner.join().unwrap().is_err(), "the panic reaches its own caller");
            for waiter in waiters {
                assert!(waiter.join().unwrap().is_err());
            }
        });
    }
}
