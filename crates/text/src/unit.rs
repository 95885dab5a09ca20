//! The units that a text is scanned into.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Word,
    Number,
    Mixed,
    Cjk,
    Gram,
    Emoji,
}

/// The connection of a unit to the preceding one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Not at all.
    None,
    /// Adjacent, or joined by a hyphen, dot or underscore.
    Run,
    /// Joined by a separator of paths or URLs.
    Component,
}

/// A range of the original text and of the normalised text.
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

/// The smallest unit that phrases compare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub span: Span,
    /// With the signs that belong to it: `#12`, `@name`, `c++`, `[E0277]`.
    pub outer: Span,
    pub shape: Shape,
    pub link: Link,
    /// Whether it was cut at the maximum length.
    pub cut: bool,
    /// Its range in [`Scanner::subwords`]; empty if it has only one.
    pub subwords: (u32, u32),
    /// The id of the word in the cache.
    pub entry: u32,
}
