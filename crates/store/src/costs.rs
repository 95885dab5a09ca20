//! Token counts of messages in a prompt, derived from the messages and stored with running totals per
//! session, so that a window can be cut without reading the messages it leaves out.

use crate::Tx;
use crate::aggregates::Table;
use crate::backend::Row;
use oneiro_model::Result;

macro_rules! columns {
    () => {
        "SELECT c.seq, c.ordinal, c.total, c.tokens, c.short_tokens, c.begins FROM message_costs c "
    };
}

statements! {
    INSERT = "INSERT INTO message_costs (session_key, seq, ordinal, total, tokens, short_tokens, \
              begins) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (session_key, seq) DO NOTHING";
    LAST = concat!(columns!(), "WHERE c.session_key = ?1 ORDER BY c.seq DESC LIMIT 1");
    NEWEST_BETWEEN = concat!(columns!(), "JOIN messages m ON m.seq = c.seq WHERE c.session_key = ?1 \
           AND c.seq > CAST(?2 AS BIGINT) AND c.seq < CAST(?3 AS BIGINT) \
           AND m.rewind = 0 AND m.compacted = 0 ORDER BY c.seq DESC LIMIT CAST(?4 AS BIGINT)");
    OLDEST_BETWEEN = concat!(columns!(), "JOIN messages m ON m.seq = c.seq WHERE c.session_key = ?1 \
           AND c.seq > CAST(?2 AS BIGINT) AND c.seq < CAST(?3 AS BIGINT) \
           AND m.rewind = 0 AND m.compacted = 0 ORDER BY c.seq LIMIT CAST(?4 AS BIGINT)");
    LIVE_SUM = "SELECT COUNT(*), COALESCE(CAST(SUM(c.tokens) AS BIGINT), 0), MIN(c.seq), MAX(c.seq) \
           FROM message_costs c JOIN messages m ON m.seq = c.seq WHERE c.session_key = ?1 \
           AND c.seq > CAST(?2 AS BIGINT) AND c.seq < CAST(?3 AS BIGINT) \
           AND m.rewind = 0 AND m.compacted = 0";
    ENDS = "SELECT (SELECT MIN(seq) FROM message_costs WHERE session_key = ?1 \
           AND seq > CAST(?2 AS BIGINT) AND seq < CAST(?3 AS BIGINT)), \
           (SELECT MAX(seq) FROM message_costs WHERE session_key = ?1 \
           AND seq > CAST(?2 AS BIGINT) AND seq < CAST(?3 AS BIGINT))";
    LAST_TURN = "SELECT c.seq FROM message_costs c JOIN messages m ON m.seq = c.seq \
           WHERE c.session_key = ?1 AND c.begins = 2 AND m.rewind = 0 AND m.compacted = 0 \
           ORDER BY c.seq DESC LIMIT 1";
    GET = concat!(columns!(), "WHERE c.session_key = ?1 AND c.seq = ?2");
    HIDDEN = "SELECT seq FROM messages WHERE session_key = ?1 AND (rewind > 0 OR compacted > 0) \
           LIMIT 1";
    STEP_BEFORE = "SELECT c.seq FROM message_costs c JOIN messages m ON m.seq = c.seq \
           WHERE c.session_key = ?1 AND c.seq <= CAST(?2 AS BIGINT) AND c.begins > 0 \
           AND m.rewind = 0 AND m.compacted = 0 ORDER BY c.seq DESC LIMIT 1";
    SET_BEGINS = "UPDATE message_costs SET begins = ?3 WHERE session_key = ?1 AND seq = ?2";
    REMOVE = "DELETE FROM message_costs WHERE session_key = ?1 AND seq = ?2";
    REMOVE_ALL = "DELETE FROM message_costs WHERE session_key = ?1";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "message_costs",
    columns: "session_key, seq, ordinal, total, tokens, short_tokens, begins",
}];

/// The token count of a message and its place in the session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// The message.
    pub seq: i64,
    /// Its place among all messages of its session, from 1.
    pub ordinal: i64,
    /// Tokens of the session up to and with it, whatever is hidden.
    pub total: i64,
    /// Its tokens.
    pub tokens: i64,
    /// Its tokens in the short form.
    pub short_tokens: i64,
    /// What it begins among the live messages; `Nothing` for a hidden one.
    pub begins: Begins,
}

/// What begins with a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Begins {
    /// Nothing: it belongs to the message before.
    #[default]
    Nothing,
    /// A step, which may come first in a window.
    Step,
    /// A turn: a message of the user.
    Turn,
}

impl Begins {
    fn number(self) -> i64 {
        match self {
            Begins::Nothing => 0,
            Begins::Step => 1,
            Begins::Turn => 2,
        }
    }
}

