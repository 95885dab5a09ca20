//! The text index: what is said, found by its words and its vectors. Immutable segments cover the
//! texts up to a number, the rest is read as it is. It owns terms, documents and vectors; it must
//! not know SQL, questions or ranking.

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
mod terms;
mod view;
mod word_model;

pub use bits::{Bits, cosine, distance, encode_bits, scan, signs};
pub use build::weight;
pub use codec::is_damaged;
pub use docs::{Doc, role, role_code};
pub use fold::{MERGE_FAN_IN, due_for_merge, make};
pub use inspect::inspect;
pub use kind::{Kind, Kinds};
pub use merge::{Merge, numbers, rewrite};
pub use read::{Reader, indexed, name_term};
pub use source::{Source, Sources, Text};
pub use storage::{Blocks, EachBlock, EachFound, Segment, Storage, TermBlock, Written};
pub use view::{Cache, Prefixed, TermLists, View};
pub use word_model::WordModel;

/// How the bytes of a segment are laid out. Raised when they change; since 1 documents have a kind.
const FORMAT: i64 = 1;

/// Versions of the analyzer to one format.
const ANALYZERS: i64 = 1_000;

/// What makes segments: format and analyzer. Segments of a lower version answer until they are
/// built anew.
pub const VERSION: i64 = FORMAT * ANALYZERS + oneiro_text::VERSION as i64;
