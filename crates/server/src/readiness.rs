//! Whether the store responds, for `/readyz`. One check runs at a time and its result is kept
//! briefly, so that many probes cost one read, and a hanging store costs one thread.

use oneiro::{Error, ErrorKind, Result};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long a result is reused.
const RESULT_TTL: Duration = Duration::from_secs(1);

/// Time after which the store counts as not responding. The check continues, and its result answers
/// a later probe.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

type Outcome = Option<Result<()>>;

/// The latest check.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<Check>>);

#[derive(Clone)]
struct Check {
    started: Instant,
    outcome: watch::Receiver<Outcome>,
}

impl Check {
    fn start(check: impl FnOnce() -> Result<()> + Send + 'static) -> Check {
        let (sender, outcome) = watch::channel(None);
        tokio::task::spawn_blocking(move || sender.send(Some(check())));
        Check { started: Instant::now(), outcome }
    }

    /// Whether it has ended, also by a panic, and its result is too old.
    fn is_stale(&self) -> bool {
        let has_ended = self.outcome.borrow().is_some() || self.outcome.has_changed().is_err();
        has_ended && self.started.elapsed() >= RESULT_TTL
    }
}

impl Readiness {
    /// The result of the latest check; starts `check` on a blocking thread if there is none.
    pub(crate) async fn check(
        &self,
        check: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let mut check = self.newest(check);
        let ended = timeout_at(
            check.started + CHECK_TIMEOUT,
            check.outcome.wait_for(|outcome| outcome.is_some()),
        );
        match ended.await {
            Ok(Ok(outcome)) => outcome.clone().unwrap_or(Ok(())),
            Ok(Err(_)) => Err(Error::internal("the check of the store panicked")),
            Err(_) => {
                let seconds = CHECK_TIMEOUT.as_secs();
                let what = format!("the store has not answered within {seconds} s");
                Err(Error::new(ErrorKind::Unavailable, what))
            }
        }
    }

    fn newest(&self, check: impl FnOnce() -> Result<()> + Send + 'static) -> Check {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(check) = newest.as_ref().filter(|check| !check.is_stale()) {
            return check.clone();
        }
        newest.insert(Check::start(check)).clone()
    }
}

/// The part of an error that may be public: not the location of the store.
pub(crate) fn public_reason(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Unavailable => "the store, or the server that keeps it, does not answer",
        ErrorKind::Busy => "too many reads at once",
        ErrorKind::NotFound => "the space does not exist",
        ErrorKind::Unauthorized | ErrorKind::Forbidden => "the store refuses the login",
        ErrorKind::NewerSchema => "the store was written by a newer version",
        ErrorKind::Corrupt => "the store is damaged",
        _ => "reading the store failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    /// A store that hangs until released, and counts its checks.
    struct Hung {
        asked: Arc<AtomicUsize>,
        released: Arc<Mutex<mpsc::Receiver<()>>>,
    }

    impl Hung {
        fn check(&self) -> impl FnOnce() -> Result<()> + Send + 'static {
            let (asked, released) = (Arc::clone(&self.asked), Arc::clone(&self.released));
            move || {
                asked.fetch_add(1, Ordering::SeqCst);
                let _ = released.lock().map(|released| released.recv());
                Ok(())
            }
        }
    }

    #[tokio::test]
    async fn a_store_that_hangs_is_asked_once_and_ready_again_when_it_answers() {
        let (release, released) = mpsc::channel();
        let hung = Hung { asked: Arc::default(), released: Arc::new(Mutex::new(released)) };
        let readiness = Readiness::default();
        for _ in 0..3 {
            let error = readiness.check(hung.check()).await.err();
            assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Unavailable));
        }
        assert_eq!(hung.asked.load(Ordering::SeqCst), 1);
        assert!(release.send(()).is_ok());
        // The hanging check ends; the next probe is answered by it or by a new one.
        while readiness.newest(hung.check()).outcome.borrow().is_none() {
            let _ = release.send(());
            tokio::task::yield_now().await;
        }
        let _ = release.send(());
        assert!(readiness.check(hung.check()).await.is_ok());
    }

    #[tokio::test]
    async fn probes_within_a_moment_share_one_check() {
        let asked = Arc::new(AtomicUsize::new(0));
        let readiness = Readiness::default();
        let started = Instant::now();
        for _ in 0..50 {
            let asked = Arc::clone(&asked);
            let check = move || {
                asked.fetch_add(1, Ordering::SeqCst);
                Ok(())
            };
            assert!(readiness.check(check).await.is_ok());
        }
        let moments = started.elapsed().as_secs() as usize;
        assert!(asked.load(Ordering::SeqCst) <= 1 + moments);
    }
}
