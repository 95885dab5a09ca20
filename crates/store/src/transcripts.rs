//! Transcripts: the position up to which the file of an agent has been read.

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
    tx.first(REACHED, &[(&file_key(agent, path)).into()], |row| {
        Ok(Reached { position: row.int(0)?, fingerprint: row.opt_string(1)? })
    })
}

/// The key of a file: a hash, because the row outlives the erasure of the session (so that it is not
/// captured again), and the path would reveal its id and project. Each agent reads a file separately.
fn file_key(agent: &str, path: &str) -> String {
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

/// Stores the position, in the transaction that stores the messages read.
pub fn advance(tx: &Tx<'_>, to: Advance<'_>, now: Timestamp) -> Result<()> {
    let key = file_key(to.agent, to.path);
    let values = [
        (&key).into(),
        to.agent.into(),
        to.reached.position.into(),
        now.micros().into(),
        to.reached.fingerprint.as_deref().into(),
    ];
    tx.execute(ADVANCE, &values).map(|_| ())
}
