//! A copy of a store as a file: written under a name of its own, put in place without replacing
//! anything, and cleared away when the process that wrote it is gone.

use crate::backend::files::{create_private, with_suffix};
use oneiro_model::{Error, ErrorKind, Result};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The end of the name of a copy that is being written.
const PART: &str = ".part";

/// A copy that is being written. What is left of it is removed when this is dropped.
pub(crate) struct Part {
    path: PathBuf,
    /// Held until the copy is finished, so that nobody takes it for abandoned. A file of its own,
    /// because on some systems this lock would stand in the way of SQLite's.
    _lock: File,
}

/// What may already stand where a copy is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// Nothing; a file that is there is not touched.
    Keep,
    /// An older copy of the same name.
    Replace,
}

/// A copy that is in place.
pub(crate) enum Placed {
    /// It survives a power cut.
    Durable,
    /// It is complete, but a power cut may take its name away.
    Unsynced(Error),
}

impl Part {
    /// Reserves a name beside `path` that no other copy uses, of this process or another. Two
    /// processes may have the same number (in containers), so only the lock decides.
    pub(crate) fn begin(path: &Path) -> Result<Part> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let part = with_suffix(path, &format!(".{}-{number}{PART}", std::process::id()));
            let lock_path = lock_of(&part);
            if part.exists() || lock_path.exists() {
                continue;
            }
            create_private(&lock_path)?;
            let lock = File::open(&lock_path).map_err(|error| failure(&lock_path, error))?;
            match lock.try_lock() {
                // Where there are no locks, abandoned copies are left alone.
                Ok(()) | Err(TryLockError::Error(_)) => {
                    return Ok(Part { path: part, _lock: lock });
                }
                Err(TryLockError::WouldBlock) => {}
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the finished copy its name.
    pub(crate) fn place(&self, path: &Path, existing: Existing) -> Result<Placed> {
        let moved = match existing {
            Existing::Replace => std::fs::rename(&self.path, path),
            Existing::Keep => move_without_replacing(&self.path, path),
        };
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists_already(path),
            _ => failure(path, error),
        })?;
        // Without this a power cut may take the new name back.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let synced = File::open(folder.unwrap_or(Path::new("."))).and_then(|it| it.sync_all());
        Ok(match synced {
            Ok(()) => Placed::Durable,
            Err(error) => Placed::Unsynced(
                Error::new(
                    ErrorKind::Unavailable,
                    format!(
                        "the backup {} is complete, but its folder could not be synced: {error}",
                        path.display()
                    ),
                )
                .remedy("check the disk, and make another one: a power cut may take this one")
                .because(error),
            ),
        })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        discard(&self.path);
    }
}

/// Renames, unless there is a file of that name. A hard link never replaces anything. Where the file
/// system has none, the name is first taken by an empty file of our own, which is then replaced:
/// only a file that somebody puts in place of that one would be lost.
fn move_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => {
            // If this fails the file has two names, and the first is cleared away later.
            let _ = std::fs::remove_file(from);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => {
            File::options().write(true).create_new(true).open(to)?;
            std::fs::rename(from, to).inspect_err(|_| {
                let _ = std::fs::remove_file(to);
            })
        }
    }
}

/// What became of a copy that is recorded as unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Somebody is writing it, or it cannot be told.
    InUse,
    /// It was abandoned, and is removed now.
    Removed,
    /// It is there under its last name, so it was finished.
    Finished,
    /// There is no such file.
    Missing,
    /// Not even its folder is there: it may be on another machine.
    Unreachable,
}

/// Whether `part` is the name under which the copy `path` is written.
pub(crate) fn is_part_of(part: &str, path: &str) -> bool {
    part.ends_with(PART) && part.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

/// Looks after a copy that is recorded as unfinished, and removes it if it was abandoned.
pub(crate) fn clear(path: &Path) -> Found {
    let is_part = path.to_string_lossy().ends_with(PART);
    if path.exists() && !is_part {
        return Found::Finished;
    }
    if is_part && is_being_written(path) {
        return Found::InUse;
    }
    if is_part && path.exists() {
        discard(path);
        return if path.exists() { Found::InUse } else { Found::Removed };
    }
    match path.parent().is_some_and(Path::is_dir) {
        true => {
            discard(path);
            Found::Missing
        }
        false => Found::Unreachable,
    }
}

fn is_being_written(part: &Path) -> bool {
    match File::open(lock_of(part)) {
        // Where there are no locks it cannot be told.
        Ok(lock) => lock.try_lock().is_err(),
        // Written without a lock, by an older version: its process has the number in the name.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            part.exists()
                && process_of(part).is_none_or(|process| Path::new("/proc").join(process).exists())
        }
        Err(_) => true,
    }
}

/// The number of the process in `<path>.<process>-<number>.part`.
fn process_of(part: &Path) -> Option<String> {
    let name = part.to_string_lossy().into_owned();
    let (_, numbers) = name.strip_suffix(PART)?.rsplit_once('.')?;
    let (process, _) = numbers.split_once('-')?;
    Some(process.to_owned()).filter(|process| process.parse::<u32>().is_ok())
}

fn lock_of(part: &Path) -> PathBuf {
    with_suffix(part, "-lock")
}

fn discard(part: &Path) {
    if !part.to_string_lossy().ends_with(PART) {
        return;
    }
    for suffix in ["", "-wal", "-shm", "-journal", "-sync-failed", "-lock"] {
        let _ = std::fs::remove_file(with_suffix(part, suffix));
    }
}

/// Refuses to write where a file is already.
pub(crate) fn refuse_existing(path: &Path) -> Result<()> {
    if path.exists() { Err(exists_already(path)) } else { Ok(()) }
}

fn exists_already(path: &Path) -> Error {
    Error::conflict(format!("{} exists already", path.display()))
        .remedy("name a file that does not exist, or move that one away")
}

fn failure(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{}: {error}", path.display()))
        .remedy("check the path, its permissions and the disk")
        .because(error)
}
