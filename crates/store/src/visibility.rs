//! The visibility of messages: rewinds hide them, restores show them again, compaction marks them as
//! covered by a summary.

use crate::Tx;
use crate::messages::visibility;
use oneiro_model::{MessageCounts, MessageId, Result, Visibility};

statements! {
    REWIND = "UPDATE messages SET rewind = ?3 WHERE session_key = ?1 AND seq >= ?2 AND rewind = 0";
    RESTORE = "UPDATE messages SET rewind = 0 WHERE session_key = ?1 AND rewind >= CAST(?2 AS BIGINT)";
    RESTORE_SINCE = "UPDATE messages SET rewind = 0 WHERE session_key = ?1 AND rewind > 0 \
               AND seq >= CAST(?2 AS BIGINT)";
    REWOUND_RANGE = "SELECT COALESCE(MIN(seq), 0), COALESCE(MAX(seq), 0) FROM messages \
               WHERE session_key = ?1 AND rewind >= CAST(?2 AS BIGINT) AND rewind > 0";
    LAST_REWIND = "SELECT COALESCE(MAX(rewind), 0) FROM messages WHERE session_key = ?1";
    COMPACT = "UPDATE messages SET compacted = 1 WHERE session_key = ?1 AND rewind = 0 \
               AND compacted = 0 AND seq <= ?2";
    HEAD = "SELECT MAX(seq) FROM messages WHERE session_key = ?1 AND rewind = 0 AND compacted = 0";
    COUNTS = "SELECT COALESCE(CAST(SUM(CASE WHEN rewind = 0 AND compacted = 0 THEN 1 ELSE 0 END) AS BIGINT), 0), \
        COALESCE(CAST(SUM(CASE WHEN rewind = 0 AND compacted = 1 THEN 1 ELSE 0 END) AS BIGINT), 0), \
        COALESCE(CAST(SUM(CASE WHEN rewind > 0 THEN 1 ELSE 0 END) AS BIGINT), 0), \
        COALESCE(CAST(SUM(CASE WHEN rewind = 0 AND compacted = 0 AND (role = 'tool' OR tool_calls > 0) \
                 THEN 1 ELSE 0 END) AS BIGINT), 0), \
        COALESCE(CAST(SUM(CASE WHEN rewind = 0 AND compacted = 0 THEN tool_calls ELSE 0 END) AS BIGINT), 0) \
        FROM messages WHERE session_key = ?1";
    SET_VISIBILITY = "UPDATE messages SET compacted = ?2, rewind = ?3 WHERE seq = ?1";
    BY_EXTERNAL_ID = "SELECT seq, external_id, compacted, rewind FROM messages WHERE session_key = ?1 \
        AND external_id >= ?2 AND external_id < ?3 ORDER BY seq";
    COUNTS_BY_EXTERNAL_ID = "SELECT compacted, rewind, COUNT(*) FROM messages WHERE session_key = ?1 \
        AND external_id >= ?2 AND external_id < ?3 GROUP BY compacted, rewind";
}

/// Hides the messages from `from` on under rewind number `rewind`; returns how many.
pub fn rewind(tx: &Tx<'_>, session_key: i64, from: MessageId, rewind: i64) -> Result<usize> {
    let values = [session_key.into(), from.0.into(), rewind.into()];
    Ok(tx.execute(REWIND, &values)? as usize)
}

/// Undoes the rewinds from number `from` on; returns how many messages are visible again.
pub fn restore(tx: &Tx<'_>, session_key: i64, from: i64) -> Result<usize> {
    Ok(tx.execute(RESTORE, &[session_key.into(), from.into()])? as usize)
}

/// Undoes rewinds for the messages from `since` on; returns how many are visible again.
pub fn restore_since(tx: &Tx<'_>, session_key: i64, since: MessageId) -> Result<usize> {
    Ok(tx.execute(RESTORE_SINCE, &[session_key.into(), since.0.into()])? as usize)
}

