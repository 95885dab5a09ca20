//! What the pattern of o200k asks of a character, in one byte. It owns the table of characters; it
//! must not know what a piece is.
//!
//! The table is our own, and not that of a package of Unicode's properties, because counts must
//! not change with the next version of Unicode: it is the one that tiktoken counts by.

use std::sync::LazyLock;

/// Which of the pattern's classes a character is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class(u8);

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: what a word begins with.
const HEAD: u8 = 1;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: what a word goes on with.
const BODY: u8 = 2;
/// `\p{L}`. Marks are in `HEAD` and `BODY`, but are no letters.
const LETTER: u8 = 4;
/// `\p{N}`.
const NUMBER: u8 = 8;
/// `\s`.
const SPACE: u8 = 16;
/// `[\r\n]`, which are spaces too.
const NEWLINE: u8 = 32;
/// Only in [`ASCII`]: the byte belongs to a longer character.
const LONGER: u8 = 128;

/// Most text needs this table alone. By the first byte of a character.
const ASCII: [Class; 256] = {
    let mut table = [Class(LONGER); 256];
    let mut byte = 0;
    while byte < 128 {
        // Constant evaluation knows no `get_mut`; the bound is the loop's.
        #[allow(clippy::indexing_slicing)]
        let slot = &mut table[byte];
        *slot = Class(match byte as u8 {
            b'A'..=b'Z' => LETTER | HEAD,
            b'a'..=b'z' => LETTER | BODY,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => SPACE | NEWLINE,
            b' ' | b'\t' | 0x0b | 0x0c => SPACE,
            _ => 0,
        });
        byte += 1;
    }
    table
};

/// Written by `examples/make_classes.rs`: runs of characters, each a class and a length of seven
/// bits to a byte, the lowest first.
const RUNS: &[u8] = include_bytes!("../assets/classes.bin");

/// By code point. What is not written to, which is most of it, takes no memory.
static ALL: LazyLock<Vec<u8>> = LazyLock::new(|| unpack(RUNS));

fn unpack(runs: &[u8]) -> Vec<u8> {
    let mut classes = vec![0; char::MAX as usize + 1];
    let mut rest = classes.as_mut_slice();
    let mut bytes = runs.iter().copied();
    while let Some(class) = bytes.next() {
        let (mut length, mut shift) = (0, 0);
        for byte in bytes.by_ref() {
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let Some((run, after)) = rest.split_at_mut_checked(length) else { break };
        if class != 0 {
            run.fill(class);
        }
        rest = after;
    }
    classes
}

impl Class {
    /// The class of the character that begins with this byte, if the byte is all of it.
    #[inline]
    pub(crate) fn of_byte(byte: u8) -> Option<Self> {
        ASCII.get(usize::from(byte)).copied().filter(|class| !class.has(LONGER))
    }

    pub(crate) fn of(c: char) -> Self {
        Class(ALL.get(c as usize).copied().unwrap_or_default())
    }

    #[inline]
    fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    #[inline]
    pub(crate) fn is_head(self) -> bool {
        self.has(HEAD)
    }

    #[inline]
    pub(crate) fn is_body(self) -> bool {
        self.has(BODY)
    }

    /// `\p{M}`: an accent that stands by itself.
    #[inline]
    pub(crate) fn is_mark(self) -> bool {
        self.0 == HEAD | BODY
    }

    #[inline]
    pub(crate) fn is_number(self) -> bool {
        self.has(NUMBER)
    }

    #[inline]
    pub(crate) fn is_space(self) -> bool {
        self.has(SPACE)
    }

    #[inline]
    pub(crate) fn is_newline(self) -> bool {
        self.has(NEWLINE)
    }

    /// `[^\r\n\p{L}\p{N}]`: what a word may carry in front.
    #[inline]
    pub(crate) fn is_lead(self) -> bool {
        !self.has(LETTER | NUMBER | NEWLINE)
    }

    /// `[^\s\p{L}\p{N}]`: punctuation, symbols, and all else, marks among them.
    #[inline]
    pub(crate) fn is_sign(self) -> bool {
        !self.has(SPACE | LETTER | NUMBER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn both_tables_agree_on_ascii() {
        for byte in 0..128 {
            assert_eq!(Class::of_byte(byte), Some(Class::of(char::from(byte))), "{byte}");
        }
        assert_eq!((128..=255).find_map(Class::of_byte), None);
    }

    #[test]
    fn every_character_begins_some_piece() {
        for c in '\0'..=char::MAX {
            let class = Class::of(c);
            let kinds = [
                class.has(LETTER) && (class.is_head() || class.is_body()),
                class.is_number(),
                class.is_space(),
                class.is_sign(),
            ];
            assert_eq!(kinds.iter().filter(|kind| **kind).count(), 1, "{c:?}");
        }
    }

    /// Later versions of Unicode say more of characters that 16.0 has not, and have changed their
    /// mind on a few: the first are left out, the second allowed for.
    #[test]
    fn characters_are_in_the_classes_of_the_pattern() {
        let has = |pattern: &str| Regex::new(&format!("^{pattern}$")).unwrap();
        let known = has(r"[\p{Age=16.0}--\p{Cn}]");
        let classes = [
            (HEAD, has(r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]")),
            (BODY, has(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]")),
            (LETTER, has(r"\p{L}")),
            (NUMBER, has(r"\p{N}")),
            (SPACE, has(r"\s")),
            (NEWLINE, has(r"[\r\n]")),
        ];
        let text: String = ('\0'..=char::MAX).collect();
        let mut differing = 0;
        for (at, c) in text.char_indices() {
            let c_text = &text[at..at + c.len_utf8()];
            if known.is_match(c_text) {
                let agrees =
                    |(bit, class): &(u8, Regex)| class.is_match(c_text) == Class::of(c).has(*bit);
                differing += usize::from(!classes.iter().all(agrees));
            }
        }
        assert!(differing <= 20, "{differing} characters differ");
    }
}
