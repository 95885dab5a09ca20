//! The notes that dreams keep: MEMORY.md, or that of a person or a project where the space has one, and how
//! dreams write them.

use super::budget::{Budgets, MEMORY_NOTE};
use super::screen;
use crate::operations::Edit;
use crate::settings::Settings;
use oneiro_model::{DreamId, NoteName, OperationVerb, Result, Timestamp};
use oneiro_store::notes::StoredNote;
use oneiro_store::{Tx, notes};
use std::collections::BTreeMap;

/// The notes that dreams keep, as they are stored.
pub(crate) struct DreamNotes {
    stored: BTreeMap<NoteName, StoredNote>,
    general: NoteName,
    budgets: Budgets,
}

/// Reads the notes that dreams keep.
pub(crate) fn dream_notes(tx: &Tx<'_>, settings: &Settings) -> Result<DreamNotes> {
    let all = notes::list(tx, "")?.into_iter();
    let kept = all.filter(|note| note.name.file_name() == MEMORY_NOTE);
    Ok(DreamNotes {
        stored: kept.map(|note| (note.name.clone(), note)).collect(),
        general: NoteName::parse(MEMORY_NOTE)?,
        budgets: Budgets::of(settings),
    })
}

impl DreamNotes {
    /// The note for what is known about somebody or a project: their own if there is one.
    pub(crate) fn of(&self, subject: Option<&str>, project: Option<&str>) -> NoteName {
        let user = subject.map(|subject| format!("users/{subject}/{MEMORY_NOTE}"));
        let project = project.map(|project| format!("projects/{project}/{MEMORY_NOTE}"));
        let own = user.into_iter().chain(project).filter_map(|name| NoteName::parse(&name).ok());
        own.into_iter()
            .find(|name| self.stored.contains_key(name))
            .unwrap_or_else(|| self.general.clone())
    }

    /// The text of a note; empty if there is none.
    pub(crate) fn text(&self, name: &NoteName) -> &str {
        self.stored.get(name).map(|note| note.text.as_str()).unwrap_or_default()
    }

    /// The hash of the text of a note.
    pub(crate) fn hash(&self, name: &NoteName) -> Option<&str> {
        self.stored.get(name).map(|note| note.hash.as_str())
    }

    /// When a note was changed last; the beginning of time if there is none.
    pub(crate) fn changed_at(&self, name: &NoteName) -> Timestamp {
        self.stored.get(name).map_or(Timestamp::from_micros(0), |note| note.updated_at)
    }

    /// The most characters of a note.
    pub(crate) fn budget(&self, name: &NoteName) -> Option<usize> {
        self.budgets.limit(name)
    }

    /// The notes with their texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&NoteName, &StoredNote)> {
        self.stored.iter()
    }
}

/// The text of an entry as it may stand in a note: without secrets. What tries to steer an agent is refused.
pub(crate) fn accept_entry(name: &NoteName, line: &str) -> Result<String> {
    screen::accept(name, line)
}

/// Writes the text of a note in the name of a dream, as part of its revision.
pub(crate) fn write_by_dream(
    edit: &Edit<'_, '_>,
    (dream, message): (&DreamId, &str),
    name: &NoteName,
    text: &str,
) -> Result<()> {
    screen::check_size(name, text)?;
    edit.notes.describe(message);
    edit.notes.set_dream(dream.as_str());
    let verb = if notes::get(edit.tx, name)?.is_some() {
        OperationVerb::Edit
    } else {
        OperationVerb::Create
    };
    super::put(edit, verb, name, text)
}
