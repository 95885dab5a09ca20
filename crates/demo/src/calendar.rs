//! The days of the month relative to now, and their notation in several languages.

use crate::scene::Start;
use jiff::ToSpan;
use jiff::civil::Date;
use oneiro::{Error, Result, Span, Timestamp};

/// The month that ends now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calendar {
    now: Timestamp,
    today: Date,
}

const SECONDS_PER_MINUTE: i64 = 60;

impl Calendar {
    /// The month that ends at `now`.
    pub(crate) fn until(now: Timestamp) -> Result<Calendar> {
        let time = jiff::Timestamp::from_microsecond(now.micros())
            .map_err(|error| Error::field("now", "is out of range").because(error))?;
        Ok(Calendar { now, today: time.to_zoned(jiff::tz::TimeZone::UTC).date() })
    }

    /// The end of the month.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// A moment of the month.
    pub(crate) fn at(&self, start: Start) -> Timestamp {
        match start {
            Start::Ago(minutes) => self.now.minus(Span::seconds(minutes * SECONDS_PER_MINUTE)),
            Start::Day { before, minute } => {
                let day = 86_400 * 1_000_000;
                let midnight = Timestamp::from_micros(self.now.micros().div_euclid(day) * day);
                midnight.minus(Span::days(before)).plus(Span::seconds(minute * SECONDS_PER_MINUTE))
            }
        }
    }

    /// Whether a minute of a day is over.
    pub(crate) fn is_over(&self, before: i64, minute: i64) -> bool {
        self.at(Start::Day { before, minute }) < self.now
    }

    /// The day `days` after today.
    pub(crate) fn day(&self, days: i64) -> Date {
        self.today.saturating_add(days.days())
    }

    /// Replaces `[[+5]]`, `[[th +5]]`, `[[wd +5]]`, `[[iso +5]]`, `[[pt +5]]`, `[[de +5]]`, `[[ja
    /// +5]]` and `[[ar +5]]` by the date that many days after today. Other brackets are kept.
    pub(crate) fn expand_dates(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("[[") {
            out.push_str(before);
            let found = after.split_once("]]").and_then(|(inside, after)| {
                let (form, days) = inside.rsplit_once(' ').unwrap_or(("", inside));
                let is_signed = days.starts_with(['+', '-']);
                let days = days.parse().ok().filter(|_| is_signed)?;
                Some((format_date(self.day(days), form)?, after))
            });
            match found {
                Some((date, after)) => {
                    out.push_str(&date);
                    rest = after;
                }
                None => {
                    out.push_str("[[");
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }
}

/// A day in the notation of a language.
fn format_date(date: Date, form: &str) -> Option<String> {
    let day = date.day();
    let month = |names: [&'static str; 12]| {
        let index = usize::try_from(date.month() - 1).unwrap_or_default();
        names.get(index).copied().unwrap_or_default()
    };
    Some(match form {
        "" => format!("{day} {}", month(ENGLISH_MONTHS)),
        "th" => format!("{day}{}", ordinal(day)),
        "wd" => date.strftime("%A").to_string(),
        "iso" => date.to_string(),
        "pt" => format!("{day} de {}", month(PORTUGUESE_MONTHS)),
        "de" => format!("{day}. {}", month(GERMAN_MONTHS)),
        "ja" => format!("{}月{day}日", date.month()),
        "ar" => format!("{day} {}", month(ARABIC_MONTHS)),
        _ => return None,
    })
}

fn ordinal(day: i8) -> &'static str {
    match day {
        11..=13 => "th",
        _ => match day % 10 {
            1 => "st",
            2 => "nd",
            3 => "rd",
            _ => "th",
        },
    }
}

const ENGLISH_MONTHS: [&str; 12] = [
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

const PORTUGUESE_MONTHS: [&str; 12] = [
    "janeiro",
    "fevereiro",
    "março",
    "abril",
    "maio",
    "junho",
    "julho",
    "agosto",
    "setembro",
    "outubro",
    "novembro",
    "dezembro",
];

const GERMAN_MONTHS: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];

const ARABIC_MONTHS: [&str; 12] = [
    "يناير",
    "فبراير",
    "مارس",
    "أبريل",
    "مايو",
    "يونيو",
    "يوليو",
    "أغسطس",
    "سبتمبر",
    "أكتوبر",
    "نوفمبر",
    "ديسمبر",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar() -> Calendar {
        Calendar::until(Timestamp::parse("2026-11-15T00:05:00Z").unwrap()).unwrap()
    }

    #[test]
    fn dates_are_written_as_people_write_them() {
        for (text, want) in [
            ("on [[+5]]!", "on 20 November!"),
            ("the [[th -4]], not the [[th -2]]", "the 11th, not the 13th"),
            ("[[wd +0]] [[iso -15]]", "Sunday 2026-10-31"),
            ("[[pt +1]] [[de +1]] [[ja +1]]", "16 de novembro 16. November 11月16日"),
            ("[[bin]] [[x +1]] [[5]] [[", "[[bin]] [[x +1]] [[5]] [["),
        ] {
            assert_eq!(calendar().expand_dates(text), want);
        }
    }

    #[test]
    fn days_before_are_in_the_past_just_after_midnight() {
        let at = calendar().at(Start::Day { before: 1, minute: 23 * 60 + 59 });
        assert_eq!(at.to_string(), "2026-11-14T23:59:00Z");
        assert_eq!(calendar().at(Start::Ago(10)).to_string(), "2026-11-14T23:55:00Z");
    }
}
