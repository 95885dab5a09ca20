//! What was asked of a model in the last hour, and whether one more call fits. It owns the counting
//! and must not know whether a call went well.

use super::{Limits, said};
use oneiro::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3_600);

/// The calls of the last hour, oldest first.
pub(super) struct Spend {
    /// The most calls; zero is no limit.
    most_calls: u32,
    /// The most tokens; zero is no limit.
    most_tokens: u64,
    calls: VecDeque<Call>,
    /// The number of the next call.
    next: u64,
}

struct Call {
    number: u64,
    at: Instant,
    tokens: u64,
}

impl Spend {
    pub(super) fn new(limits: &Limits) -> Self {
        Spend {
            most_calls: limits.calls_per_hour,
            most_tokens: limits.tokens_per_hour,
            calls: VecDeque::new(),
            next: 0,
        }
    }

    /// Books a call at what it may cost at most, so that calls at the same time cannot pass the
    /// cap together. A call that fails keeps that cost: nobody knows what its server counted.
    pub(super) fn book(&mut self, now: Instant, tokens: u64) -> Result<u64> {
        while self.calls.front().is_some_and(|call| left(call, now).is_zero()) {
            self.calls.pop_front();
        }
        if let Some(wait) = self.until_a_call(now) {
            return Err(spent(&format!("{} calls", self.most_calls), wait));
        }
        let cap = self.most_tokens;
        if cap > 0 && tokens > cap {
            let message = format!("a call of up to {tokens} tokens is above the {cap} of an hour");
            return Err(Error::new(ErrorKind::RateLimited, message)
                .remedy("raise the cap on tokens, or give the model less; waiting does not help"));
        }
        if let Some(wait) = self.until_tokens(now, tokens) {
            return Err(spent(&format!("{cap} tokens"), wait));
        }
        let number = self.next;
        self.next += 1;
        if self.most_calls > 0 || cap > 0 {
            self.calls.push_back(Call { number, at: now, tokens });
        }
        Ok(number)
    }

    /// What a call did cost, once it is known.
    pub(super) fn settle(&mut self, number: u64, tokens: u64) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.number == number) {
            call.tokens = tokens;
        }
    }

    /// How long until one more call is within the cap; none when it is.
    fn until_a_call(&self, now: Instant) -> Option<Duration> {
        let most = usize::try_from(self.most_calls).unwrap_or(usize::MAX);
        // Calls are never more than the cap, so one has to go.
        let oldest = self.calls.front().filter(|_| most > 0 && self.calls.len() >= most)?;
        Some(left(oldest, now))
    }

    /// How long until so many more tokens are within the cap; none when they are.
    fn until_tokens(&self, now: Instant, wanted: u64) -> Option<Duration> {
        if self.most_tokens == 0 {
            return None;
        }
        let sum = self.calls.iter().fold(wanted, |sum, call| sum.saturating_add(call.tokens));
        let mut above = sum.saturating_sub(self.most_tokens);
        if above == 0 {
            return None;
        }
        let enough = self.calls.iter().find(|call| {
            above = above.saturating_sub(call.tokens);
            above == 0
        });
        enough.map(|call| left(call, now))
    }
}

/// How long a call still counts.
fn left(call: &Call, now: Instant) -> Duration {
    HOUR.saturating_sub(now.saturating_duration_since(call.at))
}

fn spent(what: &str, wait: Duration) -> Error {
    let wait = said(wait);
    let message = format!("the {what} of an hour are spent; the model is asked again in {wait}");
    Error::new(ErrorKind::RateLimited, message).remedy("wait, or raise the cap")
}
