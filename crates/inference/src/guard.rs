//! A guard before any model that writes: one that fails is left alone for a while, and what an hour
//! may cost is bounded. It owns when a model is asked and what is logged about it; it must not know
//! which model it is, and logs neither what it read nor what it wrote.

mod breaker;
mod spend;

use breaker::{Breaker, Entry};
use oneiro::{Error, ErrorKind, Llm, LlmAnswer, LlmRequest, Result};
use spend::Spend;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When a model is left alone. Zero is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Failures in a row after which it is left alone; a key that is refused is enough by itself.
    pub failures: u32,
    /// For how long.
    pub pause: Duration,
    /// The most calls in any hour. A call that is tried again is one.
    pub calls_per_hour: u32,
    /// The most tokens in any hour, read and written.
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

/// A model that is asked within limits. Threads share them; other processes have their own.
pub struct Guarded {
    model: Arc<dyn Llm>,
    now: Box<dyn Fn() -> Instant + Send + Sync>,
    state: Mutex<State>,
}

struct State {
    breaker: Breaker,
    spend: Spend,
}

/// How a call ended, as far as the guard cares.
enum Ending {
    /// The model wrote, and this is what it cost.
    Wrote(u64),
    /// The model is there, and could not do this one thing.
    Declined,
    /// The model, its server or the way to it is at fault.
    Failed(Error),
}

impl Guarded {
    /// Puts a guard before a model.
    pub fn new(model: Arc<dyn Llm>, limits: Limits) -> Self {
        let state = State { breaker: Breaker::new(&limits), spend: Spend::new(&limits) };
        Guarded { model, now: Box::new(Instant::now), state: Mutex::new(state) }
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Guarded { now: Box::new(now), ..self }
    }

    /// Lets a call through, or says when one may come again.
    fn enter(&self, cost: u64) -> Result<Pass<'_>> {
        let mut state = self.state();
        let now = (self.now)();
        let entry = state.breaker.may_enter(now)?;
        let call = state.spend.book(now, cost)?;
        // Last, so that a call which the caps refuse does not use up the one try.
        state.breaker.enter(entry);
        Ok(Pass { guard: self, entry, call, ending: None })
    }

    fn leave(&self, pass: &Pass<'_>, ending: Ending) {
        let mut state = self.state();
        match ending {
            Ending::Wrote(tokens) => {
                state.spend.settle(pass.call, tokens);
                state.breaker.succeeded(pass.entry);
            }
            Ending::Declined => state.breaker.declined(pass.entry),
            Ending::Failed(error) => {
                let opened = state.breaker.failed(pass.entry, (self.now)(), &error);
                drop(state);
                if let Some(pause) = opened {
                    let (model, pause_s) = (self.model.id(), pause.as_secs());
                    tracing::warn!(model, pause_s, "the model that writes is left alone");
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, request: &LlmRequest<'_>, since: Instant, result: &Result<LlmAnswer>) {
        let (purpose, model) = (request.purpose, self.model.id());
        let took = (self.now)().saturating_duration_since(since).as_millis();
        let milliseconds = u64::try_from(took).unwrap_or(u64::MAX);
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
                    "a model was asked to write"
                );
            }
            // The kind alone: a server's complaint may quote what it was sent.
            Err(error) => {
                let outcome = error.kind().name();
                tracing::warn!(purpose, model, milliseconds, outcome, "a model did not write");
            }
        }
    }
}

impl Llm for Guarded {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn write(&self, request: &LlmRequest<'_>) -> Result<LlmAnswer> {
        let read = tokens_in(request.instructions) + tokens_in(request.input);
        let entered = self.enter(read.saturating_add(request.max_tokens as u64));
        let mut pass = entered.inspect_err(|error| {
            let (purpose, model, outcome) = (request.purpose, self.id(), error.kind().name());
            tracing::debug!(purpose, model, outcome, "a model was not asked");
        })?;
        let since = (self.now)();
        let result = self.model.write(request);
        self.log(request, since, &result);
        pass.ending = Some(match &result {
            Ok(answer) => {
                let wrote = answer.output_tokens.unwrap_or_else(|| tokens_in(&answer.text));
                Ending::Wrote(answer.input_tokens.unwrap_or(read).saturating_add(wrote))
            }
            Err(error) if is_about_the_request(error.kind()) => Ending::Declined,
            Err(error) => Ending::Failed(error.clone()),
        });
        drop(pass);
        result.map_err(as_seen_from_outside)
    }
}

/// The right to make one call. However the call ends, by a panic too, it is given back.
struct Pass<'a> {
    guard: &'a Guarded,
    entry: Entry,
    call: u64,
    ending: Option<Ending>,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let broken = || Ending::Failed(Error::internal("the call did not come to its end"));
        let ending = self.ending.take().unwrap_or_else(broken);
        self.guard.leave(self, ending);
    }
}

/// About as many tokens as a text has, rather more than less: for a bound, not for a bill.
fn tokens_in(text: &str) -> u64 {
    text.len().div_ceil(3) as u64
}

fn is_about_the_request(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::TooLarge)
}

fn is_about_the_key(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Unauthorized | ErrorKind::Forbidden)
}

/// It is our key that was refused, not that of whoever called us.
fn as_seen_from_outside(error: Error) -> Error {
    if !is_about_the_key(error.kind()) {
        return error;
    }
    let remedy = error.remedy_text().map_or_else(|| "check the key".to_owned(), Cow::into_owned);
    Error::new(ErrorKind::Unavailable, error.message()).remedy(remedy)
}

/// A wait as people say it, never less than it is.
fn said(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    match seconds {
        0..=120 => format!("{seconds} s"),
        _ => format!("{} minutes", seconds.div_ceil(60)),
    }
}
