//! Reads messages for search: by id, around an id, and in the order of the space. They have the key of
//! their session instead of its id, which saves a join. `messages` writes the rows.

use crate::backend::{Row, Value};
use crate::messages::{read_body, visibility};
use crate::{Tx, payloads};
use oneiro_model::{Result, Role, Timestamp, Visibility};
use std::sync::LazyLock;

macro_rules! select_rows {
    () => {
        "SELECT seq, session_key, at, role, external_id, compacted, rewind, payloads, body \
         FROM messages "
    };
}

statements! {
    ROWS_AFTER = concat!(select_rows!(), "WHERE seq > ?1 ORDER BY seq LIMIT CAST(?2 AS BIGINT)");
    ROWS_BEFORE = concat!(select_rows!(), "WHERE seq < ?1 ORDER BY seq DESC LIMIT CAST(?2 AS BIGINT)");
    SESSION_ROWS_BEFORE = concat!(select_rows!(), "WHERE session_key = ?1 AND seq < ?2 AND rewind = 0 \
        ORDER BY seq DESC LIMIT CAST(?3 AS BIGINT)");
    SESSION_ROWS_AFTER = concat!(select_rows!(), "WHERE session_key = ?1 AND seq > ?2 AND rewind = 0 \
        ORDER BY seq LIMIT CAST(?3 AS BIGINT)");
    USER_ROWS_BEFORE = concat!(select_rows!(), "WHERE seq < ?1 AND role = 'user' AND rewind = 0 \
        ORDER BY seq DESC LIMIT CAST(?2 AS BIGINT)");
    SESSION_USER_ROWS_BEFORE = concat!(select_rows!(), "WHERE seq < ?1 AND session_key = ?3 \
        AND role = 'user' AND rewind = 0 ORDER BY seq DESC LIMIT CAST(?2 AS BIGINT)");
    IDS_BETWEEN = "SELECT seq FROM messages WHERE seq >= ?1 AND seq <= ?2 ORDER BY seq";
    COUNT_BETWEEN = "SELECT COUNT(*) FROM messages WHERE seq >= ?1 AND seq <= ?2";
    SESSION_IDS_BEFORE = "SELECT seq FROM messages WHERE session_key = ?1 AND seq < CAST(?2 AS BIGINT) \
        AND (CAST(?3 AS BIGINT) = 1 OR (rewind = 0 AND compacted = 0)) \
        ORDER BY seq DESC LIMIT CAST(?4 AS BIGINT)";
    SESSION_IDS_AFTER = "SELECT seq FROM messages WHERE session_key = ?1 AND seq > CAST(?2 AS BIGINT) \
        AND rewind = 0 ORDER BY seq LIMIT CAST(?3 AS BIGINT)";
    LAST_ID = "SELECT COALESCE(MAX(seq), 0) FROM messages";
}

/// How many ids one statement selects.
const IDS_PER_SELECT: usize = 32;

/// Selects the rows of up to [`IDS_PER_SELECT`] ids.
static ROWS_BY_ID: LazyLock<String> = LazyLock::new(|| {
    let parameters: Vec<String> = (1..=IDS_PER_SELECT).map(|number| format!("?{number}")).collect();
    format!("{}WHERE seq IN ({})", select_rows!(), parameters.join(", "))
});

/// The statement of [`by_ids`], for the test that prepares every statement.
pub fn rows_by_id_sql() -> &'static str {
    &ROWS_BY_ID
}

/// A message with the key of its session.
#[derive(Debug, Clone)]
pub struct MessageRow {
    /// The message id.
    pub seq: i64,
    /// The key of the session.
    pub session_key: i64,
    /// When it was said.
    pub at: Timestamp,
    /// The role of the speaker.
    pub role: Role,
    /// The caller's id.
    pub external_id: Option<String>,
    /// Live, compacted or rewound.
    pub visibility: Visibility,
    /// The remaining fields.
    pub body: serde_json::Map<String, serde_json::Value>,
}

/// Which messages of a session [`session_ids_before`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Include {
    /// Live messages.
    Live,
    /// Compacted and rewound messages too.
    All,
}

/// A place in a session: before or after message `seq`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The key of the session.
    pub session_key: i64,
    /// A message id, which need not exist.
    pub seq: i64,
}

impl Position {
    /// After the last message of a session.
    pub fn end(session_key: i64) -> Position {
        Position { session_key, seq: i64::MAX }
    }
}

