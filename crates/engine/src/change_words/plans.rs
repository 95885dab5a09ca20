//! Plans: sentences about what is ahead, or begins on a day.

use super::lists::{is_of, places};
use crate::echo::{EchoToken, tokens};
use oneiro_text::is_time_word;

/// Letters of a past form at least: "need" and "speed" are none.
const PAST_LENGTH_MIN: usize = 5;

/// Whether a sentence may tell a plan: not what was, and not what comes again.
pub(crate) fn is_planned(sentence: &str) -> bool {
    let words = tokens(sentence);
    let is_past = |at: usize, word: &EchoToken| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        // "The oven gets serviced" is no past.
        let is_passive = before.is_some_and(|before| is_of("passive", &before.word));
        word.word.len() > PAST_LENGTH_MIN
            && word.word.ends_with("ed")
            && !is_passive
            && !is_of("value changed", &word.word)
            && !is_of("changed", &word.word)
            && !is_of("planned", &word.word)
    };
    places("no plan", &words).next().is_none()
        && !words.iter().enumerate().any(|(at, word)| is_past(at, word))
}

/// Whether a sentence says when something begins, and no end.
pub(crate) fn begins_on_date(sentence: &str) -> bool {
    let words = tokens(sentence);
    let is_date = |word: &EchoToken| {
        is_time_word(&word.word) || word.word.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let begins = places("begins", &words)
        .any(|found| words.get(found.end..).unwrap_or_default().iter().take(2).any(is_date));
    begins && places("until", &words).next().is_none()
}
