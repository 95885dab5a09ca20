//! Exports memories, notes, projects, facts and distrusted sources with their operations, signals and
//! revisions. Records
//! whose creation was undone are included, because it can be redone. The secret of the space, which keys
//! the hashes of its statements, is not exported.

use super::export::Output;
use super::records::{ChangeRecord, FORMAT, NoteText, RevisionRecord, SourceStore};
use oneiro_model::{MemoryId, Result};
use oneiro_store::memories::{self, Stored};
use oneiro_store::{
    Tx, distrusts, identity, notes, operation_transfer, project_state, projects, revision_transfer,
    revisions, signals,
};

/// Records read at a time.
const BATCH_ROWS: usize = 256;

/// The store, if it has anything to export here.
pub(super) fn source(tx: &Tx<'_>) -> Result<Option<SourceStore>> {
    let identity = identity::get(tx)?;
    let has_any = operation_transfer::any(tx)?;
    let source =
        |identity: identity::Identity| SourceStore { id: identity.store_id, format: FORMAT };
    Ok(identity.filter(|_| has_any).map(source))
}

/// Writes every record, then the operations in their order, then the signals.
pub(super) fn write(tx: &Tx<'_>, output: &mut Output<'_>) -> Result<()> {
    for (project, is_removed) in projects::every(tx)? {
        output.record("project", &project, is_removed)?;
    }
    for (state, is_removed) in project_state::every(tx)? {
        output.record("state", &state, is_removed)?;
    }
    for (distrust, is_removed) in distrusts::every(tx)? {
        output.record("distrust", &distrust, is_removed)?;
    }
    each_memory(tx, |id| {
        for (stored, memory) in memories::by_id_prefix(tx, id.as_str())? {
            if memory.id == *id {
                output.record("memory", &memory, stored == Stored::Removed)?;
            }
        }
        Ok(())
    })?;
    for (note, is_removed) in notes::every(tx)? {
        output.record("note", &note, is_removed)?;
    }
    let mut after = 0;
    loop {
        let page = operation_transfer::page(tx, after, BATCH_ROWS)?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        for (_, operation) in &page {
            output.record("operation", operation, false)?;
        }
    }
    each_memory(tx, |id| {
        for signal in signals::of_memory(tx, id)? {
            output.record("signal", &signal, false)?;
        }
        Ok(())
    })?;
    write_revisions(tx, output)
}

/// Writes the texts of notes, each once, then the revisions, oldest first.
fn write_revisions(tx: &Tx<'_>, output: &mut Output<'_>) -> Result<()> {
    notes::each_stored_text(tx, |text| {
        output.record("note_text", &NoteText { text: text.to_owned() }, false)
    })?;
    for id in revision_transfer::every_id(tx)? {
        for stored in revisions::by_id_prefix(tx, &id)? {
            if stored.revision.id.as_str() != id {
                continue;
            }
            let changes = revisions::changes(tx, &stored.revision.id)?.into_iter();
            let changes = changes.map(|change| ChangeRecord {
                name: change.name,
                text: change.hash,
                erased: change.is_erased,
            });
            let changes = changes.collect();
            let record =
                RevisionRecord { revision: stored.revision, store_id: stored.store_id, changes };
            output.record("revision", &record, false)?;
        }
    }
    Ok(())
}

fn each_memory(tx: &Tx<'_>, mut each: impl FnMut(&MemoryId) -> Result<()>) -> Result<()> {
    let mut after = 0;
    loop {
        let ids = operation_transfer::memory_ids(tx, after, BATCH_ROWS)?;
        let Some((last, _)) = ids.last() else { return Ok(()) };
        after = *last;
        ids.iter().try_for_each(|(_, id)| each(id))?;
    }
}
