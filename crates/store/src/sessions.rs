//! Sessions: one row each, found by the caller's id and listed by activity.

use crate::backend::Row;
use crate::messages::Added;
use crate::{Tx, aggregates::Table, messages, payloads, sequence};
use oneiro_model::{
    Error, ErrorKind, Lineage, ListOrder, ListSessions, MessageId, Result, Session, SessionId,
    Timestamp,
};
use serde_json::{Map, Value};

macro_rules! columns {
    () => {
        "SELECT s.key, s.id, s.source, s.user_id, s.model, s.model_config, s.system_prompt_key, \
         p.id, s.lineage, s.title, s.project, s.cwd, s.metadata, s.started_at, s.ended_at, \
         s.end_reason, s.last_active_at, s.archived, s.message_count, s.tool_call_count, \
         s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens, \
         s.reasoning_tokens, s.api_call_count, s.estimated_cost_nanousd, s.actual_cost_nanousd, \
         s.rewind_count, s.first_user_seq, \
         (SELECT COUNT(*) FROM messages m WHERE m.session_key = s.key AND m.compacted = 1 \
          AND m.rewind = 0), \
         (SELECT COALESCE(CAST(SUM(m.tool_calls) AS BIGINT), 0) FROM messages m \
          WHERE m.session_key = s.key AND m.compacted = 1 AND m.rewind = 0) \
         FROM sessions s LEFT JOIN sessions p ON p.key = s.parent_key "
    };
}
// The inner query selects sessions by few columns; only the rows of the page are read completely.
macro_rules! filters {
    () => {
        "JOIN (SELECT s.key AS found FROM sessions s \
         WHERE (CAST(?1 AS TEXT) IS NULL OR s.source = ?1) \
         AND (CAST(?2 AS TEXT) IS NULL OR s.project = ?2) \
         AND (CAST(?3 AS TEXT) IS NULL OR s.user_id = ?3) \
         AND (CAST(?4 AS TEXT) IS NULL \
              OR s.parent_key = (SELECT q.key FROM sessions q WHERE q.id = ?4)) \
         AND s.message_count >= CAST(?5 AS BIGINT) \
         AND (CAST(?6 AS BIGINT) IS NULL OR s.archived = ?6) \
         AND (CAST(?7 AS BIGINT) IS NULL OR (CASE WHEN s.ended_at IS NULL THEN 0 ELSE 1 END) = ?7) \
         AND (CAST(?8 AS BIGINT) IS NULL OR s.last_active_at >= ?8) \
         AND (CAST(?9 AS BIGINT) IS NULL OR s.last_active_at < ?9) \
         AND (CAST(?10 AS BIGINT) = 1 OR NOT EXISTS (SELECT 1 FROM sessions c \
              WHERE c.parent_key = s.key AND c.lineage = 'continuation')) \
         AND (CAST(?15 AS BIGINT) = 0 OR s.lineage IS NULL OR s.lineage <> 'delegate') "
    };
}
macro_rules! count_appended {
    () => {
        "UPDATE sessions SET message_count = message_count + CAST(?2 AS BIGINT), \
         tool_call_count = tool_call_count + CAST(?3 AS BIGINT), \
         last_active_at = CASE WHEN message_count = 0 OR last_active_at < CAST(?4 AS BIGINT) \
                          THEN CAST(?4 AS BIGINT) ELSE last_active_at END, \
         first_user_seq = COALESCE(first_user_seq, CAST(?5 AS BIGINT)), \
         repaired = repaired + CAST(?6 AS BIGINT)"
    };
}

