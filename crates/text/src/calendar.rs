//! Days as numbers since 1970-01-01, and half-open ranges of days.

use jiff::Span;
use jiff::civil::Date;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// The number of a day.
pub(crate) fn day_number(day: Date) -> i64 {
    day.duration_since(EPOCH).as_hours() / 24
}

/// The date of a day number, if the calendar has it.
pub(crate) fn date_of(number: i64) -> Option<Date> {
    EPOCH.checked_add(Span::new().try_days(number).ok()?).ok()
}

/// The number of a day, if that date exists.
pub(crate) fn date_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let part = |part: i64| i8::try_from(part).ok();
    Some(day_number(Date::new(i16::try_from(year).ok()?, part(month)?, part(day)?).ok()?))
}

/// The days of `count` months. Months outside 1 to 12 belong to other years.
fn days_of_months(year: i64, month: i64, count: i64) -> Option<(i64, i64)> {
    let january = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
    let plus = |days_of_months: i64| {
        january.checked_add(Span::new().try_months(days_of_months).ok()?).ok()
    };
    let (first, last) = (plus(month - 1)?, plus(month + count - 2)?.last_of_month());
    Some((day_number(first), day_number(last) + 1))
}

pub(crate) fn days_of_month(year: i64, month: i64) -> Option<(i64, i64)> {
    days_of_months(year, month, 1)
}

pub(crate) fn days_of_year(year: i64) -> Option<(i64, i64)> {
    days_of_months(year, 1, 12)
}

/// Spring is season 0.
pub(crate) fn days_of_season(year: i64, season: i64) -> Option<(i64, i64)> {
    days_of_months(year, 3 + 3 * season, 3)
}
