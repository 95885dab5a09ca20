//! Backup files: a copy is written under a temporary name, moved to its path without replacing
//! anything, and removed if the process that wrote it has ended.

use crate::backend::files::{create_private, with_suffix};
use oneiro_model::{Error, ErrorKind, Result};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The suffix of a copy that is being written.
const PART_SUFFIX: &str = ".part";

/// A copy that is being written; its files are removed on drop unless it was moved.
pub(crate) struct PartialCopy {
    path: PathBuf,
    /// Held until the copy is finished, which shows other processes that it is not abandoned. A
    /// separate file, because on some systems this lock would conflict with those of SQLite.
    _lock: File,
}

/// What to do with a file at the path of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfExists {
    /// Leave it alone and fail.
    Fail,
    /// Replace it: it is an older copy of the same name.
    Replace,
}

/// A copy at its path.
pub(crate) enum Placed {
    /// It survives a power cut.
    Durable,
    /// It is complete, but a power cut may undo the move.
    Unsynced(Error),
}

impl PartialCopy {
    /// Reserves a name beside `path` that no other copy uses. Two processes in containers may have the
    /// same process id, so only the lock decides.
    pub(crate) fn create(path: &Path) -> Result<PartialCopy> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let part = with_suffix(path, &format!(".{}-{number}{PART_SUFFIX}", std::process::id()));
            let lock_path = lock_path(&part);
            if part.exists() || lock_path.exists() {
                continue;
            }
            create_private(&lock_path)?;
            let lock = File::open(&lock_path).map_err(|error| failure(&lock_path, error))?;
            match lock.try_lock() {
                // Without lock support, abandoned copies stay.
                Ok(()) | Err(TryLockError::Error(_)) => {
                    return Ok(PartialCopy { path: part, _lock: lock });
                }
                Err(TryLockError::WouldBlock) => {}
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the finished copy to `path`.
    pub(crate) fn move_to(&self, path: &Path, if_exists: IfExists) -> Result<Placed> {
        let moved = match if_exists {
            IfExists::Replace => std::fs::rename(&self.path, path),
            IfExists::Fail => move_without_replacing(&self.path, path),
        };
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => already_exists(path),
            _ => failure(path, error),
        })?;
        // Without this sync a power cut may undo the rename.
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
                .remedy("check the disk and make another backup: a power cut may remove this one")
                .because(error),
            ),
        })
    }
}

impl Drop for PartialCopy {
    fn drop(&mut self) {
        remove_files(&self.path);
    }
}

/// Renames without replacing a file. A hard link never replaces one. On a file system without hard
/// links, the name is first reserved by an empty file, which the rename then replaces: only a file
/// that another process puts there in between would be lost.
fn move_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => {
            // If this fails the file has two names; the first is removed later.
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

/// The result of cleaning up a copy that is recorded as unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cleanup {
    /// A process is writing it, or may be.
    InUse,
    /// It was abandoned, and is removed now.
    Removed,
    /// It exists under its final name, so it was finished.
    Finished,
    /// The file does not exist.
    Missing,
    /// Its folder does not exist either: it may be on another machine.
    Unreachable,
}

/// Whether `part` is the temporary name of the copy `path`.
pub(crate) fn is_part_of(part: &str, path: &str) -> bool {
    part.ends_with(PART_SUFFIX) && part.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

/// Removes a copy that is recorded as unfinished if it was abandoned.
pub(crate) fn clean_up(path: &Path) -> Cleanup {
    let is_part = path.to_string_lossy().ends_with(PART_SUFFIX);
    if path.exists() && !is_part {
        return Cleanup::Finished;
    }
    if is_part && is_being_written(path) {
        return Cleanup::InUse;
    }
    if is_part && path.exists() {
        remove_files(path);
        return if path.exists() { Cleanup::InUse } else { Cleanup::Removed };
    }
    if !path.parent().is_some_and(Path::is_dir) {
        return Cleanup::Unreachable;
    }
    remove_files(path);
    Cleanup::Missing
}

fn is_being_written(part: &Path) -> bool {
    match File::open(lock_path(part)) {
        // Without lock support this is an error too, and the copy counts as in use.
        Ok(lock) => lock.try_lock().is_err(),
        // Written by an older version without a lock; the process id is in the name.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            part.exists() && process_id(part).is_none_or(|id| Path::new("/proc").join(id).exists())
        }
        Err(_) => true,
    }
}

/// The process id in `<path>.<process>-<number>.part`.
fn process_id(part: &Path) -> Option<String> {
    let name = part.to_string_lossy().into_owned();
    let (_, numbers) = name.strip_suffix(PART_SUFFIX)?.rsplit_once('.')?;
    let (process, _) = numbers.split_once('-')?;
    Some(process.to_owned()).filter(|process| process.parse::<u32>().is_ok())
}

fn lock_path(part: &Path) -> PathBuf {
    with_suffix(part, "-lock")
}

fn remove_files(part: &Path) {
    if !part.to_string_lossy().ends_with(PART_SUFFIX) {
        return;
    }
    for suffix in ["", "-wal", "-shm", "-journal", "-sync-failed", "-lock"] {
        let _ = std::fs::remove_file(with_suffix(part, suffix));
    }
}

/// Fails if a file exists at `path`.
pub(crate) fn refuse_existing(path: &Path) -> Result<()> {
    if path.exists() { Err(already_exists(path)) } else { Ok(()) }
}

fn already_exists(path: &Path) -> Error {
    Error::conflict(format!("{} already exists", path.display()))
        .remedy("name a file that does not exist, or move that one away")
}

fn failure(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{}: {error}", path.display()))
        .remedy("check the path, its permissions and the disk")
        .because(error)
}
