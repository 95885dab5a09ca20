//! The files of a mounted folder: finds, reads and removes them without following symbolic links, and
//! tells by a stamp whether one changed.

use crate::{Clock, SystemClock};
use oneiro_model::{Error, NOTE_BYTES_MAX};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a file that are read: a note whose every character is a line end, with CR LF and a mark.
const READ_MAX: u64 = 2 * NOTE_BYTES_MAX as u64 + 3;

/// Whole seconds after which a stamp is trusted: two writes within one tick of the file system's clock
/// have the same stamp.
const STAMP_AGE_SECONDS: i64 = 2;

/// How often, and after which pause, a file is read again that is empty or missing while it was not
/// before: programs that save a file truncate or move it first.
const SETTLE_TRIES: usize = 5;
const SETTLE_PAUSE: Duration = Duration::from_millis(20);

/// Why a file or a mount is not kept in sync.
#[derive(Debug)]
pub(super) enum SyncError {
    /// The file is the reason; others are kept in sync.
    File(String),
    /// The store failed.
    Store(Error),
}

impl SyncError {
    pub(super) fn file(problem: impl Into<String>) -> SyncError {
        SyncError::File(problem.into())
    }
}

impl From<Error> for SyncError {
    fn from(error: Error) -> SyncError {
        SyncError::Store(error)
    }
}

impl From<io::Error> for SyncError {
    fn from(error: io::Error) -> SyncError {
        SyncError::File(error.to_string())
    }
}

/// The content of a file.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// The hash of the bytes.
    pub(super) hash: String,
    /// What tells later that it did not change; empty if nothing does.
    pub(super) stamp: String,
    /// Its permissions.
    pub(super) mode: u32,
}

/// The hash of bytes.
pub(super) fn hash_bytes(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(40).collect()
}

/// The path of a file in a folder. No part of it may be a symbolic link.
pub(super) fn resolve(root: &Path, file: &str) -> Result<PathBuf, SyncError> {
    let mut path = root.to_owned();
    let mut parts = file.split('/').peekable();
    while let Some(part) = parts.next() {
        if part.is_empty() || part == "." || part == ".." {
            return Err(SyncError::file("the path leaves the folder"));
        }
        path.push(part);
        if parts.peek().is_none() {
            break;
        }
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => {}
            Ok(meta) if meta.is_symlink() => return Err(link(part)),
            Ok(_) => return Err(SyncError::file(format!("{part} is not a folder"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(path)
}

fn link(part: &str) -> SyncError {
    SyncError::file(format!(
        "{part} is a symbolic link, which is not followed; put a real one there"
    ))
}

/// What tells without reading a file that it did not change; `None` if there is no file.
pub(super) fn stamp_of(path: &Path) -> Option<String> {
    std::fs::symlink_metadata(path).ok().map(|meta| stamp(&meta))
}

fn stamp(meta: &Metadata) -> String {
    format!(
        "{}.{:09}-{}.{:09}-{}-{}",
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
        meta.len(),
        meta.ino()
    )
}

/// Whether a file was last changed long enough ago. Files have the times of the system's clock, whatever
/// clock the store has.
fn is_old(meta: &Metadata) -> bool {
    let now = SystemClock.now().micros() / 1_000_000;
    now.saturating_sub(meta.ctime()) > STAMP_AGE_SECONDS
}

/// Reads a file; `None` if there is none. A file that is no regular file, is too large or was not read
/// as a whole is refused.
pub(super) fn read(path: &Path) -> Result<Option<Content>, SyncError> {
    for _ in 0..SETTLE_TRIES {
        let meta = match std::fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        check_kind(path, &meta)?;
        if meta.len() > READ_MAX {
            return Err(too_large(meta.len()));
        }
        let mut file = match open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        let before = file.metadata()?;
        check_kind(path, &before)?;
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(READ_MAX + 1).read_to_end(&mut bytes)?;
        let after = file.metadata()?;
        if bytes.len() as u64 > READ_MAX {
            return Err(too_large(after.len()));
        }
        if stamp(&before) == stamp(&after) && after.len() == bytes.len() as u64 {
            let hash = hash_bytes(&bytes);
            let stamp = if is_old(&after) { stamp(&after) } else { String::new() };
            return Ok(Some(Content { bytes, hash, stamp, mode: after.mode() & 0o7777 }));
        }
        std::thread::sleep(SETTLE_PAUSE);
    }
    Err(SyncError::file("it is being written; it is read again next time"))
}

/// Reads a file that had the content with the hash `known` before. If it is empty or missing now, it is
/// given some time: a program may be saving it.
pub(super) fn read_settled(path: &Path, known: Option<&str>) -> Result<Option<Content>, SyncError> {
    let empty = hash_bytes(b"");
    let had_text = known.is_some_and(|known| known != empty);
    for _ in 0..SETTLE_TRIES {
        let found = read(path)?;
        if !had_text || found.as_ref().is_some_and(|content| !content.bytes.is_empty()) {
            return Ok(found);
        }
        std::thread::sleep(SETTLE_PAUSE);
    }
    read(path)
}

/// Reads a file that a program may still be writing, once it stays the same.
pub(super) fn read_finished(path: &Path) -> Result<Option<Content>, SyncError> {
    let mut last = read(path)?;
    for _ in 0..SETTLE_TRIES {
        std::thread::sleep(SETTLE_PAUSE);
        let now = read(path)?;
        let hash = |content: &Option<Content>| content.as_ref().map(|it| it.hash.clone());
        if hash(&now) == hash(&last) {
            return Ok(now);
        }
        last = now;
    }
    Ok(last)
}

/// The error for a file that is too large for a note.
pub(super) fn too_large(bytes: u64) -> SyncError {
    SyncError::file(format!(
        "it has {bytes} bytes, and a note has at most {NOTE_BYTES_MAX}; split it, or move it out of the \
         folder"
    ))
}

fn check_kind(path: &Path, meta: &Metadata) -> Result<(), SyncError> {
    if meta.is_symlink() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(link(&name));
    }
    if !meta.is_file() {
        return Err(SyncError::file("it is not a regular file"));
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    // A pipe that was put there meanwhile does not block.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Creates the folders of a file, and the file with this content and these permissions, and waits until
/// the disk has it.
pub(super) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), SyncError> {
    use std::io::Write;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    remove(path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    file.sync_all()?;
    sync_folder_of(path)
}

/// Removes a file, if there is one.
pub(super) fn remove(path: &Path) -> Result<(), SyncError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Waits until the disk has what was renamed or removed in the folder of a file.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), SyncError> {
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
