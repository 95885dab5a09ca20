//! Known copies of the space, so that an erasure can name what it cannot reach.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{BackupRecord, Result, Timestamp};

statements! {
    RECORD = "INSERT INTO backups (path, at, reason) VALUES (?1, ?2, ?3) \
              ON CONFLICT (path) DO UPDATE SET at = excluded.at, reason = excluded.reason";
    ANNOUNCE = "INSERT INTO backups (path, at, reason) VALUES (?1, ?2, ?3) \
                ON CONFLICT (path) DO NOTHING";
    FORGET = "DELETE FROM backups WHERE path = ?1";
    FORGET_IF = "DELETE FROM backups WHERE path = ?1 AND reason = ?2";
    ALL = "SELECT path, at, reason FROM backups ORDER BY at, path";
}

/// The tables that belong here.
pub(crate) const TABLES: &[Table] = &[Table { name: "backups", columns: "path, at, reason" }];

/// Why a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Somebody asked for it.
    Backup,
    /// The schema is about to change.
    Migration,
}

impl Reason {
    /// The reason of a finished copy as text.
    pub(crate) fn finished(self) -> &'static str {
        match self {
            Reason::Backup => "backup",
            Reason::Migration => "migration",
        }
    }

    /// The reason of a copy that is not known to be finished: an interrupted one holds as much.
    pub(crate) fn unfinished(self) -> &'static str {
        match self {
            Reason::Backup => "unfinished backup",
            Reason::Migration => "unfinished migration",
        }
    }

    /// Reads the reason of an unfinished copy.
    pub(crate) fn of_unfinished(text: &str) -> Option<Reason> {
        [Reason::Backup, Reason::Migration].into_iter().find(|it| it.unfinished() == text)
    }
}

/// Remembers a copy before it is made, unless one of this path is known.
pub(crate) fn announce(tx: &Tx<'_>, path: &str, at: Timestamp, reason: Reason) -> Result<()> {
    let values = [path.into(), at.micros().into(), reason.unfinished().into()];
    tx.execute(ANNOUNCE, &values).map(|_| ())
}

/// Forgets a copy that was announced and is not made.
pub(crate) fn withdraw(tx: &Tx<'_>, path: &str, reason: Reason) -> Result<()> {
    tx.execute(FORGET_IF, &[path.into(), reason.unfinished().into()]).map(|_| ())
}

/// Remembers a copy.
pub(crate) fn record(tx: &Tx<'_>, path: &str, at: Timestamp, reason: &str) -> Result<()> {
    tx.execute(RECORD, &[path.into(), at.micros().into(), reason.into()]).map(|_| ())
}

/// Forgets a copy that is not there any more.
pub(crate) fn forget(tx: &Tx<'_>, path: &str) -> Result<()> {
    tx.execute(FORGET, &[path.into()]).map(|_| ())
}

/// Every copy that was made, oldest first.
pub fn all(tx: &Tx<'_>) -> Result<Vec<BackupRecord>> {
    tx.all(ALL, &[], |row| {
        Ok(BackupRecord {
            path: row.text(0)?.to_owned(),
            at: Timestamp::from_micros(row.int(1)?),
            reason: row.text(2)?.to_owned(),
        })
    })
}
