//! The text index: an inverted index of terms, and vectors as sign bits. Immutable segments cover the
//! texts up to a number; later texts are indexed in memory when a search needs them. Storage, queries and
//! ranking belong to other crates.

mod bits;
mod build;
mod codec;
mod docs;
mod fold;
mod inspect;
mod kind;
mod merge;
mod read;
mod source;
mod storage;
mod term_lists;
mod terms;
mod view;
mod word_model;

pub use bits::{Bits, cosine, distance, encode_bits, scan, signs};
pub use build::weight;
pub use codec::is_damaged;
pub use docs::{Doc, role, role_code};
pub use fold::{MERGE_FAN_IN, build_segments, due_for_merge};
pub use inspect::inspect;
pub use kind::{Kind, Kinds};
pub use merge::{Merge, rewrite, text_numbers};
pub use read::{Reader, indexed, name_term};
pub use source::{Source, Sources, Text};
pub use storage::{
    Blocks, EachBlock, EachFound, ListParts, Segment, Storage, TermBlock, TermRange, Written,
};
pub use term_lists::TermLists;
pub use view::{Cache, Prefixed, Snapshot, View};
pub use word_model::WordModel;

/// The version of the segment format, raised when it changes. Since 1, documents have a kind.
const FORMAT: i64 = 1;

/// The number of analyzer versions per format version in [`VERSION`].
const ANALYZER_VERSIONS: i64 = 1_000;

/// The version of segments: format and analyzer. Segments of a lower version are searched until they
/// are rebuilt.
pub const VERSION: i64 = FORMAT * ANALYZER_VERSIONS + oneiro_text::VERSION as i64;
