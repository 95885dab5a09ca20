//! Classes of characters in the pattern of o200k.
//!
//! The table is our own and not that of a Unicode crate, because counts must not change with new
//! versions of Unicode: it is the one that tiktoken uses.

use std::sync::LazyLock;

/// The classes of the pattern that contain a character, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class(u8);

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: the start of a word.
const HEAD: u8 = 1;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: the rest of a word.
const BODY: u8 = 2;
/// `\p{L}`. Marks are in `HEAD` and `BODY`, but are not letters.
const LETTER: u8 = 4;
/// `\p{N}`.
const NUMBER: u8 = 8;
/// `\s`.
const SPACE: u8 = 16;
/// `[\r
/// ]`, which are also in `SPACE`.
const NEWLINE: u8 = 32;
/// Only in [`BYTE_CLASSES`]: the byte is part of a longer character.
const MULTI_BYTE: u8 = 128;

/// By byte. Sufficient for ASCII text.
const BYTE_CLASSES: [Class; 256] = {
    let mut table = [Class(MULTI_BYTE); 256];
    let mut byte = 0;
    while byte < 128 {
        // Constant evaluation does not support `get_mut`.
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

/// Written by `examples/make_classes.rs`: runs of characters, each a class and a length as a
/// varint.
const CLASS_RUNS: &[u8] = include_bytes!("../assets/classes.bin");

/// By code point. Pages of zeros, which are most of it, take no memory.
static CLASSES: LazyLock<Vec<u8>> = LazyLock::new(|| unpack(CLASS_RUNS));

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
    /// The class of an ASCII character; `None` if the byte is part of a longer character.
    #[inline]
    pub(crate) fn of_byte(byte: u8) -> Option<Self> {
        BYTE_CLASSES.get(usize::from(byte)).copied().filter(|class| !class.has(MULTI_BYTE))
    }

    pub(crate) fn of(c: char) -> Self {
        Class(CLASSES.get(c as usize).copied().unwrap_or_default())
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

    /// `\p{M}`: a combining mark.
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

    /// `[^\r
    /// \p{L}\p{N}]`: may precede a word.
    #[inline]
    pub(crate) fn may_precede_word(self) -> bool {
        !self.has(LETTER | NUMBER | NEWLINE)
    }

    /// `[^\s\p{L}\p{N}]`: punctuation, symbols, marks and the rest.
    #[inline]
    pub(crate) fn is_symbol(self) -> bool {
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
    fn every_character_can_start_a_piece() {
        for c in '\0'..=char::MAX {
            let class = Class::of(c);
            let kinds = [
                class.has(LETTER) && (class.is_head() || class.is_body()),
                class.is_number(),
                class.is_space(),
                class.is_symbol(),
            ];
            assert_eq!(kinds.iter().filter(|kind| **kind).count(), 1, "{c:?}");
        }
    }

    /// Characters that Unicode 16.0 does not have are skipped, and a few whose class changed later
    /// may differ.
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
