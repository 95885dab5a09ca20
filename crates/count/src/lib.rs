//! What a text costs a model, in tokens of o200k, the vocabulary of OpenAI's models since GPT-4o.
//! It owns the counting; it must not know what a message is or what is done with the number.

mod class;
mod merge;
mod pieces;
mod vocabulary;

use merge::Merge;
use vocabulary::Vocabulary;

/// How many tokens a text is: exactly what o200k makes of it as ordinary text, in which the names
/// of special tokens mean nothing. Only where more than 64 KiB stand without any break may it be a
/// few more: such a run is counted in parts.
///
/// The time grows with the length, whatever the text, and the memory does not. The first call
/// unpacks the vocabulary.
pub fn tokens(text: &str) -> usize {
    counts(text).sum()
}

/// Whether a text has more than `limit` tokens. It reads no more than it must, and nothing of a text
/// so long that it has more in any case.
pub fn exceeds(text: &str, limit: usize) -> bool {
    if text.len() <= limit {
        // No token is shorter than a byte.
        return false;
    }
    if text.len() > limit.saturating_mul(vocabulary::LONGEST) {
        return true;
    }
    let mut sum: usize = 0;
    counts(text).any(|count| {
        sum = sum.saturating_add(count);
        sum > limit
    })
}

/// Where a text is cut, a piece of more tokens than this is cut too: no word is as long.
const LONG_PIECE: usize = 16;

/// The beginning of a text, of at most `limit` tokens, to the end of a word where there is one near.
/// It reads no more than it must.
pub fn prefix(text: &str, limit: usize) -> &str {
    let most = text.floor_char_boundary(limit.saturating_mul(vocabulary::LONGEST));
    let text = text.get(..most).unwrap_or(text);
    let (mut end, mut left) = (0, limit);
    for (piece, count) in counted(text) {
        if count > left {
            let is_cut = end == 0 || count > LONG_PIECE;
            end += if is_cut { fitting(piece, left, Side::Start).len() } else { 0 };
            break;
        }
        end += piece.len();
        left -= count;
    }
    text.get(..end).unwrap_or_default()
}

/// The end of a text, of at most `limit` tokens, from the beginning of a word where there is one
/// near.
pub fn suffix(text: &str, limit: usize) -> &str {
    let least = text.len().saturating_sub(limit.saturating_mul(vocabulary::LONGEST));
    let text = text.get(text.ceil_char_boundary(least)..).unwrap_or(text);
    let mut over = tokens(text).saturating_sub(limit);
    let mut start = 0;
    for (piece, count) in counted(text) {
        if over == 0 {
            break;
        }
        start += piece.len();
        if count > over && (start == text.len() || count > LONG_PIECE) {
            start -= fitting(piece, count - over, Side::End).len();
        }
        over = over.saturating_sub(count);
    }
    text.get(start..).unwrap_or_default()
}

#[derive(Clone, Copy)]
enum Side {
    Start,
    End,
}

/// As much of one side of a piece as has at most `limit` tokens, or a little less.
fn fitting(piece: &str, limit: usize, side: Side) -> &str {
    let mut bytes = piece.len();
    loop {
        let part = match side {
            Side::Start => piece.get(..piece.floor_char_boundary(bytes)),
            Side::End => piece.get(piece.ceil_char_boundary(piece.len() - bytes)..),
        };
        let part = part.unwrap_or_default();
        let count = tokens(part);
        if count <= limit {
            return part;
        }
        bytes = (bytes * limit / count).min(bytes - 1);
    }
}

/// The tokens of each piece of a text.
fn counts(text: &str) -> impl Iterator<Item = usize> {
    counted(text).map(|(_, count)| count)
}

/// The pieces of a text, each with its tokens.
fn counted(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let vocabulary = Vocabulary::built_in();
    let mut merge = Merge::default();
    pieces::pieces(text).map(move |piece| match vocabulary.rank(piece.as_bytes()) {
        Some(_) => (piece, 1),
        None => (piece, merge.count(vocabulary, piece.as_bytes())),
    })
}
