//! Notes: Markdown files in the store, read and changed whole or by entries. Every change is an
//! operation, and the operations of one change are a revision.

mod blame;
mod budget;
mod diff;
mod dream_notes;
mod edits;
mod entries;
mod erase;
mod files;
mod grammar;
mod history;
mod inverse;
mod merge;
mod mirror;
mod prompt;
mod revision;
mod screen;

pub(crate) use dream_notes::{DreamNotes, accept_entry, dream_notes, write_by_dream};
pub(crate) use entries::{blocked_entries, index_due_notes, is_generated};
pub(crate) use erase::{erase_note, stored_note};
pub(crate) use files::{check as check_file, record as record_file, texts_at};
pub(crate) use history::{line_authors, resolve as resolve_revision};
pub(crate) use inverse::invert;
pub(crate) use mirror::erase_mounted_files;
pub(crate) use revision::{NoteEdits, commit};
pub use screen::without_blocked;
pub(crate) use screen::without_secrets;

use crate::operations::{Edit, Grouping};
use crate::views::Notes;
use budget::Budgets;
use merge::{Conflict, Sides};
use oneiro_model::contract::Request;
use oneiro_model::{
    ChangedNote, DeleteNote, EditAction, EditNote, Error, ListNotes, Note, NoteInfo, NoteName,
    OperationVerb, Remedy, Result, RevisionId, WriteNote,
};
use oneiro_store::notes::{NoteState, StoredNote};
use oneiro_store::{Tx, notes, revisions};

/// The texts of the entries of a note, in order.
pub(crate) fn note_entries(text: &str) -> Vec<String> {
    let found = grammar::entries(text);
    found.into_iter().map(|entry| entry.text).collect()
}

/// The text of a note after edits.
pub(crate) fn with_edits(text: &str, edits: &[oneiro_model::NoteEdit]) -> Result<String> {
    edits::apply(text, edits, None)
}

/// Characters of a note, as its budget counts them.
pub(crate) fn note_chars(text: &str) -> usize {
    budget::chars(text)
}

/// Lines of a conflict that an error shows.
const CONFLICT_LINES: usize = 3;

impl Notes<'_> {
    /// The notes, by name, without their texts.
    pub fn list(&self, request: &ListNotes) -> Result<Vec<NoteInfo>> {
        self.oneiro.sync_mounts();
        self.oneiro.store.read(|tx| {
            let budgets = Budgets::read(tx)?;
            let stored = notes::list(tx, request.prefix.as_deref().unwrap_or_default())?;
            Ok(stored.into_iter().map(|note| info(note, &budgets)).collect())
        })
    }

    /// The note with this name.
    pub fn get(&self, name: &NoteName) -> Result<Note> {
        self.oneiro.sync_mounts();
        self.oneiro.store.read(|tx| fetch(tx, name))
    }

    /// Writes the whole text of a note. What others changed since `base` is kept, or nothing is
    /// written.
    pub fn write(&self, name: &NoteName, request: WriteNote) -> Result<ChangedNote> {
        let new = screen::accept(name, &request.content)?;
        let name = name.clone();
        let message = request.message.clone();
        let default = format!("Write {name}");
        self.edit_in_step(message, move |edit| {
            let stored = notes::get(edit.tx, &name)?;
            let base = request.base.as_deref();
            let (text, merged) = merge_with_stored(edit.tx, &name, (stored.as_ref(), base), &new)?;
            edit.notes.describe(&default);
            save(edit, &name, (stored.as_ref(), &text))?;
            changed(edit, &name, stored.as_ref(), merged)
        })
    }

    /// Applies edits to the entries of a note, as it is when they are applied; all or none.
    pub fn edit(&self, name: &NoteName, request: EditNote) -> Result<ChangedNote> {
        request.check()?;
        let mut edits = request.edits.clone();
        for text in edits.iter_mut().filter_map(|edit| edit.text.as_mut()) {
            *text = screen::accept(name, text)?;
        }
        let name = name.clone();
        let default = describe(&name, &edits);
        let message = request.message.clone();
        self.edit_in_step(message, move |edit| {
            let stored = notes::get(edit.tx, &name)?;
            let old = stored.as_ref().map(|note| note.text.as_str()).unwrap_or_default();
            let style = request
                .style
                .map_or_else(|| mirror::entry_style(edit.tx, &name), |it| Ok(Some(it)));
            let text = edits::apply(old, &edits, style?)?;
            screen::check_size(&name, &text)?;
            edit.notes.describe(&default);
            save(edit, &name, (stored.as_ref(), &text))?;
            changed(edit, &name, stored.as_ref(), false)
        })
    }

    /// Deletes a note; its revisions stay, so it can be restored. Returns what it was.
    pub fn delete(&self, name: &NoteName, request: DeleteNote) -> Result<Note> {
        let name = name.clone();
        let default = format!("Delete {name}");
        self.edit_in_step(request.message.clone(), move |edit| {
            let note = fetch(edit.tx, &name)?;
            if request.base.as_ref().is_some_and(|base| *base != note.etag) {
                return Err(stale(&name).remedy("read the note again, then delete it"));
            }
            edit.notes.describe(&default);
            let state = NoteState { name: name.to_string(), text: note.etag.clone() };
            edit.write(OperationVerb::Delete, Some(&state), None)?;
            Ok(note)
        })
    }
}

