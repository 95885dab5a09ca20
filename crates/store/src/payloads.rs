//! Payloads: large values and system prompts, stored outside their rows, content-addressed, compressed
//! and deduplicated.

use crate::aggregates::Table;
use crate::{Tx, sequence};
use oneiro_model::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

statements! {
    BY_HASH = "SELECT key FROM payloads WHERE hash = ?1";
    INSERT = "INSERT INTO payloads (key, hash, size, data) VALUES (?1, ?2, ?3, ?4)";
    GET = "SELECT size, data FROM payloads WHERE key = ?1";
    LINK = "INSERT INTO message_payloads (seq, pointer, payload_key) VALUES (?1, ?2, ?3)";
    OF_MESSAGE = "SELECT l.pointer, p.size, p.data FROM message_payloads l \
                  JOIN payloads p ON p.key = l.payload_key WHERE l.seq = ?1 ORDER BY l.pointer";
    LINKS = "SELECT pointer, payload_key FROM message_payloads WHERE seq = ?1 ORDER BY pointer";
    KEYS_OF_SESSION = "SELECT DISTINCT l.payload_key FROM message_payloads l \
                       JOIN messages m ON m.seq = l.seq WHERE m.session_key = ?1";
    REMOVE_UNUSED = "DELETE FROM payloads WHERE key = ?1 \
        AND NOT EXISTS (SELECT 1 FROM message_payloads l WHERE l.payload_key = payloads.key) \
        AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.system_prompt_key = payloads.key)";
    COUNT = "SELECT COUNT(*) FROM payloads";
    DATA = "SELECT data FROM payloads WHERE key = ?1";
    ALL_DATA = "SELECT data FROM payloads";
}

pub(crate) const TABLES: &[Table] = &[Table { name: "payloads", columns: "key, hash, size, data" }];

/// Strings longer than this are stored as payloads.
pub const MAX_INLINE_BYTES: usize = 64 * 1024;

/// The limit for instructions, which repeat across sessions.
pub const MAX_INLINE_INSTRUCTION_BYTES: usize = 1024;

/// The longest JSON pointer to a payload; an index row of PostgreSQL holds 2,700 bytes.
const MAX_POINTER_BYTES: usize = 1024;

/// The largest message that is accepted.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024 * 1024;

const ZSTD_LEVEL: i32 = 3;

/// A compressed value, ready to be stored.
#[derive(Debug, Clone)]
pub struct Payload {
    hash: [u8; 32],
    size: usize,
    data: Vec<u8>,
}

impl Payload {
    /// Compresses `bytes`. Call it before the transaction, so that no writer waits for it.
    pub fn pack(bytes: &[u8]) -> Result<Payload> {
        let data = zstd::bulk::compress(bytes, ZSTD_LEVEL)
            .map_err(|error| Error::internal("compressing a payload failed").because(error))?;
        Ok(Payload { hash: *blake3::hash(bytes).as_bytes(), size: bytes.len(), data })
    }
}

/// The body of a message as stored in its row, and the payloads taken out of it by JSON pointer.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    pub(crate) body: String,
    pub(crate) payloads: Vec<(String, Payload)>,
}

/// Moves long strings of `body` into payloads, or the entire body if it is long without them.
pub(crate) fn split(body: Map<String, Value>, limit: usize) -> Result<Split> {
    let text = to_json(&body)?;
    if text.len() > MAX_MESSAGE_BYTES {
        return Err(Error::too_large(format!(
            "a message of {} bytes; the maximum is {MAX_MESSAGE_BYTES}",
            text.len()
        ))
        .remedy("store large files elsewhere and refer to them"));
    }
    if text.len() <= limit {
        return Ok(Split { body: text, payloads: Vec::new() });
    }
    let mut body = Value::Object(body);
    let mut payloads = Vec::new();
    take_long_strings(&mut body, limit, &mut String::new(), &mut payloads)?;
    let mut text = to_json(&body)?;
    if text.len() > MAX_INLINE_BYTES {
        payloads =
            vec![(String::new(), Payload::pack(join_to_json(&body, &payloads)?.as_bytes())?)];
        text = "{}".to_owned();
    }
    Ok(Split { body: text, payloads })
}

/// The complete body with its long strings, for one that is long without them.
fn join_to_json(body: &Value, payloads: &[(String, Payload)]) -> Result<String> {
    let mut whole = body.clone();
    for (pointer, payload) in payloads {
        insert_at(&mut whole, pointer, &unpack(payload.size, &payload.data)?)?;
    }
    to_json(&whole)
}

