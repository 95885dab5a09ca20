//! What single words mean in a date, in all languages at once. It owns the vocabulary of time; it
//! must not know how words make up a date.

use std::sync::LazyLock;

use jiff::civil::Weekday;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::normalise;
use crate::lists::sections;

/// What a word contributes to a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concept {
    /// A month, from 1.
    Month(i64),
    /// A day of the week.
    Weekday(Weekday),
    /// A season, spring being 0.
    Season(i64),
    /// A length of time.
    Length(Length),
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
    /// Makes the length before it, or after it, lie in the past.
    Ago,
}

impl Concept {
    /// What the words of a section mean; `None` for those that only accompany a date.
    fn of(section: &str) -> Option<Concept> {
        let (kind, value) = section.split_once(' ').unwrap_or((section, ""));
        let number = || value.parse::<i64>().ok();
        Some(match kind {
            "month" => Concept::Month(number()?),
            "weekday" => {
                Concept::Weekday(Weekday::from_monday_zero_offset(value.parse().ok()?).ok()?)
            }
            "season" => Concept::Season(number()?),
            "length" => Concept::Length(match value {
                "day" => Length::Day,
                "week" => Length::Week,
                "weekend" => Length::Weekend,
                "month" => Length::Month,
                "year" => Length::Year,
                _ => return None,
            }),
            "offset" => Concept::Offset(number()?),
            "count" => Concept::Count(number()?),
            "last" => Concept::Last,
            "this" => Concept::This,
            "next" => Concept::Next,
            "ago" => Concept::Ago,
            _ => return None,
        })
    }
}

/// A length of time that a date is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Also for its parts: this morning is today.
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

/// The vocabulary, a section for each meaning.
const WORDS: &str = include_str!("../assets/dates.txt");

static CONCEPTS: LazyLock<FxHashMap<String, Vec<Concept>>> = LazyLock::new(|| {
    let mut concepts: FxHashMap<String, Vec<Concept>> = FxHashMap::default();
    for (section, word) in sections(WORDS) {
        if let Some(concept) = Concept::of(section) {
            concepts.entry(normalise(word)).or_default().push(concept);
        }
    }
    concepts
});

static AMBIGUOUS_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of("ambiguous"));
static MORE_TIME_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of("time"));

fn set_of(wanted: &str) -> FxHashSet<String> {
    let words = sections(WORDS).filter(|(section, _)| *section == wanted);
    words.map(|(_, word)| normalise(word)).collect()
}

/// What a normalised word may mean. Across languages it may be more than one thing.
pub(crate) fn concepts(norm: &str) -> &'static [Concept] {
    CONCEPTS.get(norm).map_or(&[], Vec::as_slice)
}

/// Whether a word needs others around it to be a date.
pub(crate) fn is_ambiguous(norm: &str) -> bool {
    AMBIGUOUS_SET.contains(norm)
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
    concepts(norm).iter().find_map(|concept| match concept {
        Concept::Month(_) | Concept::Weekday(_) if is_certain => Some(DateRole::Day),
        Concept::Offset(days) if *days != 0 && is_certain => Some(DateRole::Day),
        Concept::Length(_) if is_certain => Some(DateRole::Length),
        Concept::Last | Concept::Next | Concept::Ago => Some(DateRole::Direction),
        _ => None,
    })
}

/// Whether a normalised word may be part of a relative date: also hier, which is mostly here.
pub fn may_name_date(norm: &str) -> bool {
    let names = |concept: &Concept| !matches!(concept, Concept::Count(_) | Concept::This);
    concepts(norm).iter().any(names)
}

/// Whether a normalised word speaks of time.
pub(crate) fn is_time_word(norm: &str) -> bool {
    let names_time = |concept: &Concept| match concept {
        Concept::Count(_) | Concept::This | Concept::Ago => false,
        // Words of other languages that are spelled like common ones.
        Concept::Offset(_) | Concept::Length(_) | Concept::Season(_) => {
            !is_ambiguous(norm) || matches!(norm, "spring" | "fall" | "ete")
        }
        _ => true,
    };
    concepts(norm).iter().any(names_time) || MORE_TIME_SET.contains(norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_has_a_meaning() {
        for (section, word) in sections(WORDS) {
            let accompanies = matches!(section, "ambiguous" | "time");
            assert!(accompanies || Concept::of(section).is_some(), "{word} in [{section}]");
        }
    }
}
