//! Keeps one note and its file in sync.
//!
//! What the file says is taken into the store first, in one transaction. Then the note is written: into a
//! file beside it, recorded as begun, exchanged with the file, and recorded as done once what stood there
//! is known to be taken in. Whatever of this is interrupted, the next round finds out by the file beside
//! it how far it came: normal work and recovery are the same code.

use super::encoding::{Encoding, decode, encode};
use super::exchange::{beside, exchange, lock_beside, move_to_free};
use super::folder::{
    Content, SyncError, hash_bytes, read, read_finished, read_settled, remove, resolve, stamp_of,
    sync_folder_of, too_large, write_new,
};
use super::import_file::{After, Incoming, IncomingFile, Next, NoteText, import_file};
use super::layout;
use crate::Oneiro;
use crate::notes::merge::{Sides, merge};
use oneiro_model::{Layout, NOTE_BYTES_MAX, NoteName, Result};
use oneiro_store::mounts::{self, MountedFile, PendingContent, PendingWrite, StoredMount};
use oneiro_store::notes::NoteState;
use oneiro_store::operations::Record;
use std::path::{Path, PathBuf};

/// How often one file is looked at in a row. More is left for the next time.
const ROUNDS_MAX: usize = 12;

/// Permissions of a new file.
const NEW_FILE_MODE: u32 = 0o600;

/// What the file beside the file is called while it becomes a copy that is kept.
const COPY_SUFFIX: &str = ".copy";

/// Called before every step; tests let one fail as if the process had died.
pub(super) type Step<'s> = &'s dyn Fn(&'static str) -> Result<()>;

/// What was done with one note.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyncOutcome {
    /// The note got the text of its file.
    pub(super) is_taken: bool,
    /// The file was written or deleted.
    pub(super) is_written: bool,
}

/// One note and its file.
pub(super) struct FileSync<'s> {
    pub(super) oneiro: &'s Oneiro,
    pub(super) mount: &'s StoredMount,
    pub(super) name: &'s NoteName,
    pub(super) step: Step<'s>,
    target: PathBuf,
    /// The hash of a text of the note that is in the folder as a copy.
    copied: Option<String>,
    done: SyncOutcome,
}

