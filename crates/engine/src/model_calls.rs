//! Calls to remote models: a limited number at a time, each on its own thread, so that a caller can be
//! cancelled while the model does not respond.

use crate::{Cancel, Embedder, Llm, LlmRequest, LlmResponse, Oneiro};
use oneiro_model::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Concurrent calls of one handle and its clones. A model that does not respond blocks at most this many
/// threads until its timeout.
const MAX_CONCURRENT_CALLS: usize = 4;

/// How often a waiting caller checks whether it was cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The running calls of one handle and its clones.
#[derive(Default)]
pub(crate) struct ModelCalls {
    running: Arc<Running>,
    failures: AtomicU64,
}

#[derive(Default)]
struct Running {
    calls: Mutex<usize>,
    ended: Condvar,
}

/// Permission for one call, released on drop.
struct Permit(Arc<Running>);

impl Drop for Permit {
    fn drop(&mut self) {
        *self.0.calls.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_one();
    }
}

impl ModelCalls {
    /// Failed calls to the language model since the handle was opened.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Runs `call` on another thread and waits for its result or for cancellation. A call whose caller
    /// was cancelled keeps its permit until it ends.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        call: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permit(cancel)?;
        let (sender, receiver) = channel();
        let work = move || {
            let _permit = permit;
            // The caller may have been cancelled.
            let _ = sender.send(call());
        };
        std::thread::Builder::new().name("oneiro-model".to_owned()).spawn(work).map_err(
            |error| {
                Error::new(ErrorKind::Unavailable, "no thread could be started to call the model")
                    .remedy("raise the limit of threads of this process")
                    .because(error)
            },
        )?;
        wait(&receiver, cancel)
    }

    fn permit(&self, cancel: &Cancel) -> Result<Permit> {
        let mut calls = self.running.calls.lock().unwrap_or_else(PoisonError::into_inner);
        while *calls >= MAX_CONCURRENT_CALLS {
            cancel.check()?;
            let waited = self.running.ended.wait_timeout(calls, CANCEL_POLL_INTERVAL);
            calls = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        cancel.check()?;
        *calls += 1;
        Ok(Permit(Arc::clone(&self.running)))
    }
}

fn wait<T>(receiver: &Receiver<Result<T>>, cancel: &Cancel) -> Result<T> {
    loop {
        match receiver.recv_timeout(CANCEL_POLL_INTERVAL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => cancel.check()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::internal("the call to the model panicked"));
            }
        }
    }
}

impl Oneiro {
    /// The language model, if one is configured, with cancellable calls.
    pub(crate) fn model(&self) -> Option<CancellableModel> {
        let llm = Arc::clone(self.llm.as_ref()?);
        Some(CancellableModel {
            llm,
            calls: Arc::clone(&self.model_calls),
            cancel: self.cancel.clone(),
        })
    }

    /// The remote embedder, if one is configured, with cancellable calls.
    pub(crate) fn embedder(&self) -> Option<CancellableEmbedder> {
        let embedder = Arc::clone(self.index.embedder()?);
        Some(CancellableEmbedder {
            embedder,
            calls: Arc::clone(&self.model_calls),
            cancel: self.cancel.clone(),
        })
    }
}

/// A language model whose calls can be cancelled.
pub(crate) struct CancellableModel {
    llm: Arc<dyn Llm>,
    calls: Arc<ModelCalls>,
    cancel: Cancel,
}

impl Llm for CancellableModel {
    fn id(&self) -> &str {
        self.llm.id()
    }

    fn complete(&self, request: &LlmRequest<'_>) -> Result<LlmResponse> {
        let llm = Arc::clone(&self.llm);
        let (purpose, instructions) = (request.purpose.to_owned(), request.instructions.to_owned());
        let (input, max_tokens) = (request.input.to_owned(), request.max_tokens);
        let temperature = request.temperature;
        let answer = self.calls.run(&self.cancel, move || {
            llm.complete(&LlmRequest {
                purpose: &purpose,
                instructions: &instructions,
                input: &input,
                max_tokens,
                temperature,
            })
        });
        answer.inspect_err(|error| {
            // A request that the model refuses is not a failure of the model.
            if !matches!(error.kind(), ErrorKind::Invalid | ErrorKind::TooLarge) {
                self.calls.failures.fetch_add(1, Ordering::Relaxed);
            }
        })
    }
}

/// An embedder whose calls can be cancelled.
pub(crate) struct CancellableEmbedder {
    embedder: Arc<dyn Embedder>,
    calls: Arc<ModelCalls>,
    cancel: Cancel,
}

impl Embedder for CancellableEmbedder {
    fn id(&self) -> &str {
        self.embedder.id()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let embedder = Arc::clone(&self.embedder);
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        self.calls.run(&self.cancel, move || {
            embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        })
    }

    /// On the caller's thread: the timeout of a query is short, and waiting for a permit of a slow batch
    /// could take longer.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.embedder.embed_query(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_returned_and_a_panic_is_an_error() {
        let calls = ModelCalls::default();
        assert_eq!(calls.run(&Cancel::new(), || Ok(7)).unwrap(), 7);
        for _ in 0..MAX_CONCURRENT_CALLS + 1 {
            let panicked: Result<()> = calls.run(&Cancel::new(), || panic!("in the call"));
            assert_eq!(panicked.unwrap_err().kind(), ErrorKind::Internal);
        }
    }

    #[test]
    fn concurrent_calls_are_limited_and_a_waiting_caller_can_be_cancelled() {
        let calls = ModelCalls::default();
        let (hang_up, silence) = channel::<()>();
        let silence = Arc::new(Mutex::new(silence));
        let begun = Arc::new(Mutex::new(0));
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..MAX_CONCURRENT_CALLS * 3)
                .map(|_| {
                    let (silence, begun) = (Arc::clone(&silence), Arc::clone(&begun));
                    let (calls, cancel) = (&calls, cancel.clone());
                    scope.spawn(move || {
                        calls.run(&cancel, move || {
                            *begun.lock().unwrap() += 1;
                            let _ = silence.lock().unwrap().recv();
                            Ok(())
                        })
                    })
                })
                .collect();
            while *begun.lock().unwrap() < MAX_CONCURRENT_CALLS {
                std::thread::yield_now();
            }
            cancel.cancel();
            for waiter in waiting {
                assert_eq!(waiter.join().unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
            }
        });
        assert_eq!(*begun.lock().unwrap(), MAX_CONCURRENT_CALLS);
        drop(hang_up);
        assert_eq!(calls.run(&Cancel::new(), || Ok(1)).unwrap(), 1);
    }
}