/// The existing messages among `seqs`, in any order.
pub fn by_ids(tx: &Tx<'_>, seqs: &[i64]) -> Result<Vec<MessageRow>> {
    let mut rows = Vec::with_capacity(seqs.len());
    for chunk in seqs.chunks(IDS_PER_SELECT) {
        // The statement has a fixed number of parameters; the last id fills the rest.
        let padding = chunk.last().copied().unwrap_or_default();
        let values = chunk.iter().copied().chain(std::iter::repeat(padding)).take(IDS_PER_SELECT);
        let values: Vec<Value<'_>> = values.map(Value::Int).collect();
        rows.append(&mut tx.all(&ROWS_BY_ID, &values, read)?);
    }
    rows.into_iter().map(|row| join_payloads(tx, row)).collect()
}

/// The ids of a session before a position, nearest first.
pub fn session_ids_before(
    tx: &Tx<'_>,
    at: Position,
    include: Include,
    limit: usize,
) -> Result<Vec<i64>> {
    let all = i64::from(include == Include::All);
    let values = [at.session_key.into(), at.seq.into(), all.into(), (limit as i64).into()];
    tx.all(SESSION_IDS_BEFORE, &values, |row| row.int(0))
}

/// The ids of a session after a position that are not rewound, nearest first.
pub fn session_ids_after(tx: &Tx<'_>, at: Position, limit: usize) -> Result<Vec<i64>> {
    let values = [at.session_key.into(), at.seq.into(), (limit as i64).into()];
    tx.all(SESSION_IDS_AFTER, &values, |row| row.int(0))
}

/// Messages of the space after an id, oldest first.
pub fn after(tx: &Tx<'_>, after: i64, limit: usize) -> Result<Vec<MessageRow>> {
    select(tx, ROWS_AFTER, &[after.into(), (limit as i64).into()])
}

/// Messages of the space before an id, newest first.
pub fn before(tx: &Tx<'_>, before: i64, limit: usize) -> Result<Vec<MessageRow>> {
    select(tx, ROWS_BEFORE, &[before.into(), (limit as i64).into()])
}

/// Messages of users before an id that are not rewound, of one session or of all, newest first.
pub fn of_users_before(
    tx: &Tx<'_>,
    session_key: Option<i64>,
    before: i64,
    limit: usize,
) -> Result<Vec<MessageRow>> {
    let (before, limit) = (before.into(), (limit as i64).into());
    match session_key {
        Some(key) => select(tx, SESSION_USER_ROWS_BEFORE, &[before, limit, key.into()]),
        None => select(tx, USER_ROWS_BEFORE, &[before, limit]),
    }
}

/// Messages of a session before an id that are not rewound, newest first.
pub fn session_before(
    tx: &Tx<'_>,
    session_key: i64,
    seq: i64,
    limit: usize,
) -> Result<Vec<MessageRow>> {
    select(tx, SESSION_ROWS_BEFORE, &[session_key.into(), seq.into(), (limit as i64).into()])
}

/// Messages of a session after an id that are not rewound, oldest first.
pub fn session_after(
    tx: &Tx<'_>,
    session_key: i64,
    seq: i64,
    limit: usize,
) -> Result<Vec<MessageRow>> {
    select(tx, SESSION_ROWS_AFTER, &[session_key.into(), seq.into(), (limit as i64).into()])
}

/// The existing ids of a range, ends included.
pub fn ids_between(tx: &Tx<'_>, first: i64, last: i64) -> Result<Vec<i64>> {
    tx.all(IDS_BETWEEN, &[first.into(), last.into()], |row| row.int(0))
}

/// How many messages of a range exist, ends included.
pub fn count_between(tx: &Tx<'_>, first: i64, last: i64) -> Result<i64> {
    tx.one(COUNT_BETWEEN, &[first.into(), last.into()], |row| row.int(0))
}

/// The highest id of the space.
pub fn last_id(tx: &Tx<'_>) -> Result<i64> {
    tx.one(LAST_ID, &[], |row| row.int(0))
}

fn select(tx: &Tx<'_>, sql: &str, values: &[Value<'_>]) -> Result<Vec<MessageRow>> {
    let rows = tx.all(sql, values, read)?;
    rows.into_iter().map(|row| join_payloads(tx, row)).collect()
}

/// A row, and how many of its values are stored as payloads.
fn read(row: &dyn Row) -> Result<(MessageRow, i64)> {
    let message = MessageRow {
        seq: row.int(0)?,
        session_key: row.int(1)?,
        at: Timestamp::from_micros(row.int(2)?),
        role: Role::parse(row.text(3)?)?,
        external_id: row.opt_string(4)?,
        visibility: visibility(row.int(5)?, row.int(6)?),
        body: read_body(row.int(0)?, row.text(8)?)?,
    };
    Ok((message, row.int(7)?))
}

fn join_payloads(tx: &Tx<'_>, (mut row, payloads): (MessageRow, i64)) -> Result<MessageRow> {
    if payloads > 0 {
        payloads::join(tx, row.seq, &mut row.body)?;
    }
    Ok(row)
}