/// The first and the last message hidden by the rewinds from number `from` on; zeros if there are none.
pub fn rewound_range(tx: &Tx<'_>, session_key: i64, from: i64) -> Result<(i64, i64)> {
    let values = [session_key.into(), from.into()];
    tx.one(REWOUND_RANGE, &values, |row| Ok((row.int(0)?, row.int(1)?)))
}

/// The number of the newest rewind that still hides a message; 0 if none does.
pub fn last_rewind(tx: &Tx<'_>, session_key: i64) -> Result<i64> {
    tx.one(LAST_REWIND, &[session_key.into()], |row| row.int(0))
}

/// Marks live messages up to `until` as compacted; returns how many.
pub fn compact(tx: &Tx<'_>, session_key: i64, until: MessageId) -> Result<usize> {
    Ok(tx.execute(COMPACT, &[session_key.into(), until.0.into()])? as usize)
}

/// The last live message.
pub fn head(tx: &Tx<'_>, session_key: i64) -> Result<Option<MessageId>> {
    tx.one(HEAD, &[session_key.into()], |row| Ok(row.opt_int(0)?.map(MessageId)))
}

/// The number of messages of a session by visibility.
pub fn counts(tx: &Tx<'_>, session_key: i64) -> Result<MessageCounts> {
    tx.one(COUNTS, &[session_key.into()], |row| {
        Ok(MessageCounts {
            live: row.int(0)?,
            compacted: row.int(1)?,
            rewound: row.int(2)?,
            tool_messages: row.int(3)?,
            tool_calls: row.int(4)?,
        })
    })
}

/// Sets the visibility of a message; a rewound one belongs to rewind number `rewind`.
pub fn set(tx: &Tx<'_>, seq: i64, visibility: Visibility, rewind: i64) -> Result<()> {
    let (compacted, rewind) = match visibility {
        Visibility::Live => (0, 0),
        Visibility::Compacted => (1, 0),
        Visibility::Rewound => (0, rewind.max(1)),
    };
    tx.execute(SET_VISIBILITY, &[seq.into(), compacted.into(), rewind.into()]).map(|_| ())
}

/// A half-open range of external ids, by their bytes.
#[derive(Debug, Clone, Copy)]
pub struct ExternalIds<'a> {
    /// The first id.
    pub from: &'a str,
    /// The end, not included.
    pub to: &'a str,
}

/// A message by its external id.
#[derive(Debug, Clone)]
pub struct ExternalMessage {
    /// The message id.
    pub seq: i64,
    /// The caller's id.
    pub external_id: String,
    /// Live, compacted or rewound.
    pub visibility: Visibility,
}

/// The messages of a session in a range of external ids.
pub fn by_external_id(
    tx: &Tx<'_>,
    session_key: i64,
    ids: ExternalIds<'_>,
) -> Result<Vec<ExternalMessage>> {
    tx.all(BY_EXTERNAL_ID, &[session_key.into(), ids.from.into(), ids.to.into()], |row| {
        Ok(ExternalMessage {
            seq: row.int(0)?,
            external_id: row.opt_string(1)?.unwrap_or_default(),
            visibility: visibility(row.int(2)?, row.int(3)?),
        })
    })
}

/// How many messages of a session in a range of external ids are live, compacted and rewound.
pub fn count_by_external_id(
    tx: &Tx<'_>,
    session_key: i64,
    ids: ExternalIds<'_>,
) -> Result<[i64; 3]> {
    let mut counts = [0; 3];
    let values = [session_key.into(), ids.from.into(), ids.to.into()];
    tx.each(COUNTS_BY_EXTERNAL_ID, &values, |row| {
        let [live, compacted, rewound] = &mut counts;
        let count = match visibility(row.int(0)?, row.int(1)?) {
            Visibility::Live => live,
            Visibility::Compacted => compacted,
            Visibility::Rewound => rewound,
        };
        *count += row.int(2)?;
        Ok(())
    })?;
    Ok(counts)
}
