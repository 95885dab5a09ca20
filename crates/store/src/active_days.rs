//! The days on which a space was active: a message was said. They are counted from the messages, as
//! far as a cursor has read them, and for each memory since it was created.

use crate::Tx;
use crate::aggregates::Table;
use crate::memories::{read, select, with_citations};
use oneiro_model::{Memory, Result};

statements! {
    CURSOR = "SELECT COALESCE(MAX(last_seq), 0) FROM active_days";
    ADD_NEW = "INSERT INTO active_days (day, last_seq) \
               SELECT at / 86400000000, MAX(seq) FROM messages WHERE seq > CAST(?1 AS BIGINT) \
               GROUP BY at / 86400000000 \
               ON CONFLICT (day) DO UPDATE SET last_seq = excluded.last_seq";
    COUNT_IDLE_DAYS = "UPDATE memories SET idle_days = (SELECT COUNT(*) FROM active_days d \
                       WHERE d.day > memories.created_at / 86400000000) \
                       WHERE reference_count = 0 AND origin <> 'person' \
                       AND (trust <> 'owner' OR status = 'candidate') \
                       AND confirmed_at IS NULL AND kind <> 'identity' AND removed = 0 \
                       AND (status = 'active' OR status = 'candidate')";
    LONG_IDLE = select!("WHERE idle_days > ?1 AND removed = 0 \
                         AND (status = 'active' OR status = 'candidate') ORDER BY key");
}

pub(crate) const TABLES: &[Table] = &[Table { name: "active_days", columns: "day, last_seq" }];

/// Adds the days of messages that were stored since the last call.
pub fn add_new(tx: &Tx<'_>) -> Result<()> {
    let cursor = tx.one(CURSOR, &[], |row| row.int(0))?;
    tx.execute(ADD_NEW, &[cursor.into()]).map(|_| ())
}

/// Counts, for every memory whose confidence decays, the active days since it was created.
pub fn count_idle_days(tx: &Tx<'_>) -> Result<()> {
    tx.execute(COUNT_IDLE_DAYS, &[]).map(|_| ())
}

/// Memories that were idle for more than this many active days.
pub fn idle_longer_than(tx: &Tx<'_>, days: i64) -> Result<Vec<Memory>> {
    let rows = tx.all(LONG_IDLE, &[days.into()], read)?;
    rows.into_iter().map(|row| with_citations(tx, row).map(|row| row.memory)).collect()
}
