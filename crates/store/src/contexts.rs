//! What a session's context has been through: how often it changed, who is compacting it, which
//! windows were assembled of it, and which messages are pinned into them.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{MessageId, Result, SessionId, Span, Timestamp};

statements! {
    EPOCH = "SELECT epoch, history, reason FROM contexts WHERE session_key = ?1";
    CHANGED = "INSERT INTO contexts (session_key, epoch, history, reason) \
               VALUES (?1, 1, CAST(?3 AS BIGINT), ?2) ON CONFLICT (session_key) DO UPDATE \
               SET epoch = contexts.epoch + 1, history = contexts.history + CAST(?3 AS BIGINT), \
               reason = ?2";
    // A lease much further off than leases last was taken before the clock stepped back; clocks of
    // several machines differ by less.
    LEASE = "INSERT INTO contexts (session_key, epoch, history, reason, holder, lease_until) \
             VALUES (?1, 0, 0, '', ?2, ?3) ON CONFLICT (session_key) DO UPDATE \
             SET holder = ?2, lease_until = ?3 WHERE contexts.holder IS NULL \
             OR contexts.holder = ?2 OR contexts.lease_until <= CAST(?4 AS BIGINT) \
             OR contexts.lease_until > CAST(?5 AS BIGINT)";
    TRIED = "UPDATE contexts SET tried_at = ?2 WHERE session_key = ?1";
    RELEASE = "UPDATE contexts SET holder = NULL, lease_until = NULL \
               WHERE session_key = ?1 AND holder = ?2";
    HOLDER = "SELECT holder FROM contexts WHERE session_key = ?1";
    HOLDS = "SELECT COUNT(*) FROM contexts WHERE session_key = ?1 AND holder = ?2";
    WINDOW = "SELECT epoch, step, first_seq, full_seq, hash FROM windows WHERE session_key = ?1 AND budget = ?2 \
              AND format = ?3";
    SET_WINDOW = "INSERT INTO windows (session_key, budget, format, epoch, step, first_seq, \
              full_seq, hash, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
              ON CONFLICT (session_key, budget, format) DO UPDATE SET epoch = ?4, step = ?5, \
              first_seq = ?6, full_seq = ?7, hash = ?8, at = ?9";
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

/// The tables that belong here.
pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "contexts",
        columns: "session_key, epoch, history, reason, holder, lease_until, tried_at",
    },
    Table {
        name: "windows",
        columns: "session_key, budget, format, epoch, step, first_seq, full_seq, hash, at",
    },
    Table { name: "pins", columns: "session_key, seq, at" },
];

/// How long a compaction is somebody's when they no longer say so.
pub const LEASE_LASTS: Span = Span::seconds(120);

/// No lease that is still good ends later than this.
const FAR_SECONDS: i64 = 900;

/// What has become of a context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Epoch {
    /// How often it has changed.
    pub number: i64,
    /// How often because messages were hidden, shown or removed.
    pub history: i64,
    /// Why it last changed: `compaction`, `history` or `pin`.
    pub reason: String,
}

/// What has become of the context of a session.
pub fn epoch(tx: &Tx<'_>, session_key: i64) -> Result<Epoch> {
    let found = tx.first(EPOCH, &[session_key.into()], |row| {
        Ok(Epoch { number: row.int(0)?, history: row.int(1)?, reason: row.text(2)?.to_owned() })
    })?;
    Ok(found.unwrap_or_default())
}

/// Notes that the context of a session is not what it was.
pub fn changed(tx: &Tx<'_>, session_key: i64, reason: &str) -> Result<()> {
    let history = i64::from(reason == "history");
    tx.execute(CHANGED, &[session_key.into(), reason.into(), history.into()]).map(|_| ())
}

/// Takes or prolongs the right to compact a session; false when somebody else has it.
pub fn lease(tx: &Tx<'_>, session_key: i64, holder: &str, now: Timestamp) -> Result<bool> {
    let until = now.plus(LEASE_LASTS).micros();
    let far = now.plus(Span::seconds(FAR_SECONDS)).micros();
    let values = [session_key.into(), holder.into(), until.into(), now.micros().into(), far.into()];
    Ok(tx.execute(LEASE, &values)? > 0)
}

/// Notes that all was done for a session that is worth it.
pub fn tried(tx: &Tx<'_>, session_key: i64, now: Timestamp) -> Result<()> {
    tx.execute(TRIED, &[session_key.into(), now.micros().into()]).map(|_| ())
}

/// Gives the right back.
pub fn release(tx: &Tx<'_>, session_key: i64, holder: &str) -> Result<()> {
    tx.execute(RELEASE, &[session_key.into(), holder.into()]).map(|_| ())
}

/// Who has the right, or had it and did not give it back.
pub fn holder(tx: &Tx<'_>, session_key: i64) -> Result<Option<String>> {
    let found = tx.first(HOLDER, &[session_key.into()], |row| row.opt_string(0))?;
    Ok(found.flatten())
}

/// Whether the right is still this holder's.
pub fn holds(tx: &Tx<'_>, session_key: i64, holder: &str) -> Result<bool> {
    tx.one(HOLDS, &[session_key.into(), holder.into()], |row| Ok(row.int(0)? > 0))
}

/// What a window of a session depended on when it was last assembled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowMark {
    /// The epoch of the context.
    pub epoch: i64,
    /// How far the cut had moved.
    pub step: i64,
    /// The first message it showed.
    pub first_seq: i64,
    /// The first message it showed in full.
    pub full_seq: i64,
    /// The hash of its stable beginning.
    pub hash: String,
}

/// For which budget and for whom.
pub type WindowKey<'a> = (i64, &'a str);

/// The mark of the window that was last assembled.
pub fn window(tx: &Tx<'_>, session_key: i64, of: WindowKey<'_>) -> Result<Option<WindowMark>> {
    tx.first(WINDOW, &[session_key.into(), of.0.into(), of.1.into()], |row| {
        Ok(WindowMark {
            epoch: row.int(0)?,
            step: row.int(1)?,
            first_seq: row.int(2)?,
            full_seq: row.int(3)?,
            hash: row.text(4)?.to_owned(),
        })
    })
}

/// Keeps the mark of a window.
pub fn set_window(
    tx: &Tx<'_>,
    session_key: i64,
    (of, mark): (WindowKey<'_>, &WindowMark),
    now: Timestamp,
) -> Result<()> {
    let values = [
        session_key.into(),
        of.0.into(),
        of.1.into(),
        mark.epoch.into(),
        mark.step.into(),
        mark.first_seq.into(),
        mark.full_seq.into(),
        mark.hash.as_str().into(),
        now.micros().into(),
    ];
    tx.execute(SET_WINDOW, &values).map(|_| ())
}

/// Pins a message into every window of its session; false when it was.
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
