//! Messages as a search reads them: by ids, by neighbourhood, by order of the whole space, without
//! the id of their session. Rows are written in `messages`.

use crate::backend::{Row, Value};
use crate::messages::{read_body, visibility};
use crate::{Tx, payloads};
use oneiro_model::{Result, Role, Timestamp, Visibility};
use std::sync::LazyLock;

macro_rules! said {
    () => {
        "SELECT seq, session_key, at, role, external_id, compacted, rewind, payloads, body \
         FROM messages "
    };
}

statements! {
    SAID_AFTER = concat!(said!(), "WHERE seq > ?1 ORDER BY seq LIMIT CAST(?2 AS BIGINT)");
    SAID_BEFORE = concat!(said!(), "WHERE seq < ?1 ORDER BY seq DESC LIMIT CAST(?2 AS BIGINT)");
    SAID_EARLIER = concat!(said!(), "WHERE session_key = ?1 AND seq < ?2 AND rewind = 0 \
        ORDER BY seq DESC LIMIT CAST(?3 AS BIGINT)");
    SAID_LATER = concat!(said!(), "WHERE session_key = ?1 AND seq > ?2 AND rewind = 0 \
        ORDER BY seq LIMIT CAST(?3 AS BIGINT)");
    SEQS_BETWEEN = "SELECT seq FROM messages WHERE seq >= ?1 AND seq <= ?2 ORDER BY seq";
    COUNT_BETWEEN = "SELECT COUNT(*) FROM messages WHERE seq >= ?1 AND seq <= ?2";
    SEQS_EARLIER = "SELECT seq FROM messages WHERE session_key = ?1 AND seq < CAST(?2 AS BIGINT) \
        AND (CAST(?3 AS BIGINT) = 1 OR (rewind = 0 AND compacted = 0)) \
        ORDER BY seq DESC LIMIT CAST(?4 AS BIGINT)";
    SEQS_LATER = "SELECT seq FROM messages WHERE session_key = ?1 AND seq > CAST(?2 AS BIGINT) \
        AND rewind = 0 ORDER BY seq LIMIT CAST(?3 AS BIGINT)";
    LAST = "SELECT COALESCE(MAX(seq), 0) FROM messages";
}

/// The ids before one in its session, nearest first; with `hidden` of compacted and rewound
/// messages too.
pub fn seqs_earlier(tx: &Tx<'_>, at: (i64, i64), hidden: bool, limit: usize) -> Result<Vec<i64>> {
    let values = [at.0.into(), at.1.into(), i64::from(hidden).into(), (limit as i64).into()];
    tx.all(SEQS_EARLIER, &values, |row| row.int(0))
}

/// The ids after one in its session that are not rewound, nearest first.
pub fn seqs_later(tx: &Tx<'_>, at: (i64, i64), limit: usize) -> Result<Vec<i64>> {
    tx.all(SEQS_LATER, &[at.0.into(), at.1.into(), (limit as i64).into()], |row| row.int(0))
}

/// Ids to a statement.
const ROWS: usize = 32;

/// The rows of up to [`ROWS`] ids.
static SAID: LazyLock<String> = LazyLock::new(|| {
    let marks: Vec<String> = (1..=ROWS).map(|mark| format!("?{mark}")).collect();
    format!("{}WHERE seq IN ({})", said!(), marks.join(", "))
});

/// The select of many rows, for the test that prepares every statement.
pub fn said_sql() -> &'static str {
    &SAID
}

/// A message as a search reads it: without the id of its session.
#[derive(Debug, Clone)]
pub struct Said {
    /// Its id.
    pub seq: i64,
    /// The key of its session.
    pub session_key: i64,
    /// When it was said.
    pub at: Timestamp,
    /// Who spoke.
    pub role: Role,
    /// The caller's id.
    pub external_id: Option<String>,
    /// Where it stands.
    pub visibility: Visibility,
    /// Every other field.
    pub body: serde_json::Map<String, serde_json::Value>,
}

/// The messages among `seqs` that exist, in no order.
pub fn said(tx: &Tx<'_>, seqs: &[i64]) -> Result<Vec<Said>> {
    let mut found = Vec::with_capacity(seqs.len());
    for some in seqs.chunks(ROWS) {
        let padding = some.last().copied().unwrap_or_default();
        let values = some.iter().copied().chain(std::iter::repeat(padding)).take(ROWS);
        let values: Vec<Value<'_>> = values.map(Value::Int).collect();
        found.append(&mut tx.all(&SAID, &values, read_said)?);
    }
    found.into_iter().map(|row| complete_said(tx, row)).collect()
}

/// Messages of the whole space after an id, oldest first.
pub fn said_after(tx: &Tx<'_>, after: i64, limit: usize) -> Result<Vec<Said>> {
    said_by(tx, SAID_AFTER, &[after.into(), (limit as i64).into()])
}

/// Messages of the whole space before an id, newest first.
pub fn said_before(tx: &Tx<'_>, before: i64, limit: usize) -> Result<Vec<Said>> {
    said_by(tx, SAID_BEFORE, &[before.into(), (limit as i64).into()])
}

/// Messages of a session before an id that are not rewound, newest first.
pub fn said_earlier(tx: &Tx<'_>, session_key: i64, seq: i64, limit: usize) -> Result<Vec<Said>> {
    said_by(tx, SAID_EARLIER, &[session_key.into(), seq.into(), (limit as i64).into()])
}

/// Messages of a session after an id that are not rewound, oldest first.
pub fn said_later(tx: &Tx<'_>, session_key: i64, seq: i64, limit: usize) -> Result<Vec<Said>> {
    said_by(tx, SAID_LATER, &[session_key.into(), seq.into(), (limit as i64).into()])
}

/// Which ids of a range exist.
pub fn seqs_between(tx: &Tx<'_>, first: i64, last: i64) -> Result<Vec<i64>> {
    tx.all(SEQS_BETWEEN, &[first.into(), last.into()], |row| row.int(0))
}

/// How many messages of a range exist.
pub fn count_between(tx: &Tx<'_>, first: i64, last: i64) -> Result<i64> {
    tx.one(COUNT_BETWEEN, &[first.into(), last.into()], |row| row.int(0))
}

/// The highest id of the space.
pub fn last(tx: &Tx<'_>) -> Result<i64> {
    tx.one(LAST, &[], |row| row.int(0))
}

fn said_by(tx: &Tx<'_>, sql: &str, values: &[Value<'_>]) -> Result<Vec<Said>> {
    let rows = tx.all(sql, values, read_said)?;
    rows.into_iter().map(|row| complete_said(tx, row)).collect()
}

fn read_said(row: &dyn Row) -> Result<(Said, i64)> {
    let said = Said {
        seq: row.int(0)?,
        session_key: row.int(1)?,
        at: Timestamp::from_micros(row.int(2)?),
        role: Role::parse(row.text(3)?)?,
        external_id: row.opt_string(4)?,
        visibility: visibility(row.int(5)?, row.int(6)?),
        body: read_body(row.int(0)?, row.text(8)?)?,
    };
    Ok((said, row.int(7)?))
}

fn complete_said(tx: &Tx<'_>, (mut said, apart): (Said, i64)) -> Result<Said> {
    if apart > 0 {
        payloads::join(tx, said.seq, &mut said.body)?;
    }
    Ok(said)
}
