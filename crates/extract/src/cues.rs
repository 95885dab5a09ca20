//! Finds phrases that show the purpose of a sentence: a decision, an error, a plan, a personal
//! fact, a courtesy.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashSet;

use oneiro_text::{Analyzer, entries, normalise, sections};

use crate::segment::is_wide;

/// What a sentence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    /// Settles something, or sets a rule.
    Decision,
    /// Says what somebody will do, or why.
    Plan,
    /// Takes back or replaces what was said or done before.
    Correction,
    /// Says what came of something: fixed, merged, 3 passed.
    Outcome,
    /// Says that something went wrong.
    Error,
    /// Is what a stack of frames ended with.
    Raised,
    /// Leaves something for later.
    Open,
    /// Says something about a person's life: family, home, work, health, likes.
    Fact,
    /// Greets, thanks, agrees, praises.
    Courtesy,
    /// Does nothing else.
    SmallTalk,
}

/// A set of what a sentence does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cues(u16);

impl Cues {
    pub fn add(&mut self, cue: Cue) {
        self.0 |= 1 << cue as u16;
    }

    pub fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u16) != 0
    }
}

impl Cue {
    /// What the phrases of a section do.
    fn of(section: &str) -> Option<Cue> {
        match section {
            "decision" => Some(Cue::Decision),
            "plan" => Some(Cue::Plan),
            "correction" => Some(Cue::Correction),
            "outcome" => Some(Cue::Outcome),
            "error" => Some(Cue::Error),
            "open" => Some(Cue::Open),
            "fact" => Some(Cue::Fact),
            _ => None,
        }
    }
}

/// Bytes of a phrase that only leads on, at most.
const MAX_LEAD_BYTES: usize = 32;

const CUES: &str = include_str!("../assets/cues.txt");

/// What is said to be polite, in sections of a language each.
const PLEASANTRIES: &str = include_str!("../assets/pleasantries.txt");

static PHRASES: LazyLock<Vec<(String, Cue)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let polite = entries(PLEASANTRIES).map(|phrase| (Some(Cue::Courtesy), phrase));
    let cues = sections(CUES).map(|(section, phrase)| (Cue::of(section), phrase));
    for (cue, phrase) in cues.chain(polite) {
        let Some(cue) = cue else { continue };
        all.push((phrase.to_owned(), cue));
        if phrase.contains('\'') {
            all.push((phrase.replace('\'', "’"), cue));
        }
        // The automaton knows the case of ASCII alone.
        let mut letters = phrase.chars();
        if let Some(first) = letters.next().filter(|first| !first.is_ascii()) {
            let upper: String = first.to_uppercase().chain(letters).collect();
            if upper != phrase {
                all.push((upper, cue));
            }
        }
    }
    all
});

// Never absent: the phrases are fixed, and a test builds it.
static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(PHRASES.iter().map(|(phrase, _)| phrase))
        .ok()
});

/// Hands out the cues of a text with their places, in order.
pub(crate) fn cues(text: &str, mut each: impl FnMut(Range<usize>, Cue)) {
    let Some(automaton) = AUTOMATON.as_ref() else { return };
    for found in automaton.find_iter(text) {
        let Some((_, cue)) = PHRASES.get(found.pattern().as_usize()) else { continue };
        let before = text.get(..found.start()).and_then(|before| before.chars().next_back());
        let after = text.get(found.end()..).and_then(|after| after.chars().next());
        // Within an identifier it is a name: errors.py, fail_fast, no-cache.
        let inside = |near: char| near.is_alphanumeric() || matches!(near, '_' | '/' | '-' | '\\');
        let stops = text.get(found.end()..).is_some_and(|rest| {
            !rest.starts_with('.')
                || !rest.trim_start_matches('.').starts_with(char::is_alphanumeric)
        });
        let alone = before.is_none_or(|before| !inside(before) && before != '.')
            && after.is_none_or(|after| !inside(after))
            && stops;
        let dense = text.get(found.range()).is_some_and(|found| found.starts_with(is_dense));
        if dense || alone {
            each(found.range(), *cue);
        }
    }
}

/// Whether letters of this kind take endings and particles without a space.
fn is_dense(letter: char) -> bool {
    is_wide(letter) || matches!(letter, '\u{0600}'..='\u{06ff}' | '\u{0900}'..='\u{097f}')
}

static PLAIN_TERMS: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    let elsewhere = entries(include_str!("../assets/plain_elsewhere.txt"));
    let mut terms: FxHashSet<String> = elsewhere.map(normalise).collect();
    let plain: Vec<&str> = entries(include_str!("../assets/plain.txt")).collect();
    // As one text, which its function words show to be English.
    Analyzer::default().tokens(&plain.join(" "), |token| {
        terms.insert(token.norm.to_owned());
        terms.insert(token.term.to_owned());
    });
    terms
});

/// Whether a word says little about what is spoken of: great, think, time.
pub(crate) fn is_plain(term: &str, norm: &str) -> bool {
    PLAIN_TERMS.contains(term) || PLAIN_TERMS.contains(norm)
}

static LEADS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| entries(include_str!("../assets/leads.txt")).collect());

/// Whether a piece of a sentence only leads into the rest: "by the way".
pub(crate) fn is_lead(piece: &str) -> bool {
    let piece = piece.trim_matches([',', ' ']);
    piece.len() <= MAX_LEAD_BYTES && LEADS.contains(piece.to_lowercase().as_str())
}

/// Whether a word at the start of a sentence only leads into it.
pub(crate) fn only_leads(norm: &str) -> bool {
    LEADS.contains(norm)
}

static PRAISE: LazyLock<FxHashSet<String>> = LazyLock::new(|| praise("praise"));
static OTHERS: LazyLock<FxHashSet<String>> = LazyLock::new(|| praise("you"));

fn praise(wanted: &str) -> FxHashSet<String> {
    let list = sections(include_str!("../assets/praise.txt"));
    list.filter(|(section, _)| *section == wanted).map(|(_, word)| normalise(word)).collect()
}

/// Whether a normalised word praises.
pub(crate) fn praises(norm: &str) -> bool {
    PRAISE.contains(norm)
}

/// Whether a normalised word is about the other person: you, your.
pub(crate) fn is_second_person(norm: &str) -> bool {
    OTHERS.contains(norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Cue> {
        let mut all = Vec::new();
        cues(text, |_, cue| all.push(cue));
        all
    }

    #[test]
    fn cues_are_found_in_many_languages() {
        for (text, cue) in [
            ("We decided on SQLite.", Cue::Decision),
            ("Wir haben uns geeinigt", Cue::Decision),
            ("Решили взять поезд", Cue::Decision),
            ("我们决定用这个", Cue::Decision),
            ("来月にすることにした。", Cue::Decision),
            ("قررنا السفر", Cue::Decision),
            ("The build FAILED", Cue::Error),
            ("Ошибка сети", Cue::Error),
            ("Meine Tochter heißt Ida", Cue::Fact),
            ("I’ll do it", Cue::Plan),
            ("Thanks a lot", Cue::Courtesy),
        ] {
            assert!(found(text).contains(&cue), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn every_section_is_a_cue() {
        for (section, phrase) in sections(CUES) {
            assert!(Cue::of(section).is_some(), "{phrase} in [{section}]");
        }
    }

    #[test]
    fn cues_stand_between_words() {
        assert_eq!(
            found("catalogue sonnet bugle mustard sync.errors no-bug fail_fast never.rs"),
            []
        );
    }
}
