//! Shares syncs between commits: one sync runs at a time and covers every commit that requested one
//! before it started.
//!
//! A failed sync is not retried: Linux marks the pages that it could not write as clean, so the next
//! sync would succeed without them. After a failure every sync is refused until the caller has
//! verified that nothing is missing and calls [`SharedSync::set_recovered`].

use oneiro_model::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The syncs of one file in this process.
#[derive(Default)]
pub(crate) struct SharedSync {
    state: Mutex<State>,
    ended: Condvar,
    /// Whether `state` holds a failure; every write reads it, so it needs no lock.
    has_failed: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The number of the last request.
    requested: u64,
    /// The number of the last request that is on disk.
    completed: u64,
    /// Why every sync is refused.
    failure: Option<Error>,
    is_running: bool,
    waiters: usize,
}

impl SharedSync {
    /// Returns when a sync that started after this call has ended; runs it if no other thread does.
    pub(crate) fn sync(&self, sync: impl Fn() -> Result<()>) -> Result<()> {
        let mut state = self.lock();
        state.requested += 1;
        let request = state.requested;
        loop {
            if state.completed >= request {
                return Ok(());
            }
            if let Some(error) = &state.failure {
                return Err(error.clone());
            }
            if state.is_running {
                state.waiters += 1;
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiters -= 1;
                continue;
            }
            state.is_running = true;
            let mut run = RunningSync { shared: self, covers: state.requested, result: None };
            drop(state);
            run.result = Some(sync());
            drop(run);
            state = self.lock();
        }
    }

    /// Why every sync is refused, if one failed.
    pub(crate) fn failure(&self) -> Option<Error> {
        if !self.has_failed.load(Ordering::Acquire) {
            return None;
        }
        self.lock().failure.clone()
    }

    /// Accepts syncs again. The caller has verified that every commit so far is on disk, and prevents
    /// further commits until this returns.
    pub(crate) fn set_recovered(&self) {
        let mut state = self.lock();
        state.completed = state.requested;
        state.failure = None;
        self.has_failed.store(false, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sync that is running. It ends on drop, so that a panic in it counts as a failure and wakes those
/// that wait.
struct RunningSync<'s> {
    shared: &'s SharedSync,
    /// The last request that it covers.
    covers: u64,
    result: Option<Result<()>>,
}

impl Drop for RunningSync<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_running = false;
        match self.result.take() {
            Some(Ok(())) => state.completed = state.completed.max(self.covers),
            failed => {
                let panicked = || Error::internal("the sync of the store panicked");
                state.failure = Some(failed.and_then(Result::err).unwrap_or_else(panicked));
                self.shared.has_failed.store(true, Ordering::Release);
            }
        }
        // A notification without waiters still costs a system call.
        if state.waiters > 0 {
            self.shared.ended.notify_all();
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
        let syncs = SharedSync::default();
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
    fn after_a_failed_sync_no_other_runs_until_recovery() {
        let syncs = SharedSync::default();
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
        syncs.set_recovered();
        syncs.sync(succeed).unwrap();
        assert!(syncs.failure().is_none());
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    /// Four commits wait while a fifth runs a sync that panics: all five end, none with success.
    #[test]
    fn a_sync_that_panics_fails_every_commit_that_waits_for_it() {
        let syncs = SharedSync::default();
        let running = Barrier::new(2);
        std::thread::scope(|scope| {
            let runner = scope.spawn(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    syncs.sync(|| {
                        running.wait();
                        while syncs.lock().waiters < 4 {
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
