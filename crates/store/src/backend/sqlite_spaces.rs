//! The spaces of a folder: one SQLite file each, listed and removed.

use super::files::{file_bytes, with_suffix};
use super::foreign::{FileKind, kind_of_file};
use super::in_use;
use super::sqlite_errors::{explain, io_error, is_busy};
use oneiro_model::{ErrorKind, Result, SpaceInfo, SpaceName};
use rusqlite::OpenFlags;
use std::io;
use std::path::{Path, PathBuf};

/// Files that SQLite keeps beside a database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The spaces in the folder of `path`, by name; none when there is no such folder.
pub(super) fn list(path: &Path) -> Result<Vec<SpaceInfo>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error(folder, error)),
    };
    let mut spaces: Vec<SpaceInfo> = entries.flatten().filter_map(|file| space(&file)).collect();
    spaces.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(spaces)
}

fn space(file: &std::fs::DirEntry) -> Option<SpaceInfo> {
    let path = file.path();
    let name = path.file_name()?.to_str()?.strip_suffix(".db")?;
    let name = SpaceName::new(name).ok()?;
    let damaged = match kind_of_file(&path) {
        FileKind::Ours => false,
        FileKind::Damaged => true,
        FileKind::Nothing | FileKind::Sqlite(_) | FileKind::Other => return None,
    };
    Some(SpaceInfo { name, bytes: bytes(&path), damaged })
}

/// Bytes of a database and its log.
pub(super) fn bytes(path: &Path) -> u64 {
    file_bytes(path) + file_bytes(&with_suffix(path, "-wal"))
}

/// Removes a database, what SQLite keeps beside it, and the copies made before migrations.
pub(super) fn delete(path: &Path) -> Result<()> {
    // Held until the files are gone, so that nobody opens a store that is half removed. A store
    // that is too damaged to be locked is useless to others, too.
    let lock = match lock_alone(path) {
        Err(error) if error.kind() == ErrorKind::Corrupt => None,
        lock => Some(lock?),
    };
    for copy in migration_copies(path)? {
        remove(&copy)?;
    }
    for suffix in COMPANIONS {
        remove(&with_suffix(path, suffix))?;
    }
    remove(path)?;
    drop(lock);
    Ok(())
}

/// A connection that is the only one. A connection in WAL mode keeps a shared lock for as long as
/// it is open, and one in exclusive mode needs the exclusive lock, which it then keeps.
fn lock_alone(path: &Path) -> Result<rusqlite::Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        rusqlite::Connection::open_with_flags(path, flags).map_err(|error| explain(path, error))?;
    let alone = connection
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE")
        .and_then(|()| connection.execute_batch("BEGIN EXCLUSIVE"));
    match alone {
        Ok(()) => Ok(connection),
        Err(error) if is_busy(&error) => Err(in_use(&path.display().to_string()).because(error)),
        Err(error) => Err(explain(path, error)),
    }
}

fn migration_copies(path: &Path) -> Result<Vec<PathBuf>> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(Vec::new());
    };
    let prefix = format!("{}.schema-", name.to_string_lossy());
    let entries = std::fs::read_dir(folder).map_err(|error| io_error(folder, error))?;
    let copies = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(&prefix) && name.ends_with(".bak")
    });
    Ok(copies.collect())
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(path, error)),
        _ => Ok(()),
    }
}
