//! Messages: immutable rows. An append assigns ids; later only the visibility of a message changes, and
//! only deletion and erasure remove it.

use crate::aggregates::Table;
use crate::backend::{Row, Value};
use crate::{SessionRef, Tx, payloads, sequence};
pub use oneiro_model::host::PageRequest;
use oneiro_model::{
    Error, ErrorKind, Message, MessageId, NewMessage, Result, Role, SessionId, Timestamp,
    Visibility,
};
use std::sync::LazyLock;

macro_rules! insert {
    () => {
        "INSERT INTO messages (seq, session_key, at, role, external_id, compacted, rewind, \
         tool_calls, payloads, body) VALUES "
    };
}
macro_rules! skip_duplicates {
    () => {
        " ON CONFLICT (session_key, external_id) WHERE external_id IS NOT NULL DO NOTHING"
    };
}
macro_rules! columns {
    () => {
        "SELECT seq, at, role, external_id, compacted, rewind, payloads, body FROM messages "
    };
}

statements! {
    INSERT = concat!(insert!(), "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", skip_duplicates!());
    BY_EXTERNAL_ID = "SELECT seq FROM messages WHERE session_key = ?1 AND external_id = ?2";
    PAGE = concat!(columns!(), "WHERE session_key = ?1 AND seq > CAST(?2 AS BIGINT) \
        AND (CAST(?3 AS BIGINT) = 1 OR (rewind = 0 AND compacted = 0)) \
        ORDER BY seq LIMIT CAST(?4 AS BIGINT)");
    BETWEEN = concat!(columns!(), "WHERE session_key = ?1 AND seq > CAST(?2 AS BIGINT) \
        AND seq < CAST(?3 AS BIGINT) AND rewind = 0 AND compacted = 0 ORDER BY seq");
    LIVE_BETWEEN = "SELECT seq FROM messages WHERE session_key = ?1 AND seq >= CAST(?2 AS BIGINT) \
        AND seq <= CAST(?3 AS BIGINT) AND rewind = 0 AND compacted = 0 ORDER BY seq";
    GET = concat!(columns!(), "WHERE seq = ?1");
    SESSION_OF = "SELECT s.key, s.id FROM messages m JOIN sessions s ON s.key = m.session_key \
                  WHERE m.seq = ?1";
    REWOUND = "SELECT seq, rewind, compacted FROM messages WHERE session_key = ?1 AND rewind > 0 \
               ORDER BY seq";
    REMOVE = "DELETE FROM messages WHERE seq = ?1";
    LIVE_SEQS = "SELECT seq FROM messages WHERE session_key = ?1 AND rewind = 0 \
                 AND seq <= CAST(?2 AS BIGINT) ORDER BY seq";
    COPY = "INSERT INTO messages (seq, session_key, at, role, external_id, compacted, \
        rewind, tool_calls, payloads, body) SELECT CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), at, \
        role, external_id, compacted, rewind, tool_calls, payloads, body FROM messages WHERE seq = ?1 \
        RETURNING payloads";
    COUNT_OF_SESSION = "SELECT COUNT(*) FROM messages WHERE session_key = ?1";
    COUNT = "SELECT COUNT(*) FROM messages";
    FIRST_OF_SESSION = "SELECT MIN(seq) FROM messages WHERE session_key = ?1";
    SEQ_AT = "SELECT seq FROM messages WHERE session_key = ?1 ORDER BY seq LIMIT 1 \
              OFFSET CAST(?2 AS BIGINT)";
    SEQS_OF_SESSION = "SELECT seq FROM messages WHERE session_key = ?1";
    STORED = "SELECT body, external_id FROM messages";
    STORED_OF_SESSION = "SELECT body, external_id FROM messages WHERE session_key = ?1";
    STORED_OF_MESSAGE = "SELECT body, external_id FROM messages WHERE seq = ?1";
    RECENT_USER = concat!(columns!(), "WHERE session_key = ?1 AND rewind = 0 AND compacted = 0 \
        AND role = 'user' ORDER BY seq DESC LIMIT CAST(?2 AS BIGINT)");
    RECENT_ASSISTANT = concat!(columns!(), "WHERE session_key = ?1 AND role = 'assistant' \
        ORDER BY seq DESC LIMIT CAST(?2 AS BIGINT)");
}

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "messages",
        columns: "seq, session_key, at, role, external_id, compacted, rewind, tool_calls, payloads, \
                  body",
    },
    Table { name: "message_payloads", columns: "seq, pointer, payload_key" },
];

