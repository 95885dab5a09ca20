//! Takes over the texts and revisions of the notes of another store, after their operations. The order
//! of revisions follows from the operations.

use super::records::RevisionRecord;
use oneiro_model::{Error, Result, RevisionId};
use oneiro_store::revisions::NoteChange;
use oneiro_store::{Tx, notes, revision_transfer, revisions};
use std::collections::HashSet;

/// The texts and revisions in the lines of one store.
#[derive(Default)]
pub(super) struct RevisionImport {
    texts: Vec<String>,
    revisions: Vec<(usize, RevisionRecord)>,
}

impl RevisionImport {
    pub(super) fn add_text(&mut self, text: String) {
        self.texts.push(text);
    }

    pub(super) fn add_revision(&mut self, revision: RevisionRecord, line: usize) {
        self.revisions.push((line, revision));
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len() + self.revisions.len()
    }

    /// Stores the texts, which notes refer to.
    pub(super) fn save_texts(&self, tx: &Tx<'_>) -> Result<()> {
        self.texts.iter().try_for_each(|text| notes::put_text(tx, text).map(|_| ()))
    }

    /// Stores the revisions that are not here yet. `erased` are the notes that were erased here.
    pub(super) fn save(&self, tx: &Tx<'_>, erased: &HashSet<String>) -> Result<()> {
        let here = revisions::last(tx)?;
        let mut is_first = here.is_none();
        for (line, record) in &self.revisions {
            let id = &record.revision.id;
            if is_known(tx, id)? {
                continue;
            }
            // A history has one empty beginning.
            let is_base = record.revision.parent.is_none() && record.changes.is_empty();
            if is_base && !is_first {
                continue;
            }
            is_first = false;
            let changes = record.changes.iter().map(|change| {
                let is_erased = change.erased || erased.contains(change.name.as_str());
                let hash = change.text.clone().filter(|_| !is_erased);
                if let Some(hash) = &hash
                    && notes::text(tx, hash)?.is_none()
                {
                    return Err(Error::field(
                        "revision: changes",
                        format!("the text {hash:?} is on no line"),
                    )
                    .at(format!("line {line}")));
                }
                Ok(NoteChange { name: change.name.clone(), hash, is_erased })
            });
            let changes = changes.collect::<Result<Vec<_>>>()?;
            revision_transfer::insert(tx, &record.revision, &changes, &record.store_id)?;
        }
        if !self.revisions.is_empty() {
            revision_transfer::follow_operations(tx)?;
            notes::remove_unused_texts(tx)?;
        }
        match notes::without_text(tx)?.first() {
            Some(name) => Err(Error::field("note", format!("the text of {name:?} is on no line"))),
            None => Ok(()),
        }
    }
}

fn is_known(tx: &Tx<'_>, id: &RevisionId) -> Result<bool> {
    let found = revisions::by_id_prefix(tx, id.as_str())?;
    Ok(found.iter().any(|stored| stored.revision.id == *id))
}