/// Stores counts; existing ones are kept.
pub fn insert(tx: &Tx<'_>, session_key: i64, costs: &[Cost]) -> Result<()> {
    for cost in costs {
        let values = [
            session_key.into(),
            cost.seq.into(),
            cost.ordinal.into(),
            cost.total.into(),
            cost.tokens.into(),
            cost.short_tokens.into(),
            cost.begins.number().into(),
        ];
        tx.execute(INSERT, &values)?;
    }
    Ok(())
}

/// The last counted message.
pub fn last(tx: &Tx<'_>, session_key: i64) -> Result<Option<Cost>> {
    tx.first(LAST, &[session_key.into()], read)
}

/// The count of one message.
pub fn get(tx: &Tx<'_>, session_key: i64, seq: i64) -> Result<Option<Cost>> {
    tx.first(GET, &[session_key.into(), seq.into()], read)
}

/// The counted live message that begins the newest turn.
pub fn last_turn(tx: &Tx<'_>, session_key: i64) -> Result<Option<i64>> {
    tx.first(LAST_TURN, &[session_key.into()], |row| row.int(0))
}

/// The newest counted live message up to `until` that begins a step or a turn.
pub fn step_before(tx: &Tx<'_>, session_key: i64, until: i64) -> Result<Option<i64>> {
    tx.first(STEP_BEFORE, &[session_key.into(), until.into()], |row| row.int(0))
}

/// Changes what a counted message begins, which depends on the other live messages.
pub fn set_begins(tx: &Tx<'_>, session_key: i64, seq: i64, begins: Begins) -> Result<()> {
    tx.execute(SET_BEGINS, &[session_key.into(), seq.into(), begins.number().into()]).map(|_| ())
}

/// Live messages strictly between two ids, newest first.
pub fn newest_between(
    tx: &Tx<'_>,
    session_key: i64,
    between: (i64, i64),
    limit: usize,
) -> Result<Vec<Cost>> {
    range(tx, NEWEST_BETWEEN, session_key, (between, limit))
}

/// Live messages strictly between two ids, oldest first.
pub fn oldest_between(
    tx: &Tx<'_>,
    session_key: i64,
    between: (i64, i64),
    limit: usize,
) -> Result<Vec<Cost>> {
    range(tx, OLDEST_BETWEEN, session_key, (between, limit))
}

fn range(
    tx: &Tx<'_>,
    sql: &str,
    session_key: i64,
    ((after, before), limit): ((i64, i64), usize),
) -> Result<Vec<Cost>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.all(sql, &[session_key.into(), after.into(), before.into(), limit.into()], read)
}

/// The totals of the live messages in a range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RangeTotals {
    /// How many.
    pub messages: i64,
    /// Their tokens.
    pub tokens: i64,
    /// The first of them.
    pub first: i64,
    /// The last of them.
    pub last: i64,
}

/// Whether a session has hidden messages.
pub fn has_hidden(tx: &Tx<'_>, session_key: i64) -> Result<bool> {
    Ok(tx.first(HIDDEN, &[session_key.into()], |row| row.int(0))?.is_some())
}

/// The totals of the live messages strictly between two ids. Without hidden messages it reads only the
/// first and the last of them.
pub fn totals_between(
    tx: &Tx<'_>,
    session_key: i64,
    between: (i64, i64),
    has_hidden: bool,
) -> Result<RangeTotals> {
    let values = [session_key.into(), between.0.into(), between.1.into()];
    if has_hidden {
        return tx.one(LIVE_SUM, &values, |row| {
            Ok(RangeTotals {
                messages: row.int(0)?,
                tokens: row.int(1)?,
                first: row.opt_int(2)?.unwrap_or(0),
                last: row.opt_int(3)?.unwrap_or(0),
            })
        });
    }
    let ends = tx.one(ENDS, &values, |row| Ok(row.opt_int(0)?.zip(row.opt_int(1)?)))?;
    let Some((first, last)) = ends else { return Ok(RangeTotals::default()) };
    let (Some(a), Some(b)) = (get(tx, session_key, first)?, get(tx, session_key, last)?) else {
        return Ok(RangeTotals::default());
    };
    Ok(RangeTotals {
        messages: b.ordinal - a.ordinal + 1,
        tokens: b.total - a.total + a.tokens,
        first,
        last,
    })
}

/// Removes the count of a message.
pub fn remove(tx: &Tx<'_>, session_key: i64, seq: i64) -> Result<()> {
    tx.execute(REMOVE, &[session_key.into(), seq.into()]).map(|_| ())
}

/// Removes the counts of a session; they are computed again when needed.
pub fn remove_all(tx: &Tx<'_>, session_key: i64) -> Result<()> {
    tx.execute(REMOVE_ALL, &[session_key.into()]).map(|_| ())
}

fn read(row: &dyn Row) -> Result<Cost> {
    Ok(Cost {
        seq: row.int(0)?,
        ordinal: row.int(1)?,
        total: row.int(2)?,
        tokens: row.int(3)?,
        short_tokens: row.int(4)?,
        begins: match row.int(5)? {
            0 => Begins::Nothing,
            1 => Begins::Step,
            _ => Begins::Turn,
        },
    })
}
