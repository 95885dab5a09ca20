//! The units that a text is read into. It owns their shape; it must not know how they are read.

/// What a unit is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Letters alone.
    Word,
    /// Digits alone.
    Number,
    /// Letters and digits.
    Mixed,
    /// One character.
    Cjk,
    /// One cluster.
    Gram,
    /// One emoji.
    Emoji,
}

/// How a unit hangs together with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    /// Not at all.
    Open,
    /// Side by side, or by a hyphen, dot or underscore.
    Run,
    /// By what separates the components of a path or address.
    Component,
}

/// A range of the original with its range of normalised text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// In the original.
    pub start: u32,
    /// In the original.
    pub end: u32,
    /// In [`Scanner::norm`].
    pub norm: u32,
    /// In [`Scanner::norm`].
    pub norm_end: u32,
}

/// The smallest thing that a phrase is compared by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// Where it is.
    pub span: Span,
    /// The same with the signs that belong to it: `#12`, `@name`, `c++`, `[E0277]`.
    pub outer: Span,
    /// What it is made of.
    pub shape: Shape,
    /// What holds it to the unit before.
    pub joint: Joint,
    /// Whether its end was cut off.
    pub cut: bool,
    /// Its pieces in [`Scanner::humps`], none if there is but one.
    pub humps: (u32, u32),
    /// Room for the reader's note on the word.
    pub entry: u32,
}
