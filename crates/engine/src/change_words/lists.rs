//! The lists of words that tell a change, from `assets/change_words.txt`.

use crate::echo::{EchoToken, tokens};
use oneiro_text::{Analyzer, normalise, sections};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

const WORDS: &str = include_str!("../../assets/change_words.txt");

/// Words of several phrases for one thing that are searched for, and the letters of one at least.
const SAME_SEARCHED_MAX: usize = 8;
const SAME_LETTERS_MIN: usize = 3;

/// What a pseudo word for several phrases begins with.
pub(super) const SAME_MARK: char = '=';

/// Phrases by their first word.
type Phrases = FxHashMap<String, Vec<Vec<String>>>;

pub(super) struct ChangeWords {
    pub(super) phrases: FxHashMap<&'static str, Phrases>,
    /// Stems of words that tell no topic.
    pub(super) common: FxHashSet<String>,
    /// Phrases for one thing by their first word, with what they are compared as.
    pub(super) same: FxHashMap<&'static str, SamePhrases>,
    /// The words of these phrases by what they are compared as.
    pub(super) same_words: FxHashMap<String, Vec<String>>,
}

/// Phrases by their first word, each with the number of its line.
type SamePhrases = FxHashMap<String, Vec<(Vec<String>, usize)>>;

/// Sections whose lines are different phrases for one thing.
pub(super) const SAME_SECTIONS: [&str; 2] = ["same word", "same fact"];

pub(super) static CHANGE_WORDS: LazyLock<ChangeWords> = LazyLock::new(|| {
    let mut phrases: FxHashMap<&'static str, Phrases> = FxHashMap::default();
    let mut common = FxHashSet::default();
    let mut same: FxHashMap<&'static str, SamePhrases> = FxHashMap::default();
    let mut same_words: FxHashMap<String, Vec<String>> = FxHashMap::default();
    let mut analyzer = Analyzer::default();
    for (number, (section, line)) in sections(WORDS).enumerate() {
        let tells_change =
            ["common", "changed", "value changed", "may change", "ends", "bare"].contains(&section);
        for entry in line.split(',') {
            let words: Vec<String> = tokens(entry).into_iter().map(|token| token.word).collect();
            let Some(first) = words.first().cloned() else { continue };
            if SAME_SECTIONS.contains(&section) {
                let searched = same_words.entry(format!("{SAME_MARK}{number}")).or_default();
                for word in words.iter().filter(|word| word.len() >= SAME_LETTERS_MIN) {
                    if searched.len() < SAME_SEARCHED_MAX && !searched.contains(word) {
                        searched.push(word.clone());
                    }
                }
                same.entry(section).or_default().entry(first).or_default().push((words, number));
                continue;
            }
            if tells_change && words.len() == 1 {
                analyzer.tokens(&first, |token| {
                    common.insert(token.term.to_owned());
                });
                common.insert(first.clone());
            }
            phrases.entry(section).or_default().entry(first).or_default().push(words);
        }
    }
    ChangeWords { phrases, common, same, same_words }
});

/// Where the phrases of a section stand, as ranges of words.
pub(super) fn places<'w>(
    section: &'static str,
    words: &'w [EchoToken],
) -> impl Iterator<Item = std::ops::Range<usize>> + 'w {
    let phrases = CHANGE_WORDS.phrases.get(section);
    words.iter().enumerate().flat_map(move |(at, word)| {
        let starting = phrases.and_then(|phrases| phrases.get(&word.word)).into_iter().flatten();
        let here = starting.filter(move |phrase| {
            let rest = words.get(at..at + phrase.len()).unwrap_or_default();
            rest.len() == phrase.len() && rest.iter().zip(*phrase).all(|(a, b)| a.word == *b)
        });
        here.map(move |phrase| at..at + phrase.len())
    })
}

/// Whether a text has a phrase of a section of the list.
pub(crate) fn has_phrase(section: &'static str, text: &str) -> bool {
    places(section, &tokens(text)).next().is_some()
}

/// Whether a word is in a section of the list.
pub(super) fn is_of(section: &'static str, word: &str) -> bool {
    let phrases = CHANGE_WORDS.phrases.get(section);
    phrases.is_some_and(|phrases| phrases.contains_key(&normalise(word)))
}
