//! What the analyzer hands out. It owns the shape of a token; it must not know how one is found.

/// One thing that a text can be found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What is indexed: normalised, and stemmed where it is a word.
    pub term: &'a str,
    /// Normalised and not stemmed.
    pub norm: &'a str,
    /// Where it starts in the original text, in bytes.
    pub start: u32,
    /// Where it ends in the original text, in bytes.
    pub end: u32,
    /// The number of the word in the text. The parts of an identifier share that of the whole.
    pub position: u32,
    /// What kind of thing it is.
    pub kind: Kind,
    /// Whether it is a stop word of the language that the text seems to be in.
    pub stop: bool,
}

/// Kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A word or a number.
    Word,
    /// An identifier, path, version, address or date as a whole.
    Whole,
    /// A piece of a [`Kind::Whole`].
    Part,
    /// One character of a script that is written without spaces, or in syllable blocks.
    Cjk,
    /// Two such characters that stand together.
    CjkPair,
    /// One or two clusters of a script that is written without spaces between words.
    Gram,
    /// An emoji.
    Emoji,
}
