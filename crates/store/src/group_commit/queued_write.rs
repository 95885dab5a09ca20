//! A write in the queue of a group commit, and how its thread waits for a result or for leadership.

use crate::Tx;
use oneiro_model::{Error, Result};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A queued write, whatever the type of its value.
pub(super) trait QueuedWrite: Send + Sync {
    fn run(&self, tx: &Tx<'_>) -> Result<()>;
    /// Sets the result and wakes the thread that waits for it.
    fn complete(&self, result: Result<()>);
    /// Wakes the thread that waits so that it commits the next group.
    fn make_leader(&self);
    /// Until when it waits for other writers.
    fn deadline(&self) -> Instant;
}

pub(super) struct PendingWrite<T, F> {
    work: F,
    deadline: Instant,
    /// The value of the last run; returned only if the write completes with success.
    value: Mutex<Option<T>>,
    state: Mutex<WriteState>,
    state_changed: Condvar,
}

enum WriteState {
    Queued,
    Leader,
    Completed(Result<()>),
}

/// Why a queued writer was woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wakeup {
    /// It must commit the next group.
    Lead,
    /// Another thread committed its write, or failed to.
    Completed,
}

impl<T: Send, F: Fn(&Tx<'_>) -> Result<T> + Send + Sync> QueuedWrite for PendingWrite<T, F> {
    fn run(&self, tx: &Tx<'_>) -> Result<()> {
        let value = (self.work)(tx)?;
        *lock(&self.value) = Some(value);
        Ok(())
    }

    fn complete(&self, result: Result<()>) {
        *lock(&self.state) = WriteState::Completed(result);
        self.state_changed.notify_one();
    }

    fn make_leader(&self) {
        *lock(&self.state) = WriteState::Leader;
        self.state_changed.notify_one();
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl<T, F> PendingWrite<T, F> {
    pub(super) fn new(work: F, deadline: Instant) -> PendingWrite<T, F> {
        PendingWrite {
            work,
            deadline,
            value: Mutex::new(None),
            state: Mutex::new(WriteState::Queued),
            state_changed: Condvar::new(),
        }
    }

    pub(super) fn wait(&self) -> Wakeup {
        let mut state = lock(&self.state);
        loop {
            match *state {
                WriteState::Queued => {
                    state = self.state_changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                WriteState::Leader => return Wakeup::Lead,
                WriteState::Completed(_) => return Wakeup::Completed,
            }
        }
    }

    pub(super) fn take_result(&self) -> Result<T> {
        match std::mem::replace(&mut *lock(&self.state), WriteState::Queued) {
            WriteState::Completed(result) => result?,
            _ => return Err(Error::internal("a write was never completed")),
        }
        lock(&self.value).take().ok_or_else(|| Error::internal("a write returned no value"))
    }
}

/// Locks a mutex whose data stays valid when a holder panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
