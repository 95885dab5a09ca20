//! Transcripts: how far the file of an agent has been read. What a line means is the engine's.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{Result, Timestamp};

statements! {
    REACHED = "SELECT position, fingerprint FROM transcripts WHERE path = ?1";
    ADVANCE = "INSERT INTO transcripts (path, agent, position, updated_at, fingerprint) \
               VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (path) DO UPDATE SET \
               agent = excluded.agent, position = excluded.position, \
               updated_at = excluded.updated_at, fingerprint = excluded.fingerprint";
}

/// The tables that belong here.
pub(crate) const TABLES: &[Table] =
    &[Table { name: "transcripts", columns: "path, agent, position, updated_at, fingerprint" }];

/// How far a file has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The byte after the last line that was taken.
    pub position: i64,
    /// A hash of the bytes before it, by which a file is known that was replaced by another. Rows of
    /// earlier versions have none.
    pub fingerprint: Option<String>,
}

/// How far a file has been read as a transcript of an agent; `None` when it never was.
pub fn reached(tx: &Tx<'_>, agent: &str, path: &str) -> Result<Option<Reached>> {
    tx.first(REACHED, &[(&mark(agent, path)).into()], |row| {
        Ok(Reached { position: row.int(0)?, fingerprint: row.opt_string(1)? })
    })
}

/// What a file is remembered by. The row outlives the erasure of the session, so that reading the
/// file again does not bring it back; the path itself would tell its id and its project. What one
/// reader made of a file says nothing of what another would, so the agent is part of it.
fn mark(agent: &str, path: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(agent.as_bytes()).update(b"\0").update(path.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// A file, and how far it is read now.
#[derive(Debug, Clone, Copy)]
pub struct Advance<'a> {
    /// The whole path, with links resolved.
    pub path: &'a str,
    /// Whose transcript it is.
    pub agent: &'a str,
    /// How far it is read.
    pub reached: &'a Reached,
}

/// Remembers how far a file has been read: in the transaction that stores what it said.
pub fn advance(tx: &Tx<'_>, to: Advance<'_>, now: Timestamp) -> Result<()> {
    let mark = mark(to.agent, to.path);
    let values = [
        (&mark).into(),
        to.agent.into(),
        to.reached.position.into(),
        now.micros().into(),
        to.reached.fingerprint.as_deref().into(),
    ];
    tx.execute(ADVANCE, &values).map(|_| ())
}
