//! The days of a simulated year: day 0 is a Monday, and dates are written as people write them.

use oneiro::Timestamp;

/// Midnight of day 0, Monday 6 January 2025 (UTC).
const FIRST_MIDNIGHT_SECONDS: i64 = 1_736_121_600;

const DAY_SECONDS: i64 = 86_400;

const ENGLISH: &str = "January February March April May June July August September October November \
                       December";

const GERMAN: &str = "Januar Februar März April Mai Juni Juli August September Oktober November \
                      Dezember";

/// A second of a day.
pub(super) fn moment(day: usize, second: u32) -> Timestamp {
    let day = i64::try_from(day).unwrap_or(i64::MAX / DAY_SECONDS / 1_000_000);
    let seconds = FIRST_MIDNIGHT_SECONDS + day * DAY_SECONDS + i64::from(second);
    Timestamp::from_micros(seconds * 1_000_000)
}

/// A day as 2025-01-06.
pub(super) fn short_date(day: usize) -> String {
    moment(day, 0).to_string().chars().take("2025-01-06".len()).collect()
}

/// A day as "6 January 2025" or "6. Januar 2025".
pub(super) fn long_date(day: usize, language: &str) -> String {
    let date = short_date(day);
    let mut parts = date.split('-');
    let year = parts.next().unwrap_or_default();
    let number = |part: Option<&str>| part.and_then(|it| it.parse::<usize>().ok()).unwrap_or(1);
    let (month, day) = (number(parts.next()), number(parts.next()));
    let (months, mark) = if language == "de" { (GERMAN, ".") } else { (ENGLISH, "") };
    let month = months.split(' ').nth(month.saturating_sub(1)).unwrap_or_default();
    format!("{day}{mark} {month} {year}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(moment(0, 3_600).to_string(), "2025-01-06T01:00:00Z");
        assert_eq!(short_date(31), "2025-02-06");
        assert_eq!(long_date(359, "en"), "31 December 2025");
        assert_eq!(long_date(60, "de"), "7. März 2025");
    }
}
