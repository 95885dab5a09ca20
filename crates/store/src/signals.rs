//! Signals about memories: one row per memory, kind, query and day.

use crate::aggregates::Table;
use crate::{Tx, memories};
use oneiro_model::{MemoryId, Result, Signal, SignalCount, SignalKind, Timestamp};
use std::collections::BTreeSet;

statements! {
    ADD = "INSERT INTO signals (memory_key, kind, query_hash, date, query, at, relevance) \
           SELECT m.key, CAST(?2 AS TEXT), CAST(?3 AS TEXT), CAST(?4 AS TEXT), CAST(?5 AS TEXT), \
           CAST(?6 AS BIGINT), CAST(?7 AS BIGINT) FROM memories m WHERE m.id = ?1 \
           ON CONFLICT (memory_key, kind, query_hash, date) DO NOTHING";
    COUNTS = "SELECT s.kind, COUNT(*) FROM signals s JOIN memories m ON m.key = s.memory_key \
              WHERE m.id = ?1 GROUP BY s.kind ORDER BY s.kind";
    OF_MEMORY = "SELECT s.kind, s.query, s.date, s.at, s.relevance FROM signals s \
                 JOIN memories m ON m.key = s.memory_key WHERE m.id = ?1 \
                 ORDER BY s.at, s.kind, s.query_hash, s.date";
    // An older signal of another store does not make the last use earlier.
    COUNT_IMPORTED = "UPDATE memories SET reference_count = reference_count + 1, \
                      last_referenced_at = CASE \
                          WHEN last_referenced_at > CAST(?2 AS BIGINT) THEN last_referenced_at \
                          ELSE CAST(?2 AS BIGINT) END \
                      WHERE id = ?1";
    TEXTS = "SELECT query FROM signals WHERE query IS NOT NULL";
    QUERIES = "SELECT DISTINCT query_hash FROM signals";
    REMOVE_OF_QUERY = "DELETE FROM signals WHERE query_hash = ?1";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "signals",
    columns: "memory_key, kind, query_hash, date, query, at, relevance",
}];

/// Relevances are stored in steps of a ten-thousandth.
pub(crate) const RELEVANCE_STEPS: f64 = 10_000.0;

/// Adds a signal; false if it is known. `query_hash` stands for the query, which may be absent.
pub fn add(tx: &Tx<'_>, signal: &Signal, query_hash: &str) -> Result<bool> {
    let is_new = insert(tx, signal, query_hash)?;
    if is_new && signal.kind == SignalKind::Used {
        memories::count_reference(tx, &signal.memory_id, signal.at)?;
    }
    Ok(is_new)
}

/// Adds a signal of another store; false if it is known.
pub fn add_imported(tx: &Tx<'_>, signal: &Signal, query_hash: &str) -> Result<bool> {
    let is_new = insert(tx, signal, query_hash)?;
    if is_new && signal.kind == SignalKind::Used {
        let values = [signal.memory_id.as_str().into(), signal.at.micros().into()];
        tx.execute(COUNT_IMPORTED, &values)?;
    }
    Ok(is_new)
}

fn insert(tx: &Tx<'_>, signal: &Signal, query_hash: &str) -> Result<bool> {
    let values = [
        signal.memory_id.as_str().into(),
        signal.kind.as_str().into(),
        query_hash.into(),
        signal.date.as_str().into(),
        signal.query.as_deref().into(),
        signal.at.micros().into(),
        signal.relevance.map(|it| (it.clamp(0.0, 1.0) * RELEVANCE_STEPS).round() as i64).into(),
    ];
    Ok(tx.execute(ADD, &values)? > 0)
}

/// The signals of a memory, oldest first.
pub fn of_memory(tx: &Tx<'_>, id: &MemoryId) -> Result<Vec<Signal>> {
    tx.all(OF_MEMORY, &[id.as_str().into()], |row| {
        Ok(Signal {
            memory_id: id.clone(),
            kind: SignalKind::parse(row.text(0)?)?,
            query: row.opt_string(1)?,
            date: row.text(2)?.to_owned(),
            at: Timestamp::from_micros(row.int(3)?),
            relevance: row.opt_int(4)?.map(|steps| steps as f64 / RELEVANCE_STEPS),
        })
    })
}

/// How many signals of each kind a memory has.
pub fn counts(tx: &Tx<'_>, id: &MemoryId) -> Result<Vec<SignalCount>> {
    tx.all(COUNTS, &[id.as_str().into()], |row| {
        Ok(SignalCount { kind: SignalKind::parse(row.text(0)?)?, count: row.int(1)? })
    })
}

/// Removes the signals of queries that are erased, by the hashes that stand for them.
pub fn remove_of_queries(tx: &Tx<'_>, hashes: &BTreeSet<String>) -> Result<()> {
    if hashes.is_empty() {
        return Ok(());
    }
    let known = tx.all(QUERIES, &[], |row| row.text(0).map(str::to_owned))?;
    for hash in known.iter().filter(|hash| hashes.contains(*hash)) {
        tx.execute(REMOVE_OF_QUERY, &[hash.into()])?;
    }
    Ok(())
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(TEXTS, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}
