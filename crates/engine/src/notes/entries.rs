//! Keeps the entries of notes in the search: a row for each entry of the notes as they are now. Whatever
//! writes a note marks it as due, and the end of the edit lists the entries of all due notes.

use super::grammar::entries;
use super::screen;
use crate::Oneiro;
use crate::settings::Settings;
use oneiro_model::{NoteName, Result};
use oneiro_store::note_entries::{self, handle_of};
use oneiro_store::{Tx, notes};
use std::collections::HashMap;

/// Notes that are read at a time.
const DUE_BATCH_NOTES: usize = 64;

/// Lists the entries of the notes that were changed.
pub(crate) fn index_due_notes(tx: &Tx<'_>) -> Result<()> {
    loop {
        let due = note_entries::due(tx, DUE_BATCH_NOTES)?;
        for note in &due {
            let text = note.text.as_deref().unwrap_or_default();
            let found = entries(text);
            let texts: Vec<&str> = found.iter().map(|entry| entry.text.as_str()).collect();
            note_entries::set(tx, &note.name, note.at, &texts)?;
        }
        if due.len() < DUE_BATCH_NOTES {
            return Ok(());
        }
    }
}

impl Oneiro {
    /// Lists the entries of notes that were written by a version which did not. A search is answered even
    /// if nothing can be written.
    pub(crate) fn index_earlier_notes(&self) {
        let is_due = self.store.read(|tx| Ok(!note_entries::due(tx, 1)?.is_empty()));
        let listed = is_due.and_then(|is_due| {
            if !is_due {
                return Ok(());
            }
            self.store.write_derived(index_due_notes)?;
            self.schedule_indexing()
        });
        if let Err(error) = listed {
            tracing::warn!(%error, "the entries of earlier notes are not in the search yet");
        }
    }
}

/// The placeholders of the entries of a note that the injection scan blocks, by the handles of the
/// entries.
pub(crate) fn blocked_entries(tx: &Tx<'_>, name: &NoteName) -> Result<HashMap<String, String>> {
    let text = notes::get(tx, name)?.map(|note| note.text).unwrap_or_default();
    let found = entries(&text);
    let blocked = screen::blocked(&text, &found);
    Ok(blocked.into_iter().map(|(entry, shown)| (handle_of(&entry.text), shown)).collect())
}

/// Whether a program writes a note from other texts, so that it proves nothing by itself.
pub(crate) fn is_generated(settings: &Settings, name: &NoteName) -> bool {
    let file = name.as_str().rsplit('/').next().unwrap_or_default();
    settings.generated_notes.iter().any(|generated| {
        generated == name || (!generated.as_str().contains('/') && generated.as_str() == file)
    })
}
