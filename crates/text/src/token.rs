//! The tokens that the analyzer returns.

/// A term of a text, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Normalised, and stemmed if it is a word.
    pub term: &'a str,
    /// Normalised and not stemmed.
    pub norm: &'a str,
    /// The start in the original text, in bytes.
    pub start: u32,
    /// The end in the original text, in bytes.
    pub end: u32,
    /// The number of the word in the text. The parts of an identifier have the position of the
    /// whole.
    pub position: u32,
    /// What kind of thing it is.
    pub kind: Kind,
    /// Whether it is a stop word in the detected language of the text.
    pub stop: bool,
}

/// Kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A word or a number.
    Word,
    /// An identifier, path, version, URL or date as a whole.
    Whole,
    /// A part of a [`Kind::Whole`].
    Part,
    /// One character of a script without spaces or with syllable blocks.
    Cjk,
    /// Two adjacent characters of such a script.
    CjkPair,
    /// One or two clusters of a script without spaces between words.
    Gram,
    /// An emoji.
    Emoji,
}
