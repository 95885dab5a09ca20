//! A stretch of text made ready for scanning. It owns the map from folded text back to the
//! original; it must not know what a word is.

use crate::fold::{fold, segments};
use crate::script::{Class, ZERO_WIDTH_JOINER, class, is_emoji, is_tag};

/// Stretches without any space are cut about here, so that memory stays bounded.
const SOFT: usize = 8 << 10;
const HARD: usize = 16 << 10;

/// Folded text, not yet in lower case, with the place that each byte came from.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// The folded text.
    pub text: String,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Piece {
    /// Folds a stretch that starts at `offset` of the original.
    pub fn fill(&mut self, source: &str, offset: usize) {
        self.text.clear();
        self.starts.clear();
        self.ends.clear();
        let mut after_emoji = false;
        segments(source, |segment, start, end| {
            // What stands for several words must not run into its neighbours: 1½ is not 11⁄2.
            let apart = stands_for_several(segment);
            if apart {
                self.push(' ', offset + start, offset + end);
            }
            for letter in segment.chars() {
                // Within an emoji the joiner means something; the scanner takes it from here.
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

    /// Where the character at a byte of the folded text starts in the original.
    pub fn start(&self, at: usize) -> u32 {
        self.starts.get(at).copied().unwrap_or_default()
    }

    /// Where the character before a byte of the folded text ends in the original.
    pub fn end(&self, at: usize) -> u32 {
        at.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or_default()
    }
}

fn stands_for_several(segment: &str) -> bool {
    let mut classes = segment.chars().map(class);
    let first = classes.next();
    let is_run = |class: Class| matches!(class, Class::Letter | Class::Digit | Class::Mark);
    let breaks = |class: Class| matches!(class, Class::Joiner | Class::Break);
    first.is_some_and(|first| {
        classes.any(|class| breaks(class) || breaks(first) || is_run(class) != is_run(first))
    })
}

/// How far a stretch without ASCII space reaches from `from`.
pub(crate) fn stretch(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes().get(from..).unwrap_or_default();
    let length = bytes
        .iter()
        .take(HARD)
        .position(|byte| byte.is_ascii_whitespace() || *byte == 0)
        .unwrap_or(bytes.len().min(HARD));
    let mut end = from + length;
    if length > SOFT {
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let rest = text.get(from..end).unwrap_or_default();
        let breaks = |(at, letter): (usize, char)| {
            (at >= SOFT && !letter.is_alphanumeric() && letter != ZERO_WIDTH_JOINER).then_some(at)
        };
        end = from + rest.char_indices().find_map(breaks).unwrap_or(rest.len());
    }
    end
}