/// Rows of [`INSERT_MANY`].
const ROWS_PER_INSERT: usize = 32;

/// [`INSERT`] for [`ROWS_PER_INSERT`] rows; returns the ids of the new ones.
static INSERT_MANY: LazyLock<String> = LazyLock::new(|| {
    let row = |n: usize| {
        let marks: Vec<String> = (1..=10).map(|mark| format!("?{}", n * 10 + mark)).collect();
        format!("({})", marks.join(", "))
    };
    let rows: Vec<String> = (0..ROWS_PER_INSERT).map(row).collect();
    format!("{}{}{} RETURNING seq", insert!(), rows.join(", "), skip_duplicates!())
});

/// The multi-row insert, for the test that prepares every statement.
pub fn insert_many_sql() -> &'static str {
    &INSERT_MANY
}

/// A message that is ready to insert: serialised and compressed outside the transaction.
#[derive(Debug, Clone)]
pub struct Prepared {
    role: Role,
    at: Timestamp,
    external_id: Option<String>,
    compacted: bool,
    rewind: i64,
    tool_calls: i64,
    repaired: i64,
    split: payloads::Split,
}

/// Prepares a message for [`insert`]; `now` is its time unless it has one.
pub fn prepare(message: NewMessage, now: Timestamp) -> Result<Prepared> {
    message.check()?;
    let tool_calls = message.calls_made() as i64;
    let limit = if message.role.is_instructions() {
        payloads::MAX_INLINE_INSTRUCTION_BYTES
    } else {
        payloads::MAX_INLINE_BYTES
    };
    Ok(Prepared {
        at: message.at.unwrap_or(now),
        external_id: message.external_id,
        compacted: message.visibility == Visibility::Compacted,
        rewind: i64::from(message.visibility == Visibility::Rewound),
        tool_calls,
        repaired: message.repaired as i64,
        split: payloads::split(message.body, limit)?,
        role: message.role,
    })
}

impl Prepared {
    /// Marks the message as rewound, as it was in the store it comes from.
    pub fn was_rewound(&mut self, rewound: &RewoundRow) {
        self.rewind = rewound.rewind.max(1);
        self.compacted = rewound.compacted;
    }
}

/// A rewound message in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct RewoundRow {
    /// Its id.
    pub message: i64,
    /// The number of the rewind that hid it.
    pub rewind: i64,
    /// Whether it was compacted before.
    pub compacted: bool,
}

/// The rewound messages of a session, oldest first.
pub fn rewound(tx: &Tx<'_>, session_key: i64) -> Result<Vec<RewoundRow>> {
    tx.all(REWOUND, &[session_key.into()], |row| {
        Ok(RewoundRow { message: row.int(0)?, rewind: row.int(1)?, compacted: row.int(2)? != 0 })
    })
}

/// The result of [`insert`].
#[derive(Debug, Clone, Default)]
pub struct Inserted {
    /// The id of each message, in order; a duplicate has the id of the stored message.
    pub seqs: Vec<i64>,
    /// How many were already stored.
    pub duplicates: usize,
    /// What the new ones add to the counters of their session.
    pub added: Added,
}

/// What new messages add to the counters of their session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Added {
    /// Messages that are not rewound.
    pub messages: i64,
    /// Tool calls in them.
    pub tool_calls: i64,
    /// The latest time among all new messages.
    pub last_at: Option<Timestamp>,
    /// The first user message among them.
    pub first_user_seq: Option<i64>,
    /// Lone surrogates that were replaced.
    pub repaired: i64,
}

