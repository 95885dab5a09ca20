//! What the index asks of the place that keeps it: segments and their blocks of bytes, written,
//! found and removed. One storage is one snapshot.

use oneiro_model::Result;

/// Hears about blocks one by one; an error ends the reading.
pub type EachBlock<'e> = &'e mut dyn FnMut(&[u8]) -> Result<()>;

/// The same for blocks of several segments: segment, part and block.
pub type EachFound<'e> = &'e mut dyn FnMut(i64, i64, &[u8]) -> Result<()>;

/// One segment: the index of a range of texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// Given by the storage, and never used twice.
    pub id: i64,
    /// The first number it covers.
    pub first: i64,
    /// The last number it covers.
    pub last: i64,
    /// Texts in it.
    pub texts: i64,
    /// Documents in it: a text has one to each chunk.
    pub docs: i64,
    /// Words in them.
    pub words: i64,
    /// Blocks of terms; counted by the storage as they are written.
    pub blocks: i64,
    /// The [`VERSION`](crate::VERSION) that made it.
    pub version: i64,
    /// The model of its vectors, if it has some.
    pub embedder: Option<String>,
}

/// A block of terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermBlock {
    /// The first term in it, in byte order.
    pub first_term: Vec<u8>,
    /// Which part of a list too long for one block.
    pub part: i64,
    /// Terms and their lists.
    pub data: Vec<u8>,
}

/// Blocks of one segment.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    /// Terms, in byte order.
    pub terms: Vec<TermBlock>,
    /// Documents, in order.
    pub docs: Vec<Vec<u8>>,
    /// Vectors, in the order of the documents.
    pub vectors: Vec<Vec<u8>>,
}

/// How many blocks of each sort a segment has: where the next ones go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Written {
    /// Blocks of terms.
    pub terms: i64,
    /// Blocks of documents.
    pub docs: i64,
    /// Blocks of vectors.
    pub vectors: i64,
}

/// Keeps segments.
pub trait Storage {
    /// Changes whenever segments stand for other texts than before: after a swap of builds, and
    /// after an erasure.
    fn state(&self) -> (i64, i64);

    /// The segments that answer, lowest numbers first.
    fn segments(&self) -> Result<Vec<Segment>>;

    /// Hands over the blocks of documents of a segment, in order.
    fn docs(&self, segment: i64, each: EachBlock<'_>) -> Result<()>;

    /// Hands over the blocks of vectors of a segment, in order.
    fn vectors(&self, segment: i64, each: EachBlock<'_>) -> Result<()>;

    /// Up to `limit` blocks of terms of a segment from block number `from` on, in order.
    fn terms(&self, segment: i64, from: i64, limit: usize) -> Result<Vec<TermBlock>>;

    /// Hands over, for each segment that answers, the block that holds `term` if any does; of a
    /// list in parts the last. With the block come its segment and which part it is.
    fn lookup(&self, term: &[u8], each: EachFound<'_>) -> Result<()>;

    /// Hands over the parts of a term's list before part `before`, newest first.
    fn parts(&self, of: (i64, &[u8]), before: i64, each: EachBlock<'_>) -> Result<()>;

    /// Hands over blocks of a segment whose first term lies strictly between two, up to a limit.
    fn between(&self, of: (i64, usize), range: (&[u8], &[u8]), each: EachBlock<'_>) -> Result<()>;

    /// Adds a segment without blocks under a new id, which is answered.
    fn insert(&self, segment: &Segment) -> Result<i64>;

    /// Adds blocks to a segment, after those written before.
    fn write(&self, segment: i64, blocks: &Blocks, after: Written) -> Result<Written>;

    /// Removes a segment with all its blocks.
    fn remove(&self, segment: i64) -> Result<()>;
}
