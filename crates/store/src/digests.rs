//! Digests: sessions condensed around a question, kept until the session goes on.

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

/// The tables that belong here.
pub(crate) const TABLES: &[Table] = &[Table {
    name: "digests",
    columns: "session_key, question, head, content, level, model, created_at",
}];

/// A session condensed around a question.
#[derive(Debug, Clone)]
pub struct Digest {
    /// The words.
    pub content: String,
    /// How it was made.
    pub level: SummaryLevel,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// Of which session, for which question, as of which message.
pub type DigestKey<'a> = (i64, &'a [u8], i64);

/// A digest that was made already.
pub fn get(tx: &Tx<'_>, of: DigestKey<'_>) -> Result<Option<Digest>> {
    tx.first(GET, &[of.0.into(), of.1.into(), of.2.into()], |row| {
        Ok(Digest {
            content: row.text(0)?.to_owned(),
            level: SummaryLevel::parse(row.text(1)?)?,
            model: row.opt_string(2)?,
        })
    })
}

/// Keeps a digest.
pub fn put(tx: &Tx<'_>, of: DigestKey<'_>, digest: &Digest, now: Timestamp) -> Result<()> {
    let values = [
        of.0.into(),
        of.1.into(),
        of.2.into(),
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

/// Hands over the words of every digest of the space.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(STORED, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}