impl Added {
    fn add(&mut self, seq: i64, message: &Prepared) {
        self.repaired += message.repaired;
        self.last_at = self.last_at.max(Some(message.at));
        if message.rewind > 0 {
            return;
        }
        self.messages += 1;
        self.tool_calls += message.tool_calls;
        if message.role == Role::User {
            self.first_user_seq = self.first_user_seq.or(Some(seq));
        }
    }
}

/// Inserts messages with ids from `first` on; skips those whose external id is already stored.
pub fn insert(
    tx: &Tx<'_>,
    session_key: i64,
    first: i64,
    messages: &[Prepared],
) -> Result<Inserted> {
    let mut inserted = Inserted { seqs: Vec::with_capacity(messages.len()), ..Inserted::default() };
    let mut first = first;
    for chunk in messages.chunks(ROWS_PER_INSERT) {
        let is_new = insert_chunk(tx, session_key, first, chunk)?;
        for (message, (seq, is_new)) in chunk.iter().zip((first..).zip(is_new)) {
            if is_new {
                payloads::attach(tx, seq, &message.split.payloads)?;
                inserted.added.add(seq, message);
                inserted.seqs.push(seq);
            } else {
                let external_id = message.external_id.as_deref();
                let key = [session_key.into(), external_id.into()];
                inserted.seqs.push(tx.one(BY_EXTERNAL_ID, &key, |row| row.int(0))?);
                inserted.duplicates += 1;
            }
        }
        first += chunk.len() as i64;
    }
    Ok(inserted)
}

/// Inserts up to [`ROWS_PER_INSERT`] messages; returns for each whether it is new.
fn insert_chunk(
    tx: &Tx<'_>,
    session_key: i64,
    first: i64,
    chunk: &[Prepared],
) -> Result<Vec<bool>> {
    if chunk.len() == ROWS_PER_INSERT && tx.rows_per_insert() >= ROWS_PER_INSERT {
        let values: Vec<Value<'_>> = chunk
            .iter()
            .zip(first..)
            .flat_map(|(message, seq)| row(session_key, seq, message))
            .collect();
        let mut is_new = vec![false; ROWS_PER_INSERT];
        tx.each(&INSERT_MANY, &values, |row| {
            let index = usize::try_from(row.int(0)? - first).unwrap_or(usize::MAX);
            if let Some(slot) = is_new.get_mut(index) {
                *slot = true;
            }
            Ok(())
        })?;
        return Ok(is_new);
    }
    let insert = |(message, seq)| Ok(tx.execute(INSERT, &row(session_key, seq, message))? == 1);
    chunk.iter().zip(first..).map(insert).collect()
}

fn row(session_key: i64, seq: i64, message: &Prepared) -> [Value<'_>; 10] {
    [
        seq.into(),
        session_key.into(),
        message.at.micros().into(),
        message.role.as_str().into(),
        message.external_id.as_deref().into(),
        i64::from(message.compacted).into(),
        message.rewind.into(),
        message.tool_calls.into(),
        (message.split.payloads.len() as i64).into(),
        message.split.body.as_str().into(),
    ]
}

/// Messages of a session, oldest first.
pub fn page(tx: &Tx<'_>, session: SessionRef<'_>, request: PageRequest) -> Result<Vec<Message>> {
    let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
    let values =
        [session.key.into(), request.after.into(), i64::from(request.hidden).into(), limit.into()];
    let rows = tx.all(PAGE, &values, |row| read(row, session.id))?;
    rows.into_iter().map(|row| complete(tx, row)).collect()
}

/// The live messages of a session strictly between two ids, oldest first.
pub fn between(
    tx: &Tx<'_>,
    session: SessionRef<'_>,
    after: i64,
    before: i64,
) -> Result<Vec<Message>> {
    let values = [session.key.into(), after.into(), before.into()];
    let rows = tx.all(BETWEEN, &values, |row| read(row, session.id))?;
    rows.into_iter().map(|row| complete(tx, row)).collect()
}

