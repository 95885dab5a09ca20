//! The inverse of one change of a note: what it added goes, what it removed comes back, and later
//! changes of other lines stay.

use super::explain;
use super::merge::{Sides, merge};
use crate::operations::Edit;
use oneiro_model::{Error, NoteName, Operation, OperationVerb, Result};
use oneiro_store::notes::{self, NoteState};
use oneiro_store::operations::Record;
use oneiro_store::revisions;
use serde_json::Value;

/// Applies the inverse of an operation on a note, as an undo of it. Returns `None` if nothing of it is
/// left to undo.
pub(crate) fn invert(edit: &Edit<'_, '_>, operation: &Operation) -> Result<Option<Operation>> {
    let name = NoteName::parse(&operation.subject.id)?;
    let (before, after) =
        (text(edit, operation.before.as_ref())?, text(edit, operation.after.as_ref())?);
    let stored = NoteState::load(edit.tx, name.as_str())?;
    let current = notes::get(edit.tx, &name)?.map(|note| note.text);
    edit.notes.describe(&describe(edit, operation)?);
    let target = match (&before, &after, &current) {
        // Exactly what it wrote stands there.
        (before, after, current) if after == current => before.clone(),
        (before, _, current) if before == current => return Ok(None),
        (before, after, current) => {
            let sides = Sides {
                base: after.as_deref().unwrap_or_default(),
                ours: current.as_deref().unwrap_or_default(),
                theirs: before.as_deref().unwrap_or_default(),
            };
            let merged = merge(sides).map_err(|conflicts| {
                let later = revisions::last_of_note(edit.tx, &name).ok().flatten();
                let error = Error::conflict(format!(
                    "{} cannot be undone: {name} was changed later in the same place: {}",
                    operation.id,
                    explain(&conflicts)
                ));
                match later {
                    Some(later) => error.remedy(format!(
                        "undo the later change first (the last one is {later}), or edit the note"
                    )),
                    None => error,
                }
            })?;
            // A note that did not exist before is deleted if nothing else is in it.
            let is_gone = merged.trim().is_empty() && (before.is_none() || current.is_none());
            (!is_gone).then_some(merged)
        }
    };
    let Some(target) = target else {
        return edit.write_undo(OperationVerb::Undo, (stored.as_ref(), None), Some(&operation.id));
    };
    let restored = NoteState { name: name.to_string(), text: notes::put_text(edit.tx, &target)? };
    edit.write_undo(OperationVerb::Undo, (stored.as_ref(), Some(&restored)), Some(&operation.id))
}

/// The text that one side of an operation names; `None` if there was no note.
fn text(edit: &Edit<'_, '_>, side: Option<&Value>) -> Result<Option<String>> {
    let Some(hash) = side.and_then(|side| side.get("text")).and_then(Value::as_str) else {
        return Ok(None);
    };
    let found = notes::text(edit.tx, hash)?;
    found.map(Some).ok_or_else(|| Error::conflict("the text of this change is erased"))
}

fn describe(edit: &Edit<'_, '_>, operation: &Operation) -> Result<String> {
    let Some(group) = &operation.group else { return Ok("Undo".to_owned()) };
    let id = oneiro_model::RevisionId::of_group(group);
    let undone = revisions::by_id_prefix(edit.tx, id.as_str())?.into_iter().next();
    let message = undone.map(|stored| stored.revision.message).unwrap_or_default();
    Ok(format!("Undo {id}: {message}"))
}
