//! The registry of aggregates: which module owns which tables and statements, and which of its values
//! people wrote. Copies, the search after an erasure and the list of statements all come from it.

use crate::{
    Tx, amends, backups, capture, changes, contexts, costs, digests, groups, jobs, lineage,
    messages, payloads, said, segments, sequence, sessions, settings, shown, slots, summaries,
    titles, tokens, transcripts, usage,
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

/// Hands over every value of an aggregate that people wrote, as it is stored.
type EachText = fn(&Tx<'_>, &mut dyn FnMut(&[u8])) -> Result<()>;

struct Aggregate {
    name: &'static str,
    statements: &'static [(&'static str, &'static str)],
    tables: &'static [Table],
    texts: Option<EachText>,
}

/// Every aggregate, in an order in which references come after what they refer to.
const AGGREGATES: &[Aggregate] = &[
    Aggregate {
        name: "settings",
        statements: settings::STATEMENTS,
        tables: settings::TABLES,
        texts: None,
    },
    Aggregate {
        name: "payloads",
        statements: payloads::STATEMENTS,
        tables: payloads::TABLES,
        texts: Some(payloads::each_text),
    },
    Aggregate {
        name: "sessions",
        statements: sessions::STATEMENTS,
        tables: sessions::TABLES,
        texts: Some(sessions::each_text),
    },
    Aggregate {
        name: "messages",
        statements: messages::STATEMENTS,
        tables: messages::TABLES,
        texts: Some(messages::each_text),
    },
    Aggregate { name: "usage", statements: usage::STATEMENTS, tables: usage::TABLES, texts: None },
    Aggregate { name: "jobs", statements: jobs::STATEMENTS, tables: jobs::TABLES, texts: None },
    Aggregate {
        name: "backups",
        statements: backups::STATEMENTS,
        tables: backups::TABLES,
        texts: None,
    },
    Aggregate {
        name: "segments",
        statements: segments::STATEMENTS,
        tables: segments::TABLES,
        texts: None,
    },
    Aggregate {
        name: "tokens",
        statements: tokens::STATEMENTS,
        tables: tokens::TABLES,
        texts: None,
    },
    Aggregate {
        name: "changes",
        statements: changes::STATEMENTS,
        tables: changes::TABLES,
        texts: None,
    },
    Aggregate {
        name: "transcripts",
        statements: transcripts::STATEMENTS,
        tables: transcripts::TABLES,
        texts: None,
    },
    Aggregate {
        name: "capture",
        statements: capture::STATEMENTS,
        tables: capture::TABLES,
        texts: Some(capture::each_text),
    },
    Aggregate {
        name: "summaries",
        statements: summaries::STATEMENTS,
        tables: summaries::TABLES,
        texts: Some(summaries::each_text),
    },
    Aggregate {
        name: "contexts",
        statements: contexts::STATEMENTS,
        tables: contexts::TABLES,
        texts: None,
    },
    Aggregate { name: "costs", statements: costs::STATEMENTS, tables: costs::TABLES, texts: None },
    Aggregate {
        name: "digests",
        statements: digests::STATEMENTS,
        tables: digests::TABLES,
        texts: Some(digests::each_text),
    },
    Aggregate {
        name: "slots",
        statements: slots::STATEMENTS,
        tables: slots::TABLES,
        texts: Some(slots::each_text),
    },
    Aggregate { name: "amends", statements: amends::STATEMENTS, tables: &[], texts: None },
    Aggregate { name: "groups", statements: groups::STATEMENTS, tables: &[], texts: None },
    Aggregate { name: "lineage", statements: lineage::STATEMENTS, tables: &[], texts: None },
    Aggregate { name: "said", statements: said::STATEMENTS, tables: &[], texts: None },
    Aggregate { name: "sequence", statements: sequence::STATEMENTS, tables: &[], texts: None },
    Aggregate { name: "shown", statements: shown::STATEMENTS, tables: &[], texts: None },
    Aggregate { name: "titles", statements: titles::STATEMENTS, tables: &[], texts: None },
];

/// Every table, in an order in which references come after what they refer to.
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

/// Hands over every stored value that people wrote.
pub fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    let texts = AGGREGATES.iter().filter_map(|aggregate| aggregate.texts);
    texts.into_iter().try_for_each(|texts| texts(tx, each))
}
