//! Updates of session fields: the end, archiving, the source, times and cleared fields. The engine
//! decides whether they are allowed.

use crate::{Tx, payloads, sessions};
use oneiro_model::{MessageId, Result, SessionPatch, Timestamp};

statements! {
    IMPORT = "UPDATE sessions SET ended_at = ?2, end_reason = ?3, archived = ?4, \
            rewind_count = ?5, last_active_at = ?6, active_minute = ?7 WHERE key = ?1";
    END_IF_OPEN = "UPDATE sessions SET ended_at = ?2, end_reason = ?3 WHERE key = ?1 AND ended_at IS NULL";
    END = "UPDATE sessions SET ended_at = ?2, end_reason = ?3 WHERE key = ?1";
    REOPEN = "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE key = ?1";
    ARCHIVE = "UPDATE sessions SET archived = ?2 WHERE key = ?1";
    SET_STARTED = "UPDATE sessions SET started_at = ?2, last_active_at = COALESCE((SELECT MAX(m.at) \
            FROM messages m WHERE m.session_key = sessions.key AND m.rewind = 0), CAST(?2 AS BIGINT)) \
            WHERE key = ?1 RETURNING last_active_at";
    SET_ACTIVE_MINUTE = "UPDATE sessions SET active_minute = ?2 WHERE key = ?1";
    SET_MESSAGE_TIME = "UPDATE messages SET at = ?2 WHERE seq = ?1";
    SET_SOURCE = "UPDATE sessions SET source = ?2 WHERE key = ?1";
    CLEAR = "UPDATE sessions SET model = CASE WHEN CAST(?2 AS BIGINT) = 1 THEN NULL ELSE model END, \
            model_config = CASE WHEN CAST(?3 AS BIGINT) = 1 THEN NULL ELSE model_config END, \
            system_prompt_key = CASE WHEN CAST(?4 AS BIGINT) = 1 THEN NULL ELSE system_prompt_key END, \
            project = CASE WHEN CAST(?5 AS BIGINT) = 1 THEN NULL ELSE project END, \
            cwd = CASE WHEN CAST(?6 AS BIGINT) = 1 THEN NULL ELSE cwd END, \
            user_id = CASE WHEN CAST(?7 AS BIGINT) = 1 THEN NULL ELSE user_id END WHERE key = ?1";
}

/// Ends a session unless it has ended.
pub fn end_if_open(tx: &Tx<'_>, key: i64, reason: &str, now: Timestamp) -> Result<()> {
    tx.execute(END_IF_OPEN, &[key.into(), now.micros().into(), reason.into()]).map(|_| ())
}

/// Ends a session; replaces an earlier end.
pub fn end(tx: &Tx<'_>, key: i64, reason: &str, now: Timestamp) -> Result<()> {
    tx.execute(END, &[key.into(), now.micros().into(), reason.into()]).map(|_| ())
}

/// Removes the end of a session.
pub fn reopen(tx: &Tx<'_>, key: i64) -> Result<()> {
    tx.execute(REOPEN, &[key.into()]).map(|_| ())
}

/// Sets whether a session is archived.
pub fn set_archived(tx: &Tx<'_>, key: i64, archived: bool) -> Result<()> {
    tx.execute(ARCHIVE, &[key.into(), i64::from(archived).into()]).map(|_| ())
}

/// Corrects the start of a session, and its last activity with it.
pub fn set_started_at(tx: &Tx<'_>, key: i64, started_at: Timestamp) -> Result<()> {
    let active =
        tx.one(SET_STARTED, &[key.into(), started_at.micros().into()], |row| row.int(0))?;
    tx.execute(SET_ACTIVE_MINUTE, &[key.into(), sessions::minute(active).into()]).map(|_| ())
}

/// Corrects the time of a message.
pub fn set_message_time(tx: &Tx<'_>, message: MessageId, at: Timestamp) -> Result<()> {
    tx.execute(SET_MESSAGE_TIME, &[message.0.into(), at.micros().into()]).map(|_| ())
}

/// Corrects the source of a session.
pub fn set_source(tx: &Tx<'_>, key: i64, source: &str) -> Result<()> {
    tx.execute(SET_SOURCE, &[key.into(), source.into()]).map(|_| ())
}

/// Clears the fields that a patch sets to null.
pub fn clear(tx: &Tx<'_>, key: i64, patch: &SessionPatch) -> Result<()> {
    fn is_cleared<T>(field: &Option<Option<T>>) -> bool {
        matches!(field, Some(None))
    }
    let cleared = [
        is_cleared(&patch.model),
        is_cleared(&patch.model_config),
        is_cleared(&patch.system_prompt),
        is_cleared(&patch.project),
        is_cleared(&patch.cwd),
        is_cleared(&patch.user_id),
    ];
    if !cleared.contains(&true) {
        return Ok(());
    }
    let prompt =
        if is_cleared(&patch.system_prompt) { sessions::prompt_key(tx, key)? } else { None };
    let [model, model_config, system_prompt, project, cwd, user_id] =
        cleared.map(|is_cleared| i64::from(is_cleared).into());
    let values = [key.into(), model, model_config, system_prompt, project, cwd, user_id];
    tx.execute(CLEAR, &values)?;
    let unused: Vec<i64> = prompt.into_iter().collect();
    payloads::remove_unused(tx, &unused).map(|_| ())
}

/// The state of a session in the store it is imported from.
#[derive(Debug, Clone)]
pub struct ImportedState {
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// Whether it is archived.
    pub archived: bool,
    /// How often it was rewound.
    pub rewind_count: i64,
    /// When something was last said.
    pub last_active_at: Timestamp,
}

/// Sets the state of an imported session.
pub fn set_imported(tx: &Tx<'_>, key: i64, state: &ImportedState) -> Result<()> {
    let values = [
        key.into(),
        state.ended_at.map(Timestamp::micros).into(),
        state.end_reason.as_deref().into(),
        i64::from(state.archived).into(),
        state.rewind_count.into(),
        state.last_active_at.micros().into(),
        sessions::minute(state.last_active_at.micros()).into(),
    ];
    tx.execute(IMPORT, &values).map(|_| ())
}
