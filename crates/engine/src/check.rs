//! Check a space: what the engine finds, and whether counters match rows.

use crate::{Oneiro, index};
use oneiro_model::{Result, SessionId};
use oneiro_store::{is_missing_table, sequence, sessions};
use serde::Serialize;

/// What a check found.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What the engine finds wrong with its files.
    pub integrity: Vec<String>,
    /// Signs that newer writes were lost: parts of the store that are older than others.
    pub lost_writes: Vec<String>,
    /// Sessions whose counters do not match their rows.
    pub miscounted: Vec<SessionId>,
    /// What is wrong with the contexts of sessions, which can be made anew of messages and roots.
    pub contexts: Vec<String>,
    /// What is wrong with the text index, which can be built anew from the rows.
    pub index: Vec<String>,
}

impl Oneiro {
    /// Counts the messages of sessions anew; answers how many sessions there were.
    pub fn recount_sessions(&self, ids: &[SessionId]) -> Result<usize> {
        let ids = ids.to_vec();
        self.store.write(move |tx| {
            for id in &ids {
                sessions::recount(tx, crate::sessions::key_of(tx, id)?)?;
            }
            Ok(ids.len())
        })
    }

    /// Raises the counters of a space that lost writes above every number in use, so that none is
    /// given twice. What was lost is not brought back.
    pub fn raise_counters(&self) -> Result<()> {
        self.store.write(sequence::raise_counters)
    }

    /// Checks the space and changes nothing.
    pub fn check(&self) -> Result<Checked> {
        let integrity = self.store.integrity()?;
        // Rows of damaged files cannot be counted on.
        let miscounted = match integrity.is_empty() {
            true => self.store.read(sessions::miscounted)?,
            false => Vec::new(),
        };
        let lost_writes = match integrity.is_empty() {
            true => match self.store.read(sequence::unissued_in_use) {
                Ok(signs) => signs,
                // A table of the index is gone, which is told below.
                Err(error) if is_missing_table(&error) => Vec::new(),
                Err(error) => return Err(error),
            },
            false => Vec::new(),
        };
        let index = match integrity.is_empty() {
            true => match self.store.read(index::inspect) {
                Ok(problems) => problems,
                // A table of it is gone: the rest of the store is sound.
                Err(error) if is_missing_table(&error) => vec![error.to_string()],
                Err(error) => return Err(error),
            },
            false => Vec::new(),
        };
        let contexts = match integrity.is_empty() {
            true => self.inspect_contexts()?,
            false => Vec::new(),
        };
        let ok = integrity.is_empty()
            && lost_writes.is_empty()
            && miscounted.is_empty()
            && contexts.is_empty()
            && index.is_empty();
        Ok(Checked { ok, integrity, lost_writes, miscounted, contexts, index })
    }
}
