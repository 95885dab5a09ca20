//! Puts a prepared file in the place of another, so that whatever stood there can still be looked at: a
//! program may have saved it in the last moment. Respects the locks of other programs.

use super::folder::SyncError;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a lock of another program is waited for, and how often it is tried.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_POLL: Duration = Duration::from_millis(5);

/// Exchanges two files. Returns false if one of them is not there.
pub(super) fn exchange(prepared: &Path, target: &Path) -> Result<bool, SyncError> {
    moved(renameat_with(CWD, prepared, CWD, target, RenameFlags::EXCHANGE), || {
        // The file system cannot exchange: what is saved in this very moment is overwritten.
        std::fs::rename(prepared, target)
    })
}

/// Moves a file to a name that nothing has. Returns false if the file is missing or the name is taken.
pub(super) fn move_to_free(from: &Path, to: &Path) -> Result<bool, SyncError> {
    moved(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE), || {
        std::fs::hard_link(from, to)?;
        std::fs::remove_file(from)
    })
}

fn moved(
    done: rustix::io::Result<()>,
    fallback: impl Fn() -> io::Result<()>,
) -> Result<bool, SyncError> {
    let done = match done {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => fallback(),
        done => done.map_err(io::Error::from),
    };
    match done {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists => Ok(false),
            _ => Err(error.into()),
        },
    }
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Takes the lock that other programs hold while they write a file: `<file>.lock`. Without such a file
/// there is none, unless `create` says that the other program would create it.
pub(super) fn lock_beside(target: &Path, create: bool) -> Result<Option<Lock>, SyncError> {
    let path = beside(target, ".lock");
    if create && let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .append(true)
        .create(create)
        .mode(0o600)
        .custom_flags(flags.bits() as i32)
        .open(&path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SyncError::file(format!("its lock cannot be opened: {error}"))),
    };
    match lock_within(file, LOCK_TIMEOUT)? {
        Some(lock) => Ok(Some(lock)),
        None => Err(SyncError::file("another program holds its lock; it is tried again next time")),
    }
}

/// Locks a file, waiting at most `timeout`; `None` if another process holds the lock for longer.
pub(super) fn lock_within(file: File, timeout: Duration) -> io::Result<Option<Lock>> {
    let deadline = Instant::now() + timeout;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(Lock { _file: file })),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
        }
    }
}

/// The path of a file beside another: its name with a suffix.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_keeps_both_files_and_a_move_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&a, "new").unwrap();
        assert!(!exchange(&a, &b).unwrap());
        std::fs::write(&b, "old").unwrap();
        assert!(exchange(&a, &b).unwrap());
        assert_eq!(std::fs::read_to_string(&a).unwrap(), "old");
        assert_eq!(std::fs::read_to_string(&b).unwrap(), "new");
        assert!(!move_to_free(&a, &b).unwrap());
        std::fs::remove_file(&b).unwrap();
        assert!(move_to_free(&a, &b).unwrap());
        assert_eq!(std::fs::read_to_string(&b).unwrap(), "old");
        assert!(!move_to_free(&a, &b).unwrap());
    }

    #[test]
    fn a_lock_of_another_program_is_waited_for_and_created_only_where_it_would_be() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("MEMORY.md");
        assert!(lock_beside(&target, false).unwrap().is_none());
        let held = lock_beside(&target, true).unwrap();
        assert!(held.is_some());
        let again = File::open(folder.path().join("MEMORY.md.lock")).unwrap();
        assert!(lock_within(again, Duration::ZERO).unwrap().is_none());
        drop(held);
        assert!(lock_beside(&target, false).unwrap().is_some());
    }
}
