//! Text into rows of the model: BERT's uncased WordPiece, in one pass and without allocating. It
//! owns what a word is; it must not know what the rows hold.

use rustc_hash::FxHashMap;
use std::cell::RefCell;

use super::asset::{Asset, Hash, Kind, LONGEST};
use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Longer words, in characters, are unknown, as the teacher's tokenizer has it.
const MAX_CHARS: usize = 100;
/// Room for the bytes of [`MAX_CHARS`] characters.
const MAX_BYTES: usize = MAX_CHARS * 4;

/// What an ASCII byte is to the scanner: 0 ends a word, 1 is left out, 2 is a word of its own,
/// anything else belongs to a word, in this lower-case form.
const ENDS: u8 = 0;
const SKIPPED: u8 = 1;
const ALONE: u8 = 2;
const ASCII: [u8; 128] = ascii();

const fn ascii() -> [u8; 128] {
    let mut table = [SKIPPED; 128];
    let mut byte = 0;
    #[allow(clippy::indexing_slicing)]
    while byte < 128 {
        let b = byte as u8;
        if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            table[byte] = ENDS;
        } else if b.is_ascii_punctuation() {
            table[byte] = ALONE;
        } else if b.is_ascii_alphanumeric() {
            table[byte] = b.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
}

/// Calls `each` with the row of every piece of `text`. Words with a part no piece covers yield
/// nothing, as `[UNK]` has no row.
pub(super) fn rows(asset: &Asset, text: &str, each: &mut impl FnMut(u16)) {
    let mut word = Word::new();
    let mut rest = text.as_bytes();
    let mut at = 0;
    while let Some((&byte, tail)) = rest.split_first() {
        let Some(&class) = ASCII.get(usize::from(byte)) else {
            let Some(c) = text.get(at..).and_then(|t| t.chars().next()) else { break };
            word.other(c, asset, each);
            at += c.len_utf8();
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        rest = tail;
        at += 1;
        match class {
            ENDS => word.end(asset, each),
            SKIPPED => {}
            ALONE => {
                word.end(asset, each);
                word.push_ascii(byte);
                word.end(asset, each);
            }
            letter => word.push_ascii(letter),
        }
    }
    word.end(asset, each);
}

/// Words whose pieces are remembered.
const REMEMBERED: usize = 32_768;

thread_local! {
    /// The pieces of words that are in no table: names and terms come again and again, and to
    /// split one takes longer than all else that is done with it.
    static PIECES: RefCell<FxHashMap<Box<[u8]>, Vec<u16>>> = RefCell::default();
}

fn remembered_pieces(asset: &Asset, word: &[u8], each: &mut impl FnMut(u16)) {
    PIECES.with_borrow_mut(|known| {
        if let Some(pieces) = known.get(word) {
            return pieces.iter().for_each(|row| each(*row));
        }
        let mut found = Vec::new();
        pieces(asset, word, &mut |row| found.push(row));
        found.iter().for_each(|row| each(*row));
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(word.into(), found);
    });
}

/// The word being read.
struct Word {
    bytes: [u8; MAX_BYTES],
    length: usize,
    chars: usize,
    hash: Hash,
}

impl Word {
    fn new() -> Self {
        Word { bytes: [0; MAX_BYTES], length: 0, chars: 0, hash: Hash::new(Kind::Word) }
    }

    #[inline]
    fn push_ascii(&mut self, byte: u8) {
        self.chars += 1;
        self.push_byte(byte);
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        // Beyond the room the word is over-long and will be dropped at its end.
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
            self.hash = self.hash.push(byte);
        }
    }

    fn push(&mut self, c: char) {
        self.chars += 1;
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            self.push_byte(byte);
        }
    }

    /// A character outside ASCII, in BERT's order: control characters out, spaces, Chinese
    /// characters on their own, accents off, lower case, punctuation on its own.
    #[cold]
    fn other(&mut self, c: char, asset: &Asset, each: &mut impl FnMut(u16)) {
        if c == char::REPLACEMENT_CHARACTER || is_control(c) {
            return;
        }
        if c.is_whitespace() {
            return self.end(asset, each);
        }
        let alone = is_chinese(c);
        if alone {
            self.end(asset, each);
        }
        decompose_canonical(c, |part| {
            if is_combining_mark(part) && part.general_category() == GeneralCategory::NonspacingMark
            {
                return;
            }
            for lower in part.to_lowercase() {
                if is_punctuation(lower) {
                    self.end(asset, each);
                    self.push(lower);
                    self.end(asset, each);
                } else {
                    self.push(lower);
                }
            }
        });
        if alone {
            self.end(asset, each);
        }
    }

    #[inline]
    fn end(&mut self, asset: &Asset, each: &mut impl FnMut(u16)) {
        if self.chars == 0 {
            return;
        }
        if self.chars <= MAX_CHARS
            && let Some(bytes) = self.bytes.get(..self.length)
        {
            match asset.find(Kind::Word, bytes, self.hash) {
                Some(row) => each(row),
                None => remembered_pieces(asset, bytes, each),
            }
        }
        self.length = 0;
        self.chars = 0;
        self.hash = Hash::new(Kind::Word);
    }
}

/// The longest piece first, again and again. A word has at most [`MAX_CHARS`] pieces.
fn pieces(asset: &Asset, word: &[u8], each: &mut impl FnMut(u16)) {
    let mut found = [0_u16; MAX_CHARS];
    let mut count = 0;
    let mut rest = word;
    let mut kind = Kind::Word;
    while !rest.is_empty() {
        let mut hashes = [Hash::new(kind); LONGEST + 1];
        let mut hash = Hash::new(kind);
        for (place, byte) in hashes.iter_mut().skip(1).zip(rest) {
            hash = hash.push(*byte);
            *place = hash;
        }
        // A length that cuts a character in two matches no entry, for entries are UTF-8.
        let longest = rest.len().min(LONGEST);
        let piece = (1..=longest).rev().find_map(|length| {
            let hash = hashes.get(length)?;
            asset.find(kind, rest.get(..length)?, *hash).map(|row| (length, row))
        });
        let (Some((length, row)), Some(place)) = (piece, found.get_mut(count)) else { return };
        *place = row;
        count += 1;
        rest = rest.get(length..).unwrap_or_default();
        kind = Kind::Continuation;
    }
    for row in found.iter().take(count) {
        each(*row);
    }
}

/// What is not text. Code points without a meaning yet are kept: they make a word unknown.
fn is_control(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    matches!(c.general_category(), Control | Format | PrivateUse)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks BERT calls Chinese: ideographs, neither kana nor hangul.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
