//! Persistence: [`Store`] and [`Tx`] over SQLite and PostgreSQL.
//!
//! Each aggregate is a module of functions over `&Tx` with its SQL beside them, written once for both
//! engines; what differs between engines lives in `backend/`. Policy (when to compact, whom to trust,
//! what to show) belongs to the engine crate.

#[macro_use]
mod statements;

pub mod active_days;
mod aggregates;
mod backend;
mod backup_files;
pub mod backups;
pub mod capture;
pub mod changes;
pub mod claim_hash;
pub mod contexts;
mod copy;
pub mod costs;
mod damage;
pub mod digests;
pub mod distrusts;
pub mod dream_candidates;
pub mod dreams;
pub mod erased_messages;
mod group_commit;
pub mod identity;
pub mod interactions;
pub mod jobs;
pub mod learning;
pub mod lineage;
pub mod memories;
pub mod memory_texts;
pub mod message_rows;
pub mod messages;
pub mod mounts;
pub mod note_entries;
pub mod note_origins;
pub mod notes;
pub mod open_sessions;
pub mod operation_transfer;
pub mod operations;
mod options;
pub mod pack_outcomes;
pub mod packs;
pub mod payloads;
mod pool;
pub mod project_state;
pub mod projects;
pub mod revision_transfer;
pub mod revisions;
mod schema;
pub mod segments;
pub mod sequence;
pub mod served_lines;
pub mod session_groups;
mod session_ref;
pub mod session_updates;
pub mod sessions;
pub mod settings;
mod shared_sync;
pub mod signals;
pub mod slots;
pub mod spaces;
mod store;
pub mod summaries;
mod target;
pub mod titles;
pub mod tokens;
pub mod transcripts;
mod tx;
pub mod usage;
pub mod visibility;

pub use aggregates::{Table, all_statements, all_tables, each_text};
pub use backend::Engine;
pub use backend::fault::{Fault, FaultPlan};
pub use backend::foreign::{
    ColumnText, FileKind, ForeignColumn, ForeignFile, ForeignLocking, ForeignRow, ForeignRows,
    ForeignValue, kind_of_file,
};
pub use backend::raw_search::Finder;
pub use damage::{is_missing_table, is_unreadable};
pub use group_commit::CommitStats;
pub use options::{Durability, Options};
pub use schema::{CURRENT, Migration, SchemaSet};
pub use session_ref::SessionRef;
pub use store::{Progress, Scrubbed, Store};
pub use target::{Target, is_single_space};
pub use tx::Tx;
