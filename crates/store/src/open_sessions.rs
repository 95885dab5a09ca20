//! Sessions that have not ended, by source and last activity.

use crate::Tx;
use oneiro_model::{Result, SessionId, Timestamp};

statements! {
    OPEN_BEFORE = "SELECT key, id, source FROM sessions WHERE source = ?1 AND ended_at IS NULL \
            AND last_active_at <= CAST(?2 AS BIGINT) AND key > CAST(?3 AS BIGINT) \
            ORDER BY key LIMIT CAST(?4 AS BIGINT)";
}

/// A session that has not ended.
#[derive(Debug, Clone)]
pub struct OpenSession {
    /// Its internal key.
    pub key: i64,
    /// Its id.
    pub id: SessionId,
    /// Where it takes place.
    pub source: String,
}

/// Which open sessions are wanted.
#[derive(Debug, Clone, Copy)]
pub struct OpenBefore<'a> {
    /// Of this source.
    pub source: &'a str,
    /// Nothing was said in them after this moment.
    pub moment: Timestamp,
    /// Their keys are above this one.
    pub after: i64,
    /// Maximum number of sessions.
    pub limit: usize,
}

/// Sessions that have not ended, by key.
pub fn open_before(tx: &Tx<'_>, wanted: OpenBefore<'_>) -> Result<Vec<OpenSession>> {
    let OpenBefore { source, moment, after, limit } = wanted;
    let values = [source.into(), moment.micros().into(), after.into(), (limit as i64).into()];
    tx.all(OPEN_BEFORE, &values, |row| {
        let (id, source) = (SessionId::new(row.text(1)?)?, row.text(2)?.to_owned());
        Ok(OpenSession { key: row.int(0)?, id, source })
    })
}
