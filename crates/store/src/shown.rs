//! What of a session is shown: rewinds hide messages, restores show them again, compaction sets them
//! aside. Rows are never changed otherwise.

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
    STAND = "UPDATE messages SET compacted = ?2, rewind = ?3 WHERE seq = ?1";
    NAMED = "SELECT seq, external_id, compacted, rewind FROM messages WHERE session_key = ?1 \
        AND external_id >= ?2 AND external_id < ?3 ORDER BY seq";
    COUNTS_NAMED = "SELECT compacted, rewind, COUNT(*) FROM messages WHERE session_key = ?1 \
        AND external_id >= ?2 AND external_id < ?3 GROUP BY compacted, rewind";
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

/// Lets a message stand where it stood elsewhere; one that is hidden is so by rewind number `rewind`.
pub fn stand(tx: &Tx<'_>, seq: i64, visibility: Visibility, rewind: i64) -> Result<()> {
    let (compacted, rewind) = match visibility {
        Visibility::Live => (0, 0),
        Visibility::Compacted => (1, 0),
        Visibility::Rewound => (0, rewind.max(1)),
    };
    tx.execute(STAND, &[seq.into(), compacted.into(), rewind.into()]).map(|_| ())
}

/// The messages of a session whose external ids lie in a range, and where they stand.
pub fn named(
    tx: &Tx<'_>,
    session_key: i64,
    (from, to): (&str, &str),
) -> Result<Vec<(i64, String, Visibility)>> {
    tx.all(NAMED, &[session_key.into(), from.into(), to.into()], |row| {
        let external_id = row.opt_string(1)?.unwrap_or_default();
        Ok((row.int(0)?, external_id, visibility(row.int(2)?, row.int(3)?)))
    })
}

/// How many of these there are: live, compacted, rewound.
pub fn counts_named(tx: &Tx<'_>, session_key: i64, (from, to): (&str, &str)) -> Result<[i64; 3]> {
    let mut counts = [0; 3];
    tx.each(COUNTS_NAMED, &[session_key.into(), from.into(), to.into()], |row| {
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
