//! Persistence: [`Store`] and [`Tx`] over SQLite and PostgreSQL. Aggregates are modules of
//! functions over `&Tx` with their SQL beside them, written once for both engines; what differs
//! lives in `backend/`. It must not know policy: when to compact, whom to trust, what to show.

#[macro_use]
mod statements;

mod aggregates;
pub mod amends;
mod backend;
mod backup_files;
pub mod backups;
pub mod changes;
pub mod contexts;
mod copy;
pub mod costs;
mod damage;
pub mod digests;
mod durable;
mod group;
pub mod groups;
pub mod jobs;
pub mod lineage;
pub mod messages;
mod options;
pub mod payloads;
mod pool;
mod queued_write;
pub mod said;
mod schema;
pub mod segments;
pub mod sequence;
pub mod sessions;
pub mod settings;
pub mod shown;
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

pub use aggregates::{Table, all_statements, all_tables, each_text};
pub use backend::Engine;
pub use backend::fault::{Fault, FaultPlan};
pub use backend::foreign::{
    FileKind, ForeignColumn, ForeignFile, ForeignRow, ForeignRows, ForeignValue, kind_of_file,
};
pub use backend::raw_search::Finder;
pub use damage::{is_missing_table, is_unreadable};
pub use group::WriteFigures;
pub use options::{Durability, Options};
pub use schema::{CURRENT, Migration, SchemaSet};
pub use store::{Progress, Scrubbed, Store};
pub use target::{Target, is_single_space};
pub use tx::Tx;
