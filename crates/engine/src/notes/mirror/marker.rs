//! The marker of a mount: a file in the folder that says which mount it is. Without it nothing is
//! read, written or deleted there, so that a folder which is gone is not taken for deleted notes.
//! Its lock keeps processes apart.

use super::exchange::{Lock, lock_within};
use super::folder::{SyncError, write_new};
use oneiro_model::MountId;
use oneiro_store::Target;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of our own files in a mounted folder.
const OWN_FOLDER: &str = ".oneiro";

/// What becomes of an attempt to lock a mount.
pub(super) enum Locking {
    /// This process may keep it in sync, until the lock is dropped.
    Locked(Lock),
    /// Another process keeps it in sync right now.
    Busy,
    /// The folder or the marker is not there; why.
    Missing(String),
}

fn marker(root: &Path) -> PathBuf {
    root.join(OWN_FOLDER).join("mount")
}

/// Writes the marker. Version control ignores it.
pub(super) fn write(root: &Path, id: &MountId) -> Result<(), SyncError> {
    let own = root.join(OWN_FOLDER);
    if std::fs::symlink_metadata(&own).is_ok_and(|meta| !meta.is_dir()) {
        return Err(SyncError::file(format!("{OWN_FOLDER} in it is not a folder")));
    }
    let ignore = own.join(".gitignore");
    if std::fs::symlink_metadata(&ignore).is_err() {
        write_new(&ignore, b"*\n", 0o600)?;
    }
    write_new(&marker(root), format!("{id}\n").as_bytes(), 0o600)
}

/// The id in the marker of a folder.
pub(super) fn read(root: &Path) -> Option<String> {
    open(root).ok().and_then(|(_, id)| id)
}

/// Removes the marker with what was made for it.
pub(super) fn remove(root: &Path) {
    let own = root.join(OWN_FOLDER);
    // What is left of it is ignored by version control, and a new mount replaces it.
    let _ = std::fs::remove_file(marker(root));
    let _ = std::fs::remove_file(own.join(".gitignore"));
    let _ = std::fs::remove_dir(own);
}

/// Locks a mount, waiting at most `timeout` for another process.
pub(super) fn lock(root: &Path, id: &MountId, timeout: Duration) -> Result<Locking, SyncError> {
    if !std::fs::symlink_metadata(root).is_ok_and(|meta| meta.is_dir()) {
        return Ok(Locking::Missing("the folder is missing".to_owned()));
    }
    let (file, found) = match open(root) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Locking::Missing(format!("{OWN_FOLDER}/mount is missing from the folder")));
        }
        Err(error) => return Err(error.into()),
    };
    if found.as_deref() != Some(id.as_str()) {
        return Ok(Locking::Missing(format!("{OWN_FOLDER}/mount names another mount")));
    }
    Ok(match lock_within(file, timeout)? {
        Some(lock) => Locking::Locked(lock),
        None => Locking::Busy,
    })
}

fn open(root: &Path) -> io::Result<(File, Option<String>)> {
    let path = marker(root);
    if !std::fs::symlink_metadata(&path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it is not a regular file"));
    }
    let mut file = File::open(path)?;
    let mut text = String::new();
    // A marker that is not text names no mount.
    let read = Read::by_ref(&mut file).take(200).read_to_string(&mut text);
    let id = read.ok().map(|_| text.trim().to_owned());
    Ok((file, id))
}

/// What a mount belongs to: this machine and, of a file, the place of the store. A copy of the
/// store, such as a backup that is opened, therefore leaves the folders alone.
pub(super) fn host(target: &Target) -> String {
    let id = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .map(|id| id.trim().to_owned())
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into_owned());
    let place = match target {
        Target::File { path, .. } => {
            std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()).display().to_string()
        }
        Target::Postgres { .. } => String::new(),
    };
    let hash = blake3::hash(format!("{id}\n{place}").as_bytes());
    hash.to_hex().chars().take(16).collect()
}
