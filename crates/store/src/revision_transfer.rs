//! Revisions of another store: their order follows the operations that they group.

use crate::revisions::{self, NoteChange, StoredRevision};
use crate::{Tx, note_origins, sequence};
use oneiro_model::{Result, Revision};

statements! {
    // A revision without operations is the empty one that a history starts with.
    REORDER = "UPDATE revisions SET key = COALESCE((SELECT MAX(o.key) FROM operations o \
               WHERE o.group_id = revisions.group_id), 0)";
    REORDER_CHANGES = "UPDATE note_changes SET key = (SELECT r.key FROM revisions r \
                       WHERE r.id = note_changes.revision)";
    EVERY_ID = "SELECT id FROM revisions ORDER BY key, id";
}

/// Inserts a revision of another store. [`follow_operations`] must follow.
pub fn insert(
    tx: &Tx<'_>,
    revision: &Revision,
    changes: &[NoteChange],
    store_id: &str,
) -> Result<()> {
    let key = sequence::take_key(tx)?;
    let stored = StoredRevision { key, revision: revision.clone(), store_id: store_id.to_owned() };
    revisions::insert(tx, &stored)?;
    changes.iter().try_for_each(|change| revisions::insert_change(tx, (&revision.id, key), change))
}

/// Puts all revisions into the order of their operations.
pub fn follow_operations(tx: &Tx<'_>) -> Result<()> {
    note_origins::clear(tx)?;
    tx.execute(REORDER, &[])?;
    tx.execute(REORDER_CHANGES, &[]).map(|_| ())
}

/// The ids of all revisions, oldest first.
pub fn every_id(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.all(EVERY_ID, &[], |row| row.text(0).map(str::to_owned))
}
