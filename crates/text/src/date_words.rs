//! The meaning of single words in dates, in all supported languages.

use std::sync::LazyLock;

use jiff::civil::Weekday;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::normalise;
use crate::lists::sections;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateWord {
    /// A month, from 1.
    Month(i64),
    /// A day of the week.
    Weekday(Weekday),
    /// A season, spring being 0.
    Season(i64),
    /// A length of time.
    Period(Period),
    /// A day counted from today.
    Offset(i64),
    /// A small number.
    Count(i64),
    /// The one before.
    Last,
    /// The current one.
    This,
    /// The one after.
    Next,
    /// Moves the adjacent period into the past.
    Ago,
}

impl DateWord {
    /// The meaning of the words in a section; `None` for words that only accompany a date.
    fn of(section: &str) -> Option<DateWord> {
        let (kind, value) = section.split_once(' ').unwrap_or((section, ""));
        let number = || value.parse::<i64>().ok();
        Some(match kind {
            "month" => DateWord::Month(number()?),
            "weekday" => {
                DateWord::Weekday(Weekday::from_monday_zero_offset(value.parse().ok()?).ok()?)
            }
            "season" => DateWord::Season(number()?),
            "length" => DateWord::Period(match value {
                "day" => Period::Day,
                "week" => Period::Week,
                "weekend" => Period::Weekend,
                "month" => Period::Month,
                "year" => Period::Year,
                _ => return None,
            }),
            "offset" => DateWord::Offset(number()?),
            "count" => DateWord::Count(number()?),
            "last" => DateWord::Last,
            "this" => DateWord::This,
            "next" => DateWord::Next,
            "ago" => DateWord::Ago,
            _ => return None,
        })
    }
}

/// A period that dates are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    /// Also for parts of a day: "this morning" is today.
    Day,
    /// From Monday.
    Week,
    /// Saturday and Sunday.
    Weekend,
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
}

/// One section per meaning.
const DATE_WORDS: &str = include_str!("../assets/dates.txt");

static MEANINGS: LazyLock<FxHashMap<String, Vec<DateWord>>> = LazyLock::new(|| {
    let mut meanings: FxHashMap<String, Vec<DateWord>> = FxHashMap::default();
    for (section, word) in sections(DATE_WORDS) {
        if let Some(meaning) = DateWord::of(section) {
            meanings.entry(normalise(word)).or_default().push(meaning);
        }
    }
    meanings
});

static AMBIGUOUS_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of("ambiguous"));
static TIME_WORD_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of("time"));

fn set_of(wanted: &str) -> FxHashSet<String> {
    let words = sections(DATE_WORDS).filter(|(section, _)| *section == wanted);
    words.map(|(_, word)| normalise(word)).collect()
}

/// The meanings of a normalised word; several if it occurs in several languages.
pub(crate) fn meanings(norm: &str) -> &'static [DateWord] {
    MEANINGS.get(norm).map_or(&[], Vec::as_slice)
}

/// Whether a word is part of a date only next to other date words.
pub(crate) fn is_ambiguous(norm: &str) -> bool {
    AMBIGUOUS_SET.contains(norm)
}

static HOMOGRAPH_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of("homographs"));
static NUMBERED_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of("numbered"));

/// Whether a word is also a first name, an abbreviation or a verb, so that in a question it names a
/// date only next to words that say so.
pub(crate) fn is_homograph(norm: &str) -> bool {
    HOMOGRAPH_SET.contains(norm)
}

/// Whether the number after a word numbers a thing: port 2049, ticket 2021.
pub(crate) fn is_numbered_thing(norm: &str) -> bool {
    NUMBERED_SET.contains(norm)
}

/// What a word before an ambiguous word says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateCue {
    /// A month, a season or a year may follow: in, since, seit, desde.
    Preposition,
    /// A month follows: Anfang, fin, the end of.
    Part,
    /// A noun follows: the, our.
    Article,
    /// A weekday may follow: on.
    Weekday,
}

static DATE_CUES: LazyLock<FxHashMap<String, DateCue>> = LazyLock::new(|| {
    let cue = |section: &str| match section {
        "lead preposition" => Some(DateCue::Preposition),
        "lead part" => Some(DateCue::Part),
        "lead article" => Some(DateCue::Article),
        "lead weekday" => Some(DateCue::Weekday),
        _ => None,
    };
    let cues = sections(DATE_WORDS).filter_map(|(section, word)| Some((word, cue(section)?)));
    cues.map(|(word, cue)| (normalise(word), cue)).collect()
});

pub(crate) fn date_cue(norm: &str) -> Option<DateCue> {
    DATE_CUES.get(norm).copied()
}

/// What a word may do in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateRole {
    /// It names one alone: yesterday, Monday, June.
    Day,
    /// A length of time: week, year.
    Length,
    /// It counts a length from the day of the text: last, next, ago.
    Direction,
}

/// What a normalised word may do in a date.
pub fn date_role(norm: &str) -> Option<DateRole> {
    let is_certain = !is_ambiguous(norm);
    meanings(norm).iter().find_map(|meaning| match meaning {
        DateWord::Month(_) | DateWord::Weekday(_) if is_certain => Some(DateRole::Day),
        DateWord::Offset(days) if *days != 0 && is_certain => Some(DateRole::Day),
        DateWord::Period(_) if is_certain => Some(DateRole::Length),
        DateWord::Last | DateWord::Next | DateWord::Ago => Some(DateRole::Direction),
        _ => None,
    })
}

/// Whether a normalised word may be part of a relative date: also hier, which is mostly here.
pub fn may_name_date(norm: &str) -> bool {
    let names = |meaning: &DateWord| !matches!(meaning, DateWord::Count(_) | DateWord::This);
    meanings(norm).iter().any(names)
}

pub(crate) fn is_time_word(norm: &str) -> bool {
    let names_time = |meaning: &DateWord| match meaning {
        DateWord::Count(_) | DateWord::This | DateWord::Ago => false,
        // Homographs of common words in other languages.
        DateWord::Offset(_) | DateWord::Period(_) | DateWord::Season(_) => {
            !is_ambiguous(norm) || matches!(norm, "spring" | "fall" | "ete")
        }
        _ => true,
    };
    meanings(norm).iter().any(names_time) || TIME_WORD_SET.contains(norm)
}

/// All words that speak of time.
pub(crate) fn time_words() -> impl Iterator<Item = &'static str> {
    let words = sections(DATE_WORDS).map(|(_, word)| word);
    words.filter(|word| is_time_word(&normalise(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_has_a_meaning() {
        for (section, word) in sections(DATE_WORDS) {
            let accompanies = matches!(section, "ambiguous" | "homographs" | "numbered" | "time")
                || section.starts_with("lead ");
            assert!(accompanies || DateWord::of(section).is_some(), "{word} in [{section}]");
        }
    }
}
