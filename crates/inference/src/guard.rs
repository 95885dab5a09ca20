//! Limits calls to a chat model: a circuit breaker suspends a model that keeps failing, and calls and
//! tokens per hour are bounded. Each call is logged, without its prompt and its response.

mod breaker;
mod rate_limit;

use crate::{ChatConfig, OpenAiChat};
use breaker::{Admission, CircuitBreaker};
use oneiro::{Error, ErrorKind, Llm, LlmRequest, LlmResponse, Result};
use rate_limit::RateLimit;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Limits on calls to a model. Zero means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Consecutive failures after which calls are suspended; a refused key suspends them at once.
    pub failures: u32,
    /// How long calls are suspended.
    pub pause: Duration,
    /// The maximum number of calls in any hour. A call with retries counts once.
    pub calls_per_hour: u32,
    /// The maximum number of input and output tokens in any hour.
    pub tokens_per_hour: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            failures: 5,
            pause: Duration::from_secs(30 * 60),
            calls_per_hour: 120,
            tokens_per_hour: 2_000_000,
        }
    }
}

/// A model with limits, which the threads of this process share.
pub struct Guarded {
    model: Arc<dyn Llm>,
    now: Box<dyn Fn() -> Instant + Send + Sync>,
    state: Mutex<State>,
}

struct State {
    breaker: CircuitBreaker,
    rate_limit: RateLimit,
}

/// How a call ended.
enum CallOutcome {
    /// The model responded; the tokens used.
    Succeeded(u64),
    /// The server works, but rejected this request.
    Rejected,
    /// The model, its server or the network failed.
    Failed(Error),
}

/// A chat model on a server with an OpenAI-compatible API, with limits.
pub fn openai_chat(config: ChatConfig) -> Result<Arc<dyn Llm>> {
    let limits = config.limits;
    Ok(Arc::new(Guarded::new(Arc::new(OpenAiChat::new(config)?), limits)))
}

impl Guarded {
    /// Limits calls to a model.
    pub fn new(model: Arc<dyn Llm>, limits: Limits) -> Self {
        let state =
            State { breaker: CircuitBreaker::new(&limits), rate_limit: RateLimit::new(&limits) };
        Guarded { model, now: Box::new(Instant::now), state: Mutex::new(state) }
    }

    /// Uses another clock.
    #[must_use]
    pub fn with_clock(self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Guarded { now: Box::new(now), ..self }
    }

    /// Admits a call, or fails with the time after which one may be admitted.
    fn admit(&self, cost: u64) -> Result<CallPermit<'_>> {
        let mut state = self.state();
        let now = (self.now)();
        let admission = state.breaker.check(now)?;
        let call = state.rate_limit.reserve(now, cost)?;
        // Last, so that a call that the rate limit refuses does not use up the trial.
        state.breaker.admit(admission);
        Ok(CallPermit { guard: self, admission, call, outcome: None })
    }

    fn finish(&self, permit: &CallPermit<'_>, outcome: CallOutcome) {
        let mut state = self.state();
        match outcome {
            CallOutcome::Succeeded(tokens) => {
                state.rate_limit.set_actual(permit.call, tokens);
                state.breaker.succeeded(permit.admission);
            }
            CallOutcome::Rejected => state.breaker.rejected(permit.admission),
            CallOutcome::Failed(error) => {
                let opened = state.breaker.failed(permit.admission, (self.now)(), &error);
                drop(state);
                if let Some(pause) = opened {
                    let (model, pause_s) = (self.model.id(), pause.as_secs());
                    tracing::warn!(model, pause_s, "calls to the chat model are suspended");
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, request: &LlmRequest<'_>, since: Instant, result: &Result<LlmResponse>) {
        let (purpose, model) = (request.purpose, self.model.id());
        let elapsed = (self.now)().saturating_duration_since(since).as_millis();
        let milliseconds = u64::try_from(elapsed).unwrap_or(u64::MAX);
        match result {
            Ok(answer) => {
                let outcome = if answer.cut_short { "cut_short" } else { "written" };
                let (input_tokens, output_tokens) = (answer.input_tokens, answer.output_tokens);
                tracing::info!(
                    purpose,
                    model,
                    milliseconds,
                    input_tokens,
                    output_tokens,
                    outcome,
                    "the chat model responded"
                );
            }
            // The kind alone: the message of a server may quote the prompt.
            Err(error) => {
                let outcome = error.kind().name();
                tracing::warn!(purpose, model, milliseconds, outcome, "the chat model failed");
            }
        }
    }
}

impl Llm for Guarded {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn complete(&self, request: &LlmRequest<'_>) -> Result<LlmResponse> {
        let input_tokens = estimate_tokens(request.instructions) + estimate_tokens(request.input);
        let admitted = self.admit(input_tokens.saturating_add(request.max_tokens as u64));
        let mut permit = admitted.inspect_err(|error| {
            let (purpose, model, outcome) = (request.purpose, self.id(), error.kind().name());
            tracing::debug!(purpose, model, outcome, "a call to the chat model was refused");
        })?;
        let since = (self.now)();
        let result = self.model.complete(request);
        self.log(request, since, &result);
        permit.outcome = Some(match &result {
            Ok(answer) => {
                let output_tokens =
                    answer.output_tokens.unwrap_or_else(|| estimate_tokens(&answer.text));
                CallOutcome::Succeeded(
                    answer.input_tokens.unwrap_or(input_tokens).saturating_add(output_tokens),
                )
            }
            Err(error) if is_request_error(error.kind()) => CallOutcome::Rejected,
            Err(error) => CallOutcome::Failed(error.clone()),
        });
        drop(permit);
        result.map_err(hide_key_error)
    }
}

/// The permission for one call. Dropping it, also in a panic, reports how the call ended.
struct CallPermit<'a> {
    guard: &'a Guarded,
    admission: Admission,
    call: u64,
    outcome: Option<CallOutcome>,
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        let interrupted = || CallOutcome::Failed(Error::internal("the call was interrupted"));
        let outcome = self.outcome.take().unwrap_or_else(interrupted);
        self.guard.finish(self, outcome);
    }
}

/// Texts of most languages have more bytes per token.
const MIN_BYTES_PER_TOKEN: usize = 3;

/// An upper estimate of the tokens of a text.
fn estimate_tokens(text: &str) -> u64 {
    text.len().div_ceil(MIN_BYTES_PER_TOKEN) as u64
}

fn is_request_error(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::TooLarge)
}

fn is_key_error(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Unauthorized | ErrorKind::Forbidden)
}

/// The server refused the key of this process, which is not the fault of the caller.
fn hide_key_error(error: Error) -> Error {
    if !is_key_error(error.kind()) {
        return error;
    }
    let remedy = error.remedy_text().map_or_else(|| "check the key".to_owned(), Cow::into_owned);
    Error::new(ErrorKind::Unavailable, error.message()).remedy(remedy)
}

/// A duration for people, rounded up.
fn format_wait(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    match seconds {
        0..=120 => format!("{seconds} s"),
        _ => format!("{} minutes", seconds.div_ceil(60)),
    }
}
