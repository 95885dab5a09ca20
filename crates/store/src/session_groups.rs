//! Counts of sessions by source and by project.

use crate::Tx;
use oneiro_model::{Result, SessionGroup};

statements! {
    BY_SOURCE = "SELECT source, COUNT(*) FROM sessions GROUP BY source \
                 ORDER BY COUNT(*) DESC, source LIMIT CAST(?1 AS BIGINT)";
    BY_PROJECT = "SELECT project, COUNT(*) FROM sessions WHERE project IS NOT NULL \
                  GROUP BY project ORDER BY COUNT(*) DESC, project LIMIT CAST(?1 AS BIGINT)";
    VISIBLE_MESSAGES = "SELECT COALESCE(CAST(SUM(message_count) AS BIGINT), 0) FROM sessions";
}

/// The maximum number of groups in a result.
const MAX_GROUPS: i64 = 100;

/// Sessions by source, the largest group first.
pub fn by_source(tx: &Tx<'_>) -> Result<Vec<SessionGroup>> {
    count_groups(tx, BY_SOURCE)
}

/// Sessions by project, the largest group first.
pub fn by_project(tx: &Tx<'_>) -> Result<Vec<SessionGroup>> {
    count_groups(tx, BY_PROJECT)
}

/// Messages that are not rewound, by the counters of their sessions.
pub fn visible_messages(tx: &Tx<'_>) -> Result<i64> {
    tx.one(VISIBLE_MESSAGES, &[], |row| row.int(0))
}

fn count_groups(tx: &Tx<'_>, sql: &str) -> Result<Vec<SessionGroup>> {
    tx.all(sql, &[MAX_GROUPS.into()], |row| {
        Ok(SessionGroup { name: row.text(0)?.to_owned(), sessions: row.int(1)? })
    })
}
