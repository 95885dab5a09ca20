//! Dates as an extract writes them: the day of a line, and what a relative date meant on that day.

use std::borrow::Cow;
use std::fmt::Write;

use jiff::civil::{Date, Weekday};
use oneiro_text::{
    DateRole, DatedText, Precision, RelativeDate, date_role, find_dates, relative_dates,
};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days of a week, and of a weekend.
const WEEK_DAYS: i32 = 7;
const WEEKEND_DAYS: i32 = 2;

/// What of a date the words of a sentence have.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Dated {
    day: bool,
    length: bool,
    direction: bool,
}

impl Dated {
    /// Notes a normalised word.
    pub fn add(&mut self, norm: &str) {
        match date_role(norm) {
            Some(DateRole::Day) => self.day = true,
            Some(DateRole::Length) => self.length = true,
            Some(DateRole::Direction) => self.direction = true,
            None => {}
        }
    }

    /// Whether they say on which day, or in which week, month or year.
    pub fn is_date(self) -> bool {
        self.day || (self.length && self.direction)
    }
}

/// A day, as the lines of an extract have it: `8 May 2023`.
pub(crate) fn day(date: Date) -> String {
    format!("{} {} {}", date.day(), month(date), date.year())
}

/// The day at the start of a text, and the rest of the text.
pub(crate) fn leading_day(text: &str) -> Option<(Date, &str)> {
    let (day, rest) = text.split_once(' ')?;
    let (month, rest) = rest.split_once(' ')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (year, rest) = rest.split_at_checked(digits)?;
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let date = Date::new(year.parse().ok()?, i8::try_from(month).ok()?, day.parse().ok()?).ok()?;
    Some((date, rest))
}

fn month(date: Date) -> &'static str {
    usize::try_from(date.month() - 1).ok().and_then(|at| MONTHS.get(at)).unwrap_or(&"")
}

/// What the relative dates between two places of a sentence meant on the day it was said, each with
/// the place that it is written at.
pub(crate) fn meanings(
    dated: &DatedText<'_>,
    (start, end): (usize, usize),
) -> Vec<(usize, String)> {
    let &DatedText { text: sentence, written_on: said_on, .. } = dated;
    relative_dates(dated)
        .iter()
        .filter(|found| found.start >= start && found.end <= end)
        .filter(|found| {
            let rest = sentence.get(found.end..).unwrap_or_default();
            !is_dated(rest.trim_start_matches(['\'', '’', 's']), said_on)
        })
        .map(|found| {
            let rest = sentence.get(found.end..).unwrap_or_default();
            // "Tomorrow's review" stays one.
            let owner = ["'s", "’s"].into_iter().find(|mark| rest.starts_with(mark));
            let at = (found.end + owner.map_or(0, str::len)).min(end);
            (at, format!(" ({})", meaning(found)))
        })
        .collect()
}

/// A text with what its relative dates meant on the day it was said.
pub(crate) fn resolved(text: &str, said_on: Option<Date>) -> Cow<'_, str> {
    let Some(said_on) = said_on else { return Cow::Borrowed(text) };
    let mut out = String::new();
    let (mut from, mut line_start) = (0, 0);
    for line in text.split_inclusive('\n') {
        let dated = DatedText { text: line, around: "", written_on: said_on };
        for (at, meaning) in meanings(&dated, (0, line.len())) {
            out.push_str(text.get(from..line_start + at).unwrap_or_default());
            out.push_str(&meaning);
            from = line_start + at;
        }
        line_start += line.len();
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether a date in parentheses follows: the words were dated before, by an extract or by the
/// speaker.
fn is_dated(rest: &str, said_on: Date) -> bool {
    let inside = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
    inside.is_some_and(|(inside, _)| !find_dates(inside, said_on).is_empty())
}

/// The days in words.
fn meaning(found: &RelativeDate) -> String {
    let (first, last) = (found.first, found.last);
    let days = first.until(last).map_or(0, |span| span.get_days()) + 1;
    let is_whole_months = first.day() == 1 && last == last.last_of_month();
    if found.precision == Precision::Near {
        let middle = first.saturating_add(jiff::Span::new().days(i64::from(days / 2)));
        return format!("around {}", day(middle));
    }
    if first == last {
        return day(first);
    }
    if days == WEEK_DAYS && first.weekday() == Weekday::Monday {
        return format!("week of {}", day(first));
    }
    if days == WEEKEND_DAYS && first.weekday() == Weekday::Saturday {
        return format!("weekend of {}", day(first));
    }
    let mut out = String::new();
    if is_whole_months && (first.year(), first.month()) == (last.year(), last.month()) {
        let _ = write!(out, "{} {}", month(first), first.year());
    } else if is_whole_months && first.year() == last.year() && last.month() - first.month() == 11 {
        let _ = write!(out, "{}", first.year());
    } else if is_whole_months && first.year() == last.year() {
        let _ = write!(out, "{} to {} {}", month(first), month(last), last.year());
    } else if is_whole_months {
        let (from, to) = (first.year(), last.year());
        let _ = write!(out, "{} {from} to {} {to}", month(first), month(last));
    } else {
        let _ = write!(out, "{} to {}", day(first), day(last));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Monday.
    const SAID_ON: Date = Date::constant(2023, 5, 8);

    #[test]
    fn relative_dates_are_followed_by_what_they_meant() {
        for (text, expected) in [
            ("I went yesterday, alone.", "I went yesterday (7 May 2023), alone."),
            ("We met last week.", "We met last week (week of 1 May 2023)."),
            ("I ran last weekend", "I ran last weekend (weekend of 6 May 2023)"),
            ("They moved last year", "They moved last year (2022)"),
            ("camping next month", "camping next month (June 2023)"),
            ("It was hot last summer.", "It was hot last summer (June to August 2022)."),
            ("last winter", "last winter (December 2022 to February 2023)"),
            ("two weeks ago", "two weeks ago (around 24 April 2023)"),
            (
                "gestern\nund morgen ist es da",
                "gestern (7 May 2023)\nund morgen (9 May 2023) ist es da",
            ),
            ("tomorrow's review", "tomorrow's (9 May 2023) review"),
            ("вчера", "вчера (7 May 2023)"),
            ("today, on Friday, 7 May 2022", "today, on Friday, 7 May 2022"),
        ] {
            assert_eq!(resolved(text, Some(SAID_ON)), expected);
            assert_eq!(resolved(expected, Some(SAID_ON)), expected, "dated twice");
            assert_eq!(resolved(text, None), text);
        }
        assert_eq!(resolved("yesterday (May 7)", Some(SAID_ON)), "yesterday (May 7)");
    }

    #[test]
    fn the_day_of_a_line_is_read_back() {
        let text = format!("{} Ana: hello", day(SAID_ON));
        assert_eq!(text, "8 May 2023 Ana: hello");
        assert_eq!(leading_day(&text), Some((SAID_ON, " Ana: hello")));
        for text in ["", "8 May", "32 May 2023 Ana", "8 may 2023", "May 8 2023", "8 May Ana: x"] {
            assert_eq!(leading_day(text), None, "{text}");
        }
    }
}
