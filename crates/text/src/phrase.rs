//! Phrases, verified on the text itself. It owns what counts as the same words in a row; it must
//! not know how the text was found.

use std::collections::VecDeque;
use std::ops::Range;

use crate::analyzer::slice;
use crate::scan::{Joint, Scanner, Shape, Unit};

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
