//! Erases a note with its history, for a person.

use super::mirror::erase_files;
use crate::operations::{is_person, needs_person};
use oneiro_model::{Error, NoteName, Remedy, Result};
use oneiro_store::{Tx, notes};

/// The note with this name, be it a deleted one.
pub(crate) fn stored_note(tx: &Tx<'_>, text: &str) -> Result<Option<NoteName>> {
    let Ok(name) = NoteName::parse(text) else { return Ok(None) };
    Ok(notes::names(tx)?.contains(&name).then_some(name))
}

/// Erases a note; `each` gets every removed text.
pub(crate) fn erase_note(tx: &Tx<'_>, name: &NoteName, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    if !is_person(tx) {
        return Err(needs_person("erase a note"));
    }
    if notes::erase(tx, name, each)? {
        erase_files(tx, name)?;
        Ok(())
    } else {
        Err(Error::not_found(format!("there is no note {:?}", name.as_str()))
            .remedy(Remedy::ListNotes))
    }
}
