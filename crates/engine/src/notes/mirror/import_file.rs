//! Takes the file of a note into the store: one transaction that decides, records an edit of the file as
//! a revision, and says what is left to do with the file.

use super::decision::{Action, Base, FileNow, decide};
use super::encoding::with_line_ends_of;
use crate::Oneiro;
use crate::notes::merge::{Sides, merge};
use crate::notes::{put, screen};
use crate::operations::{Edit, Grouping};
use oneiro_model::{MountId, NoteName, OperationVerb, Result};
use oneiro_store::mounts::{self, MountedFile, PendingContent};
use oneiro_store::notes::{self, NoteState, StoredNote};

/// A file that is compared with its note.
#[derive(Debug, Clone)]
pub(super) struct Incoming {
    pub(super) mount: MountId,
    pub(super) name: NoteName,
    /// What was known of the file when it was read.
    pub(super) known: Option<MountedFile>,
    /// The file; `None` if there is none.
    pub(super) file: Option<IncomingFile>,
    /// The hash of the note's text of which a copy is in the folder, if the texts cannot be merged.
    pub(super) copied: Option<String>,
    /// What stands in the folder once the file is taken in.
    pub(super) after: After,
}

/// The file of a note.
#[derive(Debug, Clone)]
pub(super) struct IncomingFile {
    pub(super) hash: String,
    pub(super) stamp: String,
    pub(super) text: String,
}

/// What stands in the folder once a file is taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum After {
    /// The file itself.
    SameFile,
    /// What was written in its place while it was saved.
    Written(PendingContent),
    /// Nothing: it was moved away to be deleted while it was saved.
    Nothing,
}

/// What is left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing; both are in sync.
    SyncOutcome,
    /// The note was changed: look again.
    Taken,
    /// What was known of the file changed meanwhile: look again.
    Stale,
    /// Put a copy of the note's text into the folder, then take the file in.
    Copy(NoteText),
    /// Write the note to the file. `base` is the text that both had when they were last in sync.
    Write { note: NoteText, base: Option<String> },
    /// Delete the file.
    Delete,
}

/// A text of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoteText {
    pub(super) hash: String,
    pub(super) text: String,
}

/// Decides about a file, and does what concerns the store.
pub(super) fn import_file(oneiro: &Oneiro, incoming: Incoming) -> Result<Next> {
    oneiro.edit(None, Grouping::Group, move |edit| {
        if mounts::file(edit.tx, &incoming.mount, &incoming.name)? != incoming.known {
            return Ok(Next::Stale);
        }
        let stored = notes::get(edit.tx, &incoming.name)?;
        apply(edit, &incoming, stored.as_ref())
    })
}

