//! Export and import of sessions as JSONL, one session per line with all its messages, and import from
//! the database of hermes.

mod export;
mod hermes;
mod import;
mod lines;
mod spool;

pub(crate) use hermes::name_foreign;
pub use hermes::{
    ForeignStore, HermesCounts, HermesDifference, HermesImported, NotKept, foreign_store,
};
pub use import::ImportLimits;
pub use spool::ImportFile;

/// The progress of an export or import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransferProgress {
    /// Sessions done.
    pub sessions: u64,
    /// Messages done.
    pub messages: u64,
    /// Bytes read or written.
    pub bytes: u64,
}
