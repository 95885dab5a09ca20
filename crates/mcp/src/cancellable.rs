//! Runs engine calls of one request on a thread that may block, and cancels them when the request is
//! dropped.

use oneiro::{Cancel, Error, Result};

/// Cancels work when it is dropped; the task that waits for the work holds it.
#[derive(Debug, Default)]
pub struct CancelOnDrop(Cancel);

impl CancelOnDrop {
    /// What the work checks.
    pub fn cancel(&self) -> Cancel {
        self.0.clone()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs `work` on a thread that may block; what it captured is dropped there too. When this future
/// is dropped first, because the client disconnected, the work is cancelled; if it has not begun by
/// then, it never does.
pub async fn run_cancellable<T: Send + 'static>(
    work: impl FnOnce(&Cancel) -> Result<T> + Send + 'static,
) -> Result<T> {
    let guard = CancelOnDrop::default();
    let cancel = guard.cancel();
    let run = move || {
        cancel.check()?;
        work(&cancel)
    };
    tokio::task::spawn_blocking(run)
        .await
        .unwrap_or_else(|error| Err(Error::internal("a call panicked").because(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn work_that_nobody_waits_for_is_cancelled_or_never_begins() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .enable_time()
            .build()
            .unwrap();
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (ended, has_ended) = std::sync::mpsc::channel();
        runtime.block_on(async {
            let first = tokio::spawn(run_cancellable(move |cancel| {
                begun.send(()).unwrap();
                cancel.sleep(Duration::from_secs(3_600));
                ended.send(cancel.is_cancelled()).unwrap();
                Ok(())
            }));
            tokio::task::yield_now().await;
            has_begun.recv().unwrap();
            // The only thread is taken.
            let second = tokio::spawn(run_cancellable(|_| -> Result<()> { panic!("it began") }));
            tokio::task::yield_now().await;
            second.abort();
            assert!(second.await.unwrap_err().is_cancelled());
            first.abort();
            assert!(first.await.unwrap_err().is_cancelled());
            assert!(has_ended.recv().unwrap());
            run_cancellable(|_| Ok(())).await.unwrap();
        });
    }
}
