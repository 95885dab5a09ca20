//! Recognises dates in queries.

mod ambiguous;

use jiff::civil::{Date, Weekday};
use std::ops::Range;

use crate::analyzer::slice;
use crate::calendar::{date_number, day_number, days_of_month, days_of_season, days_of_year};
use crate::date_words::{
    DateCue, DateWord, Period, date_cue, is_ambiguous, is_homograph, is_numbered_thing, meanings,
};
use crate::language::stop_set;
use crate::scan::Scanner;
use crate::unit::{Link, Shape, Unit};

/// Later units of a query are ignored.
const MAX_QUERY_UNITS: usize = 512;

/// A range of days, and the words that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateSpan {
    /// The first day, counted from 1970-01-01.
    pub from: i64,
    /// The day after the last.
    pub until: i64,
    /// Where the words start in the question, in bytes.
    pub start: u32,
    /// Where they end.
    pub end: u32,
}

/// The dates in a text, in order. A month or day without a year is the latest one that is not after
/// `now`. An ambiguous date is returned once for each reading.
pub fn find_dates(text: &str, now: Date) -> Vec<DateSpan> {
    let mut scanner = Scanner::default();
    let words = query_units(&mut scanner, text);
    let reader = Reader::new(&words, now);
    let mut spans = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some(recognised) = reader.read(at) else {
            at += 1;
            continue;
        };
        let (first, last) = (words.get(at), words.get(at + recognised.words - 1));
        if let (Some(first), Some(last)) = (first, last) {
            for (from, until) in
                [Some(recognised.days), recognised.alternative].into_iter().flatten()
            {
                spans.push(DateSpan { from, until, start: first.start, end: last.end });
            }
        }
        at += recognised.words;
    }
    spans
}

/// The units of a text that dates are recognised in.
pub(crate) fn query_units<'a>(scanner: &'a mut Scanner, text: &str) -> Vec<QueryUnit<'a>> {
    scanner.scan(text, 0, MAX_QUERY_UNITS);
    let query_unit = |unit: &Unit| QueryUnit {
        norm: slice(&scanner.norm, unit.span),
        start: unit.span.start,
        end: unit.span.end,
        joined: unit.link != Link::None && unit.shape != Shape::Cjk,
        sign: scanner.norm.as_bytes().get((unit.span.norm as usize).wrapping_sub(1)).copied(),
    };
    scanner.units.iter().map(query_unit).collect()
}

pub(crate) struct QueryUnit<'a> {
    pub norm: &'a str,
    pub start: u32,
    pub end: u32,
    joined: bool,
    sign: Option<u8>,
}

pub(crate) struct DateMatch {
    pub days: (i64, i64),
    alternative: Option<(i64, i64)>,
    pub words: usize,
}

impl DateMatch {
    /// One day, named by one word.
    pub fn day(day: i64) -> DateMatch {
        DateMatch { days: one_day(day), alternative: None, words: 1 }
    }
}

fn recognised(days: (i64, i64), words: usize) -> Option<DateMatch> {
    Some(DateMatch { days, alternative: None, words })
}

fn one_day(day: i64) -> (i64, i64) {
    (day, day + 1)
}

pub(crate) struct Reader<'a> {
    words: &'a [QueryUnit<'a>],
    today: Date,
    /// Today as a day number.
    now: i64,
    year: i64,
    month: i64,
}

impl<'a> Reader<'a> {
    pub fn new(words: &'a [QueryUnit<'a>], now: Date) -> Reader<'a> {
        let (year, month) = (now.year().into(), now.month().into());
        Reader { words, today: now, now: day_number(now), year, month }
    }
}

