//! Export and import as JSONL: one session per line with all its messages, then one line for each
//! project, fact, distrusted source, memory, operation and signal. Import from the database of hermes.

mod export;
mod export_records;
mod hermes;
mod import;
mod import_checks;
mod import_records;
mod import_revisions;
mod import_successors;
mod lines;
mod message_ids;
mod records;
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
    /// Lines done that are not sessions.
    pub records: u64,
    /// Bytes read or written.
    pub bytes: u64,
}
