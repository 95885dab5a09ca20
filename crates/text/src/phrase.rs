//! Finds phrases in texts.

use std::collections::VecDeque;
use std::ops::Range;

use crate::analyzer::slice;
use crate::scan::Scanner;
use crate::unit::{Link, Shape, Unit};

const BLOCK_UNITS: usize = 1024;

/// Adjacent words in order, with any punctuation between them. Words are compared unstemmed, stop
/// words included.
#[derive(Debug, Clone, Default)]
pub struct Phrase {
    words: Vec<String>,
    /// The failure function of Knuth, Morris and Pratt: by number of matched words, how many still
    /// match after a mismatch.
    fallback: Vec<usize>,
}

impl Phrase {
    /// Splits a phrase into words.
    pub fn new(text: &str) -> Phrase {
        let mut scanner = Scanner::default();
        scanner.scan(text, 0, BLOCK_UNITS);
        let compared = scanner.units.iter().filter(|unit| is_compared(unit));
        let words: Vec<String> =
            compared.map(|unit| slice(&scanner.norm, unit.span).to_owned()).collect();
        let mut phrase = Phrase { words, fallback: Vec::new() };
        let mut matched = 0;
        for at in 0..phrase.words.len() {
            if at > 0 {
                let word = phrase.words.get(at).map(String::as_str).unwrap_or_default();
                matched = phrase.advance(matched, word);
            }
            phrase.fallback.push(matched);
        }
        phrase
    }

    /// Whether there is no word in it, so that it matches nothing.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The first match in a text, in bytes.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        if self.words.is_empty() {
            return None;
        }
        let mut scanner = Scanner::default();
        let mut starts = VecDeque::with_capacity(self.words.len() + 1);
        let mut matched = 0;
        let mut at = 0;
        while at < text.len() {
            at = scanner.scan(text, at, BLOCK_UNITS);
            for unit in scanner.units.iter().filter(|unit| is_compared(unit)) {
                starts.push_back(unit.span.start as usize);
                if starts.len() > self.words.len() {
                    starts.pop_front();
                }
                matched = self.advance(matched, slice(&scanner.norm, unit.span));
                if matched == self.words.len() {
                    return Some(*starts.front()?..unit.span.end as usize);
                }
            }
        }
        None
    }

    /// The number of matched words after `word`, if `matched` words matched before it.
    fn advance(&self, mut matched: usize, word: &str) -> usize {
        loop {
            if self.words.get(matched).is_some_and(|wanted| wanted == word) {
                return matched + 1;
            }
            match matched.checked_sub(1) {
                Some(last) => matched = self.fallback.get(last).copied().unwrap_or(0),
                None => return 0,
            }
        }
    }
}

/// An emoji with a skin tone is followed by a unit without it, which is not compared.
fn is_compared(unit: &Unit) -> bool {
    unit.shape != Shape::Emoji || unit.link == Link::None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_words_in_order() {
        for (phrase, text, want) in [
            ("support group", "the Support-Group, again", Some("Support-Group")),
            ("to be or not", "Or: to be, or not to be", Some("to be, or not")),
            ("support groups", "the support group", None),
            ("port group", "the support group", None),
            ("group support", "the support group", None),
            ("a a b", "a a a b", Some("a a b")),
            ("a b a c", "a b a b a c", Some("a b a c")),
            ("don't go", "They DON’T go!", Some("DON’T go")),
            ("cafe noir", "un café noir", Some("café noir")),
            ("foo bar", "call foo_bar()", Some("foo_bar")),
            ("GitHub", "on github", Some("github")),
            ("京タワ", "東京タワー", Some("京タワ")),
            ("ｶﾞｽ", "ガス会社", Some("ガス")),
            ("👍🏽 ok", "yes 👍🏽 ok", Some("👍🏽 ok")),
            ("...", "a ... b", None),
            ("", "", None),
        ] {
            let recognised = Phrase::new(phrase).find(text);
            assert_eq!(recognised.map(|range| &text[range]), want, "{phrase} in {text}");
        }
    }

    #[test]
    fn a_phrase_is_found_across_blocks() {
        let text = format!("{}needle here{}", "hay ".repeat(BLOCK_UNITS - 1), " hay".repeat(9));
        let recognised = Phrase::new("Needle here").find(&text);
        assert_eq!(recognised.map(|range| &text[range]), Some("needle here"));
    }
}