statements! {
    ID_AND_PROJECT = "SELECT id, project FROM sessions WHERE key = ?1";
    KEYS_OF_SOURCE = "SELECT key FROM sessions WHERE source = ?1";
    KEYS_OF_PROJECT = "SELECT key FROM sessions WHERE project = ?1";
    KEY = "SELECT key FROM sessions WHERE id = ?1";
    GET = concat!(columns!(), "WHERE s.key = ?1");
    BY_PREFIX = "SELECT key, id FROM sessions WHERE id >= ?1 ORDER BY id LIMIT 6";
    INSERT = "INSERT INTO sessions (key, id, source, started_at, last_active_at, active_minute) \
              VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
    FILL = "UPDATE sessions SET user_id = COALESCE(user_id, CAST(?2 AS TEXT)), \
            model = COALESCE(model, CAST(?3 AS TEXT)), \
            model_config = COALESCE(model_config, CAST(?4 AS TEXT)), \
            system_prompt_key = COALESCE(system_prompt_key, CAST(?5 AS BIGINT)), \
            project = COALESCE(project, CAST(?6 AS TEXT)), \
            cwd = COALESCE(cwd, CAST(?7 AS TEXT)), \
            metadata = COALESCE(CAST(?8 AS TEXT), metadata) WHERE key = ?1";
    OVERWRITE = "UPDATE sessions SET model = COALESCE(CAST(?2 AS TEXT), model), \
            model_config = COALESCE(CAST(?3 AS TEXT), model_config), \
            system_prompt_key = COALESCE(CAST(?4 AS BIGINT), system_prompt_key), \
            project = COALESCE(CAST(?5 AS TEXT), project), \
            cwd = COALESCE(CAST(?6 AS TEXT), cwd), \
            metadata = COALESCE(CAST(?7 AS TEXT), metadata), \
            user_id = COALESCE(CAST(?8 AS TEXT), user_id) WHERE key = ?1";
    // The activity index holds minutes, so most appends need not update it. The first message of a
    // session sets its activity, even if that is before its start.
    COUNT_APPENDED = concat!(count_appended!(), " WHERE key = ?1 AND (active_minute = CAST(?7 AS BIGINT) \
            OR (message_count > 0 AND active_minute > CAST(?7 AS BIGINT)))");
    COUNT_APPENDED_IN_NEW_MINUTE = concat!(count_appended!(), ", active_minute = CAST(?7 AS BIGINT) WHERE key = ?1");
    RECOUNT = "UPDATE sessions SET \
            message_count = (SELECT COUNT(*) FROM messages m \
                             WHERE m.session_key = sessions.key AND m.rewind = 0), \
            tool_call_count = (SELECT COALESCE(CAST(SUM(m.tool_calls) AS BIGINT), 0) \
                             FROM messages m WHERE m.session_key = sessions.key AND m.rewind = 0), \
            first_user_seq = (SELECT MIN(m.seq) FROM messages m WHERE m.session_key = sessions.key \
                             AND m.rewind = 0 AND m.role = 'user') WHERE key = ?1";
    COUNT_REWIND = "UPDATE sessions SET rewind_count = rewind_count + 1 WHERE key = ?1 \
            RETURNING rewind_count";
    LIST_ACTIVE = concat!(columns!(), filters!(),
            "AND (s.active_minute, s.last_active_at, s.key) \
                 < (CAST(?14 AS BIGINT), CAST(?11 AS BIGINT), CAST(?12 AS BIGINT)) \
             ORDER BY s.active_minute DESC, s.last_active_at DESC, s.key DESC \
             LIMIT CAST(?13 AS BIGINT)) f ON f.found = s.key \
             ORDER BY s.active_minute DESC, s.last_active_at DESC, s.key DESC");
    LIST_STARTED = concat!(columns!(), filters!(),
            "AND (s.started_at, s.key) < (CAST(?11 AS BIGINT), CAST(?12 AS BIGINT)) \
             AND CAST(?14 AS BIGINT) IS NOT NULL \
             ORDER BY s.started_at DESC, s.key DESC LIMIT CAST(?13 AS BIGINT)) f \
             ON f.found = s.key ORDER BY s.started_at DESC, s.key DESC");
    ENDED_BEFORE = concat!(columns!(), "WHERE s.ended_at IS NOT NULL AND s.ended_at < ?1 ORDER BY s.key");
    REMOVE = "DELETE FROM sessions WHERE key = ?1";
    PROMPT_KEY = "SELECT system_prompt_key FROM sessions WHERE key = ?1";
    TOTALS = "SELECT COUNT(*), COALESCE(CAST(SUM(CASE WHEN ended_at IS NULL THEN 1 ELSE 0 END) \
            AS BIGINT), 0), COALESCE(CAST(SUM(repaired) AS BIGINT), 0), MAX(last_active_at), \
            MIN(started_at) FROM sessions";
    ALL_KEYS = "SELECT key FROM sessions WHERE key > CAST(?1 AS BIGINT) ORDER BY key LIMIT CAST(?2 AS BIGINT)";
    STORED = "SELECT id, title, user_id, cwd, metadata, model_config FROM sessions";
    STORED_OF = "SELECT id, title, user_id, cwd, metadata, model_config FROM sessions WHERE key = ?1";
    MISCOUNTED = "SELECT s.id FROM sessions s WHERE s.message_count <> (SELECT COUNT(*) \
            FROM messages m WHERE m.session_key = s.key AND m.rewind = 0) OR s.tool_call_count <> \
            (SELECT COALESCE(CAST(SUM(m.tool_calls) AS BIGINT), 0) FROM messages m \
             WHERE m.session_key = s.key AND m.rewind = 0) ORDER BY s.key";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "sessions",
    columns: "key, id, source, started_at, last_active_at, active_minute, message_count, \
              tool_call_count, first_user_seq, repaired, rewind_count, archived, ended_at, \
              end_reason, user_id, model, model_config, system_prompt_key, parent_key, lineage, \
              title, project, cwd, metadata, input_tokens, output_tokens, cache_read_tokens, \
              cache_write_tokens, reasoning_tokens, api_call_count, estimated_cost_nanousd, \
              actual_cost_nanousd",
}];

