//! Folded text with a map to the original text.

use crate::fold::{fold, segments};
use crate::script::{Class, ZERO_WIDTH_JOINER, class, is_emoji, is_tag};

/// Text without spaces is cut at the first non-letter after the soft limit, at the latest at the
/// hard limit, to bound memory.
const SOFT_LIMIT_BYTES: usize = 8 << 10;
const HARD_LIMIT_BYTES: usize = 16 << 10;

/// Folded text that is not lower-cased yet, with the original range of each byte.
#[derive(Debug, Default)]
pub(crate) struct FoldedText {
    pub text: String,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl FoldedText {
    /// Folds a part of a text that starts at `offset`.
    pub fn fill(&mut self, source: &str, offset: usize) {
        self.text.clear();
        self.starts.clear();
        self.ends.clear();
        let mut after_emoji = false;
        segments(source, |segment, start, end| {
            // A character that folds to several words must not join its neighbours: 1½ is not 11⁄2.
            let apart = folds_to_several_words(segment);
            if apart {
                self.push(' ', offset + start, offset + end);
            }
            for letter in segment.chars() {
                // Joiners are significant inside emoji; the scanner handles them.
                if after_emoji && (letter == ZERO_WIDTH_JOINER || is_tag(letter)) {
                    self.push(letter, offset + start, offset + end);
                    continue;
                }
                after_emoji = is_emoji(letter) || (after_emoji && letter == '\u{fe0f}');
                fold(letter, |folded| self.push(folded, offset + start, offset + end));
            }
            if apart {
                self.push(' ', offset + start, offset + end);
            }
        });
    }

    fn push(&mut self, letter: char, start: usize, end: usize) {
        self.text.push(letter);
        self.starts.resize(self.text.len(), start as u32);
        self.ends.resize(self.text.len(), end as u32);
    }

    /// The start in the original of the character at a byte of the folded text.
    pub fn start(&self, at: usize) -> u32 {
        self.starts.get(at).copied().unwrap_or_default()
    }

    /// The end in the original of the character before a byte of the folded text.
    pub fn end(&self, at: usize) -> u32 {
        at.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or_default()
    }
}

fn folds_to_several_words(segment: &str) -> bool {
    let mut classes = segment.chars().map(class);
    let first = classes.next();
    let is_run = |class: Class| matches!(class, Class::Letter | Class::Digit | Class::Mark);
    let breaks = |class: Class| matches!(class, Class::Joiner | Class::Break);
    first.is_some_and(|first| {
        classes.any(|class| breaks(class) || breaks(first) || is_run(class) != is_run(first))
    })
}

/// The end of the text without ASCII spaces that starts at `from`.
pub(crate) fn end_of_stretch(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes().get(from..).unwrap_or_default();
    let length = bytes
        .iter()
        .take(HARD_LIMIT_BYTES)
        .position(|byte| byte.is_ascii_whitespace() || *byte == 0)
        .unwrap_or(bytes.len().min(HARD_LIMIT_BYTES));
    let mut end = from + length;
    if length > SOFT_LIMIT_BYTES {
        end = text.floor_char_boundary(end);
        let rest = text.get(from..end).unwrap_or_default();
        let breaks = |(at, letter): (usize, char)| {
            (at >= SOFT_LIMIT_BYTES && !letter.is_alphanumeric() && letter != ZERO_WIDTH_JOINER)
                .then_some(at)
        };
        end = from + rest.char_indices().find_map(breaks).unwrap_or(rest.len());
    }
    end
}
