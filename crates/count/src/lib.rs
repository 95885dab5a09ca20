//! Counts the tokens of texts in o200k, the vocabulary of OpenAI's models since GPT-4o.

mod class;
mod merge;
mod piece_cache;
mod pieces;
mod vocabulary;

use merge::Merge;
use vocabulary::Vocabulary;

/// The number of tokens of a text: exactly those of o200k for ordinary text, without special
/// tokens. A run of more than 64 KiB without any break is counted in parts, which may add a few
/// tokens.
///
/// The time is linear in the length and the memory constant. The first call unpacks the vocabulary.
pub fn tokens(text: &str) -> usize {
    counts(text).sum()
}

/// Whether a text has more than `limit` tokens. Stops counting at the limit.
pub fn exceeds(text: &str, limit: usize) -> bool {
    if text.len() <= limit {
        // A token has at least one byte.
        return false;
    }
    if text.len() > limit.saturating_mul(vocabulary::MAX_TOKEN_BYTES) {
        return true;
    }
    let mut sum: usize = 0;
    counts(text).any(|count| {
        sum = sum.saturating_add(count);
        sum > limit
    })
}

/// Longer pieces are not words and may be cut inside.
const LONG_PIECE_TOKENS: usize = 16;

/// The start of a text, up to `limit` tokens, preferably to the end of a word.
pub fn prefix(text: &str, limit: usize) -> &str {
    let end = text.floor_char_boundary(limit.saturating_mul(vocabulary::MAX_TOKEN_BYTES));
    let text = text.get(..end).unwrap_or(text);
    let (mut end, mut left) = (0, limit);
    for (piece, count) in pieces_with_counts(text) {
        if count > left {
            let is_cut = end == 0 || count > LONG_PIECE_TOKENS;
            end += if is_cut { truncate_piece(piece, left, Side::Start).len() } else { 0 };
            break;
        }
        end += piece.len();
        left -= count;
    }
    text.get(..end).unwrap_or_default()
}

/// The end of a text, up to `limit` tokens, preferably from the start of a word.
pub fn suffix(text: &str, limit: usize) -> &str {
    let start = text.len().saturating_sub(limit.saturating_mul(vocabulary::MAX_TOKEN_BYTES));
    let text = text.get(text.ceil_char_boundary(start)..).unwrap_or(text);
    let mut over = tokens(text).saturating_sub(limit);
    let mut start = 0;
    for (piece, count) in pieces_with_counts(text) {
        if over == 0 {
            break;
        }
        start += piece.len();
        if count > over && (start == text.len() || count > LONG_PIECE_TOKENS) {
            start -= truncate_piece(piece, count - over, Side::End).len();
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

/// One side of a piece with at most `limit` tokens.
fn truncate_piece(piece: &str, limit: usize, side: Side) -> &str {
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

fn counts(text: &str) -> impl Iterator<Item = usize> {
    pieces_with_counts(text).map(|(_, count)| count)
}

/// The pieces of a text with their numbers of tokens.
fn pieces_with_counts(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let vocabulary = Vocabulary::built_in();
    let mut merge = Merge::default();
    pieces::pieces(text).map(move |piece| match vocabulary.rank(piece.as_bytes()) {
        Some(_) => (piece, 1),
        None => {
            let merged = || merge.count(vocabulary, piece.as_bytes());
            (piece, piece_cache::cached(piece.as_bytes(), merged))
        }
    })
}
