//! The model whose vectors a reader makes and a search compares.

/// A model of words inside this process: microseconds to a text, no network. Its vectors are never
/// stored exactly, because they can be made again at any time.
pub trait WordModel: Send + Sync {
    /// Names the model and its version: derived data is kept under it.
    fn id(&self) -> &str;
    /// Numbers to a vector.
    fn dims(&self) -> usize;
    /// The mean vector of ordinary texts.
    fn center(&self) -> &[f32];
    /// Writes the normalised vector of a text; false when it knows no word of it.
    fn embed(&self, text: &str, out: &mut [f32]) -> bool;
    /// The words nearest in meaning to a word, with their cosines, nearest first.
    fn nearest(&self, word: &str, count: usize) -> Vec<(&str, f32)>;
    /// How rare a word is in ordinary text: the negative logarithm of its share.
    fn rarity(&self, word: &str) -> f32;
}
