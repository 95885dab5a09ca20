//! A circuit breaker: suspends calls after consecutive failures, then admits one call as a trial.

use super::{Limits, format_wait, is_key_error};
use oneiro::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

const MAX_PAUSE: Duration = Duration::from_secs(365 * 86_400);

/// Closed admits every call, open none, half-open waits for the trial to end.
pub(super) struct CircuitBreaker {
    /// Consecutive failures that open it; zero disables it.
    max_failures: u32,
    pause: Duration,
    state: State,
    /// Failures since the last success.
    failures: u32,
    /// The failure that opened it.
    cause: Option<Error>,
}

#[derive(Clone, Copy)]
enum State {
    Closed,
    Open { until: Instant },
    HalfOpen,
}

/// How a call was admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// While the breaker is closed.
    Ordinary,
    /// As the trial of a half-open breaker.
    Trial,
}

impl CircuitBreaker {
    pub(super) fn new(limits: &Limits) -> Self {
        let (max_failures, pause) = (limits.failures, limits.pause);
        CircuitBreaker { max_failures, pause, state: State::Closed, failures: 0, cause: None }
    }

    /// How a call may be admitted now.
    pub(super) fn check(&self, now: Instant) -> Result<Admission> {
        match self.state {
            State::Closed => Ok(Admission::Ordinary),
            State::Open { until } if now >= until => Ok(Admission::Trial),
            State::Open { until } => {
                let wait = format_wait(until.saturating_duration_since(now));
                Err(self.suspended(format!("the next call is possible in {wait}")))
            }
            State::HalfOpen => Err(self.suspended("a trial call is running".to_owned())),
        }
    }

    pub(super) fn admit(&mut self, admission: Admission) {
        if admission == Admission::Trial {
            self.state = State::HalfOpen;
        }
    }

    pub(super) fn succeeded(&mut self, admission: Admission) {
        if self.counts(admission) {
            self.close();
        }
    }

    /// The server responded, so a trial is over; failures still count, since the model produced nothing.
    pub(super) fn rejected(&mut self, admission: Admission) {
        if admission == Admission::Trial {
            self.close();
        }
    }

    /// Records a failure; returns how long calls are suspended if it opened the breaker.
    pub(super) fn failed(
        &mut self,
        admission: Admission,
        now: Instant,
        error: &Error,
    ) -> Option<Duration> {
        if !self.counts(admission) || self.max_failures == 0 {
            return None;
        }
        self.failures = self.failures.saturating_add(1);
        let is_enough = self.failures >= self.max_failures || is_key_error(error.kind());
        if !is_enough && admission == Admission::Ordinary {
            return None;
        }
        // A pause beyond the range of the clock means for ever.
        let until = now.checked_add(self.pause).unwrap_or(now + MAX_PAUSE);
        self.state = State::Open { until };
        self.cause = Some(error.clone());
        Some(self.pause)
    }

    fn close(&mut self) {
        (self.state, self.failures, self.cause) = (State::Closed, 0, None);
    }

    /// Whether the outcome of a call counts: not if it was admitted before the breaker opened.
    fn counts(&self, admission: Admission) -> bool {
        match self.state {
            State::Closed => true,
            State::Open { .. } => false,
            State::HalfOpen => admission == Admission::Trial,
        }
    }

    fn suspended(&self, when: String) -> Error {
        let why = match &self.cause {
            Some(error) if is_key_error(error.kind()) => "its key was refused".to_owned(),
            _ => format!("consecutive failures: {}", self.failures),
        };
        let message = format!("calls to the chat model are suspended ({why}); {when}");
        let error = Error::new(ErrorKind::Unavailable, message);
        let error = error.remedy("wait, or fix the cause named in the log and restart");
        match &self.cause {
            Some(cause) => error.because(cause.clone()),
            None => error,
        }
    }
}
