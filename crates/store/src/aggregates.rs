//! The registry of aggregates: the statements, tables and texts of each module. Copies, the search after
//! an erasure and the test that prepares every statement use it.

use crate::{
    Tx, active_days, backups, capture, changes, contexts, costs, digests, distrusts,
    dream_candidates, dreams, erased_messages, identity, interactions, jobs, learning, lineage,
    memories, memory_texts, message_rows, messages, mounts, note_entries, note_origins, notes,
    open_sessions, operation_transfer, operations, pack_outcomes, packs, payloads, project_state,
    projects, revision_transfer, revisions, segments, sequence, served_lines, session_groups,
    session_updates, sessions, settings, signals, slots, summaries, titles, tokens, transcripts,
    usage, visibility,
};
use oneiro_model::Result;

/// A table and all its columns.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, separated by commas.
    pub columns: &'static str,
}

/// Calls a closure with every stored value of an aggregate that people wrote.
type EachText = fn(&Tx<'_>, &mut dyn FnMut(&[u8])) -> Result<()>;

struct Aggregate {
    name: &'static str,
    statements: &'static [(&'static str, &'static str)],
    tables: &'static [Table],
    each_text: Option<EachText>,
}

/// An aggregate by its module, and what it has besides statements.
macro_rules! aggregate {
    ($module:ident) => {
        aggregate!($module, &[], None)
    };
    ($module:ident with tables) => {
        aggregate!($module, $module::TABLES, None)
    };
    ($module:ident with tables and texts) => {
        aggregate!($module, $module::TABLES, Some($module::each_text))
    };
    ($module:ident, $tables:expr, $each_text:expr) => {
        Aggregate {
            name: stringify!($module),
            statements: $module::STATEMENTS,
            tables: $tables,
            each_text: $each_text,
        }
    };
}

/// Every aggregate. Tables come after the tables they refer to.
const AGGREGATES: &[Aggregate] = &[
    aggregate!(settings with tables),
    aggregate!(payloads with tables and texts),
    aggregate!(sessions with tables and texts),
    aggregate!(messages with tables and texts),
    aggregate!(usage with tables),
    aggregate!(jobs with tables),
    aggregate!(backups with tables),
    aggregate!(segments with tables),
    aggregate!(tokens with tables),
    aggregate!(changes with tables),
    aggregate!(transcripts with tables),
    aggregate!(erased_messages with tables),
    aggregate!(capture with tables and texts),
    aggregate!(summaries with tables and texts),
    aggregate!(contexts with tables),
    aggregate!(costs with tables),
    aggregate!(digests with tables and texts),
    aggregate!(slots with tables and texts),
    aggregate!(identity with tables),
    aggregate!(memories with tables and texts),
    aggregate!(memory_texts),
    aggregate!(active_days with tables),
    aggregate!(learning with tables),
    aggregate!(interactions with tables and texts),
    aggregate!(signals with tables and texts),
    aggregate!(operations with tables and texts),
    aggregate!(projects with tables and texts),
    aggregate!(project_state with tables and texts),
    aggregate!(distrusts with tables),
    aggregate!(notes with tables and texts),
    aggregate!(note_entries with tables and texts),
    aggregate!(note_origins with tables),
    aggregate!(revisions with tables and texts),
    aggregate!(revision_transfer),
    aggregate!(dreams with tables and texts),
    aggregate!(dream_candidates with tables and texts),
    aggregate!(mounts with tables),
    aggregate!(packs with tables and texts),
    aggregate!(pack_outcomes with tables),
    aggregate!(served_lines with tables),
    aggregate!(lineage),
    aggregate!(message_rows),
    aggregate!(open_sessions),
    aggregate!(operation_transfer),
    aggregate!(sequence),
    aggregate!(session_groups),
    aggregate!(session_updates),
    aggregate!(titles),
    aggregate!(visibility),
];

/// Every table, after the tables it refers to.
pub fn all_tables() -> impl Iterator<Item = &'static Table> + Clone {
    AGGREGATES.iter().flat_map(|aggregate| aggregate.tables)
}

/// Every statement of the store: module, name, SQL.
pub fn all_statements() -> Vec<(&'static str, &'static str, &'static str)> {
    let of = |aggregate: &'static Aggregate| {
        aggregate.statements.iter().map(|(name, sql)| (aggregate.name, *name, *sql))
    };
    AGGREGATES.iter().flat_map(of).collect()
}

/// Calls `each` with every stored value that people wrote.
pub fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    AGGREGATES
        .iter()
        .filter_map(|aggregate| aggregate.each_text)
        .try_for_each(|each_text| each_text(tx, each))
}
