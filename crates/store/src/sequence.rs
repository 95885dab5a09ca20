//! The counters of a space in one row: the highest number of a text that is no message or a removed
//! one, the last internal key, and the
//! settings generation. They are used under the write lock, so ids follow the order of commits and are
//! never reused.

use crate::Tx;
use crate::backend::Row;
use oneiro_model::{Result, SessionId};

statements! {
    NEXT_MESSAGE = "SELECT message, settings, (SELECT MAX(seq) FROM messages) FROM sequence WHERE id = 1";
    NEXT_OF_SESSION = "SELECT q.message, q.settings, (SELECT MAX(seq) FROM messages), s.key \
                       FROM sequence q LEFT JOIN sessions s ON s.id = ?1 WHERE q.id = 1";
    // Once per delete, so that the id of a removed message is never reused.
    KEEP_HIGHEST = "UPDATE sequence SET message = (SELECT MAX(seq) FROM messages) WHERE id = 1 \
                    AND message < (SELECT MAX(seq) FROM messages)";
    TAKE_KEY = "UPDATE sequence SET key = key + 1 WHERE id = 1 RETURNING key";
    // The number of a text that is no message: between the messages before it and those after it.
    TAKE_TEXT_NUMBER = "UPDATE sequence SET message = 1 + \
                        CASE WHEN message < (SELECT COALESCE(MAX(seq), 0) FROM messages) \
                        THEN (SELECT MAX(seq) FROM messages) ELSE message END \
                        WHERE id = 1 RETURNING message";
    TAKE_KEYS = "UPDATE sequence SET key = key + CAST(?1 AS BIGINT) WHERE id = 1 RETURNING key";
    COUNTERS = "SELECT message, key, (SELECT MAX(seq) FROM messages) FROM sequence WHERE id = 1";
    IDS_IN_USE = "SELECT 'the text index' AS place, MAX(last_seq) FROM segments \
                  UNION ALL SELECT 'a summary', MAX(last_seq) FROM summaries \
                  UNION ALL SELECT 'the counted tokens', MAX(seq) FROM message_costs \
                  UNION ALL SELECT 'a pin', MAX(seq) FROM pins \
                  UNION ALL SELECT 'a memory', MAX(text_number) FROM memories \
                  UNION ALL SELECT 'an entry of a note', MAX(number) FROM note_entries \
                  UNION ALL SELECT 'a session', MAX(first_user_seq) FROM sessions";
    KEYS_IN_USE = "SELECT 'sessions' AS place, MAX(key) FROM sessions \
                   UNION ALL SELECT 'changes', MAX(key) FROM changes \
                   UNION ALL SELECT 'jobs', MAX(key) FROM jobs \
                   UNION ALL SELECT 'payloads', MAX(key) FROM payloads \
                   UNION ALL SELECT 'summaries', MAX(key) FROM summaries \
                   UNION ALL SELECT 'tokens', MAX(key) FROM tokens \
                   UNION ALL SELECT 'memories', MAX(key) FROM memories \
                   UNION ALL SELECT 'operations', MAX(key) FROM operations \
                   UNION ALL SELECT 'project_state', MAX(key) FROM project_state \
                   UNION ALL SELECT 'revisions', MAX(key) FROM revisions \
                   UNION ALL SELECT 'note_entries', MAX(key) FROM note_entries \
                   UNION ALL SELECT 'interactions', MAX(key) FROM interactions \
                   UNION ALL SELECT 'segments', MAX(id) FROM segments";
    RAISE = "UPDATE sequence SET message = CAST(?1 AS BIGINT), key = CAST(?2 AS BIGINT) WHERE id = 1";
    CHANGE_SETTINGS = "UPDATE sequence SET settings = CAST(?1 AS BIGINT) WHERE id = 1";
    SETTINGS = "SELECT settings FROM sequence WHERE id = 1";
}

/// Ids for the messages of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextIds {
    /// The first id; the others follow without a gap.
    pub first: i64,
    /// The settings generation, from the same row.
    pub settings: i64,
}

