//! What of a session is shown: rewinds hide messages, restores show them again, compaction sets them
//! aside. Rows are never changed otherwise.

use crate::Tx;
use oneiro_model::{MessageCounts, MessageId, Result};

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
}

/// Hides the messages from `from` on under rewind number `rewind`; answers how many.
pub fn rewind(tx: &Tx<'_>, session_key: i64, from: MessageId, rewind: i64) -> Result<usize> {
    let values = [session_key.into(), from.0.into(), rewind.into()];
    Ok(tx.execute(REWIND, &values)? as usize)
}

/// Shows again what rewinds from number `from` on have hidden; answers how many.
pub fn restore(tx: &Tx<'_>, session_key: i64, from: i64) -> Result<usize> {
    Ok(tx.execute(RESTORE, &[session_key.into(), from.into()])? as usize)
}

/// Shows again what was rewound from message `since` on; answers how many.
pub fn restore_since(tx: &Tx<'_>, session_key: i64, since: MessageId) -> Result<usize> {
    Ok(tx.execute(RESTORE_SINCE, &[session_key.into(), since.0.into()])? as usize)
}

/// The first and the last message that rewinds from number `from` on have hidden.
pub fn rewound_range(tx: &Tx<'_>, session_key: i64, from: i64) -> Result<(i64, i64)> {
    let values = [session_key.into(), from.into()];
    tx.one(REWOUND_RANGE, &values, |row| Ok((row.int(0)?, row.int(1)?)))
}

/// The number of the newest rewind that still hides something; 0 when none does.
pub fn last_rewind(tx: &Tx<'_>, session_key: i64) -> Result<i64> {
    tx.one(LAST_REWIND, &[session_key.into()], |row| row.int(0))
}

/// Marks live messages up to `until` as covered by a summary; answers how many.
pub fn compact(tx: &Tx<'_>, session_key: i64, until: MessageId) -> Result<usize> {
    Ok(tx.execute(COMPACT, &[session_key.into(), until.0.into()])? as usize)
}

/// The last live message.
pub fn head(tx: &Tx<'_>, session_key: i64) -> Result<Option<MessageId>> {
    tx.one(HEAD, &[session_key.into()], |row| Ok(row.opt_int(0)?.map(MessageId)))
}

/// How many messages of a session stand where.
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
