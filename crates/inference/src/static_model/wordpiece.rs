//! BERT's uncased WordPiece tokenizer, in one pass and without allocating.

use super::asset::{Asset, Hash, MAX_ENTRY_BYTES, PieceKind};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Longer words are unknown, as in BERT's tokenizer.
const MAX_WORD_CHARS: usize = 100;
/// The maximum length of this many characters in UTF-8.
const MAX_WORD_BYTES: usize = MAX_WORD_CHARS * 4;

/// Classes of ASCII bytes. The class of a letter or digit is its lower-case form.
const SEPARATOR: u8 = 0;
const IGNORED: u8 = 1;
const PUNCTUATION: u8 = 2;
const ASCII_CLASSES: [u8; 128] = classify_ascii();

const fn classify_ascii() -> [u8; 128] {
    let mut table = [IGNORED; 128];
    let mut byte = 0;
    #[allow(clippy::indexing_slicing)]
    while byte < 128 {
        let b = byte as u8;
        if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            table[byte] = SEPARATOR;
        } else if b.is_ascii_punctuation() {
            table[byte] = PUNCTUATION;
        } else if b.is_ascii_alphanumeric() {
            table[byte] = b.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
}

/// Calls `each` with the row of every piece of `text`. A word that is not covered by pieces has
/// none, because `[UNK]` has no row.
pub(super) fn for_each_row(asset: &Asset, text: &str, each: &mut impl FnMut(u16)) {
    let mut word = Word::new();
    let mut rest = text.as_bytes();
    let mut at = 0;
    while let Some((&byte, tail)) = rest.split_first() {
        let Some(&class) = ASCII_CLASSES.get(usize::from(byte)) else {
            let Some(c) = text.get(at..).and_then(|t| t.chars().next()) else { break };
            word.push_unicode(c, asset, each);
            at += c.len_utf8();
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        rest = tail;
        at += 1;
        match class {
            SEPARATOR => word.end(asset, each),
            IGNORED => {}
            PUNCTUATION => {
                word.end(asset, each);
                word.push_ascii(byte);
                word.end(asset, each);
            }
            letter => word.push_ascii(letter),
        }
    }
    word.end(asset, each);
}

/// The cache is cleared when it has this many words.
const MAX_CACHED_WORDS: usize = 32_768;

thread_local! {
    /// The pieces of words that are not in the vocabulary: names and terms are frequent, and
    /// splitting one takes longer than everything else.
    static PIECE_CACHE: RefCell<FxHashMap<Box<[u8]>, Vec<u16>>> = RefCell::default();
}

fn cached_pieces(asset: &Asset, word: &[u8], each: &mut impl FnMut(u16)) {
    PIECE_CACHE.with_borrow_mut(|cache| {
        if let Some(rows) = cache.get(word) {
            return rows.iter().for_each(|row| each(*row));
        }
        let mut found = Vec::new();
        split_word(asset, word, &mut |row| found.push(row));
        found.iter().for_each(|row| each(*row));
        if cache.len() >= MAX_CACHED_WORDS {
            cache.clear();
        }
        cache.insert(word.into(), found);
    });
}

/// The word being scanned.
struct Word {
    bytes: [u8; MAX_WORD_BYTES],
    length: usize,
    chars: usize,
    hash: Hash,
}

impl Word {
    fn new() -> Self {
        Word { bytes: [0; MAX_WORD_BYTES], length: 0, chars: 0, hash: Hash::new(PieceKind::Word) }
    }

    #[inline]
    fn push_ascii(&mut self, byte: u8) {
        self.chars += 1;
        self.push_byte(byte);
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        // A word that does not fit is too long and is dropped at its end.
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

    /// Normalises a character outside ASCII in BERT's order: drops control characters, splits at
    /// spaces and around Chinese characters, strips accents, lower-cases, splits around
    /// punctuation.
    #[cold]
    fn push_unicode(&mut self, c: char, asset: &Asset, each: &mut impl FnMut(u16)) {
        if c == char::REPLACEMENT_CHARACTER || is_control(c) {
            return;
        }
        if c.is_whitespace() {
            return self.end(asset, each);
        }
        let is_own_word = is_chinese(c);
        if is_own_word {
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
        if is_own_word {
            self.end(asset, each);
        }
    }

    #[inline]
    fn end(&mut self, asset: &Asset, each: &mut impl FnMut(u16)) {
        if self.chars == 0 {
            return;
        }
        if self.chars <= MAX_WORD_CHARS
            && let Some(bytes) = self.bytes.get(..self.length)
        {
            match asset.find(PieceKind::Word, bytes, self.hash) {
                Some(row) => each(row),
                None => cached_pieces(asset, bytes, each),
            }
        }
        self.length = 0;
        self.chars = 0;
        self.hash = Hash::new(PieceKind::Word);
    }
}

/// Splits a word greedily, longest piece first. A word has at most [`MAX_WORD_CHARS`] pieces.
fn split_word(asset: &Asset, word: &[u8], each: &mut impl FnMut(u16)) {
    let mut found = [0_u16; MAX_WORD_CHARS];
    let mut count = 0;
    let mut rest = word;
    let mut kind = PieceKind::Word;
    while !rest.is_empty() {
        let mut hashes = [Hash::new(kind); MAX_ENTRY_BYTES + 1];
        let mut hash = Hash::new(kind);
        for (place, byte) in hashes.iter_mut().skip(1).zip(rest) {
            hash = hash.push(*byte);
            *place = hash;
        }
        // A prefix that ends inside a character matches no entry, because entries are UTF-8.
        let longest = rest.len().min(MAX_ENTRY_BYTES);
        let piece = (1..=longest).rev().find_map(|length| {
            let hash = hashes.get(length)?;
            asset.find(kind, rest.get(..length)?, *hash).map(|row| (length, row))
        });
        let (Some((length, row)), Some(place)) = (piece, found.get_mut(count)) else { return };
        *place = row;
        count += 1;
        rest = rest.get(length..).unwrap_or_default();
        kind = PieceKind::Continuation;
    }
    for row in found.iter().take(count) {
        each(*row);
    }
}

/// Unassigned code points are kept: they make a word unknown.
fn is_control(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    matches!(c.general_category(), Control | Format | PrivateUse)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks that BERT calls Chinese: ideographs, but not kana and hangul.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