fn apply(edit: &Edit<'_, '_>, incoming: &Incoming, stored: Option<&StoredNote>) -> Result<Next> {
    let Incoming { name, known, .. } = incoming;
    let current = stored.map(|note| note.text.as_str());
    let file = incoming.file.as_ref().map(|file| {
        let text = with_line_ends_of(screen::without_secrets(&file.text), current);
        (file, notes::hash_of(&text), text)
    });
    let base = known.as_ref().and_then(|known| {
        Some(Base { note: known.base_hash.as_deref()?, file: known.file_hash.as_deref()? })
    });
    let now = file.as_ref().map(|(file, hash, _)| FileNow { bytes: &file.hash, note: hash });
    let action = decide(base, stored.map(|note| note.hash.as_str()), now);
    match (action, file, stored) {
        (Action::Nothing, Some((file, ..)), _) => {
            let stamp = known.as_ref().map(|known| known.stamp.as_str()).unwrap_or_default();
            if file.stamp != stamp && !file.stamp.is_empty() {
                let known = known.clone().unwrap_or_else(|| MountedFile::new(name.clone()));
                let known = MountedFile { stamp: file.stamp.clone(), ..known };
                mounts::put_file(edit.tx, &incoming.mount, &known)?;
            }
            Ok(Next::SyncOutcome)
        }
        (Action::Record, Some((_, hash, _)), _) => {
            record(edit, incoming, hash)?;
            Ok(match incoming.after {
                After::SameFile => Next::SyncOutcome,
                After::Written(_) | After::Nothing => Next::Taken,
            })
        }
        (Action::TakeFile, Some((_, _, text)), _) => take(edit, incoming, (&text, &text)),
        (Action::Merge, Some((_, _, text)), Some(note)) => {
            let old = base.map(|base| notes::text(edit.tx, base.note)).transpose()?.flatten();
            let sides =
                old.as_deref().map(|old| Sides { base: old, ours: &note.text, theirs: &text });
            match sides.and_then(|sides| merge(sides).ok()) {
                Some(merged) if screen::check_size(name, &merged).is_ok() => {
                    take(edit, incoming, (&merged, &text))
                }
                _ => keep_both(edit, incoming, (note, &text)),
            }
        }
        (Action::KeepBoth, Some((_, _, text)), Some(note)) => {
            keep_both(edit, incoming, (note, &text))
        }
        (Action::DeleteNote, ..) => {
            edit.notes.describe(&format!("Delete {name} with its file"));
            let state = NoteState { name: name.to_string(), text: hash_of(stored) };
            edit.write(OperationVerb::Delete, Some(&state), None)?;
            mounts::forget_file(edit.tx, &incoming.mount, name)?;
            Ok(Next::Taken)
        }
        (Action::WriteFile, _, Some(note)) => {
            let base = base.map(|base| notes::text(edit.tx, base.note)).transpose()?.flatten();
            let note = NoteText { hash: note.hash.clone(), text: note.text.clone() };
            Ok(Next::Write { note, base })
        }
        (Action::DeleteFile, ..) => Ok(Next::Delete),
        (Action::Forget, ..) => {
            mounts::forget_file(edit.tx, &incoming.mount, name)?;
            Ok(Next::SyncOutcome)
        }
        (
            Action::Nothing
            | Action::Record
            | Action::TakeFile
            | Action::Merge
            | Action::KeepBoth
            | Action::WriteFile,
            ..,
        ) => Ok(Next::SyncOutcome),
    }
}

fn hash_of(stored: Option<&StoredNote>) -> String {
    stored.map(|note| note.hash.clone()).unwrap_or_default()
}

/// Gives a note a text that has everything the file says, and records that the file is taken in. What
/// others changed in the note meanwhile is written to the file afterwards.
fn take(edit: &Edit<'_, '_>, incoming: &Incoming, (text, of_file): (&str, &str)) -> Result<Next> {
    let name = &incoming.name;
    edit.notes.describe(&format!("Edit {name} in its file"));
    put(edit, OperationVerb::Edit, name, text)?;
    let hash = notes::put_text(edit.tx, of_file)?;
    record(edit, incoming, hash)?;
    Ok(Next::Taken)
}

/// Gives the note the text of the file once its own text is in the folder too.
fn keep_both(
    edit: &Edit<'_, '_>,
    incoming: &Incoming,
    (note, text): (&StoredNote, &str),
) -> Result<Next> {
    if incoming.copied.as_ref() != Some(&note.hash) {
        return Ok(Next::Copy(NoteText { hash: note.hash.clone(), text: note.text.clone() }));
    }
    let taken = take(edit, incoming, (text, text))?;
    edit.notes.describe(&format!(
        "Edit {} in its file, where the note was changed too; the other text is beside the file",
        incoming.name
    ));
    Ok(taken)
}

/// Records what stands in the folder. `hash` is that of the text which was taken from the file.
fn record(edit: &Edit<'_, '_>, incoming: &Incoming, hash: String) -> Result<()> {
    let (base_hash, file_hash, stamp) = match (&incoming.after, &incoming.file) {
        (After::Written(content), _) => {
            (content.base_hash.clone(), content.file_hash.clone(), String::new())
        }
        (After::SameFile, Some(file)) => (hash, file.hash.clone(), file.stamp.clone()),
        (After::SameFile, None) | (After::Nothing, _) => {
            return mounts::forget_file(edit.tx, &incoming.mount, &incoming.name);
        }
    };
    let known = MountedFile {
        base_hash: Some(base_hash),
        file_hash: Some(file_hash),
        stamp,
        ..MountedFile::new(incoming.name.clone())
    };
    mounts::put_file(edit.tx, &incoming.mount, &known)
}
