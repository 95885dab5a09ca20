//! A wake-up signal for a lane, remembered until the lane waits for it.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes a lane that sleeps between rounds.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    is_called: Mutex<bool>,
    called: Condvar,
}

impl Wake {
    /// Ends the current sleep of the lane, or the next one.
    pub(crate) fn wake(&self) {
        *self.is_called.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.called.notify_all();
    }

    /// Sleeps for `time`, or until woken.
    pub(super) fn sleep(&self, time: Duration) {
        let is_called = self.is_called.lock().unwrap_or_else(PoisonError::into_inner);
        let slept = self.called.wait_timeout_while(is_called, time, |is_called| !*is_called);
        *slept.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}