const MICROS_PER_MINUTE: i64 = 60_000_000;

/// The internal key of a session.
pub fn key(tx: &Tx<'_>, id: &SessionId) -> Result<Option<i64>> {
    tx.first(KEY, &[id.as_str().into()], |row| row.int(0))
}

/// The sessions whose id begins with `prefix`: at most six, enough to list the candidates of an
/// ambiguous one.
pub fn by_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<(i64, SessionId)>> {
    let mut found = tx
        .all(BY_PREFIX, &[prefix.into()], |row| Ok((row.int(0)?, SessionId::new(row.text(1)?)?)))?;
    found.retain(|(_, id)| id.as_str().starts_with(prefix));
    Ok(found)
}

/// The id and the project of a session.
pub fn id_and_project(tx: &Tx<'_>, key: i64) -> Result<Option<(SessionId, Option<String>)>> {
    tx.first(ID_AND_PROJECT, &[key.into()], |row| {
        Ok((SessionId::new(row.text(0)?)?, row.opt_string(1)?))
    })
}

/// The sessions of a source.
pub fn keys_of_source(tx: &Tx<'_>, source: &str) -> Result<Vec<i64>> {
    tx.all(KEYS_OF_SOURCE, &[source.into()], |row| row.int(0))
}

/// The sessions of a project.
pub fn keys_of_project(tx: &Tx<'_>, project: &str) -> Result<Vec<i64>> {
    tx.all(KEYS_OF_PROJECT, &[project.into()], |row| row.int(0))
}

/// A session with its system prompt and preview.
pub fn get(tx: &Tx<'_>, key: i64) -> Result<Option<Session>> {
    let Some(found) = tx.first(GET, &[key.into()], read)? else { return Ok(None) };
    let mut session = found.session;
    if let Some(prompt) = found.system_prompt_key {
        session.system_prompt = Some(prompt_text(payloads::get(tx, prompt)?)?);
    }
    session.preview = preview(tx, found.first_user_seq)?;
    Ok(Some(session))
}

