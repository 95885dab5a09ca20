//! Files that a host owns, recorded as notes: one revision for what changed in all of them.

use crate::notes;
use crate::operations::Grouping;
use crate::views::Host;
use oneiro_model::{NoteName, Result, RevisionId, Slot, SlotName};
use oneiro_store::slots;
use oneiro_store::slots::SlotValue;
use serde_json::Value;

/// What the files of a host hold.
#[derive(Debug, Clone, Default)]
pub struct CommitNotes {
    /// Names and texts; `None` for a file that is gone.
    pub texts: Vec<(NoteName, Option<String>)>,
    /// What the revision says about itself, cut after its first 500 characters.
    pub message: String,
    /// The scope and value of a slot that is stored with the revision, under its id.
    pub slot: Option<(String, Value)>,
}

impl Host<'_> {
    /// Records what files hold as one revision; nothing if nothing differs. The texts are stored as they
    /// are, without budget and scan. Prompts screen them like every note.
    pub fn commit_notes(&self, request: CommitNotes) -> Result<Option<RevisionId>> {
        for (name, text) in &request.texts {
            text.as_deref().map_or(Ok(()), |text| notes::check_file(name, text))?;
        }
        if let Some((scope, value)) = &request.slot {
            SlotName::new(scope, "")?;
            Slot::check_value(value)?;
        }
        let CommitNotes { texts, message, slot } = request;
        self.oneiro.edit(Some(message), Grouping::Group, move |edit| {
            for (name, text) in &texts {
                notes::record_file(edit, name, text.as_deref())?;
            }
            let made = edit.group.filter(|_| !edit.notes.is_empty()).map(RevisionId::of_group);
            if let (Some(id), Some((scope, value))) = (&made, &slot) {
                let slot = SlotName::new(scope, id.as_str())?;
                slots::put(edit.tx, &slot, SlotValue { value, session_key: None }, edit.now)?;
            }
            Ok(made)
        })
    }

    /// The notes that existed after a revision, with their texts.
    pub fn notes_at(&self, revision: &str) -> Result<Vec<(NoteName, String)>> {
        self.oneiro.store.read(|tx| notes::texts_at(tx, revision))
    }
}
