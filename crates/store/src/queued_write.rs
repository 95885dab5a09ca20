//! A write in the queue of a group commit: its work, its deadline, and the thread that waits for
//! its outcome or for the right to lead.

use crate::Tx;
use oneiro_model::{Error, Result};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A queued write, whatever it answers.
pub(crate) trait Waiting: Send + Sync {
    fn run(&self, tx: &Tx<'_>) -> Result<()>;
    fn settle(&self, outcome: Result<()>);
    fn lead(&self);
    /// Until when it waits for others.
    fn deadline(&self) -> Instant;
}

pub(crate) struct Write<T, F> {
    work: F,
    deadline: Instant,
    value: Mutex<Option<T>>,
    turn: Mutex<Turn>,
    turned: Condvar,
}

enum Turn {
    Wait,
    Lead,
    Settled(Result<()>),
}

impl<T: Send, F: Fn(&Tx<'_>) -> Result<T> + Send + Sync> Waiting for Write<T, F> {
    fn run(&self, tx: &Tx<'_>) -> Result<()> {
        let value = (self.work)(tx)?;
        *lock(&self.value) = Some(value);
        Ok(())
    }

    fn settle(&self, outcome: Result<()>) {
        *lock(&self.turn) = Turn::Settled(outcome);
        self.turned.notify_one();
    }

    fn lead(&self) {
        *lock(&self.turn) = Turn::Lead;
        self.turned.notify_one();
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl<T, F> Write<T, F> {
    pub(crate) fn new(work: F, deadline: Instant) -> Write<T, F> {
        Write {
            work,
            deadline,
            value: Mutex::new(None),
            turn: Mutex::new(Turn::Wait),
            turned: Condvar::new(),
        }
    }

    /// Waits for an outcome (false) or for the right to lead (true).
    pub(crate) fn wait(&self) -> bool {
        let mut turn = lock(&self.turn);
        loop {
            match *turn {
                Turn::Wait => turn = self.turned.wait(turn).unwrap_or_else(PoisonError::into_inner),
                Turn::Lead => return true,
                Turn::Settled(_) => return false,
            }
        }
    }

    pub(crate) fn answer(&self) -> Result<T> {
        match std::mem::replace(&mut *lock(&self.turn), Turn::Wait) {
            Turn::Settled(outcome) => outcome?,
            _ => return Err(Error::internal("a write was never settled")),
        }
        lock(&self.value).take().ok_or_else(|| Error::internal("a write answered nothing"))
    }
}

/// A panic elsewhere does not end the queue.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