/// A session without its system prompt and preview.
pub fn get_without_prompt(tx: &Tx<'_>, key: i64) -> Result<Option<Session>> {
    Ok(tx.first(GET, &[key.into()], read)?.map(|found| found.session))
}

/// Inserts a session, which must not exist.
pub fn insert(tx: &Tx<'_>, id: &SessionId, source: &str, started_at: Timestamp) -> Result<i64> {
    let key = sequence::take_key(tx)?;
    let values = [
        key.into(),
        id.as_str().into(),
        source.into(),
        started_at.micros().into(),
        minute(started_at.micros()).into(),
    ];
    tx.execute(INSERT, &values)?;
    Ok(key)
}

/// Fields of a session to fill in or overwrite; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// Who the agent talks to.
    pub user_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Settings of the model, as JSON.
    pub model_config: Option<String>,
    /// The system prompt, compressed.
    pub system_prompt: Option<payloads::Payload>,
    /// The project.
    pub project: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// All metadata, as JSON.
    pub metadata: Option<String>,
}

/// Compresses a system prompt, before the transaction begins.
pub fn pack_prompt(prompt: &str) -> Result<payloads::Payload> {
    payloads::Payload::pack(prompt.as_bytes())
}

/// Sets the fields that are unset; metadata is replaced.
pub fn fill(tx: &Tx<'_>, key: i64, fields: &Fields) -> Result<()> {
    let unset = prompt_key(tx, key)?.is_none();
    let prompt = fields.system_prompt.as_ref().filter(|_| unset);
    let prompt = prompt.map(|prompt| payloads::put(tx, prompt)).transpose()?;
    let values = [
        key.into(),
        fields.user_id.as_deref().into(),
        fields.model.as_deref().into(),
        fields.model_config.as_deref().into(),
        prompt.into(),
        fields.project.as_deref().into(),
        fields.cwd.as_deref().into(),
        fields.metadata.as_deref().into(),
    ];
    tx.execute(FILL, &values).map(|_| ())
}

/// Overwrites the given fields.
pub fn overwrite(tx: &Tx<'_>, key: i64, fields: &Fields) -> Result<()> {
    let before = prompt_key(tx, key)?;
    let prompt =
        fields.system_prompt.as_ref().map(|prompt| payloads::put(tx, prompt)).transpose()?;
    let values = [
        key.into(),
        fields.model.as_deref().into(),
        fields.model_config.as_deref().into(),
        prompt.into(),
        fields.project.as_deref().into(),
        fields.cwd.as_deref().into(),
        fields.metadata.as_deref().into(),
        fields.user_id.as_deref().into(),
    ];
    tx.execute(OVERWRITE, &values)?;
    let unused: Vec<i64> = before.filter(|_| prompt.is_some()).into_iter().collect();
    payloads::remove_unused(tx, &unused).map(|_| ())
}

/// The payload that holds a session's system prompt.
pub fn prompt_key(tx: &Tx<'_>, key: i64) -> Result<Option<i64>> {
    Ok(tx.first(PROMPT_KEY, &[key.into()], |row| row.opt_int(0))?.flatten())
}

/// Adds appended messages to the counters.
pub fn count_appended(tx: &Tx<'_>, key: i64, added: &Added) -> Result<()> {
    let last_at = added.last_at.map_or(i64::MIN, Timestamp::micros);
    let values = [
        key.into(),
        added.messages.into(),
        added.tool_calls.into(),
        last_at.into(),
        added.first_user_seq.into(),
        added.repaired.into(),
        minute(last_at).into(),
    ];
    if tx.execute(COUNT_APPENDED, &values)? == 0 {
        tx.execute(COUNT_APPENDED_IN_NEW_MINUTE, &values)?;
    }
    Ok(())
}

/// Recomputes the counters of a session after messages were hidden, restored or removed.
pub fn recount(tx: &Tx<'_>, key: i64) -> Result<()> {
    tx.execute(RECOUNT, &[key.into()]).map(|_| ())
}

