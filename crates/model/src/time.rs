//! Time as UTC microseconds.

use crate::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A moment: microseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Timestamp {
        Timestamp(micros)
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 time; anything finer than a microsecond is cut.
    pub fn parse(text: &str) -> Result<Timestamp> {
        text.parse::<jiff::Timestamp>().map(|time| Timestamp(time.as_microsecond())).map_err(|_| {
            Error::invalid(format!("{:?} is not an RFC 3339 time", shorten(text)))
                .remedy("write it as 2026-01-31T09:30:00Z")
        })
    }

    /// This moment, or the nearest that can be written as RFC 3339.
    #[must_use]
    pub fn printable(self) -> Timestamp {
        let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
        Timestamp(self.0.clamp(first.as_microsecond(), last.as_microsecond()))
    }

    /// This moment moved back by `span`.
    #[must_use]
    pub const fn minus(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_sub(span.0))
    }

    /// Its date in UTC: `2026-01-31`.
    pub fn date_text(self) -> String {
        self.to_string().chars().take("2026-01-31".len()).collect()
    }

    /// Its date and time in UTC to the minute: `2026-01-31 09:30`.
    pub fn minute_text(self) -> String {
        self.to_string().replace('T', " ").chars().take("2026-01-31 09:30".len()).collect()
    }

    /// The day since the epoch, in UTC.
    pub const fn day_number(self) -> i64 {
        self.0.div_euclid(Span::DAY.0)
    }

    /// This moment moved on by `span`.
    #[must_use]
    pub const fn plus(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => time.fmt(f),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).map_err(serde::de::Error::custom)
    }
}

text_schema!(Timestamp "format": "date-time");

/// A length of time in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(i64);

impl Span {
    /// 24 hours.
    pub const DAY: Span = Span::days(1);

    /// In microseconds.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// From milliseconds.
    pub const fn millis(millis: i64) -> Span {
        Span(millis.saturating_mul(1_000))
    }

    /// From seconds.
    pub const fn seconds(seconds: i64) -> Span {
        Span(seconds.saturating_mul(1_000_000))
    }

    /// From days.
    pub const fn days(days: i64) -> Span {
        Span(days.saturating_mul(86_400_000_000))
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_microseconds() {
        let time = Timestamp::parse("2026-01-31T10:30:00.1234567+01:00").unwrap();
        assert_eq!(time.to_string(), "2026-01-31T09:30:00.123456Z");
        assert_eq!(Timestamp::parse(&time.to_string()).unwrap(), time);
        assert_eq!(time.date_text(), "2026-01-31");
        assert_eq!(time.minute_text(), "2026-01-31 09:30");
        assert_eq!(Timestamp::from_micros(-1).day_number(), -1);
        for bad in ["", "yesterday", "2026-13-01T00:00:00Z", "1700000000"] {
            assert!(Timestamp::parse(bad).is_err(), "{bad}");
        }
    }
}