/// The ids of the live messages of a session from one to another.
pub fn live_seqs_between(tx: &Tx<'_>, session_key: i64, first: i64, last: i64) -> Result<Vec<i64>> {
    let values = [session_key.into(), first.into(), last.into()];
    tx.all(LIVE_BETWEEN, &values, |row| row.int(0))
}

/// Like [`page`], but ends once the payloads exceed `bytes`, since a payload that is stored once may be
/// in every message. Returns at least one message, and whether there are more.
pub fn page_within(
    tx: &Tx<'_>,
    session: SessionRef<'_>,
    request: PageRequest,
    bytes: usize,
) -> Result<(Vec<Message>, bool)> {
    let limit = i64::try_from(request.limit.saturating_add(1)).unwrap_or(i64::MAX);
    let values =
        [session.key.into(), request.after.into(), i64::from(request.hidden).into(), limit.into()];
    let rows = tx.all(PAGE, &values, |row| read(row, session.id))?;
    let (row_count, mut size) = (rows.len(), 0);
    let mut messages = Vec::with_capacity(row_count.min(request.limit));
    for (mut message, payload_count) in rows.into_iter().take(request.limit) {
        if payload_count > 0 {
            size += payloads::join(tx, message.id.0, &mut message.body)?;
        }
        messages.push(message);
        if size >= bytes {
            break;
        }
    }
    let more = row_count > messages.len();
    Ok((messages, more))
}

/// The newest live user messages, newest first.
pub fn recent_user(tx: &Tx<'_>, session: SessionRef<'_>, limit: usize) -> Result<Vec<Message>> {
    let values = [session.key.into(), (limit as i64).into()];
    let rows = tx.all(RECENT_USER, &values, |row| read(row, session.id))?;
    rows.into_iter().map(|row| complete(tx, row)).collect()
}

/// The newest assistant messages, rewound or not, newest first.
pub fn recent_assistant(
    tx: &Tx<'_>,
    session: SessionRef<'_>,
    limit: usize,
) -> Result<Vec<Message>> {
    let values = [session.key.into(), (limit as i64).into()];
    let rows = tx.all(RECENT_ASSISTANT, &values, |row| read(row, session.id))?;
    rows.into_iter().map(|row| complete(tx, row)).collect()
}

/// The message that has an external id in a session.
pub fn by_external_id(tx: &Tx<'_>, session_key: i64, external_id: &str) -> Result<Option<i64>> {
    tx.first(BY_EXTERNAL_ID, &[session_key.into(), external_id.into()], |row| row.int(0))
}

/// One message and the key of its session.
pub fn get(tx: &Tx<'_>, id: MessageId) -> Result<Option<(i64, Message)>> {
    let session = tx.first(SESSION_OF, &[id.0.into()], |row| {
        Ok((row.int(0)?, SessionId::new(row.text(1)?)?))
    })?;
    let Some((key, session_id)) = session else { return Ok(None) };
    let row = tx.one(GET, &[id.0.into()], |row| read(row, &session_id))?;
    Ok(Some((key, complete(tx, row)?)))
}

pub(crate) fn visibility(compacted: i64, rewind: i64) -> Visibility {
    match (compacted, rewind) {
        (_, rewind) if rewind > 0 => Visibility::Rewound,
        (0, _) => Visibility::Live,
        _ => Visibility::Compacted,
    }
}

pub(crate) fn read_body(
    seq: i64,
    text: &str,
) -> Result<serde_json::Map<String, serde_json::Value>> {
    match oneiro_model::json::parse_text(text).map(|repaired| repaired.value) {
        Ok(serde_json::Value::Object(body)) => Ok(body),
        _ => Err(Error::new(ErrorKind::Corrupt, format!("message {seq} is not readable"))
            .remedy("restore the newest backup")),
    }
}

/// A message without its payloads, and how many it has.
type Incomplete = (Message, i64);

