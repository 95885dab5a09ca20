//! The storage interface of the index: segments and their blocks. One storage is one snapshot.

use oneiro_model::Result;

/// Called with each block; an error ends the iteration.
pub type EachBlock<'e> = &'e mut dyn FnMut(&[u8]) -> Result<()>;

/// Called with each block of several segments: segment, part and block.
pub type EachFound<'e> = &'e mut dyn FnMut(i64, i64, &[u8]) -> Result<()>;

/// One segment: the index of a range of texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// Assigned by the storage, never reused.
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

/// Parts of the posting list of a term, for a list too long for one block.
#[derive(Debug, Clone, Copy)]
pub struct ListParts<'a> {
    /// The segment.
    pub segment: i64,
    /// The term.
    pub term: &'a [u8],
    /// Only parts with a lower number.
    pub before: i64,
}

/// A range of terms of a segment, without its ends.
#[derive(Debug, Clone, Copy)]
pub struct TermRange<'a> {
    /// The segment.
    pub segment: i64,
    /// The lower end.
    pub after: &'a [u8],
    /// The upper end.
    pub before: &'a [u8],
    /// The maximum number of blocks.
    pub limit: usize,
}

/// Stores segments.
pub trait Storage {
    /// Changes when segments are replaced by those of another build, and after an erasure.
    fn state(&self) -> (i64, i64);

    /// The live segments, lowest numbers first.
    fn segments(&self) -> Result<Vec<Segment>>;

    /// Calls `each` with the blocks of documents of a segment, in order.
    fn docs(&self, segment: i64, each: EachBlock<'_>) -> Result<()>;

    /// Calls `each` with the blocks of vectors of a segment, in order.
    fn vectors(&self, segment: i64, each: EachBlock<'_>) -> Result<()>;

    /// Up to `limit` blocks of terms of a segment from block number `from` on, in order.
    fn terms(&self, segment: i64, from: i64, limit: usize) -> Result<Vec<TermBlock>>;

    /// Calls `each` with the block of each live segment that may contain `term`; for a list in parts,
    /// with the last part.
    fn lookup(&self, term: &[u8], each: EachFound<'_>) -> Result<()>;

    /// Calls `each` with parts of a term's list, newest first.
    fn parts(&self, list: ListParts<'_>, each: EachBlock<'_>) -> Result<()>;

    /// Calls `each` with the blocks of a segment whose first term is in a range.
    fn between(&self, range: TermRange<'_>, each: EachBlock<'_>) -> Result<()>;

    /// Adds a segment without blocks and returns its new id.
    fn insert(&self, segment: &Segment) -> Result<i64>;

    /// Adds blocks to a segment, after those written before.
    fn write(&self, segment: i64, blocks: &Blocks, after: Written) -> Result<Written>;

    /// Removes a segment with all its blocks.
    fn remove(&self, segment: i64) -> Result<()>;
}