impl Notes<'_> {
    /// Runs an edit between two looks at the mounted files.
    fn edit_in_step<T: Send + 'static>(
        &self,
        message: Option<String>,
        work: impl Fn(&Edit<'_, '_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        self.oneiro.sync_mounts();
        let done = self.oneiro.edit(message, Grouping::Group, work)?;
        self.oneiro.sync_mounts();
        Ok(done)
    }
}

/// The note with this name.
fn fetch(tx: &Tx<'_>, name: &NoteName) -> Result<Note> {
    let stored = notes::get(tx, name)?.ok_or_else(|| note_not_found(name))?;
    let revision = revisions::last_of_note(tx, name)?;
    let info = info(stored.clone(), &Budgets::read(tx)?);
    Ok(Note {
        name: info.name,
        content: stored.text,
        chars: info.chars,
        limit: info.limit,
        etag: info.etag,
        updated_at: info.updated_at,
        revision,
    })
}

fn note_not_found(name: &NoteName) -> Error {
    Error::not_found(format!("there is no note {:?}", name.as_str())).remedy(Remedy::ListNotes)
}

fn info(note: StoredNote, budgets: &Budgets) -> NoteInfo {
    NoteInfo {
        chars: budget::chars(&note.text),
        limit: budgets.limit(&note.name),
        name: note.name,
        etag: note.hash,
        updated_at: note.updated_at,
    }
}

/// What a batch of edits does, for the log.
fn describe(name: &NoteName, edits: &[oneiro_model::NoteEdit]) -> String {
    let verb = |action: EditAction| match action {
        EditAction::Add => "Add",
        EditAction::Replace => "Replace",
        EditAction::Remove => "Remove",
    };
    match edits {
        [one] if one.action == EditAction::Add => format!("Add an entry to {name}"),
        [one] => format!("{} an entry of {name}", verb(one.action)),
        several => format!("Edit {} entries of {name}", several.len()),
    }
}

/// Stores the new text of a note within its budget.
fn save(
    edit: &Edit<'_, '_>,
    name: &NoteName,
    (stored, text): (Option<&StoredNote>, &str),
) -> Result<()> {
    let old = stored.map(|note| note.text.as_str());
    if old == Some(text) {
        return Ok(());
    }
    Budgets::read(edit.tx)?.check(name, old.unwrap_or_default(), text)?;
    put(edit, OperationVerb::Edit, name, text)
}

/// Stores the text of a note without looking at its budget.
fn put(edit: &Edit<'_, '_>, verb: OperationVerb, name: &NoteName, text: &str) -> Result<()> {
    use oneiro_store::operations::Record;
    let before = NoteState::load(edit.tx, name.as_str())?;
    let verb =
        if before.is_none() && verb == OperationVerb::Edit { OperationVerb::Create } else { verb };
    let after = NoteState { name: name.to_string(), text: notes::put_text(edit.tx, text)? };
    edit.write(verb, before.as_ref(), Some(&after)).map(|_| ())
}

/// The answer to a change. Its revision, which is added at the end of the edit, has the id of the
/// edit's group.
fn changed(
    edit: &Edit<'_, '_>,
    name: &NoteName,
    before: Option<&StoredNote>,
    merged: bool,
) -> Result<ChangedNote> {
    let mut note = fetch(edit.tx, name)?;
    let changed = before.is_none_or(|before| before.hash != note.etag);
    if changed {
        note.revision = edit.group.map(RevisionId::of_group);
    }
    Ok(ChangedNote { note, changed, merged })
}

/// The text to store: `new`, or `new` with what others changed since `base`.
fn merge_with_stored(
    tx: &Tx<'_>,
    name: &NoteName,
    (stored, base): (Option<&StoredNote>, Option<&str>),
    new: &str,
) -> Result<(String, bool)> {
    let Some(base) = base else { return Ok((new.to_owned(), false)) };
    let Some(stored) = stored else {
        return Err(Error::conflict(format!("{name} was deleted since it was read"))
            .remedy("write it without `base` to create it again"));
    };
    if stored.hash == base {
        return Ok((new.to_owned(), false));
    }
    let base = notes::text(tx, base)?
        .ok_or_else(|| stale(name).remedy("read the note again, and give its etag as `base`"))?;
    let sides = Sides { base: &base, ours: &stored.text, theirs: new };
    let text = merge::merge(sides).map_err(|conflicts| {
        Error::conflict(format!("{name} was changed in the same place: {}", explain(&conflicts)))
            .remedy("read the note again, and make the change in the text as it is now")
    })?;
    let merged = text != new;
    screen::check_size(name, &text)?;
    Ok((text, merged))
}

fn stale(name: &NoteName) -> Error {
    Error::conflict(format!("{name} has another text than the one that `base` names"))
}

/// The first conflict in words: what stood there, what it is now, what was wanted.
fn explain(conflicts: &[Conflict]) -> String {
    let Some(first) = conflicts.first() else { return "nothing".to_owned() };
    let shown = |lines: &[String]| match lines {
        [] => "nothing".to_owned(),
        lines => {
            let cut: Vec<&str> = lines.iter().take(CONFLICT_LINES).map(String::as_str).collect();
            let more = if lines.len() > CONFLICT_LINES { " …" } else { "" };
            format!("{:?}{more}", cut.join("\n"))
        }
    };
    format!(
        "it was {}, is now {}, and should become {}",
        shown(&first.base),
        shown(&first.ours),
        shown(&first.theirs)
    )
}
