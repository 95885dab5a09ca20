//! Dates that a text names only by the day it was written: yesterday, last week, three days ago.
//! Stricter than reading a question, where a wrong guess costs little: what may mean anything else
//! is left alone.

use jiff::civil::Date;

use crate::calendar::{date_of, day_number};
use crate::date::{DateMatch, Reader, query_units};
use crate::date_words::{DateWord, Period, is_ambiguous};
use crate::language::{Language, Vote, stop_set};
use crate::scan::Scanner;

/// Days that a text names by the day it was written, and the words that name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelativeDate {
    /// The first day.
    pub first: Date,
    /// The last day.
    pub last: Date,
    /// How exact they are.
    pub precision: Precision,
    /// Where the words start in the text, in bytes.
    pub start: usize,
    /// Where they end.
    pub end: usize,
}

/// How exact a date is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// These days.
    Exact,
    /// Some day near the middle of them: two weeks ago, a few days ago.
    Near,
}

/// A text that may name dates.
#[derive(Debug, Clone, Copy)]
pub struct DatedText<'a> {
    /// The text.
    pub text: &'a str,
    /// What stands around it, which shows the language where the text is too short to.
    pub around: &'a str,
    /// The day it was written on.
    pub written_on: Date,
}

/// The dates that a text names by the day it was written on, in order. Not the day itself (today,
/// this week), nor what goes on until it (the past month).
pub fn relative_dates(dated: &DatedText<'_>) -> Vec<RelativeDate> {
    let &DatedText { text, around, written_on } = dated;
    let (mut scanner, mut scanner_around) = (Scanner::default(), Scanner::default());
    let words_around = query_units(&mut scanner_around, around);
    let words = query_units(&mut scanner, text);
    let mut vote = Vote::default();
    words.iter().chain(&words_around).for_each(|word| vote.count(stop_set(word.norm)));
    let reading = Reading {
        reader: Reader::new(&words, written_on),
        today: day_number(written_on),
        language: vote.winner(),
    };
    let mut dates = Vec::new();
    let mut at = 0;
    while let Some(first) = words.get(at) {
        let is_lower = text
            .get(first.start as usize..)
            .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_lowercase()));
        let Some((found, precision)) = reading.read(at, is_lower || at == 0) else {
            at += 1;
            continue;
        };
        let last = words.get(at + found.words - 1).unwrap_or(first);
        let days = (date_of(found.days.0), date_of(found.days.1 - 1));
        if let (Some(first_day), Some(last_day)) = days {
            let (start, end) = (first.start as usize, last.end as usize);
            dates.push(RelativeDate { first: first_day, last: last_day, precision, start, end });
        }
        at += found.words;
    }
    dates
}

struct Reading<'a> {
    reader: Reader<'a>,
    today: i64,
    language: Language,
}

