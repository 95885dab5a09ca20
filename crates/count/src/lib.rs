//! What a text costs a model, in tokens of o200k, the vocabulary of OpenAI's models since GPT-4o.
//! It owns the counting; it must not know what a message is or what is done with the number.

mod class;
mod merge;
mod pieces;
mod vocabulary;

use merge::Merge;
use vocabulary::Vocabulary;

/// How many tokens a text is: exactly what o200k makes of it as ordinary text, in which the names
/// of special tokens mean nothing.
///
/// The time grows with the length, whatever the text. The first call unpacks the vocabulary.
pub fn tokens(text: &str) -> usize {
    let vocabulary = Vocabulary::built_in();
    let mut merge = Merge::default();
    pieces::pieces(text)
        .map(|piece| match vocabulary.rank(piece.as_bytes()) {
            Some(_) => 1,
            None => merge.count(vocabulary, piece.as_bytes()),
        })
        .sum()
}
