//! A rate limit: calls and tokens in a sliding window of one hour.

use super::{Limits, format_wait};
use oneiro::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const WINDOW_LENGTH: Duration = Duration::from_secs(3_600);

/// The calls of the last hour, oldest first.
pub(super) struct RateLimit {
    /// Zero means no limit.
    max_calls: u32,
    /// Zero means no limit.
    max_tokens: u64,
    calls: VecDeque<Call>,
    /// The number of the next call.
    next: u64,
}

struct Call {
    number: u64,
    at: Instant,
    tokens: u64,
}

impl RateLimit {
    pub(super) fn new(limits: &Limits) -> Self {
        RateLimit {
            max_calls: limits.calls_per_hour,
            max_tokens: limits.tokens_per_hour,
            calls: VecDeque::new(),
            next: 0,
        }
    }

    /// Reserves the maximum cost of a call, so that concurrent calls cannot exceed the limit together. A
    /// failed call keeps its reservation, since its actual cost is unknown.
    pub(super) fn reserve(&mut self, now: Instant, tokens: u64) -> Result<u64> {
        while self.calls.front().is_some_and(|call| remaining(call, now).is_zero()) {
            self.calls.pop_front();
        }
        if let Some(wait) = self.wait_for_call(now) {
            return Err(limit_reached(&format!("{} calls", self.max_calls), wait));
        }
        let limit = self.max_tokens;
        if limit > 0 && tokens > limit {
            let message =
                format!("a call of up to {tokens} tokens exceeds the limit of {limit} per hour");
            return Err(Error::new(ErrorKind::RateLimited, message)
                .remedy("raise the limit on tokens, or send less; waiting does not help"));
        }
        if let Some(wait) = self.wait_for_tokens(now, tokens) {
            return Err(limit_reached(&format!("{limit} tokens"), wait));
        }
        let number = self.next;
        self.next += 1;
        if self.max_calls > 0 || limit > 0 {
            self.calls.push_back(Call { number, at: now, tokens });
        }
        Ok(number)
    }

    /// Replaces the reservation of a call by its actual cost.
    pub(super) fn set_actual(&mut self, number: u64, tokens: u64) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.number == number) {
            call.tokens = tokens;
        }
    }

    /// How long until one more call is within the limit; `None` if it is now.
    fn wait_for_call(&self, now: Instant) -> Option<Duration> {
        let most = usize::try_from(self.max_calls).unwrap_or(usize::MAX);
        // There are never more calls than the limit, so one must leave the window.
        let oldest = self.calls.front().filter(|_| most > 0 && self.calls.len() >= most)?;
        Some(remaining(oldest, now))
    }

    /// How long until `wanted` tokens are within the limit; `None` if they are now.
    fn wait_for_tokens(&self, now: Instant, wanted: u64) -> Option<Duration> {
        if self.max_tokens == 0 {
            return None;
        }
        let sum = self.calls.iter().fold(wanted, |sum, call| sum.saturating_add(call.tokens));
        let mut above = sum.saturating_sub(self.max_tokens);
        if above == 0 {
            return None;
        }
        let enough = self.calls.iter().find(|call| {
            above = above.saturating_sub(call.tokens);
            above == 0
        });
        enough.map(|call| remaining(call, now))
    }
}

/// How long a call stays in the window.
fn remaining(call: &Call, now: Instant) -> Duration {
    WINDOW_LENGTH.saturating_sub(now.saturating_duration_since(call.at))
}

fn limit_reached(what: &str, wait: Duration) -> Error {
    let wait = format_wait(wait);
    let message =
        format!("the limit of {what} per hour is reached; the next call is possible in {wait}");
    Error::new(ErrorKind::RateLimited, message).remedy("wait, or raise the limit")
}
