//! Days by number, counted from 1970-01-01, and the first and the one after the last of a time. It
//! must not know words.

use jiff::Span;
use jiff::civil::Date;

/// Days are numbered from here.
const EPOCH: Date = Date::constant(1970, 1, 1);

/// The number of a day.
pub(crate) fn number(day: Date) -> i64 {
    day.duration_since(EPOCH).as_hours() / 24
}

/// The day of a number, if a calendar has it.
pub(crate) fn date(number: i64) -> Option<Date> {
    EPOCH.checked_add(Span::new().try_days(number).ok()?).ok()
}

/// The number of a day, if there is such a day.
pub(crate) fn checked((year, month, day): (i64, i64, i64)) -> Option<i64> {
    let part = |part: i64| i8::try_from(part).ok();
    Some(number(Date::new(i16::try_from(year).ok()?, part(month)?, part(day)?).ok()?))
}

/// All days of so many months. Months outside 1 to 12 run into other years.
fn months(year: i64, month: i64, count: i64) -> Option<(i64, i64)> {
    let january = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
    let plus = |months: i64| january.checked_add(Span::new().try_months(months).ok()?).ok();
    let (first, last) = (plus(month - 1)?, plus(month + count - 2)?.last_of_month());
    Some((number(first), number(last) + 1))
}

/// All days of a month.
pub(crate) fn whole_month(year: i64, month: i64) -> Option<(i64, i64)> {
    months(year, month, 1)
}

/// All days of a year.
pub(crate) fn whole_year(year: i64) -> Option<(i64, i64)> {
    months(year, 1, 12)
}

/// All days of a season, spring being 0.
pub(crate) fn whole_season(year: i64, season: i64) -> Option<(i64, i64)> {
    months(year, 3 + 3 * season, 3)
}
