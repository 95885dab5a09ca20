//! Cancellation: a flag that the caller of long work sets and that the work checks between steps.

use oneiro_model::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Cancels running work, for example when an HTTP client disconnects or the process shuts down.
/// Clones share one flag; once set, it stays set.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Sets the flag and wakes all sleepers in [`Cancel::sleep`].
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Release);
        // Under the lock, so that no sleeper checks the flag and then misses the wake-up.
        drop(self.0.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.changed.notify_all();
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set.load(Ordering::Acquire)
    }

    /// Returns an error once cancelled; called between two steps of the work.
    pub fn check(&self) -> Result<()> {
        if !self.is_cancelled() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Unavailable, "the work was cancelled before it was finished")
            .remedy("send the request again"))
    }

    /// Sleeps for `time`, or until cancelled.
    pub fn sleep(&self, time: Duration) {
        let guard = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.changed.wait_timeout_while(guard, time, |()| !self.is_cancelled()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clone_is_cancelled_and_stays_so() {
        let cancel = Cancel::new();
        let clone = cancel.clone();
        assert!(clone.check().is_ok());
        cancel.cancel();
        assert!(clone.is_cancelled());
        assert_eq!(clone.check().unwrap_err().kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn a_sleeper_wakes_when_cancelled() {
        let cancel = Cancel::new();
        let sleeper = cancel.clone();
        let thread = std::thread::spawn(move || sleeper.sleep(Duration::from_secs(3_600)));
        cancel.cancel();
        thread.join().unwrap();
    }
}