/// Counts a rewind and returns its number.
pub fn count_rewind(tx: &Tx<'_>, key: i64) -> Result<i64> {
    tx.one(COUNT_REWIND, &[key.into()], |row| row.int(0))
}

/// A session of a list, and the keys of what the list may add.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its internal key.
    pub key: i64,
    /// The session, without its system prompt and preview.
    pub session: Session,
    first_user_seq: Option<i64>,
    system_prompt_key: Option<i64>,
}

/// Sessions that match the filters, after `before` (order value and key) in the requested order.
pub fn list(
    tx: &Tx<'_>,
    request: &ListSessions,
    before: (i64, i64),
    limit: usize,
) -> Result<Vec<Listed>> {
    let values = [
        request.source.as_deref().into(),
        request.project.as_deref().into(),
        request.user_id.as_deref().into(),
        request.parent_id.as_ref().map(SessionId::as_str).into(),
        request.min_messages.into(),
        request.archived.wanted().map(i64::from).into(),
        request.ended.map(i64::from).into(),
        request.since.map(Timestamp::micros).into(),
        request.until.map(Timestamp::micros).into(),
        i64::from(request.all).into(),
        before.0.into(),
        before.1.into(),
        (limit as i64).into(),
        minute(before.0).into(),
        i64::from(!request.all || request.without_delegates).into(),
    ];
    let sql = match request.order {
        ListOrder::Active => LIST_ACTIVE,
        ListOrder::Started => LIST_STARTED,
    };
    tx.all(sql, &values, read)
}

/// Adds the preview of a listed session.
pub fn with_preview(tx: &Tx<'_>, listed: Listed) -> Result<Session> {
    let mut session = listed.session;
    session.preview = preview(tx, listed.first_user_seq)?;
    Ok(session)
}

/// Adds the system prompt of a listed session.
pub fn with_prompt(tx: &Tx<'_>, mut listed: Listed) -> Result<Listed> {
    if let Some(prompt) = listed.system_prompt_key {
        listed.session.system_prompt = Some(prompt_text(payloads::get(tx, prompt)?)?);
    }
    Ok(listed)
}

/// Sessions that ended before a moment.
pub fn ended_before(tx: &Tx<'_>, before: Timestamp) -> Result<Vec<Listed>> {
    tx.all(ENDED_BEFORE, &[before.micros().into()], read)
}

/// Removes a session with its messages, its usage, and the payloads that nothing else uses. Returns
/// how many messages and payloads were removed.
pub fn remove(tx: &Tx<'_>, key: i64) -> Result<(i64, i64)> {
    let mut unused = payloads::keys_of_session(tx, key)?;
    unused.extend(prompt_key(tx, key)?);
    let messages = messages::count_of_session(tx, key)?;
    sequence::keep_highest(tx)?;
    tx.execute(REMOVE, &[key.into()])?;
    Ok((messages, payloads::remove_unused(tx, &unused)?))
}

/// Totals over all sessions.
#[derive(Debug, Clone, Copy)]
pub struct Totals {
    /// All sessions.
    pub sessions: i64,
    /// Sessions that have not ended.
    pub open: i64,
    /// Lone surrogates that were replaced.
    pub repaired: i64,
    /// The latest activity.
    pub last_active_at: Option<Timestamp>,
    /// The earliest start.
    pub first_active_at: Option<Timestamp>,
}

/// Totals over all sessions.
pub fn totals(tx: &Tx<'_>) -> Result<Totals> {
    tx.one(TOTALS, &[], |row| {
        Ok(Totals {
            sessions: row.int(0)?,
            open: row.int(1)?,
            repaired: row.int(2)?,
            last_active_at: row.opt_int(3)?.map(Timestamp::from_micros),
            first_active_at: row.opt_int(4)?.map(Timestamp::from_micros),
        })
    })
}

