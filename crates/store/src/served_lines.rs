//! Lines that were served to sessions and clients, as keyed hashes: enough to know them again when they
//! come back, and not enough to read them.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::{Tx, sequence};
use oneiro_model::{Error, MemoryId, NoteName, PackKind, Result, SessionId, Timestamp};

statements! {
    ADD = "INSERT INTO served_lines (key, session_id, client, kind, item_id, tokens, shingles, terms, at) \
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    OF_SESSION = "SELECT kind, item_id, tokens, shingles, terms, repeatable FROM served_lines \
                  WHERE session_id = ?1 ORDER BY key DESC LIMIT CAST(?2 AS BIGINT)";
    OF_CLIENT = "SELECT kind, item_id, tokens, shingles, terms, repeatable FROM served_lines \
                 WHERE client = ?1 AND session_id IS NULL ORDER BY key DESC LIMIT CAST(?2 AS BIGINT)";
    MAY_REPEAT = "UPDATE served_lines SET repeatable = 1 WHERE session_id = ?1";
    REMOVE_OLD = "DELETE FROM served_lines WHERE key IN (SELECT key FROM served_lines WHERE at < ?1 \
                  ORDER BY at LIMIT CAST(?2 AS BIGINT))";
    REMOVE_OF_ITEM = "DELETE FROM served_lines WHERE item_id = ?1 AND kind = ?2";
    REMOVE_OF_NOTE = "DELETE FROM served_lines WHERE item_id >= ?1 AND item_id < ?2 AND kind = ?3";
    REMOVE_OF_SESSION = "DELETE FROM served_lines WHERE session_id = ?1";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "served_lines",
    columns: "key, session_id, client, kind, item_id, tokens, shingles, terms, repeatable, at",
}];

/// Bytes of a stored hash.
const HASH_BYTES: usize = 8;

/// A line that was served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedLine {
    /// What it is.
    pub kind: PackKind,
    /// The id of the fact, the memory or the message.
    pub item_id: String,
    /// How many tokens it has.
    pub tokens: usize,
    /// A hash of each run of five tokens, in order; one of all tokens if there are fewer.
    pub shingles: Vec<u64>,
    /// A hash of each word that carries meaning.
    pub terms: Vec<u64>,
    /// Whether the host has dropped it since, so that it may be served again.
    pub repeatable: bool,
}

/// To whom lines are served.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServedTo<'a> {
    /// The session.
    pub session: Option<&'a SessionId>,
    /// The program.
    pub client: Option<&'a str>,
}

/// Stores a line.
pub fn add(tx: &Tx<'_>, to: ServedTo<'_>, line: &ServedLine, now: Timestamp) -> Result<()> {
    let (shingles, terms) = (to_bytes(&line.shingles), to_bytes(&line.terms));
    let values = [
        sequence::take_key(tx)?.into(),
        to.session.map(SessionId::as_str).into(),
        to.client.into(),
        line.kind.as_str().into(),
        line.item_id.as_str().into(),
        (line.tokens as i64).into(),
        shingles.as_slice().into(),
        terms.as_slice().into(),
        now.micros().into(),
    ];
    tx.execute(ADD, &values).map(|_| ())
}

/// The newest lines that were served to a session, and to a client without one.
pub fn newest(tx: &Tx<'_>, to: ServedTo<'_>, limit: usize) -> Result<Vec<ServedLine>> {
    let mut lines = Vec::new();
    if let Some(session) = to.session {
        lines.extend(tx.all(
            OF_SESSION,
            &[session.as_str().into(), (limit as i64).into()],
            read,
        )?);
    }
    if let Some(client) = to.client {
        lines.extend(tx.all(OF_CLIENT, &[client.into(), (limit as i64).into()], read)?);
    }
    Ok(lines)
}

/// Lets every line be served to a session again, because its host dropped them.
pub fn allow_again(tx: &Tx<'_>, session: &SessionId) -> Result<()> {
    tx.execute(MAY_REPEAT, &[session.as_str().into()]).map(|_| ())
}

/// Removes lines from before `before`, at most `limit`.
pub fn remove_older(tx: &Tx<'_>, before: Timestamp, limit: usize) -> Result<()> {
    tx.execute(REMOVE_OLD, &[before.micros().into(), (limit as i64).into()]).map(|_| ())
}

/// Removes the lines of a memory.
pub(crate) fn remove_of_memory(tx: &Tx<'_>, id: &MemoryId) -> Result<()> {
    let kind = PackKind::Memory.as_str();
    tx.execute(REMOVE_OF_ITEM, &[id.as_str().into(), kind.into()]).map(|_| ())
}

/// Removes the lines of a message.
pub fn remove_of_message(tx: &Tx<'_>, seq: i64) -> Result<()> {
    let (id, kind) = (seq.to_string(), PackKind::Message.as_str());
    tx.execute(REMOVE_OF_ITEM, &[id.as_str().into(), kind.into()]).map(|_| ())
}

/// Removes the lines of the entries of a note.
pub(crate) fn remove_of_note(tx: &Tx<'_>, name: &NoteName) -> Result<()> {
    let (first, last) = (format!("{name}#"), format!("{name}#\u{7f}"));
    let values = [first.as_str().into(), last.as_str().into(), PackKind::Note.as_str().into()];
    tx.execute(REMOVE_OF_NOTE, &values).map(|_| ())
}

/// Removes the lines that were served to a session.
pub fn remove_of_session(tx: &Tx<'_>, session: &SessionId) -> Result<()> {
    tx.execute(REMOVE_OF_SESSION, &[session.as_str().into()]).map(|_| ())
}

fn read(row: &dyn Row) -> Result<ServedLine> {
    Ok(ServedLine {
        kind: PackKind::parse(row.text(0)?)?,
        item_id: row.text(1)?.to_owned(),
        tokens: row.int(2)?.max(0) as usize,
        shingles: from_bytes(row.bytes(3)?)?,
        terms: from_bytes(row.bytes(4)?)?,
        repeatable: row.int(5)? != 0,
    })
}

fn to_bytes(hashes: &[u64]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
}

fn from_bytes(bytes: &[u8]) -> Result<Vec<u64>> {
    let (hashes, rest) = bytes.as_chunks::<HASH_BYTES>();
    if !rest.is_empty() {
        return Err(Error::internal("hashes of a served line are not readable"));
    }
    Ok(hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect())
}