impl Reader<'_> {
    fn read(&self, at: usize) -> Option<DateMatch> {
        self.digits(at)
            .or_else(|| self.characters(at))
            .or_else(|| self.day_month(at))
            .or_else(|| self.month_first(at))
            .or_else(|| self.ago(at))
            .or_else(|| self.relative(at))
            .or_else(|| self.period_then_relative(at))
            .or_else(|| self.season(at))
            .or_else(|| self.single(at))
    }

    pub fn norm(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.norm)
    }

    pub fn find_meaning<T>(&self, at: usize, wanted: impl Fn(DateWord) -> Option<T>) -> Option<T> {
        meanings(self.norm(at)).iter().copied().find_map(wanted)
    }

    pub fn is(&self, at: usize, wanted: DateWord) -> bool {
        meanings(self.norm(at)).contains(&wanted)
    }

    pub fn month(&self, at: usize) -> Option<i64> {
        self.find_meaning(at, |meaning| match meaning {
            DateWord::Month(month) => Some(month),
            _ => None,
        })
    }

    fn season_at(&self, at: usize) -> Option<i64> {
        self.find_meaning(at, |meaning| match meaning {
            DateWord::Season(season) => Some(season),
            _ => None,
        })
    }

    pub fn length(&self, at: usize) -> Option<Period> {
        self.find_meaning(at, |meaning| match meaning {
            DateWord::Period(length) => Some(length),
            _ => None,
        })
    }

    fn joined(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.joined)
    }

    fn value(&self, at: usize) -> Option<i64> {
        let norm = self.norm(at);
        let is_number = !norm.is_empty() && norm.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && norm.len() <= 4 { norm.parse().ok() } else { None }
    }

    fn count(&self, at: usize) -> Option<i64> {
        self.value(at).or_else(|| {
            self.find_meaning(at, |meaning| match meaning {
                DateWord::Count(count) => Some(count),
                _ => None,
            })
        })
    }

    fn year(&self, at: usize) -> Option<i64> {
        let year = self.value(at)?;
        let is_year = self.norm(at).len() == 4
            && (1900..=self.year.max(2000) + 50).contains(&year)
            && !self.joined(at)
            && !self.joined(at + 1);
        is_year.then_some(year)
    }

    /// The day of a month, also as 7th or 1er.
    fn day(&self, at: usize) -> Option<i64> {
        let norm = self.norm(at);
        let digits = norm.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let ending = norm.get(digits.len()..)?;
        let fits = matches!(ending, "" | "st" | "nd" | "rd" | "th" | "er" | "e" | "o");
        let day: i64 = if digits.len() <= 2 { digits.parse().ok()? } else { return None };
        (fits && (1..=31).contains(&day)).then_some(day)
    }

    fn skip(&self, at: usize) -> usize {
        let links = matches!(self.norm(at), "of" | "de" | "del" | "di" | "do" | "in" | "the");
        if links { at + 1 } else { at }
    }

    /// 2023-05-07, 7.5.2023, 5/7/2023, 2023-05.
    fn digits(&self, at: usize) -> Option<DateMatch> {
        let first = self.value(at)?;
        if self.joined(at) || !self.joined(at + 1) {
            return None;
        }
        let second = self.value(at + 1)?;
        let year_first = self.norm(at).len() == 4;
        let Some(third) = self.value(at + 2).filter(|_| self.joined(at + 2)) else {
            let is_month = year_first
                && (1..=12).contains(&second)
                && self.norm(at + 1).len() == 2
                && self.words.get(at + 1).is_some_and(|word| word.sign != Some(b':'));
            return if is_month { recognised(days_of_month(first, second)?, 2) } else { None };
        };
        if year_first {
            return recognised(one_day(date_number(first, second, third)?), 3);
        }
        if self.norm(at + 2).len() != 4 {
            return None;
        }
        let day_first = date_number(third, second, first).map(one_day);
        let month_first = date_number(third, first, second).map(one_day);
        let is_dotted = self.words.get(at + 1).is_some_and(|word| word.sign == Some(b'.'));
        let alternative = month_first.filter(|_| !is_dotted);
        let days = day_first.or(alternative)?;
        let alternative = alternative.filter(|other| *other != days);
        Some(DateMatch { days, alternative, words: 3 })
    }

    /// 2023年5月7日, and the same in Korean.
    fn characters(&self, at: usize) -> Option<DateMatch> {
        let marks = |at: usize, signs: [&str; 2]| signs.contains(&self.norm(at));
        let year = self.value(at).filter(|_| marks(at + 1, ["年", "년"]))?;
        let Some(month) = self.value(at + 2).filter(|_| marks(at + 3, ["月", "월"])) else {
            return recognised(days_of_year(year)?, 2);
        };
        match self.value(at + 4).filter(|_| marks(at + 5, ["日", "일"])) {
            Some(day) => recognised(one_day(date_number(year, month, day)?), 6),
            None if (1..=12).contains(&month) => recognised(days_of_month(year, month)?, 4),
            None => None,
        }
    }

    /// 7 May 2023, 7th of May.
    fn day_month(&self, at: usize) -> Option<DateMatch> {
        let day = self.day(at)?;
        let month_at = self.skip(at + 1);
        let month = self.month(month_at)?;
        self.day_of(month, day, at..month_at + 1)
    }

    /// A day of a month that `words` name, in the year that follows or else the latest one.
    fn day_of(&self, month: i64, day: i64, words: Range<usize>) -> Option<DateMatch> {
        let (at, next) = (words.start, words.end);
        let year_at = self.skip(next);
        if let Some(year) = self.year(year_at) {
            return recognised(one_day(date_number(year, month, day)?), year_at + 1 - at);
        }
        let latest = |year: i64| date_number(year, month, day).filter(|day| *day <= self.now);
        let day = (0..9).find_map(|back| latest(self.year - back))?;
        recognised(one_day(day), next - at)
    }

    /// May 7, 2023; May 2023; in May; last May.
    pub fn month_first(&self, at: usize) -> Option<DateMatch> {
        let relation = [DateWord::Last, DateWord::This, DateWord::Next]
            .into_iter()
            .find(|relation| self.is(at, *relation) && self.month(at + 1).is_some());
        if let Some(relation) = relation {
            let month = self.month(at + 1)?;
            let year = match relation {
                DateWord::Last if month >= self.month => self.year - 1,
                DateWord::Next if month <= self.month => self.year + 1,
                _ => self.year,
            };
            return recognised(days_of_month(year, month)?, 2);
        }
        let month = self.month(at)?;
        if let Some(day) = self.day(at + 1).filter(|_| !self.joined(at + 2)) {
            return self.day_of(month, day, at..at + 2);
        }
        let year_at = self.skip(at + 1);
        if let Some(year) = self.year(year_at) {
            return recognised(days_of_month(year, month)?, year_at + 1 - at);
        }
        if !self.is_month_alone(at) {
            return None;
        }
        let year = if month > self.month { self.year - 1 } else { self.year };
        recognised(days_of_month(year, month)?, 1)
    }

    /// 3 days ago, a week ago, vor 3 Tagen, hace tres semanas.
    pub fn ago(&self, at: usize) -> Option<DateMatch> {
        let (count_at, after, before) = if self.is(at, DateWord::Ago) {
            (at + 1, None, true)
        } else if self.norm(at) == "il" && self.norm(at + 1) == "y" && self.norm(at + 2) == "a" {
            (at + 3, None, true)
        } else {
            (at, Some(DateWord::Ago), false)
        };
        let count = self.count(count_at)?;
        let length_at = self.skip(count_at + 1);
        let length = self.length(length_at)?;
        let words = length_at + 1 - at + usize::from(!before);
        let is_past = after.is_none_or(|after| self.is(length_at + 1, after));
        if is_past { recognised(self.back(length, count)?, words) } else { None }
    }

    /// The day, week, month or year `count` ago.
    fn back(&self, length: Period, count: i64) -> Option<(i64, i64)> {
        match length {
            Period::Day => Some(one_day(self.now - count)),
            Period::Week => {
                let day = self.now - 7 * count;
                Some((day - 3, day + 4))
            }
            Period::Weekend => Some(self.weekend(-count)),
            Period::Month => days_of_month(self.year, self.month - count),
            Period::Year => days_of_year(self.year - count),
        }
    }

    /// The Monday of this week.
    fn monday(&self) -> i64 {
        self.now - i64::from(self.today.weekday().to_monday_zero_offset())
    }

    fn weekend(&self, weeks: i64) -> (i64, i64) {
        let saturday = self.monday() + 5 + 7 * weeks;
        (saturday, saturday + 2)
    }

    fn shifted(&self, length: Period, steps: i64) -> Option<(i64, i64)> {
        match length {
            Period::Day => Some(one_day(self.now + steps)),
            Period::Week => {
                let monday = self.monday() + 7 * steps;
                Some((monday, monday + 7))
            }
            Period::Weekend => Some(self.weekend(steps)),
            Period::Month => days_of_month(self.year, self.month + steps),
            Period::Year => days_of_year(self.year + steps),
        }
    }

    pub fn steps(&self, at: usize) -> Option<i64> {
        self.find_meaning(at, |meaning| match meaning {
            DateWord::Last => Some(-1),
            DateWord::This => Some(0),
            DateWord::Next => Some(1),
            _ => None,
        })
    }

    /// Last week, last 3 days, last Monday, last summer.
    pub fn relative(&self, at: usize) -> Option<DateMatch> {
        let steps = self.steps(at)?;
        let next = at + 1;
        if let Some(length) = self.length(next) {
            return recognised(self.shifted(length, steps)?, 2);
        }
        if let Some(day) = self.weekday_at(next) {
            let days = match steps {
                0 => self.monday() + i64::from(day.to_monday_zero_offset()),
                -1 => self.nearest(day, -1)?,
                _ => self.nearest(day, 1)?,
            };
            return recognised(one_day(days), 2);
        }
        if let Some(season) = self.season_at(next) {
            return recognised(self.season_by(season, steps)?, 2);
        }
        let (count, length) = (self.count(next)?, self.length(next + 1)?);
        if steps != -1 {
            return None;
        }
        let from = match length {
            Period::Day => self.now - count,
            Period::Week | Period::Weekend => self.now - 7 * count,
            Period::Month => self.now - 31 * count,
            Period::Year => self.now - 366 * count,
        };
        recognised((from, self.now + 1), 3)
    }

    /// La semaine dernière, el mes pasado.
    pub fn period_then_relative(&self, at: usize) -> Option<DateMatch> {
        let length = self.length(at)?;
        if matches!(self.norm(at + 1), "before") && self.is(at + 2, DateWord::Offset(-1)) {
            return recognised(one_day(self.now - 2), 3);
        }
        let steps = self.steps(at + 1)?;
        // Not in English: "the day this happened" names no date.
        let foreign = !matches!(self.norm(at + 1), "last" | "past" | "this" | "next" | "previous");
        if foreign { recognised(self.shifted(length, steps)?, 2) } else { None }
    }

    pub fn weekday_at(&self, at: usize) -> Option<Weekday> {
        self.find_meaning(at, |meaning| match meaning {
            DateWord::Weekday(day) => Some(day),
            _ => None,
        })
    }

    /// The first such weekday after today, or the last one before today if `nth` is -1.
    fn nearest(&self, day: Weekday, nth: i32) -> Option<i64> {
        self.today.nth_weekday(nth, day).ok().map(day_number)
    }

    fn season_by(&self, season: i64, steps: i64) -> Option<(i64, i64)> {
        let started = |year: i64| days_of_season(year, season).is_some_and(|at| at.0 <= self.now);
        let latest = if started(self.year) { self.year } else { self.year - 1 };
        let is_running = days_of_season(latest, season)?.1 > self.now;
        match steps {
            -1 if is_running => days_of_season(latest - 1, season),
            0 if !is_running && !started(self.year) => days_of_season(self.year, season),
            1 => days_of_season(latest + 1, season),
            _ => days_of_season(latest, season),
        }
    }

    /// Summer 2022, in the summer.
    fn season(&self, at: usize) -> Option<DateMatch> {
        let season = self.season_at(at)?;
        let year_at = self.skip(at + 1);
        if let Some(year) = self.year(year_at) {
            return recognised(days_of_season(year, season)?, year_at + 1 - at);
        }
        let is_certain = if is_ambiguous(self.norm(at)) {
            // "In spring" and "in the spring before that", but not "in Spring Boot".
            let next = self.norm(at + 1);
            self.is_introduced(at) && (next.is_empty() || stop_set(next) != 0)
        } else {
            self.is_introduced(at) || self.before(at, 1) == "the"
        };
        if is_certain { recognised(self.season_by(season, 2)?, 1) } else { None }
    }

    /// Yesterday, Monday, 2022.
    fn single(&self, at: usize) -> Option<DateMatch> {
        let certain = !is_ambiguous(self.norm(at));
        let offset = self.find_meaning(at, |meaning| match meaning {
            DateWord::Offset(days) => Some(days),
            _ => None,
        });
        // Also the morning: por la mañana, esta mañana.
        let is_morning = self.norm(at) == "manana"
            && matches!(self.before(at, 1), "la" | "esta" | "una" | "cada" | "de");
        if let Some(days) = offset.filter(|_| certain && !is_morning) {
            return recognised(one_day(self.now + days), 1);
        }
        let is_weekday = certain && !is_homograph(self.norm(at))
            || date_cue(self.before(at, 1)) == Some(DateCue::Weekday)
            || matches!(self.before(at, 1), "since" | "until" | "till");
        if let Some(day) = self.weekday_at(at).filter(|_| is_weekday) {
            return recognised(one_day(self.nearest(day, -1)?), 1);
        }
        // A port, a ticket or a line is no year, nor is what lies beyond the next.
        let is_year = |year: &i64| {
            *year <= self.year + 1
                && self.length(at + 1).is_none()
                && !is_numbered_thing(self.before(at, 1))
        };
        let year = self.year(at).filter(is_year)?;
        recognised(days_of_year(year)?, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Saturday.
    const NOW: Date = Date::constant(2023, 5, 20);

    fn day(text: &str) -> i64 {
        day_number(text.parse().unwrap())
    }

    #[test]
    fn dates_are_read() {
        for (text, from, until) in [
            ("What happened on 7 May 2023?", "2023-05-07", "2023-05-08"),
            ("on May 7, 2023", "2023-05-07", "2023-05-08"),
            ("on May 7th", "2023-05-07", "2023-05-08"),
            ("the 3rd of June", "2022-06-03", "2022-06-04"),
            ("since 2023-05-07", "2023-05-07", "2023-05-08"),
            ("am 7.5.2023", "2023-05-07", "2023-05-08"),
            ("on 5/20/2023", "2023-05-20", "2023-05-21"),
            ("2023-05 report", "2023-05-01", "2023-06-01"),
            ("2023年5月7日", "2023-05-07", "2023-05-08"),
            ("in May", "2023-05-01", "2023-06-01"),
            ("in August", "2022-08-01", "2022-09-01"),
            ("in December 2021", "2021-12-01", "2022-01-01"),
            ("last May", "2022-05-01", "2022-06-01"),
            ("in 2022", "2022-01-01", "2023-01-01"),
            ("yesterday", "2023-05-19", "2023-05-20"),
            ("the day before yesterday", "2023-05-18", "2023-05-19"),
            ("3 days ago", "2023-05-17", "2023-05-18"),
            ("three days ago", "2023-05-17", "2023-05-18"),
            ("two months ago", "2023-03-01", "2023-04-01"),
            ("a year ago", "2022-01-01", "2023-01-01"),
            ("a week ago", "2023-05-10", "2023-05-17"),
            ("last week", "2023-05-08", "2023-05-15"),
            ("last month", "2023-04-01", "2023-05-01"),
            ("last year", "2022-01-01", "2023-01-01"),
            ("last weekend", "2023-05-13", "2023-05-15"),
            ("last Friday", "2023-05-19", "2023-05-20"),
            ("on Saturday", "2023-05-13", "2023-05-14"),
            ("in the last 3 days", "2023-05-17", "2023-05-21"),
            ("next month", "2023-06-01", "2023-07-01"),
            ("summer 2022", "2022-06-01", "2022-09-01"),
            ("the winter of 2021", "2021-12-01", "2022-03-01"),
            ("last summer", "2022-06-01", "2022-09-01"),
            ("this spring", "2023-03-01", "2023-06-01"),
            ("vor 3 Tagen", "2023-05-17", "2023-05-18"),
            ("letzte Woche", "2023-05-08", "2023-05-15"),
            ("il y a 3 jours", "2023-05-17", "2023-05-18"),
            ("la semaine dernière", "2023-05-08", "2023-05-15"),
            ("el 7 de mayo de 2023", "2023-05-07", "2023-05-08"),
            ("hace dos semanas", "2023-05-03", "2023-05-10"),
            ("7 мая 2023", "2023-05-07", "2023-05-08"),
            ("вчера", "2023-05-19", "2023-05-20"),
        ] {
            let spans: Vec<(i64, i64)> =
                find_dates(text, NOW).iter().map(|span| (span.from, span.until)).collect();
            assert_eq!(spans, [(day(from), day(until))], "{text}");
        }
    }

    #[test]
    fn a_date_may_be_read_in_two_ways() {
        let spans = find_dates("5/7/2023", NOW);
        let days: Vec<i64> = spans.iter().map(|span| span.from).collect();
        assert_eq!(days, [day("2023-07-05"), day("2023-05-07")]);
    }

    #[test]
    fn other_words_are_no_dates() {
        for text in [
            "May I march to the spring?",
            "the sun sat on mars",
            "10:30",
            "version 1.2.3",
            "2023-13-45",
            "2000 years",
            "room 101",
            "this is the last thing",
            "I had to go hier",
        ] {
            let spans = find_dates(text, NOW);
            assert!(spans.is_empty(), "{text} {spans:?}");
        }
    }

    /// Each language's words that are also something else: without a day, a year or a preposition
    /// they name no date.
    #[test]
    fn ambiguous_words_need_a_day_a_year_or_a_preposition() {
        for (trap, dated) in [
            ("how late may we arrive", "what came in late May"),
            ("how early may I come", "since early May"),
            ("you may", "the end of May"),
            ("because of may", "May 2023"),
            ("the long march home", "until March"),
            ("early march start", "in early march"),
            ("in the sun", "on Sun"),
            ("we sat down", "until Sat"),
            ("the second attempt in a second", "on the 2nd of June"),
            ("what did April say", "in April"),
            ("where is June", "the June report"),
            ("August told me", "since August"),
            ("what APR did the bank offer", "apr 2023"),
            ("configured in Spring Boot", "in spring"),
            ("how did the fall happen", "in the fall"),
            ("a marriage to wed", "on wed"),
            ("which port is 2049", "in 2022"),
            ("ticket 2021", "the 2021 report"),
            ("error 2003", "since 2003"),
            ("planned for 2061", "planned for 2024"),
            ("Mai hat angerufen", "im Mai"),
            ("ich bin hier morgens", "Ende Mai"),
            ("Zimmer 2011", "seit März"),
            ("una casa en el mar", "el 3 de mar"),
            ("por la mañana", "mañana"),
            ("navegar em mar aberto", "em março"),
            ("non l'ho mai visto", "a maggio 2023"),
            ("il a été malade", "en été"),
            ("la planète mars", "en mars"),
            ("il tue le temps", "en juin"),
            ("real estate", "in estate"),
        ] {
            let spans = find_dates(trap, NOW);
            assert!(spans.is_empty(), "{trap} {spans:?}");
            assert_eq!(find_dates(dated, NOW).len(), 1, "{dated}");
        }
    }

    #[test]
    fn the_words_are_marked() {
        let text = "Where was Anna on 7 May 2023 and in 2021?";
        let marked: Vec<&str> = find_dates(text, NOW)
            .iter()
            .map(|span| &text[span.start as usize..span.end as usize])
            .collect();
        assert_eq!(marked, ["7 May 2023", "2021"]);
    }
}