fn take_long_strings(
    value: &mut Value,
    limit: usize,
    pointer: &mut String,
    payloads: &mut Vec<(String, Payload)>,
) -> Result<()> {
    match value {
        Value::String(text) if text.len() > limit => {
            let payload = Payload::pack(to_json(&*text)?.as_bytes())?;
            payloads.push((pointer.clone(), payload));
            text.clear();
            text.shrink_to_fit();
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                descend(item, &index.to_string(), limit, pointer, payloads)?;
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                descend(
                    field,
                    &name.replace('~', "~0").replace('/', "~1"),
                    limit,
                    pointer,
                    payloads,
                )?;
            }
        }
        _ => {}
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a step of one recursion, not an interface")]
fn descend(
    value: &mut Value,
    name: &str,
    limit: usize,
    pointer: &mut String,
    payloads: &mut Vec<(String, Payload)>,
) -> Result<()> {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(name);
    // A pointer is an indexed TEXT column, which can hold neither NUL nor much; the value of such
    // a key stays in the row, or leaves with the whole body.
    if !name.contains('\0') && pointer.len() <= MAX_POINTER_BYTES {
        take_long_strings(value, limit, pointer, payloads)?;
    }
    pointer.truncate(length);
    Ok(())
}

/// Inserts the payloads of a message into `body`; returns their size in bytes.
pub(crate) fn join(tx: &Tx<'_>, seq: i64, body: &mut Map<String, Value>) -> Result<usize> {
    let found = tx.all(OF_MESSAGE, &[seq.into()], |row| {
        Ok((row.text(0)?.to_owned(), unpack(row.int(1)? as usize, row.bytes(2)?)?))
    })?;
    let mut whole = Value::Object(std::mem::take(body));
    let mut size = 0;
    for (pointer, bytes) in found {
        size += bytes.len();
        insert_at(&mut whole, &pointer, &bytes)?;
    }
    match whole {
        Value::Object(fields) => *body = fields,
        _ => return Err(damaged("a message's body is not an object")),
    }
    Ok(size)
}

fn insert_at(whole: &mut Value, pointer: &str, bytes: &[u8]) -> Result<()> {
    let value = oneiro_model::json::parse(bytes).map_err(|_| damaged("a payload is not JSON"))?;
    let place = whole.pointer_mut(pointer).ok_or_else(|| damaged("a payload has no place"))?;
    *place = value.value;
    Ok(())
}

/// Stores a payload, or finds the one that has the same content.
pub fn put(tx: &Tx<'_>, payload: &Payload) -> Result<i64> {
    let hash = payload.hash.as_slice();
    if let Some(key) = tx.first(BY_HASH, &[hash.into()], |row| row.int(0))? {
        return Ok(key);
    }
    let key = sequence::take_key(tx)?;
    let values =
        [key.into(), hash.into(), (payload.size as i64).into(), payload.data.as_slice().into()];
    tx.execute(INSERT, &values)?;
    Ok(key)
}

/// Links stored payloads to a message.
pub(crate) fn attach(tx: &Tx<'_>, seq: i64, payloads: &[(String, Payload)]) -> Result<()> {
    for (pointer, payload) in payloads {
        let key = put(tx, payload)?;
        tx.execute(LINK, &[seq.into(), pointer.into(), key.into()])?;
    }
    Ok(())
}

/// Links a copied message to the payloads of the original.
pub(crate) fn copy_links(tx: &Tx<'_>, from: i64, to: i64) -> Result<()> {
    let links = tx.all(LINKS, &[from.into()], |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
    for (pointer, key) in links {
        tx.execute(LINK, &[to.into(), (&pointer).into(), key.into()])?;
    }
    Ok(())
}

/// The content of a payload.
pub fn get(tx: &Tx<'_>, key: i64) -> Result<Vec<u8>> {
    let found = tx.first(GET, &[key.into()], |row| unpack(row.int(0)? as usize, row.bytes(1)?))?;
    found.ok_or_else(|| damaged("a payload is missing"))
}

/// The compressed bytes of a payload; `None` if it was removed.
pub fn stored_bytes(tx: &Tx<'_>, key: i64) -> Result<Option<Vec<u8>>> {
    tx.first(DATA, &[key.into()], |row| Ok(row.bytes(0)?.to_owned()))
}

/// Calls `each` with the compressed bytes of every payload.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(ALL_DATA, &[], |row| {
        each(row.bytes(0)?);
        Ok(())
    })
}

/// The payloads that messages of a session refer to.
pub fn keys_of_session(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    tx.all(KEYS_OF_SESSION, &[session_key.into()], |row| row.int(0))
}

/// The payloads that a message refers to.
pub fn keys_of_message(tx: &Tx<'_>, seq: i64) -> Result<Vec<i64>> {
    tx.all(LINKS, &[seq.into()], |row| row.int(1))
}

/// Removes the payloads among `keys` that nothing refers to; returns how many.
pub fn remove_unused(tx: &Tx<'_>, keys: &[i64]) -> Result<i64> {
    let mut removed = 0;
    for key in keys {
        removed += tx.execute(REMOVE_UNUSED, &[(*key).into()])? as i64;
    }
    Ok(removed)
}

/// How many payloads are stored.
pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one(COUNT, &[], |row| row.int(0))
}

fn unpack(size: usize, data: &[u8]) -> Result<Vec<u8>> {
    zstd::bulk::decompress(data, size)
        .map_err(|error| damaged("a payload is truncated").because(error))
}

fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::internal("a value cannot be written as JSON").because(error))
}

fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, what.to_owned()).remedy("restore the newest backup")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn round_trip(body: Value, limit: usize) -> (Value, usize) {
        let split = split(body.as_object().cloned().unwrap(), limit).unwrap();
        let mut whole = oneiro_model::json::parse_text(&split.body).unwrap().value;
        for (pointer, payload) in &split.payloads {
            insert_at(&mut whole, pointer, &unpack(payload.size, &payload.data).unwrap()).unwrap();
        }
        (whole, split.payloads.len())
    }

    #[test]
    fn long_values_become_payloads_and_are_restored() {
        let long = "é".repeat(MAX_INLINE_BYTES);
        let many: Vec<u32> = (0..40_000).collect();
        for (body, payloads) in [
            (json!({"content": "short"}), 0),
            (json!({"content": long}), 1),
            (json!({"content": [{"url": long, "a/b~c": long}, 1.50]}), 2),
            (json!({"content": many}), 1),
            (json!({"content": many, "x": long}), 1),
            (json!({"a\0b": long}), 1),
            (json!({"k".repeat(4_000): {"k": long}}), 1),
        ] {
            assert_eq!(round_trip(body.clone(), MAX_INLINE_BYTES), (body, payloads));
        }
    }
}
