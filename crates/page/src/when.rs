//! Formats moments and days for people, in UTC. `now` is a parameter, so that tests can choose it.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use oneiro::Timestamp;

/// A moment: how long ago it was, and exactly when.
pub fn ago(at: Timestamp, now: Timestamp) -> Markup {
    html! {
        time datetime=(at) title=(exact(at)) { (distance(at, now)) }
    }
}

/// The hour and minute of a moment.
pub fn clock(at: Timestamp) -> Markup {
    let text: String = at.to_string().chars().skip(11).take(5).collect();
    html! {
        time datetime=(at) { (text) }
    }
}

/// The date of a moment: `3 Nov 2026`.
pub fn date(at: Timestamp) -> String {
    day(at).map_or_else(|| at.to_string(), |date| date.strftime("%-d %b %Y").to_string())
}

/// Day and minute.
pub fn exact(at: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(at.micros()) {
        Ok(time) => time.to_zoned(TimeZone::UTC).strftime("%-d %b %Y, %H:%M UTC").to_string(),
        Err(_) => at.to_string(),
    }
}

/// The day of a moment.
pub fn day(at: Timestamp) -> Option<Date> {
    let time = jiff::Timestamp::from_microsecond(at.micros()).ok()?;
    Some(time.to_zoned(TimeZone::UTC).date())
}

/// A day by name: today, yesterday, or its date.
pub fn day_name(date: Option<Date>, now: Timestamp) -> String {
    let Some(date) = date else { return "Unknown date".to_owned() };
    let today = day(now);
    if today == Some(date) {
        return "Today".to_owned();
    }
    if today.and_then(|today| today.yesterday().ok()) == Some(date) {
        return "Yesterday".to_owned();
    }
    date.strftime("%A, %-d %B %Y").to_string()
}

/// A day of a plot: `3 Nov`.
pub fn short_day(date: &str) -> String {
    match date.parse::<Date>() {
        Ok(date) => date.strftime("%-d %b").to_string(),
        Err(_) => crate::text::bare(date),
    }
}

/// How long ago a moment was, or how soon it will be.
pub fn distance(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.micros().saturating_sub(at.micros()) / 1_000_000;
    let (count, unit) = match seconds.abs() {
        ..45 => return "just now".to_owned(),
        s @ ..3_600 => ((s + 30) / 60, "minute"),
        s @ ..86_400 => (s / 3_600, "hour"),
        s @ ..2_592_000 => (s / 86_400, "day"),
        s @ ..31_536_000 => (s / 2_592_000, "month"),
        s => (s / 31_536_000, "year"),
    };
    let count = crate::numbers::counted(count, unit);
    if seconds < 0 { format!("in {count}") } else { format!("{count} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_and_days() {
        let now = Timestamp::parse("2026-11-15T16:30:00Z").unwrap();
        for (at, want) in [
            ("2026-11-15T16:29:50Z", "just now"),
            ("2026-11-15T16:28:40Z", "1 minute ago"),
            ("2026-11-15T13:00:00Z", "3 hours ago"),
            ("2026-11-12T16:30:00Z", "3 days ago"),
            ("2026-08-12T16:30:00Z", "3 months ago"),
            ("2020-11-12T16:30:00Z", "6 years ago"),
            ("2026-11-15T18:30:00Z", "in 2 hours"),
        ] {
            assert_eq!(distance(Timestamp::parse(at).unwrap(), now), want);
        }
        let name = |at: &str| day_name(day(Timestamp::parse(at).unwrap()), now);
        assert_eq!(name("2026-11-15T00:00:00Z"), "Today");
        assert_eq!(name("2026-11-14T23:59:59Z"), "Yesterday");
        assert_eq!(name("2026-11-13T00:00:00Z"), "Friday, 13 November 2026");
        assert_eq!(day_name(day(Timestamp::from_micros(i64::MAX)), now), "Unknown date");
    }
}
