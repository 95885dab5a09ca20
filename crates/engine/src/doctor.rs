//! Checks a space: integrity of the files, counters, contexts and index.

use crate::dreams::{DreamIssue, audit};
use crate::{Oneiro, index};
use oneiro_model::{Result, SessionId};
use oneiro_store::{Tx, is_missing_table, memories, notes, revisions, sequence, sessions};
use serde::Serialize;

/// The result of a check.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// Whether no problem was found.
    pub ok: bool,
    /// Problems that the database engine found in its files.
    pub integrity: Vec<String>,
    /// Signs that newer writes were lost: parts of the store that are older than others.
    pub lost_writes: Vec<String>,
    /// Sessions whose counters do not match their rows.
    pub miscounted: Vec<SessionId>,
    /// Memories that a removed or erased one supersedes or suspends.
    pub memories: Vec<String>,
    /// Notes of which a text is missing.
    pub notes: Vec<String>,
    /// Problems of session contexts, which can be rebuilt from messages and summaries.
    pub contexts: Vec<String>,
    /// Problems of the text index, which can be rebuilt from the rows.
    pub index: Vec<String>,
    /// Issues of what dreams store; those that are fixable are repaired before the next dream.
    pub dreams: Vec<DreamIssue>,
}

impl Oneiro {
    /// Recounts the messages of sessions; returns the number of sessions.
    pub fn recount_sessions(&self, ids: &[SessionId]) -> Result<usize> {
        let ids = ids.to_vec();
        self.store.write(move |tx| {
            for id in &ids {
                sessions::recount(tx, crate::sessions::key_of(tx, id)?)?;
            }
            Ok(ids.len())
        })
    }

    /// Raises the counters of a space that lost writes above every number in use, so that no number
    /// is assigned twice. Lost writes are not recovered.
    pub fn raise_counters(&self) -> Result<()> {
        self.store.write(sequence::raise_counters)
    }

    /// Checks the space and changes nothing.
    pub fn check(&self) -> Result<Checked> {
        let integrity = self.store.integrity()?;
        // Counters cannot be checked on damaged files.
        let miscounted =
            if integrity.is_empty() { self.store.read(sessions::miscounted)? } else { Vec::new() };
        let lost_writes = if integrity.is_empty() {
            match self.store.read(sequence::unissued_in_use) {
                Ok(signs) => signs,
                // An index table is missing, which is reported below.
                Err(error) if is_missing_table(&error) => Vec::new(),
                Err(error) => return Err(error),
            }
        } else {
            Vec::new()
        };
        let index = if integrity.is_empty() {
            match self.store.read(index::inspect) {
                Ok(problems) => problems,
                // An index table is missing; the rest of the store is intact.
                Err(error) if is_missing_table(&error) => vec![error.to_string()],
                Err(error) => return Err(error),
            }
        } else {
            Vec::new()
        };
        let memories =
            if integrity.is_empty() { self.store.read(memories::dangling)? } else { Vec::new() };
        let notes =
            if integrity.is_empty() { self.store.read(notes_without_text)? } else { Vec::new() };
        let dreams = if integrity.is_empty() {
            self.store.read(|tx| audit(self, tx, self.now()))?
        } else {
            Vec::new()
        };
        let contexts = if integrity.is_empty() { self.inspect_contexts()? } else { Vec::new() };
        let ok = integrity.is_empty()
            && lost_writes.is_empty()
            && miscounted.is_empty()
            && memories.is_empty()
            && notes.is_empty()
            && contexts.is_empty()
            && index.is_empty()
            && !dreams.iter().any(|issue| issue.fixable);
        Ok(Checked {
            ok,
            integrity,
            lost_writes,
            miscounted,
            memories,
            notes,
            contexts,
            index,
            dreams,
        })
    }
}

/// Notes of which the text, or that of an earlier revision, is missing.
fn notes_without_text(tx: &Tx<'_>) -> Result<Vec<String>> {
    let now = notes::without_text(tx)?.into_iter();
    let now = now.map(|name| format!("the text of {name:?} is missing"));
    let earlier = revisions::without_text(tx)?.into_iter();
    Ok(now.chain(earlier.map(|name| format!("an earlier text of {name:?} is missing"))).collect())
}
