//! Phrases, verified on the text itself. It owns what counts as the same words in a row; it must
//! not know how the text was found.

use std::collections::VecDeque;
use std::ops::Range;

use crate::analyzer::slice;
use crate::scan::Scanner;
use crate::unit::{Joint, Shape, Unit};

const BLOCK: usize = 1024;

/// Words that have to stand side by side, in order, whatever punctuation is between them. Stems do
/// not count; stop words do.
#[derive(Debug, Clone, Default)]
pub struct Phrase {
    words: Vec<String>,
    /// For every word, how much of the phrase has been seen if the word after it is another one.
    fallback: Vec<usize>,
}

impl Phrase {
    /// Reads a phrase.
    pub fn new(text: &str) -> Phrase {
        let mut scanner = Scanner::default();
        scanner.scan(text, 0, BLOCK);
        let compared = scanner.units.iter().filter(|unit| is_compared(unit));
        let words: Vec<String> =
            compared.map(|unit| slice(&scanner.norm, unit.span).to_owned()).collect();
        let mut phrase = Phrase { words, fallback: Vec::new() };
        let mut seen = 0;
        for at in 0..phrase.words.len() {
            if at > 0 {
                let word = phrase.words.get(at).map(String::as_str).unwrap_or_default();
                seen = phrase.advance(seen, word);
            }
            phrase.fallback.push(seen);
        }
        phrase
    }

    /// Whether there is no word in it, so that it can be found nowhere.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Where the phrase is first in a text, in bytes.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        if self.words.is_empty() {
            return None;
        }
        let mut scanner = Scanner::default();
        let mut starts = VecDeque::with_capacity(self.words.len() + 1);
        let mut seen = 0;
        let mut at = 0;
        while at < text.len() {
            at = scanner.scan(text, at, BLOCK);
            for unit in scanner.units.iter().filter(|unit| is_compared(unit)) {
                starts.push_back(unit.span.start as usize);
                if starts.len() > self.words.len() {
                    starts.pop_front();
                }
                seen = self.advance(seen, slice(&scanner.norm, unit.span));
                if seen == self.words.len() {
                    return Some(*starts.front()?..unit.span.end as usize);
                }
            }
        }
        None
    }

    /// How much of the phrase is seen once `word` follows `seen` words of it.
    fn advance(&self, mut seen: usize, word: &str) -> usize {
        loop {
            if self.words.get(seen).is_some_and(|wanted| wanted == word) {
                return seen + 1;
            }
            match seen.checked_sub(1) {
                Some(last) => seen = self.fallback.get(last).copied().unwrap_or(0),
                None => return 0,
            }
        }
    }
}

/// An emoji with a colour comes a second time without; once is enough to compare.
fn is_compared(unit: &Unit) -> bool {
    unit.shape != Shape::Emoji || unit.joint == Joint::Open
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
            let found = Phrase::new(phrase).find(text);
            assert_eq!(found.map(|range| &text[range]), want, "{phrase} in {text}");
        }
    }

    #[test]
    fn a_phrase_is_found_across_blocks() {
        let text = format!("{}needle here{}", "hay ".repeat(BLOCK - 1), " hay".repeat(9));
        let found = Phrase::new("Needle here").find(&text);
        assert_eq!(found.map(|range| &text[range]), Some("needle here"));
    }
}