impl<'s> FileSync<'s> {
    pub(super) fn new(
        (oneiro, step): (&'s Oneiro, Step<'s>),
        mount: &'s StoredMount,
        name: &'s NoteName,
        file: &str,
    ) -> Result<FileSync<'s>, SyncError> {
        let target = resolve(Path::new(&mount.path), file)?;
        Ok(FileSync {
            oneiro,
            mount,
            name,
            step,
            target,
            copied: None,
            done: SyncOutcome::default(),
        })
    }

    /// Whether nothing is to be done, by what is known and the file's stamp alone.
    pub(super) fn is_in_step(&self, known: Option<&MountedFile>, note: Option<&str>) -> bool {
        let stamp = stamp_of(&self.target);
        match known {
            None => note.is_none() && stamp.is_none(),
            Some(known) => {
                let is_settled = known.pending.is_none() && !known.is_erased;
                let is_same_file = !known.stamp.is_empty() && stamp.as_ref() == Some(&known.stamp);
                is_settled && is_same_file && known.base_hash.as_deref() == note
            }
        }
    }

    /// Brings both into sync.
    pub(super) fn run(mut self) -> Result<SyncOutcome, SyncError> {
        let creates_locks = self.mount.layout == Layout::Hermes;
        let _lock = lock_beside(&self.target, creates_locks)?;
        for _ in 0..ROUNDS_MAX {
            if self.round()? {
                break;
            }
        }
        Ok(self.done)
    }

    /// One look at both; returns whether they are in sync.
    fn round(&mut self) -> Result<bool, SyncError> {
        let (mount, name) = (&self.mount.id, self.name);
        let (known, note) = self
            .oneiro
            .store
            .read(|tx| Ok((mounts::file(tx, mount, name)?, NoteState::load(tx, name.as_str())?)))?;
        if let Some(known) = &known {
            if known.is_erased {
                self.erase()?;
                return Ok(false);
            }
            if let Some(pending) = &known.pending {
                self.finish_pending(known, pending)?;
                return Ok(false);
            }
        }
        let last_hash = known.as_ref().and_then(|known| known.file_hash.as_deref());
        let found = read_settled(&self.target, last_hash)?;
        if is_known(known.as_ref(), found.as_ref(), note.map(|note| note.text).as_deref()) {
            return Ok(true);
        }
        match self.import_file(known.clone(), found.as_ref(), After::SameFile)? {
            Next::SyncOutcome => return Ok(true),
            Next::Taken | Next::Stale | Next::Copy(_) => {}
            Next::Write { note, base } => {
                let found = found.as_ref();
                self.write(known, found, (&note, base.as_deref()))?;
            }
            Next::Delete => self.delete(known)?,
        }
        Ok(false)
    }

    /// Takes a file into the store. A copy of the note's text is put beside it first, if both texts must
    /// be kept.
    fn import_file(
        &mut self,
        known: Option<MountedFile>,
        content: Option<&Content>,
        after: After,
    ) -> Result<Next, SyncError> {
        let file = match content {
            Some(content) => {
                let (text, _) = decode(&content.bytes).ok_or_else(not_text)?;
                if text.len() > NOTE_BYTES_MAX {
                    return Err(too_large(text.len() as u64));
                }
                Some(IncomingFile {
                    hash: content.hash.clone(),
                    stamp: content.stamp.clone(),
                    text,
                })
            }
            None => None,
        };
        (self.step)("take in")?;
        let incoming = Incoming {
            mount: self.mount.id.clone(),
            name: self.name.clone(),
            known,
            file,
            copied: self.copied.clone(),
            after,
        };
        let next = import_file(self.oneiro, incoming)?;
        match &next {
            Next::Copy(note) => {
                (self.step)("copy")?;
                self.put_copy(&note.hash, note.text.as_bytes())?;
                self.copied = Some(note.hash.clone());
            }
            Next::Taken => self.done.is_taken = true,
            _ => {}
        }
        Ok(next)
    }

    /// Puts a text beside the file under a name that says what it is.
    fn put_copy(&self, hash: &str, bytes: &[u8]) -> Result<(), SyncError> {
        let temp = beside(&self.temp(), COPY_SUFFIX);
        write_new(&temp, bytes, NEW_FILE_MODE)?;
        move_to_free(&temp, &self.copy_path(hash))?;
        // A copy of the same text that is there already is as good.
        remove(&temp)?;
        sync_folder_of(&self.target)
    }

    fn copy_path(&self, hash: &str) -> PathBuf {
        beside(&self.target, &format!("{}{}", layout::COPY_MARK, hash.get(..8).unwrap_or(hash)))
    }

    /// The file beside the file, which is written first. There is one per file and mount, so what a
    /// crash left of it is replaced.
    fn temp(&self) -> PathBuf {
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let mount: String = self.mount.id.as_str().chars().skip(4).take(8).collect();
        self.target.with_file_name(format!(".{name}.oneiro-{mount}"))
    }

    /// Begins to write the note: the next round finishes it.
    fn write(
        &mut self,
        known: Option<MountedFile>,
        found: Option<&Content>,
        (note, base): (&NoteText, Option<&str>),
    ) -> Result<(), SyncError> {
        let bytes = self.bytes_to_write(found, (note, base))?;
        let content =
            PendingContent { base_hash: note.hash.clone(), file_hash: hash_bytes(&bytes) };
        let pending = |content: PendingContent| MountedFile {
            pending: Some(PendingWrite { temp: name_of(&self.temp()), content: Some(content) }),
            ..known.clone().unwrap_or_else(|| MountedFile::new(self.name.clone()))
        };
        if found.is_some_and(|found| found.hash == content.file_hash) {
            // The file says it already in its own words.
            self.record(known.clone(), Some(in_step(self.name, &content)))?;
            return Ok(());
        }
        (self.step)("write beside")?;
        write_new(&self.temp(), &bytes, found.map_or(NEW_FILE_MODE, |found| found.mode))?;
        (self.step)("begin")?;
        if !self.record(known.clone(), Some(pending(content)))? {
            return remove(&self.temp());
        }
        (self.step)("exchange")?;
        // If nothing is exchanged, because the file came or went, the next round takes it back.
        if found.is_some() {
            exchange(&self.temp(), &self.target)?;
        } else {
            move_to_free(&self.temp(), &self.target)?;
        }
        sync_folder_of(&self.target)?;
        self.done.is_written = true;
        Ok(())
    }

    /// The bytes of the file that shows a note. What the file says beyond the note, such as a secret that
    /// no note keeps, stays in it.
    fn bytes_to_write(
        &self,
        found: Option<&Content>,
        (note, base): (&NoteText, Option<&str>),
    ) -> Result<Vec<u8>, SyncError> {
        let Some(found) = found else {
            return Ok(encode(&note.text, Encoding::of_note(&note.text)));
        };
        let (text, encoding) = decode(&found.bytes).ok_or_else(not_text)?;
        let is_shown = |base: &str| encode(base, encoding) == found.bytes;
        let Some(base) = base.filter(|base| !is_shown(base)) else {
            return Ok(encode(&note.text, encoding));
        };
        match merge(Sides { base, ours: &text, theirs: &note.text }) {
            Ok(merged) => Ok(encode(&merged, encoding)),
            Err(_) => {
                self.put_copy(&found.hash, &found.bytes)?;
                Ok(encode(&note.text, encoding))
            }
        }
    }

    /// Begins to delete the file: the next round finishes it.
    fn delete(&mut self, known: Option<MountedFile>) -> Result<(), SyncError> {
        let Some(file) = known.clone() else { return Ok(()) };
        let temp = self.temp();
        remove(&temp)?;
        let pending = PendingWrite { temp: name_of(&temp), content: None };
        (self.step)("begin to delete")?;
        if self.record(known, Some(MountedFile { pending: Some(pending), ..file }))? {
            (self.step)("move away")?;
            move_to_free(&self.target, &temp)?;
            sync_folder_of(&self.target)?;
            self.done.is_written = true;
        }
        Ok(())
    }

    /// Finishes a write or a deletion that was begun, by what is in the file beside the file.
    fn finish_pending(
        &mut self,
        known: &MountedFile,
        pending: &PendingWrite,
    ) -> Result<(), SyncError> {
        let temp = self.target.with_file_name(&pending.temp);
        let taken_in = MountedFile { pending: None, ..known.clone() };
        let beside = read_settled(&temp, known.file_hash.as_deref().filter(|_| temp.exists()))?;
        let written = pending.content.as_ref();
        let finished = written.map(|content| in_step(self.name, content));
        match (beside, written) {
            // Exchanged and looked at.
            (None, Some(_)) => self.finish(known, finished),
            // Not moved away, or deleted already: decide again.
            (None, None) => self.finish(known, Some(taken_in)),
            // Not exchanged.
            (Some(beside), Some(content)) if beside.hash == content.file_hash => {
                // In this order: without the file beside it, it counts as exchanged.
                self.finish(known, Some(taken_in))?;
                remove(&temp)
            }
            // Exchanged, and what stood there was known.
            (Some(beside), _) if Some(&beside.hash) == known.file_hash.as_ref() => {
                (self.step)("remove")?;
                remove(&temp)?;
                sync_folder_of(&self.target)?;
                self.finish(known, finished)
            }
            // Somebody saved the file in the last moment.
            (Some(_), _) => self.take_displaced((known, finished), &temp, written),
        }
    }

    /// Takes in what was saved in the moment in which the file was exchanged or moved away.
    fn take_displaced(
        &mut self,
        (known, finished): (&MountedFile, Option<MountedFile>),
        temp: &Path,
        written: Option<&PendingContent>,
    ) -> Result<(), SyncError> {
        let Some(displaced) = read_finished(temp)? else { return Ok(()) };
        if decode(&displaced.bytes).is_none() {
            move_to_free(temp, &self.copy_path(&displaced.hash))?;
            return self.finish(known, finished);
        }
        let after = written.cloned().map_or(After::Nothing, After::Written);
        if self.import_file(Some(known.clone()), Some(&displaced), after)? == Next::Taken {
            (self.step)("remove")?;
            remove(temp)?;
        }
        Ok(())
    }

    fn finish(&self, known: &MountedFile, now: Option<MountedFile>) -> Result<(), SyncError> {
        (self.step)("finish")?;
        self.record(Some(known.clone()), now).map(|_| ())
    }

    /// Records what is known of the file, or forgets it; returns false if that changed meanwhile.
    fn record(
        &self,
        known: Option<MountedFile>,
        now: Option<MountedFile>,
    ) -> Result<bool, SyncError> {
        let (mount, name) = (self.mount.id.clone(), self.name.clone());
        let recorded = self.oneiro.store.write(move |tx| {
            if mounts::file(tx, &mount, &name)? != known {
                return Ok(false);
            }
            match &now {
                Some(now) => mounts::put_file(tx, &mount, now)?,
                None => mounts::forget_file(tx, &mount, &name)?,
            }
            Ok(true)
        })?;
        Ok(recorded)
    }

    /// Removes the file of an erased note with all that is beside it.
    fn erase(&mut self) -> Result<(), SyncError> {
        (self.step)("erase")?;
        read(&self.target)?;
        remove(&self.target)?;
        remove(&self.temp())?;
        remove(&beside(&self.temp(), COPY_SUFFIX))?;
        for copy in layout::copies_of(&self.target)? {
            remove(&copy)?;
        }
        if self.target.parent().is_some_and(Path::exists) {
            sync_folder_of(&self.target)?;
        }
        self.done.is_written = true;
        let (mount, name) = (self.mount.id.clone(), self.name.clone());
        self.oneiro.store.write(move |tx| mounts::forget_file(tx, &mount, &name))?;
        Ok(())
    }
}

/// Whether note and file are as they were, and there is nothing new to record.
fn is_known(known: Option<&MountedFile>, found: Option<&Content>, note: Option<&str>) -> bool {
    let Some((known, found)) = known.zip(found) else {
        return known.is_none() && found.is_none() && note.is_none();
    };
    let is_same =
        known.file_hash.as_ref() == Some(&found.hash) && known.base_hash.as_deref() == note;
    is_same && (found.stamp.is_empty() || found.stamp == known.stamp)
}

/// A file that was written and is in sync.
fn in_step(name: &NoteName, content: &PendingContent) -> MountedFile {
    MountedFile {
        base_hash: Some(content.base_hash.clone()),
        file_hash: Some(content.file_hash.clone()),
        ..MountedFile::new(name.clone())
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn not_text() -> SyncError {
    SyncError::file("it is not UTF-8 text; save it as UTF-8, or move it out of the folder")
}
