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

/// The tokens of each piece of a text.
fn counts(text: &str) -> impl Iterator<Item = usize> {
    let vocabulary = Vocabulary::built_in();
    let mut merge = Merge::default();
    pieces::pieces(text).map(move |piece| match vocabulary.rank(piece.as_bytes()) {
        Some(_) => 1,
        None => merge.count(vocabulary, piece.as_bytes()),
    })
}