/// The ids for the messages that this transaction inserts next. Under the write lock they follow the
/// highest id that ever existed; a counter that every append updates would cost each commit a page.
pub fn next_messages(tx: &Tx<'_>) -> Result<NextIds> {
    tx.one(NEXT_MESSAGE, &[], read)
}

/// Like [`next_messages`], with the key of the session if it exists, in one query.
pub fn next_of_session(tx: &Tx<'_>, id: &SessionId) -> Result<(NextIds, Option<i64>)> {
    tx.one(NEXT_OF_SESSION, &[id.as_str().into()], |row| Ok((read(row)?, row.opt_int(3)?)))
}

fn read(row: &dyn Row) -> Result<NextIds> {
    let highest = row.int(0)?.max(row.opt_int(2)?.unwrap_or(0));
    Ok(NextIds { first: highest + 1, settings: row.int(1)? })
}

/// Stores the highest id before messages are removed.
pub(crate) fn keep_highest(tx: &Tx<'_>) -> Result<()> {
    tx.execute(KEEP_HIGHEST, &[]).map(|_| ())
}

/// Issues the number of a text that is no message. Numbers of texts follow the order of commits,
/// whatever their kind.
pub(crate) fn take_text_number(tx: &Tx<'_>) -> Result<i64> {
    tx.one(TAKE_TEXT_NUMBER, &[], |row| row.int(0))
}

/// Issues an internal key.
pub fn take_key(tx: &Tx<'_>) -> Result<i64> {
    tx.one(TAKE_KEY, &[], |row| row.int(0))
}

/// Issues `count` internal keys; returns the key before the first.
pub(crate) fn take_keys(tx: &Tx<'_>, count: i64) -> Result<i64> {
    tx.one(TAKE_KEYS, &[count.into()], |row| Ok(row.int(0)? - count))
}

/// Ids and keys that are in use although the counters never issued them, described for people. That
/// happens if parts of the store are older than others, for example after its log was truncated.
pub fn unissued_in_use(tx: &Tx<'_>) -> Result<Vec<String>> {
    let (message, key) = issued(tx)?;
    let ids = in_use(tx, IDS_IN_USE)?.into_iter().filter(|(_, id)| *id > message);
    let ids = ids.map(|(place, id)| {
        format!("{place} refers to message {id}, but the last message ever stored is {message}")
    });
    let keys = in_use(tx, KEYS_IN_USE)?.into_iter().filter(|(_, used)| *used > key);
    let keys = keys.map(|(place, used)| {
        format!("the table {place} holds key {used}, but the last key ever issued is {key}")
    });
    Ok(ids.chain(keys).collect())
}

/// Raises the counters above every id and key in use.
pub fn raise_counters(tx: &Tx<'_>) -> Result<()> {
    let (message, key) = issued(tx)?;
    let highest = |from: i64, used: Vec<(String, i64)>| {
        used.into_iter().map(|(_, number)| number).fold(from, i64::max)
    };
    let message = highest(message, in_use(tx, IDS_IN_USE)?);
    let key = highest(key, in_use(tx, KEYS_IN_USE)?);
    tx.execute(RAISE, &[message.into(), key.into()]).map(|_| ())
}

/// The last message id and the last key that were issued.
fn issued(tx: &Tx<'_>) -> Result<(i64, i64)> {
    tx.one(COUNTERS, &[], |row| Ok((row.int(0)?.max(row.opt_int(2)?.unwrap_or(0)), row.int(1)?)))
}

fn in_use(tx: &Tx<'_>, sql: &str) -> Result<Vec<(String, i64)>> {
    tx.all(sql, &[], |row| Ok((row.text(0)?.to_owned(), row.opt_int(1)?.unwrap_or(0))))
}

/// Starts a new settings generation. Generations are random, because one that was rolled back after it
/// was read must not be reused for other settings.
pub(crate) fn change_settings(tx: &Tx<'_>) -> Result<()> {
    tx.execute(CHANGE_SETTINGS, &[fastrand::i64(1..).into()]).map(|_| ())
}

/// The generation of the settings.
pub fn settings_generation(tx: &Tx<'_>) -> Result<i64> {
    tx.one(SETTINGS, &[], |row| row.int(0))
}
