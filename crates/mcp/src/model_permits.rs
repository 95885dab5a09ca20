//! Permits for requests that may call a model. Such a request waits for one before it takes a
//! thread, so that a slow or silent model holds up other requests of its kind and nothing else.

use oneiro::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many requests may call a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelLimits {
    /// At once. Each holds a thread until it ends.
    pub running: usize,
    /// Waiting for a permit; further ones are refused at once.
    pub waiting: usize,
    /// How long one waits for a permit before it is refused.
    pub timeout: Duration,
}

/// Permits for requests that may call a model; clones share them.
#[derive(Debug, Clone)]
pub struct ModelPermits {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    timeout: Duration,
}

/// The right to call a model, returned when dropped. The work holds it, not the task that waits for
/// the answer, which may be dropped first.
#[derive(Debug)]
pub struct ModelPermit(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl ModelPermits {
    /// The permits that `limits` allow.
    pub fn new(limits: ModelLimits) -> ModelPermits {
        ModelPermits {
            running: Arc::new(Semaphore::new(limits.running)),
            waiting: Arc::new(Semaphore::new(limits.waiting)),
            timeout: limits.timeout,
        }
    }

    /// Waits for a permit; first come, first served.
    pub async fn acquire(&self) -> Result<ModelPermit> {
        if let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(ModelPermit(permit));
        }
        let _place = self.waiting.try_acquire().map_err(|_| busy())?;
        let permit = Arc::clone(&self.running).acquire_owned();
        match tokio::time::timeout(self.timeout, permit).await {
            Ok(Ok(permit)) => Ok(ModelPermit(permit)),
            Ok(Err(_)) | Err(_) => Err(busy()),
        }
    }
}

fn busy() -> Error {
    Error::new(ErrorKind::Busy, "too many requests wait for the model")
        .remedy("try again when some of them are answered")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn those_beyond_the_queue_are_refused_and_a_permit_goes_to_the_next_in_line() {
        let limits = ModelLimits { running: 1, waiting: 1, timeout: Duration::from_secs(3_600) };
        let permits = ModelPermits::new(limits);
        runtime().block_on(async {
            let held = permits.acquire().await.unwrap();
            let waits = tokio::spawn({
                let permits = permits.clone();
                async move { permits.acquire().await.is_ok() }
            });
            // It runs until it waits.
            tokio::task::yield_now().await;
            assert_eq!(permits.acquire().await.unwrap_err().kind(), ErrorKind::Busy);
            drop(held);
            assert!(waits.await.unwrap());
            assert!(permits.acquire().await.is_ok());
        });
    }

    #[test]
    fn one_who_waits_too_long_is_refused_and_leaves_the_queue() {
        let limits = ModelLimits { running: 1, waiting: 1, timeout: Duration::from_millis(1) };
        let permits = ModelPermits::new(limits);
        runtime().block_on(async {
            let held = permits.acquire().await.unwrap();
            for _ in 0..3 {
                let error = permits.acquire().await.unwrap_err();
                assert!(error.is_retryable(), "{error:?}");
            }
            assert_eq!(permits.waiting.available_permits(), limits.waiting);
            drop(held);
            permits.acquire().await.unwrap();
        });
    }
}
