//! Interactions: prompts with their responses, as clients report them.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::{Tx, sequence};
use oneiro_model::{Error, Interaction, InteractionId, MemoryId, Result, SessionId, Timestamp};
use serde_json::json;

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT id, prompt, response, response_summary, pack_id, memories_used, chunks_used, \
             client, session_id, project, created_at FROM interactions ",
            $rest
        )
    };
}

statements! {
    INSERT = "INSERT INTO interactions (key, id, prompt, response, response_summary, pack_id, \
              memories_used, chunks_used, client, session_id, project, created_at) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    BY_ID = select!("WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 2");
    LIST = select!("WHERE (CAST(?1 AS TEXT) IS NULL OR project = ?1) \
                    AND (CAST(?2 AS TEXT) IS NULL OR session_id = ?2) \
                    AND (CAST(?3 AS TEXT) IS NULL OR client = ?3) \
                    AND (CAST(?4 AS BIGINT) IS NULL OR created_at >= ?4) \
                    ORDER BY created_at DESC, key DESC LIMIT CAST(?5 AS BIGINT)");
    OF_SESSION = select!("WHERE session_id = ?1 ORDER BY key");
    REMOVE = "DELETE FROM interactions WHERE id = ?1";
    TEXTS = "SELECT prompt, response, response_summary FROM interactions";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "interactions",
    columns: "key, id, prompt, response, response_summary, pack_id, memories_used, chunks_used, \
              client, session_id, project, created_at",
}];

/// Stores an interaction.
pub fn insert(tx: &Tx<'_>, new: &Interaction) -> Result<()> {
    let key = sequence::take_key(tx)?;
    let (memories, chunks) =
        (json!(new.memories_used).to_string(), json!(new.chunks_used).to_string());
    let values = [
        key.into(),
        new.id.as_str().into(),
        new.prompt.as_str().into(),
        new.response.as_deref().into(),
        new.response_summary.as_deref().into(),
        new.pack_id.as_deref().into(),
        memories.as_str().into(),
        chunks.as_str().into(),
        new.client.as_deref().into(),
        new.session_id.as_ref().map(SessionId::as_str).into(),
        new.project.as_deref().into(),
        new.created_at.micros().into(),
    ];
    tx.execute(INSERT, &values).map(|_| ())
}

/// Up to two interactions whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<Interaction>> {
    let end = format!("{prefix}\u{7f}");
    tx.all(BY_ID, &[prefix.into(), end.as_str().into()], read)
}

/// Filters of a list.
#[derive(Debug, Clone, Default)]
pub struct Filter<'f> {
    /// Only this project.
    pub project: Option<&'f str>,
    /// Only this session.
    pub session: Option<&'f str>,
    /// Only this client.
    pub client: Option<&'f str>,
    /// Only at this time or later.
    pub since: Option<Timestamp>,
}

/// Interactions, newest first.
pub fn list(tx: &Tx<'_>, filter: &Filter<'_>, limit: usize) -> Result<Vec<Interaction>> {
    let values = [
        filter.project.into(),
        filter.session.into(),
        filter.client.into(),
        filter.since.map(Timestamp::micros).into(),
        (limit as i64).into(),
    ];
    tx.all(LIST, &values, read)
}

/// The interactions of a session.
pub fn of_session(tx: &Tx<'_>, session: &str) -> Result<Vec<Interaction>> {
    tx.all(OF_SESSION, &[session.into()], read)
}

/// Removes an interaction.
pub fn remove(tx: &Tx<'_>, id: &InteractionId) -> Result<()> {
    tx.execute(REMOVE, &[id.as_str().into()]).map(|_| ())
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(TEXTS, &[], |row| {
        each(row.text(0)?.as_bytes());
        each(row.opt_text(1)?.unwrap_or_default().as_bytes());
        each(row.opt_text(2)?.unwrap_or_default().as_bytes());
        Ok(())
    })
}

fn read(row: &dyn Row) -> Result<Interaction> {
    let list = |column: usize| -> Result<Vec<String>> {
        serde_json::from_str(row.text(column)?)
            .map_err(|error| Error::internal("an interaction is not readable").because(error))
    };
    Ok(Interaction {
        id: InteractionId::parse(row.text(0)?)?,
        prompt: row.text(1)?.to_owned(),
        response: row.opt_string(2)?,
        response_summary: row.opt_string(3)?,
        pack_id: row.opt_string(4)?,
        memories_used: list(5)?.iter().map(|id| MemoryId::parse(id)).collect::<Result<_>>()?,
        chunks_used: list(6)?,
        client: row.opt_string(7)?,
        session_id: row.opt_text(8)?.map(SessionId::new).transpose()?,
        project: row.opt_string(9)?,
        message_id: None,
        created_at: Timestamp::from_micros(row.int(10)?),
    })
}
