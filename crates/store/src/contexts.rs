//! State of the context of a session: its epoch, the lease of the process that compacts it, the
//! last window of each size, and pinned messages.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{MessageId, Result, SessionId, Span, Timestamp};

statements! {
    EPOCH = "SELECT epoch, history, reason FROM contexts WHERE session_key = ?1";
    RECORD_CHANGE = "INSERT INTO contexts (session_key, epoch, history, reason) \
               VALUES (?1, 1, CAST(?3 AS BIGINT), ?2) ON CONFLICT (session_key) DO UPDATE \
               SET epoch = contexts.epoch + 1, history = contexts.history + CAST(?3 AS BIGINT), \
               reason = ?2";
    // A lease that ends far in the future was taken before the clock was set back; the clocks of
    // different machines differ by less.
    ACQUIRE_LEASE = "INSERT INTO contexts (session_key, epoch, history, reason, holder, lease_until) \
             VALUES (?1, 0, 0, '', ?2, ?3) ON CONFLICT (session_key) DO UPDATE \
             SET holder = ?2, lease_until = ?3 WHERE contexts.holder IS NULL \
             OR contexts.holder = ?2 OR contexts.lease_until <= CAST(?4 AS BIGINT) \
             OR contexts.lease_until > CAST(?5 AS BIGINT)";
    RECORD_ATTEMPT = "UPDATE contexts SET tried_at = ?2 WHERE session_key = ?1";
    RELEASE_LEASE = "UPDATE contexts SET holder = NULL, lease_until = NULL \
               WHERE session_key = ?1 AND holder = ?2";
    LEASE_HOLDER = "SELECT holder FROM contexts WHERE session_key = ?1";
    HOLDS_LEASE = "SELECT COUNT(*) FROM contexts WHERE session_key = ?1 AND holder = ?2";
    WINDOW = "SELECT epoch, history, first_seq, full_seq, frontier, omits, hash FROM windows \
              WHERE session_key = ?1 AND format = ?2 AND budget >= CAST(?3 AS BIGINT) \
              AND budget <= CAST(?4 AS BIGINT) ORDER BY at DESC, ABS(budget - CAST(?5 AS BIGINT)) \
              LIMIT 1";
    // The last window is found by its time, also when the clock stands still.
    SET_WINDOW = "INSERT INTO windows (session_key, budget, format, epoch, history, first_seq, \
              full_seq, frontier, omits, hash, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
              COALESCE((SELECT MAX(w.at) + 1 FROM windows w WHERE w.session_key = ?1 \
              AND w.at >= CAST(?11 AS BIGINT)), ?11)) \
              ON CONFLICT (session_key, budget, format) DO UPDATE SET epoch = ?4, history = ?5, \
              first_seq = ?6, full_seq = ?7, frontier = ?8, omits = ?9, hash = ?10, at = excluded.at";
    FRONTIERS = "SELECT frontier FROM windows WHERE session_key = ?1";
    PIN = "INSERT INTO pins (seq, session_key, at) VALUES (?1, ?2, ?3) \
           ON CONFLICT (session_key, seq) DO NOTHING";
    UNPIN = "DELETE FROM pins WHERE seq = ?1 AND session_key = ?2";
    PINNED = "SELECT p.seq FROM pins p JOIN messages m ON m.seq = p.seq \
              WHERE p.session_key = ?1 AND m.rewind = 0 ORDER BY p.seq";
    IDLE = "SELECT s.id FROM sessions s LEFT JOIN contexts c ON c.session_key = s.key \
            WHERE s.active_minute > CAST(?1 AS BIGINT) AND s.active_minute <= CAST(?2 AS BIGINT) \
            AND s.message_count > 0 \
            AND (c.tried_at IS NULL OR c.tried_at < s.last_active_at) \
            ORDER BY s.active_minute LIMIT CAST(?3 AS BIGINT)";
}

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "contexts",
        columns: "session_key, epoch, history, reason, holder, lease_until, tried_at",
    },
    Table {
        name: "windows",
        columns: "session_key, budget, format, epoch, history, first_seq, full_seq, frontier, \
                  omits, hash, at",
    },
    Table { name: "pins", columns: "session_key, seq, at" },
];

/// How long a compaction lease lasts unless it is renewed.
pub const LEASE_DURATION: Span = Span::seconds(120);

/// The longest valid lease; a later one was set by a wrong clock.
const MAX_LEASE: Span = Span::seconds(900);

/// Budgets that differ by less than a sixteenth are of the same window.
const SAME_WINDOW_PARTS: i64 = 16;

/// Counts the changes of a context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Epoch {
    /// The number of changes.
    pub number: i64,
    /// How many of them because messages were hidden, restored or removed.
    pub history: i64,
    /// Why it last changed: `compaction`, `history` or `pin`.
    pub reason: String,
}

/// The epoch of the context of a session.
pub fn epoch(tx: &Tx<'_>, session_key: i64) -> Result<Epoch> {
    let found = tx.first(EPOCH, &[session_key.into()], |row| {
        Ok(Epoch { number: row.int(0)?, history: row.int(1)?, reason: row.text(2)?.to_owned() })
    })?;
    Ok(found.unwrap_or_default())
}

/// Records a change of the context of a session.
pub fn record_change(tx: &Tx<'_>, session_key: i64, reason: &str) -> Result<()> {
    let history = i64::from(reason == "history");
    tx.execute(RECORD_CHANGE, &[session_key.into(), reason.into(), history.into()]).map(|_| ())
}

