//! Bringing commits to the disk: one sync at a time, shared by every commit that came before it
//! began. It knows nothing of what is synced.

use oneiro_model::{Error, Result};
use std::sync::{Condvar, Mutex, PoisonError};

/// Shares syncs between the commits of a process.
#[derive(Default)]
pub(crate) struct Syncs {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The last commit that asked.
    asked: u64,
    /// The last commit that is on disk.
    durable: u64,
    /// The last commit whose sync failed, and how.
    failed: Option<(u64, Error)>,
    running: bool,
    waiting: usize,
}

impl Syncs {
    /// Returns when a sync that began after this call has ended; runs it if nobody else does.
    pub(crate) fn sync(&self, sync: impl Fn() -> Result<()>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let mine = state.asked;
        loop {
            if state.durable >= mine {
                return Ok(());
            }
            if let Some((_, error)) = state.failed.as_ref().filter(|(until, _)| *until >= mine) {
                return Err(error.clone());
            }
            if state.running {
                state.waiting += 1;
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
                continue;
            }
            state.running = true;
            let until = state.asked;
            drop(state);
            let synced = sync();
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.running = false;
            match synced {
                Ok(()) => state.durable = state.durable.max(until),
                Err(error) => state.failed = Some((until, error)),
            }
            // Waking nobody still costs a system call.
            if state.waiting > 0 {
                self.ended.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
    fn a_failed_sync_fails_those_it_was_for_and_no_later_one() {
        let syncs = Syncs::default();
        assert!(syncs.sync(|| Err(Error::internal("disk"))).is_err());
        assert!(syncs.sync(|| Ok(())).is_ok());
    }
}
