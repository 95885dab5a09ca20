//! Digests: a session condensed around a question, stored until the session continues.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{Result, SummaryLevel, Timestamp};

statements! {
    GET = "SELECT content, level, model FROM digests WHERE session_key = ?1 AND question = ?2 \
           AND head = ?3";
    PUT = "INSERT INTO digests (session_key, question, head, content, level, model, created_at) \
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (session_key, question) \
           DO UPDATE SET head = ?3, content = ?4, level = ?5, model = ?6, created_at = ?7";
    REMOVE = "DELETE FROM digests WHERE session_key = ?1";
    STORED = "SELECT content FROM digests";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "digests",
    columns: "session_key, question, head, content, level, model, created_at",
}];

/// A session condensed around a question.
#[derive(Debug, Clone)]
pub struct Digest {
    /// Its text.
    pub content: String,
    /// How it was made.
    pub level: SummaryLevel,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// Identifies a digest.
#[derive(Debug, Clone, Copy)]
pub struct DigestKey<'a> {
    /// The key of the session.
    pub session_key: i64,
    /// The hash of the question.
    pub question: &'a [u8],
    /// The last message when it was made.
    pub head: i64,
}

/// A stored digest.
pub fn get(tx: &Tx<'_>, key: DigestKey<'_>) -> Result<Option<Digest>> {
    tx.first(GET, &[key.session_key.into(), key.question.into(), key.head.into()], |row| {
        Ok(Digest {
            content: row.text(0)?.to_owned(),
            level: SummaryLevel::parse(row.text(1)?)?,
            model: row.opt_string(2)?,
        })
    })
}

/// Stores a digest.
pub fn put(tx: &Tx<'_>, key: DigestKey<'_>, digest: &Digest, now: Timestamp) -> Result<()> {
    let values = [
        key.session_key.into(),
        key.question.into(),
        key.head.into(),
        digest.content.as_str().into(),
        digest.level.as_str().into(),
        digest.model.as_deref().into(),
        now.micros().into(),
    ];
    tx.execute(PUT, &values).map(|_| ())
}

/// Removes the digests of a session.
pub fn remove(tx: &Tx<'_>, session_key: i64) -> Result<()> {
    tx.execute(REMOVE, &[session_key.into()]).map(|_| ())
}

/// Calls `each` with the text of every digest.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(STORED, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}