impl Reading<'_> {
    fn read(&self, at: usize, may_be_adverb: bool) -> Option<(DateMatch, Precision)> {
        let exact = |found: DateMatch| (found, Precision::Exact);
        self.ago(at)
            .or_else(|| self.day_before(at).map(exact))
            .or_else(|| self.before_or_after(at).map(exact))
            .or_else(|| self.offset(at, may_be_adverb).map(exact))
    }

    /// Three days ago, vor drei Tagen, il y a un an.
    fn ago(&self, at: usize) -> Option<(DateMatch, Precision)> {
        let found = self.reader.ago(at)?;
        let norms = (at..at + found.words).map(|at| self.reader.norm(at));
        let is_vague = norms.clone().any(|norm| matches!(norm, "few" | "couple"));
        let days = found.days.1 - found.days.0;
        // Weeks are counted in days around one; months and years have names of their own.
        let is_near = is_vague || days == 7;
        Some((found, if is_near { Precision::Near } else { Precision::Exact }))
    }

    /// The day before yesterday.
    fn day_before(&self, at: usize) -> Option<DateMatch> {
        let is_offset = self.reader.is(at + 2, DateWord::Offset(-1));
        self.reader.period_then_relative(at).filter(|found| found.words == 3 && is_offset)
    }

    /// Last week, next Friday, la semaine dernière, last May.
    fn before_or_after(&self, at: usize) -> Option<DateMatch> {
        let leads = self.reader.steps(at).map(|steps| (steps, at + 1));
        let follows = || {
            self.reader.length(at)?;
            self.reader.steps(at + 1).map(|steps| (steps, at))
        };
        let (steps, named_at) = leads.or_else(follows)?;
        // "The last week of June", "in the last year", "over the past month" are counted from
        // elsewhere, or go on until now.
        let before = at.checked_sub(1).map_or("", |before| self.reader.norm(before));
        let elsewhere = matches!(before, "the" | "my" | "our" | "his" | "their")
            || matches!(self.reader.norm(at + 2), "of")
            || matches!(self.reader.norm(at), "past" | "coming" | "current" | "previous");
        if elsewhere {
            return None;
        }
        let found = self
            .reader
            .relative(at)
            .or_else(|| self.reader.period_then_relative(at))
            .or_else(|| self.reader.month(at + 1).and_then(|_| self.reader.month_first(at)))
            .filter(|found| found.words == 2)?;
        let is_weekday = self.reader.weekday_at(named_at).is_some();
        match self.reader.length(named_at).filter(|_| !is_weekday) {
            // The next day and the last one are days of a story; last night was yesterday.
            Some(Period::Day) => {
                let is_night = matches!(
                    self.reader.norm(named_at),
                    "night" | "evening" | "nacht" | "nuit" | "noche" | "notte" | "noite"
                );
                (is_night && steps == -1).then_some(found)
            }
            // This week is the week that the text was written in.
            _ => (steps != 0 || is_weekday).then_some(found),
        }
    }

    /// Yesterday, vorgestern, завтра.
    fn offset(&self, at: usize, may_be_adverb: bool) -> Option<DateMatch> {
        let days = self.reader.find_meaning(at, |meaning| match meaning {
            DateWord::Offset(days) if days != 0 => Some(days),
            _ => None,
        })?;
        let norm = self.reader.norm(at);
        let before = at.checked_sub(1).map_or("", |before| self.reader.norm(before));
        let is_certain = match norm {
            // Here, in German and Dutch.
            "hier" => self.language == Language::French,
            // Also the morning: heute Morgen, guten Morgen, jeden Morgen.
            "morgen" => {
                let is_native = matches!(self.language, Language::German | Language::Dutch);
                let is_morning =
                    matches!(before, "heute" | "gestern" | "guten" | "goede" | "am" | "jeden");
                is_native && may_be_adverb && !is_morning
            }
            // Also the morning: por la mañana, esta mañana.
            "manana" => !matches!(before, "la" | "esta" | "una" | "cada" | "de"),
            _ => !is_ambiguous(norm),
        };
        is_certain.then(|| DateMatch::day(self.today + days))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Monday.
    const WRITTEN_ON: Date = Date::constant(2023, 5, 8);

    fn found(text: &str) -> Vec<(&str, String, String, Precision)> {
        relative_dates(&DatedText { text, around: "", written_on: WRITTEN_ON })
            .iter()
            .map(|date| {
                let words = &text[date.start..date.end];
                (words, date.first.to_string(), date.last.to_string(), date.precision)
            })
            .collect()
    }

    #[test]
    fn relative_dates_are_read_in_the_languages_of_the_word_list() {
        for (text, words, first, last) in [
            ("I went there yesterday.", "yesterday", "2023-05-07", "2023-05-07"),
            ("Yesterday I went there.", "Yesterday", "2023-05-07", "2023-05-07"),
            ("We leave tomorrow", "tomorrow", "2023-05-09", "2023-05-09"),
            (
                "It was the day before yesterday.",
                "day before yesterday",
                "2023-05-06",
                "2023-05-06",
            ),
            ("We met last week.", "last week", "2023-05-01", "2023-05-07"),
            ("I ran last weekend", "last weekend", "2023-05-06", "2023-05-07"),
            ("I ran last Saturday", "last Saturday", "2023-05-06", "2023-05-06"),
            ("It broke last night", "last night", "2023-05-07", "2023-05-07"),
            ("They moved last year", "last year", "2022-01-01", "2022-12-31"),
            ("camping next month", "next month", "2023-06-01", "2023-06-30"),
            ("It began 3 days ago", "3 days ago", "2023-05-05", "2023-05-05"),
            ("It began two months ago", "two months ago", "2023-03-01", "2023-03-31"),
            ("It was hot last summer", "last summer", "2022-06-01", "2022-08-31"),
            ("Ich war gestern dort", "gestern", "2023-05-07", "2023-05-07"),
            ("Wir fahren morgen nach Kiel", "morgen", "2023-05-09", "2023-05-09"),
            ("Das war letzte Woche", "letzte Woche", "2023-05-01", "2023-05-07"),
            ("Vor drei Tagen war es kaputt", "Vor drei Tagen", "2023-05-05", "2023-05-05"),
            ("Hier nous sommes partis", "Hier", "2023-05-07", "2023-05-07"),
            ("C'était la semaine dernière", "semaine dernière", "2023-05-01", "2023-05-07"),
            ("Il y a 3 jours", "Il y a 3 jours", "2023-05-05", "2023-05-05"),
            ("Ayer fuimos al lago", "Ayer", "2023-05-07", "2023-05-07"),
            ("Nos vemos mañana", "mañana", "2023-05-09", "2023-05-09"),
            ("el mes pasado", "mes pasado", "2023-04-01", "2023-04-30"),
            ("Ieri siamo partiti", "Ieri", "2023-05-07", "2023-05-07"),
            ("Ontem fomos ao lago", "Ontem", "2023-05-07", "2023-05-07"),
            ("Gisteren waren we daar", "Gisteren", "2023-05-07", "2023-05-07"),
            ("Eilen satoi", "Eilen", "2023-05-07", "2023-05-07"),
            ("Вчера мы ездили на озеро", "Вчера", "2023-05-07", "2023-05-07"),
            ("на прошлой неделе", "прошлой неделе", "2023-05-01", "2023-05-07"),
            ("3 дня назад", "3 дня назад", "2023-05-05", "2023-05-05"),
        ] {
            let expected = (words, first.to_owned(), last.to_owned(), Precision::Exact);
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn vague_spans_are_near_their_middle() {
        for (text, first, last) in [
            ("a week ago", "2023-04-28", "2023-05-04"),
            ("a few days ago", "2023-05-05", "2023-05-05"),
            ("a couple of weeks ago", "2023-04-21", "2023-04-27"),
        ] {
            let found = found(text);
            assert!(
                matches!(&found[..], [(_, from, to, Precision::Near)] if from == first && to == last),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn what_stands_around_shows_the_language() {
        let dated = |around| {
            relative_dates(&DatedText { text: "bis morgen 10 Uhr", around, written_on: WRITTEN_ON })
        };
        assert_eq!(dated("Das ist noch nicht fertig, wir machen es bis morgen 10 Uhr").len(), 1);
        assert_eq!(dated("The name of the bakery is Guten Morgen").len(), 0);
    }

    #[test]
    fn other_words_are_left_alone() {
        for text in [
            "today and this week",
            "on Friday and in August",
            "on 7 May 2023",
            "the next day we left",
            "the last week of June",
            "over the past month",
            "in the last year",
            "this is the last thing",
            "Ich bin hier, du auch",
            "Guten Morgen, wie geht es dir heute Morgen?",
            "siempre por la mañana",
            "the day this happened",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
