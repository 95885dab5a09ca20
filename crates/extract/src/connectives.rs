//! Words at the start of a clause that tie it to another one, in the languages of the lists.

use std::sync::LazyLock;

use oneiro_text::{entries, sections};
use rustc_hash::FxHashSet;

use crate::segment::is_wide;

/// Bytes of a connective, at most.
const MAX_PHRASE_BYTES: usize = 32;

struct Phrases {
    phrases: FxHashSet<&'static str>,
    /// Those of scripts without spaces, which no space need follow.
    wide: Vec<&'static str>,
}

impl Phrases {
    fn of(wanted: &str) -> Phrases {
        let list = sections(include_str!("../assets/connectives.txt"));
        let phrases: FxHashSet<&str> =
            list.filter(|(section, _)| *section == wanted).map(|(_, phrase)| phrase).collect();
        let wide = phrases.iter().copied().filter(|phrase| phrase.starts_with(is_wide)).collect();
        Phrases { phrases, wide }
    }

    /// The length of the phrase that a text begins with, whatever its case.
    fn leading(&self, text: &str) -> Option<usize> {
        if text.starts_with(is_wide) {
            return self.wide.iter().find(|phrase| text.starts_with(**phrase)).map(|p| p.len());
        }
        let start = text.get(..text.floor_char_boundary(MAX_PHRASE_BYTES)).unwrap_or_default();
        let start = start.to_lowercase();
        let mut ends = start.match_indices([' ', '\'', ',']).take(3).map(|(at, sign)| match sign {
            "'" => at + 1,
            _ => at,
        });
        ends.find(|end| start.get(..*end).is_some_and(|phrase| self.phrases.contains(phrase)))
    }
}

static FOLLOWS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of("follows"));
static PRECEDES: LazyLock<Phrases> = LazyLock::new(|| Phrases::of("precedes"));
static JOINS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of("joins"));

static CONTINUES: LazyLock<Phrases> = LazyLock::new(|| Phrases::of("continues"));
static INSIDE: LazyLock<Phrases> = LazyLock::new(|| Phrases::of("inside"));

/// Pronouns that begin a clause of their own.
static SUBJECTS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| entries(include_str!("../assets/subjects.txt")).collect());

/// Whether a clause says nothing without what stands before it: "which costs 40 euros".
pub(crate) fn needs_what_precedes(clause: &str) -> bool {
    FOLLOWS.leading(clause).is_some()
}

/// Whether a clause says nothing without what stands after it: "When we moved".
pub(crate) fn needs_what_follows(clause: &str) -> bool {
    PRECEDES.leading(clause).is_some()
}

/// Whether a clause after a comma goes on with what stands before it: "for the map".
pub(crate) fn continues(clause: &str) -> bool {
    CONTINUES.leading(clause).is_some()
}

/// Whether a word within a sentence joins two clauses where the second has a subject.
pub(crate) fn joins(word: &str) -> bool {
    JOINS.phrases.contains(word)
}

/// Whether a word within a sentence begins a clause that can be left out.
pub(crate) fn begins_inside(word: &str) -> bool {
    INSIDE.phrases.contains(word)
}

/// A clause without the word that joins it to the one before.
pub(crate) fn without_join(clause: &str) -> &str {
    let length = JOINS.leading(clause).unwrap_or(0);
    clause.get(length..).unwrap_or(clause).trim_start_matches([' ', ','])
}

/// Whether a clause begins with a subject, after a word that joins or without one.
pub(crate) fn has_subject(clause: &str) -> bool {
    let clause = without_join(clause);
    let end = clause.find(' ').unwrap_or(clause.len());
    let Some(word) = clause.get(..end).filter(|word| word.len() <= MAX_PHRASE_BYTES) else {
        return false;
    };
    let word = word.replace('’', "'").to_lowercase();
    SUBJECTS.contains(word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_tied_by_their_first_words() {
        for clause in
            ["which costs 40 euros", "like my bowl", "such as tea", "weil es regnet", "因为下雨"]
        {
            assert!(needs_what_precedes(clause), "{clause}");
        }
        for clause in ["When we moved", "wenn es regnet", "если дождь идёт", "如果下雨"]
        {
            assert!(needs_what_follows(clause), "{clause}");
        }
        for clause in ["We moved", "Whichever", "Likely so", "Orange juice", "下雨了"] {
            assert!(!needs_what_precedes(clause) && !needs_what_follows(clause), "{clause}");
        }
    }

    #[test]
    fn a_joined_clause_begins_with_its_subject() {
        assert_eq!(without_join("and we moved"), "we moved");
        assert_eq!(without_join("но мы уехали"), "мы уехали");
        assert_eq!(without_join("andirons"), "andirons");
        assert!(has_subject("but I’ll stay") && has_subject("wir gehen") && has_subject("I left"));
        assert!(!has_subject("and the pepper") && !has_subject("andirons"));
    }
}
