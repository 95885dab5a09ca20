//! Converts errors of SQLite and of the file system into errors for callers.

use crate::damage::{missing_table, unreadable};
use oneiro_model::{Error, ErrorKind, Remedy};
use rusqlite::ffi::ErrorCode;
use std::path::Path;
use std::time::Duration;

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

pub(super) fn busy(path: &Path, waited: Duration) -> Error {
    Error::new(
        ErrorKind::Busy,
        format!("another process has been writing to {} for {waited:.1?}", path.display()),
    )
    .remedy("try again; raise busy_timeout_ms if this happens often")
}

pub(super) fn damaged(path: &Path, how: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the store {} is damaged: {how}", path.display()))
        .remedy(Remedy::RestoreBackup)
}

pub(super) fn explain(path: &Path, error: rusqlite::Error) -> Error {
    let place = path.display();
    let explained = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            return busy(path, Duration::ZERO).because(error);
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            return unreadable(damaged(path, "its pages are inconsistent"), error);
        }
        Some(ErrorCode::NotADatabase) => {
            damaged(path, "it is not a SQLite database").remedy(Remedy::OtherStoreOrBackup)
        }
        Some(ErrorCode::DiskFull) => {
            Error::new(ErrorKind::Unavailable, format!("the disk of {place} is full"))
                .remedy("free some space and try again; nothing of this write was kept")
        }
        Some(ErrorCode::ReadOnly) => Error::new(
            ErrorKind::Forbidden,
            format!("the store {place} is read-only"),
        )
        .remedy(
            "make the file and its folder writable: SQLite must write a -shm file beside the store, even to read",
        ),
        Some(ErrorCode::CannotOpen) => {
            let (kind, why) = match (path.exists(), path.is_dir()) {
                (false, _) => (ErrorKind::Unavailable, "it does not exist"),
                (_, true) => (ErrorKind::Unavailable, "it is a folder"),
                _ => (ErrorKind::Forbidden, "its owner or mode does not allow it"),
            };
            Error::new(kind, format!("the store {place} cannot be opened: {why}"))
                .remedy("check that the path is a file of yours in a folder you may write to")
        }
        Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
            Error::new(ErrorKind::Forbidden, format!("no permission for the store {place}"))
                .remedy("check the owner and mode of the file and its folder")
        }
        Some(ErrorCode::SystemIoFailure) => {
            Error::new(ErrorKind::Unavailable, format!("reading or writing {place} failed"))
                .remedy("check the disk and try again; nothing of this write was kept")
        }
        Some(ErrorCode::TooBig) => Error::too_large("a value is larger than SQLite can hold"),
        Some(ErrorCode::ConstraintViolation) => {
            Error::conflict(format!("the store refused a row: {error}"))
        }
        _ => match missing_table_name(&error) {
            Some(table) => {
                let what = format!("the store {place} is damaged: its table {table} is missing");
                return missing_table(what, error);
            }
            None => Error::internal(format!("SQLite: {error}")),
        },
    };
    explained.because(error)
}

/// The missing table of a statement. SQLite has no error code for it.
fn missing_table_name(error: &rusqlite::Error) -> Option<&str> {
    let message = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        _ => return None,
    };
    message.strip_prefix("no such table: ")
}

pub(super) fn io_error(path: &Path, error: std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("{}: {error}", path.display()))
        .remedy("check the path, its permissions and the disk")
        .because(error)
}