/// Acquires or renews the lease to compact a session; false if another holder has it.
pub fn acquire_lease(tx: &Tx<'_>, session_key: i64, holder: &str, now: Timestamp) -> Result<bool> {
    let until = now.plus(LEASE_DURATION).micros();
    let far = now.plus(MAX_LEASE).micros();
    let values = [session_key.into(), holder.into(), until.into(), now.micros().into(), far.into()];
    Ok(tx.execute(ACQUIRE_LEASE, &values)? > 0)
}

/// Records that a compaction of a session was attempted.
pub fn record_attempt(tx: &Tx<'_>, session_key: i64, now: Timestamp) -> Result<()> {
    tx.execute(RECORD_ATTEMPT, &[session_key.into(), now.micros().into()]).map(|_| ())
}

/// Releases the lease of a holder.
pub fn release_lease(tx: &Tx<'_>, session_key: i64, holder: &str) -> Result<()> {
    tx.execute(RELEASE_LEASE, &[session_key.into(), holder.into()]).map(|_| ())
}

/// The last holder of the lease that did not release it.
pub fn lease_holder(tx: &Tx<'_>, session_key: i64) -> Result<Option<String>> {
    let found = tx.first(LEASE_HOLDER, &[session_key.into()], |row| row.opt_string(0))?;
    Ok(found.flatten())
}

/// Whether the lease still belongs to this holder.
pub fn holds_lease(tx: &Tx<'_>, session_key: i64, holder: &str) -> Result<bool> {
    tx.one(HOLDS_LEASE, &[session_key.into(), holder.into()], |row| Ok(row.int(0)? > 0))
}

/// What the last window of a session depended on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowMark {
    /// The epoch of the context.
    pub epoch: i64,
    /// How many of the changes before it were of history.
    pub history: i64,
    /// The first message it showed.
    pub first_seq: i64,
    /// The first message it showed in full.
    pub full_seq: i64,
    /// The keys of the summaries it showed, oldest first; negative for those without their text.
    pub frontier: Vec<i64>,
    /// Whether messages were left out that no summary covers.
    pub omits: bool,
    /// The hash of its stable beginning.
    pub hash: String,
}

/// The budget and the format of a window.
pub type WindowKey<'a> = (i64, &'a str);

/// The mark of the last window of this budget or one very near: hosts compute what they reserve
/// again for every prompt.
pub fn window(
    tx: &Tx<'_>,
    session_key: i64,
    (budget, format): WindowKey<'_>,
) -> Result<Option<WindowMark>> {
    let near = budget / SAME_WINDOW_PARTS;
    let (least, most) = (budget - near, budget + near);
    let values = [session_key.into(), format.into(), least.into(), most.into(), budget.into()];
    tx.first(WINDOW, &values, |row| {
        Ok(WindowMark {
            epoch: row.int(0)?,
            history: row.int(1)?,
            first_seq: row.int(2)?,
            full_seq: row.int(3)?,
            frontier: keys_from_text(row.text(4)?),
            omits: row.int(5)? != 0,
            hash: row.text(6)?.to_owned(),
        })
    })
}

/// Stores the mark of a window.
pub fn set_window(
    tx: &Tx<'_>,
    session_key: i64,
    (of, mark): (WindowKey<'_>, &WindowMark),
    now: Timestamp,
) -> Result<()> {
    let frontier: Vec<String> = mark.frontier.iter().map(i64::to_string).collect();
    let frontier = frontier.join(" ");
    let values = [
        session_key.into(),
        of.0.into(),
        of.1.into(),
        mark.epoch.into(),
        mark.history.into(),
        mark.first_seq.into(),
        mark.full_seq.into(),
        frontier.as_str().into(),
        i64::from(mark.omits).into(),
        mark.hash.as_str().into(),
        now.micros().into(),
    ];
    tx.execute(SET_WINDOW, &values).map(|_| ())
}

/// The keys of the summaries that the last windows of a session showed.
pub fn marked_summaries(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    let frontiers =
        tx.all(FRONTIERS, &[session_key.into()], |row| Ok(keys_from_text(row.text(0)?)))?;
    Ok(frontiers.into_iter().flatten().map(i64::abs).collect())
}

/// Keys as a mark stores them, separated by spaces.
fn keys_from_text(text: &str) -> Vec<i64> {
    text.split(' ').filter_map(|key| key.parse().ok()).collect()
}

/// Pins a message; false if it was already pinned.
pub fn pin(tx: &Tx<'_>, session_key: i64, id: MessageId, now: Timestamp) -> Result<bool> {
    Ok(tx.execute(PIN, &[id.0.into(), session_key.into(), now.micros().into()])? > 0)
}

/// Unpins a message; false when it was not pinned.
pub fn unpin(tx: &Tx<'_>, session_key: i64, id: MessageId) -> Result<bool> {
    Ok(tx.execute(UNPIN, &[id.0.into(), session_key.into()])? > 0)
}

/// The pinned messages of a session that are not rewound.
pub fn pinned(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    tx.all(PINNED, &[session_key.into()], |row| row.int(0))
}

/// Sessions last active within these minutes that were not compacted since.
pub fn idle(tx: &Tx<'_>, minutes: (i64, i64), limit: usize) -> Result<Vec<SessionId>> {
    let values = [minutes.0.into(), minutes.1.into(), (limit as i64).into()];
    tx.all(IDLE, &values, |row| SessionId::new(row.text(0)?))
}