fn read(row: &dyn Row, session_id: &SessionId) -> Result<Incomplete> {
    let message = Message {
        id: MessageId(row.int(0)?),
        session_id: session_id.clone(),
        role: Role::parse(row.text(2)?)?,
        body: read_body(row.int(0)?, row.text(7)?)?,
        at: Timestamp::from_micros(row.int(1)?),
        external_id: row.opt_string(3)?,
        visibility: visibility(row.int(4)?, row.int(5)?),
    };
    Ok((message, row.int(6)?))
}

fn complete(tx: &Tx<'_>, (mut message, payload_count): Incomplete) -> Result<Message> {
    if payload_count > 0 {
        payloads::join(tx, message.id.0, &mut message.body)?;
    }
    Ok(message)
}

/// The messages up to `until` that are not rewound.
pub fn seqs_until(tx: &Tx<'_>, session_key: i64, until: i64) -> Result<Vec<i64>> {
    tx.all(LIVE_SEQS, &[session_key.into(), until.into()], |row| row.int(0))
}

/// Copies one message into another session; its payloads are shared.
pub fn copy(tx: &Tx<'_>, from: i64, to: i64, session_key: i64) -> Result<()> {
    let values = [from.into(), to.into(), session_key.into()];
    let payload_count = tx.one(COPY, &values, |row| row.int(0))?;
    if payload_count > 0 {
        payloads::copy_links(tx, from, to)?;
    }
    Ok(())
}

/// Removes a message; false if it does not exist.
pub fn remove(tx: &Tx<'_>, id: MessageId) -> Result<bool> {
    sequence::keep_highest(tx)?;
    Ok(tx.execute(REMOVE, &[id.0.into()])? > 0)
}

/// All messages of a session, rewound ones too.
pub fn count_of_session(tx: &Tx<'_>, session_key: i64) -> Result<i64> {
    tx.one(COUNT_OF_SESSION, &[session_key.into()], |row| row.int(0))
}

/// The number of messages; counted in an index.
pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one(COUNT, &[], |row| row.int(0))
}

/// The first message of a session, rewound or not.
pub fn first_of_session(tx: &Tx<'_>, session_key: i64) -> Result<Option<i64>> {
    tx.one(FIRST_OF_SESSION, &[session_key.into()], |row| row.opt_int(0))
}

/// The id of the message at a place among all messages of a session; the first place is 1.
pub fn seq_at(tx: &Tx<'_>, session_key: i64, place: i64) -> Result<Option<i64>> {
    tx.first(SEQ_AT, &[session_key.into(), (place - 1).into()], |row| row.int(0))
}

/// The ids of all messages of a session.
pub fn seqs_of_session(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    tx.all(SEQS_OF_SESSION, &[session_key.into()], |row| row.int(0))
}

/// Calls `each` with the stored text and external id of every message.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    stored(tx, STORED, &[], |body, external_id| {
        each(body.as_bytes());
        each(external_id.unwrap_or_default().as_bytes());
        Ok(())
    })
}

/// Calls `each` with the body and external id of every message of a session.
pub fn each_text_of_session(
    tx: &Tx<'_>,
    session_key: i64,
    each: impl FnMut(&str, Option<&str>) -> Result<()>,
) -> Result<()> {
    stored(tx, STORED_OF_SESSION, &[session_key.into()], each)
}

/// Calls `each` with the body and external id of one message.
pub fn each_text_of_message(
    tx: &Tx<'_>,
    id: MessageId,
    each: impl FnMut(&str, Option<&str>) -> Result<()>,
) -> Result<()> {
    stored(tx, STORED_OF_MESSAGE, &[id.0.into()], each)
}

fn stored(
    tx: &Tx<'_>,
    sql: &str,
    values: &[Value<'_>],
    mut each: impl FnMut(&str, Option<&str>) -> Result<()>,
) -> Result<()> {
    tx.each(sql, values, |row| each(row.text(0)?, row.opt_text(1)?))
}
