//! Calls to models elsewhere: a few at a time, each on a thread of its own, so that whoever waits
//! for an answer can stop waiting while the model stays silent.

use crate::{Cancel, Embedder, Llm, LlmRequest, LlmResponse, Oneiro};
use oneiro_model::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Calls under way at once in one handle and its clones. A silent model then holds this many
/// threads until its time-outs end them, and no more.
const CONCURRENT_CALLS: usize = 4;

/// How often whoever waits looks whether it was cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(20);

/// The permits of one handle and its clones.
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

/// The right to make one call, given back when dropped.
struct Permit(Arc<Running>);

impl Drop for Permit {
    fn drop(&mut self) {
        *self.0.calls.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_one();
    }
}

impl ModelCalls {
    /// How often a model that writes gave no answer, since the handle was opened.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Runs `call` on another thread and waits for what it answers, or until cancelled. A call that
    /// nobody waits for any more keeps its permit until it ends.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        call: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permit(cancel)?;
        let (answer, answered) = channel();
        let work = move || {
            let _permit = permit;
            // Nobody may be waiting any more.
            let _ = answer.send(call());
        };
        std::thread::Builder::new().name("oneiro-model".to_owned()).spawn(work).map_err(
            |error| {
                Error::new(ErrorKind::Unavailable, "no thread could be started to call the model")
                    .remedy("raise the limit of threads of this process")
                    .because(error)
            },
        )?;
        wait(&answered, cancel)
    }

    fn permit(&self, cancel: &Cancel) -> Result<Permit> {
        let mut calls = self.running.calls.lock().unwrap_or_else(PoisonError::into_inner);
        while *calls >= CONCURRENT_CALLS {
            cancel.check()?;
            let waited = self.running.ended.wait_timeout(calls, CANCEL_POLL);
            calls = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        cancel.check()?;
        *calls += 1;
        Ok(Permit(Arc::clone(&self.running)))
    }
}

fn wait<T>(answered: &Receiver<Result<T>>, cancel: &Cancel) -> Result<T> {
    loop {
        match answered.recv_timeout(CANCEL_POLL) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) => cancel.check()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::internal("the call to the model panicked"));
            }
        }
    }
}

impl Oneiro {
    /// The model that writes, if there is one, asked so that this handle can be cancelled meanwhile.
    pub(crate) fn model(&self) -> Option<CancellableModel> {
        let llm = Arc::clone(self.llm.as_ref()?);
        Some(CancellableModel {
            llm,
            calls: Arc::clone(&self.model_calls),
            cancel: self.cancel.clone(),
        })
    }

    /// The model elsewhere that makes vectors, if there is one, asked in the same way.
    pub(crate) fn embedder(&self) -> Option<CancellableEmbedder> {
        let embedder = Arc::clone(self.index.embedder()?);
        Some(CancellableEmbedder {
            embedder,
            calls: Arc::clone(&self.model_calls),
            cancel: self.cancel.clone(),
        })
    }
}

/// A model that writes, asked through the permits of its handle.
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
            // What the model will not write about it will not write about later.
            if !matches!(error.kind(), ErrorKind::Invalid | ErrorKind::TooLarge) {
                self.calls.failures.fetch_add(1, Ordering::Relaxed);
            }
        })
    }
}

/// A model that makes vectors, asked through the permits of its handle.
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

    /// On the caller's own thread: the time-out of a question is short, and a search that waits for
    /// a permit held by a slow batch would wait longer.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.embedder.embed_query(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_back_and_a_panic_is_an_error() {
        let calls = ModelCalls::default();
        assert_eq!(calls.run(&Cancel::new(), || Ok(7)).unwrap(), 7);
        for _ in 0..CONCURRENT_CALLS + 1 {
            let panicked: Result<()> = calls.run(&Cancel::new(), || panic!("in the call"));
            assert_eq!(panicked.unwrap_err().kind(), ErrorKind::Internal);
        }
    }

    #[test]
    fn silent_calls_are_few_and_whoever_waits_can_be_cancelled() {
        let calls = ModelCalls::default();
        let (hang_up, silence) = channel::<()>();
        let silence = Arc::new(Mutex::new(silence));
        let begun = Arc::new(Mutex::new(0));
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..CONCURRENT_CALLS * 3)
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
            while *begun.lock().unwrap() < CONCURRENT_CALLS {
                std::thread::yield_now();
            }
            cancel.cancel();
            for waiter in waiting {
                assert_eq!(waiter.join().unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
            }
        });
        assert_eq!(*begun.lock().unwrap(), CONCURRENT_CALLS);
        drop(hang_up);
        assert_eq!(calls.run(&Cancel::new(), || Ok(1)).unwrap(), 1);
    }
}
