//! Records of the copies of a space, so that an erasure can name those it cannot reach.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{BackupRecord, Result, Timestamp};

statements! {
    RECORD = "INSERT INTO backups (path, at, reason) VALUES (?1, ?2, ?3) \
              ON CONFLICT (path) DO UPDATE SET at = excluded.at, reason = excluded.reason";
    RECORD_UNFINISHED = "INSERT INTO backups (path, at, reason) VALUES (?1, ?2, ?3) \
                ON CONFLICT (path) DO NOTHING";
    REMOVE = "DELETE FROM backups WHERE path = ?1";
    REMOVE_UNFINISHED = "DELETE FROM backups WHERE path = ?1 AND reason = ?2";
    ALL = "SELECT path, at, reason FROM backups ORDER BY at, path";
}

pub(crate) const TABLES: &[Table] = &[Table { name: "backups", columns: "path, at, reason" }];

/// Why a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// By request.
    Backup,
    /// Before the schema changes.
    Migration,
}

impl Reason {
    /// The stored reason of a finished copy.
    pub(crate) fn finished(self) -> &'static str {
        match self {
            Reason::Backup => "backup",
            Reason::Migration => "migration",
        }
    }

    /// The stored reason of a copy that may not be finished.
    pub(crate) fn unfinished(self) -> &'static str {
        match self {
            Reason::Backup => "unfinished backup",
            Reason::Migration => "unfinished migration",
        }
    }

    /// Parses the stored reason of an unfinished copy.
    pub(crate) fn parse_unfinished(text: &str) -> Option<Reason> {
        [Reason::Backup, Reason::Migration].into_iter().find(|it| it.unfinished() == text)
    }
}

/// Records a copy before it is made, unless its path is already recorded.
pub(crate) fn record_unfinished(
    tx: &Tx<'_>,
    path: &str,
    at: Timestamp,
    reason: Reason,
) -> Result<()> {
    let values = [path.into(), at.micros().into(), reason.unfinished().into()];
    tx.execute(RECORD_UNFINISHED, &values).map(|_| ())
}

/// Removes the record of a copy that was not finished.
pub(crate) fn remove_unfinished(tx: &Tx<'_>, path: &str, reason: Reason) -> Result<()> {
    tx.execute(REMOVE_UNFINISHED, &[path.into(), reason.unfinished().into()]).map(|_| ())
}

/// Records a copy.
pub(crate) fn record(tx: &Tx<'_>, path: &str, at: Timestamp, reason: &str) -> Result<()> {
    tx.execute(RECORD, &[path.into(), at.micros().into(), reason.into()]).map(|_| ())
}

/// Removes the record of a copy that no longer exists.
pub(crate) fn remove(tx: &Tx<'_>, path: &str) -> Result<()> {
    tx.execute(REMOVE, &[path.into()]).map(|_| ())
}

/// Every recorded copy, oldest first.
pub fn all(tx: &Tx<'_>) -> Result<Vec<BackupRecord>> {
    tx.all(ALL, &[], |row| {
        Ok(BackupRecord {
            path: row.text(0)?.to_owned(),
            at: Timestamp::from_micros(row.int(1)?),
            reason: row.text(2)?.to_owned(),
        })
    })
}