/// Keys of all sessions after `after`, oldest first.
pub fn keys_after(tx: &Tx<'_>, after: i64, limit: usize) -> Result<Vec<i64>> {
    tx.all(ALL_KEYS, &[after.into(), (limit as i64).into()], |row| row.int(0))
}

/// Sessions whose counters do not match their messages; only damage causes that.
pub fn miscounted(tx: &Tx<'_>) -> Result<Vec<SessionId>> {
    tx.all(MISCOUNTED, &[], |row| SessionId::new(row.text(0)?))
}

/// Calls `each` with every text of every session, without messages.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(STORED, &[], |row| {
        let mut each_value = |text: Option<&str>| each(text.unwrap_or_default().as_bytes());
        (0..6).try_for_each(|column| row.opt_text(column).map(&mut each_value))
    })
}

/// The same for one session.
pub fn each_text_of_session(
    tx: &Tx<'_>,
    key: i64,
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    tx.each(STORED_OF, &[key.into()], |row| texts(row, &mut each))
}

fn texts(row: &dyn Row, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    (0..6).try_for_each(|column| each(row.opt_text(column)?.unwrap_or_default()))
}

/// The minute of a time in microseconds. The activity index holds minutes, so that it changes at most
/// once a minute.
pub(crate) fn minute(micros: i64) -> i64 {
    micros.div_euclid(MICROS_PER_MINUTE)
}

fn preview(tx: &Tx<'_>, first_user_seq: Option<i64>) -> Result<Option<String>> {
    let Some(seq) = first_user_seq else { return Ok(None) };
    let first = messages::get(tx, MessageId(seq))?;
    Ok(first.map(|(_, message)| Session::preview_of(&message.role, &message.body)))
}

fn prompt_text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Corrupt, "a system prompt is not UTF-8").because(error)
    })
}

fn read(row: &dyn Row) -> Result<Listed> {
    let time = |column| row.int(column).map(Timestamp::from_micros);
    let session = Session {
        id: SessionId::new(row.text(1)?)?,
        source: row.text(2)?.to_owned(),
        user_id: row.opt_string(3)?,
        model: row.opt_string(4)?,
        model_config: row.opt_text(5)?.map(parse).transpose()?,
        system_prompt: None,
        parent_id: row.opt_text(7)?.map(SessionId::new).transpose()?,
        lineage: row.opt_text(8)?.map(Lineage::parse).transpose()?,
        title: row.opt_string(9)?,
        project: row.opt_string(10)?,
        cwd: row.opt_string(11)?,
        metadata: match row.opt_text(12)?.map(parse).transpose()? {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        },
        started_at: time(13)?,
        ended_at: row.opt_int(14)?.map(Timestamp::from_micros),
        end_reason: row.opt_string(15)?,
        last_active_at: time(16)?,
        archived: row.int(17)? != 0,
        message_count: row.int(18)?,
        tool_call_count: row.int(19)?,
        input_tokens: row.int(20)?,
        output_tokens: row.int(21)?,
        cache_read_tokens: row.int(22)?,
        cache_write_tokens: row.int(23)?,
        reasoning_tokens: row.int(24)?,
        api_call_count: row.int(25)?,
        estimated_cost_usd: row.int(26)? as f64 / 1e9,
        actual_cost_usd: row.int(27)? as f64 / 1e9,
        rewind_count: row.int(28)?,
        compacted_count: row.int(30)?,
        compacted_tool_calls: row.int(31)?,
        preview: None,
        root_id: None,
    };
    Ok(Listed {
        key: row.int(0)?,
        session,
        first_user_seq: row.opt_int(29)?,
        system_prompt_key: row.opt_int(6)?,
    })
}

fn parse(text: &str) -> Result<Value> {
    let damaged = |_| Error::new(ErrorKind::Corrupt, "a session's JSON column is not JSON");
    oneiro_model::json::parse_text(text).map(|repaired| repaired.value).map_err(damaged)
}
