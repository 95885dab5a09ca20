//! Sessions counted by what they have in common.

use crate::Tx;
use oneiro_model::{Result, SessionGroup};

statements! {
    BY_SOURCE = "SELECT source, COUNT(*) FROM sessions GROUP BY source \
                 ORDER BY COUNT(*) DESC, source LIMIT CAST(?1 AS BIGINT)";
    BY_PROJECT = "SELECT project, COUNT(*) FROM sessions WHERE project IS NOT NULL \
                  GROUP BY project ORDER BY COUNT(*) DESC, project LIMIT CAST(?1 AS BIGINT)";
    SHOWN = "SELECT COALESCE(CAST(SUM(message_count) AS BIGINT), 0) FROM sessions";
}

/// Groups that are told of.
const GROUPS: i64 = 100;

/// Sessions by source, the largest group first.
pub fn by_source(tx: &Tx<'_>) -> Result<Vec<SessionGroup>> {
    groups(tx, BY_SOURCE)
}

/// Sessions by project, the largest group first.
pub fn by_project(tx: &Tx<'_>) -> Result<Vec<SessionGroup>> {
    groups(tx, BY_PROJECT)
}

/// Messages that are not rewound, as the sessions count them.
pub fn messages_shown(tx: &Tx<'_>) -> Result<i64> {
    tx.one(SHOWN, &[], |row| row.int(0))
}

fn groups(tx: &Tx<'_>, sql: &str) -> Result<Vec<SessionGroup>> {
    tx.all(sql, &[GROUPS.into()], |row| {
        Ok(SessionGroup { name: row.text(0)?.to_owned(), sessions: row.int(1)? })
    })
}
