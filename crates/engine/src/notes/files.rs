//! Files of an embedding program as notes: their texts are recorded as they are, and read back as they
//! were.

use super::history::{resolve, text_of};
use super::{put, screen};
use crate::operations::Edit;
use oneiro_model::{Error, NoteName, OperationVerb, Result};
use oneiro_store::Tx;
use oneiro_store::notes::{self, NoteState};
use oneiro_store::operations::Record;

/// Stores what a file holds; `None` if it is gone. Budgets and the scan do not apply: the text is in the
/// file already, and a history that left something out could not bring it back.
pub(crate) fn record(edit: &Edit<'_, '_>, name: &NoteName, text: Option<&str>) -> Result<()> {
    match text {
        Some(text) => put(edit, OperationVerb::Edit, name, text),
        None => match NoteState::load(edit.tx, name.as_str())? {
            Some(state) => edit.write(OperationVerb::Delete, Some(&state), None).map(|_| ()),
            None => Ok(()),
        },
    }
}

/// Refuses a text that no store can hold.
pub(crate) fn check(name: &NoteName, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::field("texts", format!("{name} contains a NUL character"))
            .remedy("remove the NUL from the file"));
    }
    screen::check_size(name, text)
}

/// The notes that existed after a revision, with their texts. Erased ones are left out.
pub(crate) fn texts_at(tx: &Tx<'_>, revision: &str) -> Result<Vec<(NoteName, String)>> {
    let key = resolve(tx, revision)?.key;
    let mut found = Vec::new();
    for name in notes::names(tx)? {
        if let Some(text) = text_of(tx, &name, key)? {
            found.push((name, text));
        }
    }
    Ok(found)
}
