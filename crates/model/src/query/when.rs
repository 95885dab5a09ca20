//! Parses dates, times and ages in UTC. Ages are relative to a time that the caller passes.

use crate::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

/// A time range: its start and its exclusive end. For a moment or an age both are equal.
pub(crate) fn stretch(text: &str, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    if let Some(range) = day(text, now).or_else(|| date(text)) {
        return Some(range);
    }
    let moment = age(text, now).or_else(|| moment(text))?.min(from(jiff::Timestamp::MAX));
    Some((moment, moment))
}

fn day(text: &str, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let today = at(now).to_zoned(TimeZone::UTC).date();
    match text {
        "today" => days(today, 1.day()),
        "yesterday" => days(today.checked_sub(1.day()).ok()?, 1.day()),
        _ => None,
    }
}

/// `2026`, `2026-01` or `2026-01-31`.
fn date(text: &str) -> Option<(Timestamp, Timestamp)> {
    let number = |text: &str, digits: usize| {
        let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse::<i16>().ok()).flatten()
    };
    let mut pieces = text.split('-');
    let year = number(pieces.next()?, 4)?;
    let (month, day) = (pieces.next(), pieces.next());
    if pieces.next().is_some() {
        return None;
    }
    let small = |text: &str| number(text, 2).and_then(|number| i8::try_from(number).ok());
    let length = match (month, day) {
        (None, _) => 1.year(),
        (Some(_), None) => 1.month(),
        (Some(_), Some(_)) => 1.day(),
    };
    let month = month.map_or(Some(1), small)?;
    let day = day.map_or(Some(1), small)?;
    days(Date::new(year, month, day).ok()?, length)
}

/// The range from `first` of a length, cut at the end of time.
fn days(first: Date, length: Span) -> Option<(Timestamp, Timestamp)> {
    let start = |date: Date| date.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    let end = first.checked_add(length).and_then(start).unwrap_or(jiff::Timestamp::MAX);
    let start = start(first).unwrap_or(jiff::Timestamp::MAX);
    Some((from(start), from(end)))
}

/// `30s`, `15m` or `15min`, `12h`, `3d`, `2w`, `6mo`, `1y`: `m` is minutes and a bare number is
/// days. An age before the start of time means all time.
fn age(text: &str, now: Timestamp) -> Option<Timestamp> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: i64 = digits.parse().ok()?;
    let span = Span::new();
    let span = match text.get(digits.len()..)? {
        "s" => span.try_seconds(count),
        "m" | "min" => span.try_minutes(count),
        "h" => span.try_hours(count),
        "" | "d" => span.try_days(count),
        "w" => span.try_weeks(count),
        "mo" => span.try_months(count),
        "y" => span.try_years(count),
        _ => return None,
    };
    // Months and years need a calendar; days in UTC have 24 hours.
    let then = span.and_then(|span| at(now).to_zoned(TimeZone::UTC).checked_sub(span));
    Some(from(then.map_or(jiff::Timestamp::MIN, |zoned| zoned.timestamp())))
}

/// RFC 3339; UTC if there is no zone.
fn moment(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).or_else(|_| Timestamp::parse(&format!("{text}Z"))).ok()
}

fn at(time: Timestamp) -> jiff::Timestamp {
    let edge = if time.micros() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_microsecond(time.micros()).unwrap_or(edge)
}

/// The last second of jiff's range is cut to its start, because later moments cannot be printed.
fn from(time: jiff::Timestamp) -> Timestamp {
    let last = jiff::Timestamp::MAX.as_second().saturating_mul(1_000_000);
    Timestamp::from_micros(time.as_microsecond().min(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::parse("2026-03-31T12:00:00Z").unwrap()
    }

    #[test]
    fn dates_are_stretches_and_times_are_moments() {
        for (text, start, end) in [
            ("2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
            ("2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2025-12-31", "2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("today", "2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z"),
            ("yesterday", "2026-03-30T00:00:00Z", "2026-03-31T00:00:00Z"),
            ("9999-12-31", "9999-12-30T22:00:00Z", "9999-12-30T22:00:00Z"),
        ] {
            let (first, after) = stretch(text, now()).unwrap();
            assert_eq!(
                (first.to_string(), after.to_string()),
                (start.into(), end.into()),
                "{text}"
            );
        }
        for (text, want) in [
            ("30s", "2026-03-31T11:59:30Z"),
            ("15m", "2026-03-31T11:45:00Z"),
            ("30min", "2026-03-31T11:30:00Z"),
            ("12h", "2026-03-31T00:00:00Z"),
            ("3d", "2026-03-28T12:00:00Z"),
            ("7", "2026-03-24T12:00:00Z"),
            ("2w", "2026-03-17T12:00:00Z"),
            ("1mo", "2026-02-28T12:00:00Z"),
            ("1y", "2025-03-31T12:00:00Z"),
            ("2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z"),
            ("2026-01-31T09:30:00+01:00", "2026-01-31T08:30:00Z"),
            ("2026-01-31T09:30:00", "2026-01-31T09:30:00Z"),
            ("2026-01-31 09:30", "2026-01-31T09:30:00Z"),
        ] {
            let (first, after) = stretch(text, now()).unwrap();
            assert_eq!(first.to_string(), want, "{text}");
            assert_eq!(first, after, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_and_no_age_overflows() {
        for bad in [
            "",
            "soon",
            "yesterdayish",
            "2026-13",
            "2026-1-1",
            "2026-02-30",
            "2026-01-01-01",
            "3x",
            "-3d",
            "d",
            "99999999999999999999d",
            "20260131T",
            "+5",
            "2026-",
            "-",
        ] {
            assert_eq!(stretch(bad, now()), None, "{bad}");
        }
        for long in [
            "9999-12-30T22:00:00.5Z",
            "9999",
            "999999999999y",
            "9223372036854775807s",
            "99999999w",
            "999999mo",
        ] {
            let (first, _) = stretch(long, now()).unwrap();
            assert_eq!(Timestamp::parse(&first.to_string()).unwrap(), first, "{long}");
        }
        for now in [i64::MIN, i64::MAX] {
            for text in ["today", "yesterday", "3d", "2026"] {
                stretch(text, Timestamp::from_micros(now));
            }
        }
    }
}
