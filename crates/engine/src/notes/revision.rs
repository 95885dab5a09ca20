//! Makes the revision of an edit: its changes of notes, in the transaction that made them.

use super::blame::store_origins;
use super::entries::index_due_notes;
use crate::operations::Edit;
use oneiro_model::{
    GroupId, NoteName, Operation, REVISION_MESSAGE_CHARS_MAX, Result, Revision, RevisionId,
    SubjectKind, Timestamp,
};
use oneiro_store::revisions::{self, NoteChange};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What the empty revision says that a history starts with.
const BASE_MESSAGE: &str = "Start of the notes";

/// The changes of notes in an edit.
#[derive(Default)]
pub(crate) struct NoteEdits(RefCell<Pending>);

#[derive(Default)]
struct Pending {
    /// The hash of the text of each changed note; `None` if it was deleted.
    texts: BTreeMap<String, Option<String>>,
    at: Option<Timestamp>,
    message: Option<String>,
    /// The dream that made the changes.
    dream: Option<String>,
}

impl NoteEdits {
    /// Says what the revision does, unless the caller gave a message.
    pub(super) fn describe(&self, message: &str) {
        self.0.borrow_mut().message = Some(message.to_owned());
    }

    /// Says which dream makes the revision.
    pub(super) fn set_dream(&self, dream: &str) {
        self.0.borrow_mut().dream = Some(dream.to_owned());
    }

    /// Takes note of an operation, if it changed a note.
    pub(crate) fn record(&self, operation: &Operation) {
        if operation.subject.kind != SubjectKind::Note {
            return;
        }
        let text = operation.after.as_ref().and_then(|after| after.get("text"));
        let text = text.and_then(Value::as_str).map(str::to_owned);
        let mut pending = self.0.borrow_mut();
        pending.texts.insert(operation.subject.id.clone(), text);
        pending.at = Some(operation.at);
    }

    /// Whether no note was changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().texts.is_empty()
    }
}

/// Adds the revision of what an edit changed; nothing if it changed no note.
pub(crate) fn commit(edit: &Edit<'_, '_>) -> Result<()> {
    let pending = edit.notes.0.borrow();
    let (Some(at), Some(group)) = (pending.at, edit.group) else { return Ok(()) };
    let parent = match revisions::last(edit.tx)? {
        Some(last) => last.revision.id,
        None => add_base(edit, at)?,
    };
    let change = |(name, hash): (&String, &Option<String>)| {
        Ok(NoteChange { name: NoteName::parse(name)?, hash: hash.clone(), is_erased: false })
    };
    let changes = pending.texts.iter().map(change).collect::<Result<Vec<_>>>()?;
    let message = edit.reason.or(pending.message.as_deref()).unwrap_or("Edit notes");
    let message = message.chars().take(REVISION_MESSAGE_CHARS_MAX).collect();
    let revision = Revision {
        parent: Some(parent),
        message,
        dream_id: pending.dream.clone(),
        ..new(edit, RevisionId::of_group(group), at)
    };
    let key = revisions::add(edit.tx, &revision, &changes, &edit.identity.store_id)?;
    changes.iter().try_for_each(|change| store_origins(edit.tx, &change.name, key))?;
    index_due_notes(edit.tx)
}

/// The empty revision before the first change, to which everything can be restored.
fn add_base(edit: &Edit<'_, '_>, at: Timestamp) -> Result<RevisionId> {
    let id = RevisionId::of_group(&GroupId::from_random(edit.ids.random()));
    let base = Revision { message: BASE_MESSAGE.to_owned(), ..new(edit, id.clone(), at) };
    revisions::add(edit.tx, &base, &[], &edit.identity.store_id)?;
    Ok(id)
}

fn new(edit: &Edit<'_, '_>, id: RevisionId, at: Timestamp) -> Revision {
    let client = edit.actor.client.clone();
    Revision {
        id,
        parent: None,
        at,
        author: client.unwrap_or_else(|| edit.actor.surface.as_str().to_owned()),
        author_kind: edit.actor.kind,
        message: String::new(),
        notes: Vec::new(),
        dream_id: None,
        undone_by: None,
    }
}
