//! Leaves a model alone that fails again and again, then lets one call try. It owns that decision
//! and must not know what a call costs or says.

use super::{Limits, is_about_the_key, said};
use oneiro::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

const YEAR: Duration = Duration::from_secs(365 * 86_400);

/// Closed lets calls through, open lets none, half-open waits for the one that tries.
pub(super) struct Breaker {
    /// Failures in a row that open it; zero is never.
    most: u32,
    pause: Duration,
    stage: Stage,
    /// Failures since the last success.
    failures: u32,
    /// The one that opened it, for whoever asks why.
    last: Option<Error>,
}

#[derive(Clone, Copy)]
enum Stage {
    Closed,
    Open { until: Instant },
    Half,
}

/// As what a call goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// As any other.
    Ordinary,
    /// As the one that tries whether the model is back.
    Trial,
}

impl Breaker {
    pub(super) fn new(limits: &Limits) -> Self {
        let (most, pause) = (limits.failures, limits.pause);
        Breaker { most, pause, stage: Stage::Closed, failures: 0, last: None }
    }

    /// As what a call may go through now.
    pub(super) fn may_enter(&self, now: Instant) -> Result<Entry> {
        match self.stage {
            Stage::Closed => Ok(Entry::Ordinary),
            Stage::Open { until } if now >= until => Ok(Entry::Trial),
            Stage::Open { until } => {
                let wait = said(until.saturating_duration_since(now));
                Err(self.alone(format!("it is asked again in {wait}")))
            }
            Stage::Half => Err(self.alone("one call is trying it now".to_owned())),
        }
    }

    pub(super) fn enter(&mut self, entry: Entry) {
        if entry == Entry::Trial {
            self.stage = Stage::Half;
        }
    }

    pub(super) fn succeeded(&mut self, entry: Entry) {
        if self.concerns(entry) {
            self.close();
        }
    }

    /// The model is there, so a trial is over; but it has not shown that it can write.
    pub(super) fn declined(&mut self, entry: Entry) {
        if entry == Entry::Trial {
            self.close();
        }
    }

    /// For how long this failure opened it, if it did.
    pub(super) fn failed(&mut self, entry: Entry, now: Instant, error: &Error) -> Option<Duration> {
        if !self.concerns(entry) || self.most == 0 {
            return None;
        }
        self.failures = self.failures.saturating_add(1);
        let is_enough = self.failures >= self.most || is_about_the_key(error.kind());
        if !is_enough && entry == Entry::Ordinary {
            return None;
        }
        // A pause that no clock can hold is meant as "for ever", and a year is that.
        let until = now.checked_add(self.pause).unwrap_or(now + YEAR);
        self.stage = Stage::Open { until };
        self.last = Some(error.clone());
        Some(self.pause)
    }

    fn close(&mut self) {
        (self.stage, self.failures, self.last) = (Stage::Closed, 0, None);
    }

    /// Calls that went through before it opened tell nothing about the time since.
    fn concerns(&self, entry: Entry) -> bool {
        match self.stage {
            Stage::Closed => true,
            Stage::Open { .. } => false,
            Stage::Half => entry == Entry::Trial,
        }
    }

    fn alone(&self, when: String) -> Error {
        let why = match &self.last {
            Some(error) if is_about_the_key(error.kind()) => "its key was refused".to_owned(),
            _ => format!("failures in a row: {}", self.failures),
        };
        let message = format!("the model that writes is left alone ({why}); {when}");
        let error = Error::new(ErrorKind::Unavailable, message);
        let error = error.remedy("wait, or mend what the log names and start again");
        match &self.last {
            Some(last) => error.because(last.clone()),
            None => error,
        }
    }
}
