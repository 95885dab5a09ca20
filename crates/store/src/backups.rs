//! Known copies of the space, so that an erasure can name what it cannot reach.

use crate::Tx;
use oneiro_model::{BackupRecord, Result, Timestamp};

statements! {
    RECORD = "INSERT INTO backups (path, at, reason) VALUES (?1, ?2, ?3) \
              ON CONFLICT (path) DO UPDATE SET at = excluded.at, reason = excluded.reason";
    FORGET = "DELETE FROM backups WHERE path = ?1";
    ALL = "SELECT path, at, reason FROM backups ORDER BY at, path";
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
