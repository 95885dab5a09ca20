//! How far the space has learnt from its messages: the last message that was read, and the version of
//! the rules that read it.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{Result, Timestamp};

statements! {
    GET = "SELECT last_seq, rules FROM learning WHERE id = 1";
    PUT = "INSERT INTO learning (id, last_seq, rules) VALUES (1, ?1, ?2) \
           ON CONFLICT (id) DO UPDATE SET last_seq = excluded.last_seq, rules = excluded.rules";
    LEARNT_BETWEEN = "SELECT COUNT(*) FROM memories WHERE valid_from >= ?1 AND valid_from < ?2 \
                      AND origin = 'job' AND trust = 'owner' AND status <> 'candidate' \
                      AND removed = 0";
}

pub(crate) const TABLES: &[Table] = &[Table { name: "learning", columns: "id, last_seq, rules" }];

/// The last message that was read with these rules; 0 if none was.
pub fn cursor(tx: &Tx<'_>, rules: i64) -> Result<i64> {
    let found = tx.first(GET, &[], |row| Ok((row.int(0)?, row.int(1)?)))?;
    Ok(found.filter(|(_, version)| *version == rules).map_or(0, |(last, _)| last))
}

/// Records the last message that was read.
pub fn put_cursor(tx: &Tx<'_>, last: i64, rules: i64) -> Result<()> {
    tx.execute(PUT, &[last.into(), rules.into()]).map(|_| ())
}

/// How many memories were learnt from own words that were said in a span of time, and believed.
pub fn count_believed(tx: &Tx<'_>, from: Timestamp, until: Timestamp) -> Result<i64> {
    tx.one(LEARNT_BETWEEN, &[from.micros().into(), until.micros().into()], |row| row.int(0))
}
