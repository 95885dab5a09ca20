//! Slots: values that a host stores by scope and name. A slot of a session is deleted with it.

use crate::Tx;
use crate::aggregates::Table;
use crate::backend::Row;
use oneiro_model::{Error, ErrorKind, MessageId, Result, Slot, SlotName, Timestamp};
use serde_json::Value;

statements! {
    GET = "SELECT name, value, updated_at FROM slots WHERE scope = ?1 AND name = ?2";
    OF_SCOPE = "SELECT name, value, updated_at FROM slots WHERE scope = ?1 ORDER BY name";
    SCOPES = "SELECT DISTINCT scope FROM slots WHERE scope >= ?1 ORDER BY scope";
    PUT = "INSERT INTO slots (scope, name, session_key, value, updated_at) \
           VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (scope, name) DO UPDATE SET \
           session_key = excluded.session_key, value = excluded.value, \
           updated_at = excluded.updated_at";
    REMOVE = "DELETE FROM slots WHERE scope = ?1 AND name = ?2";
    REMOVE_SCOPE = "DELETE FROM slots WHERE scope = ?1";
    REMOVE_OF_MESSAGE = "DELETE FROM slots WHERE session_key = ?1 AND name = ?2";
    STORED = "SELECT scope, name, value FROM slots";
}

pub(crate) const TABLES: &[Table] =
    &[Table { name: "slots", columns: "scope, name, session_key, value, updated_at" }];

/// One slot.
pub fn get(tx: &Tx<'_>, slot: &SlotName) -> Result<Option<Slot>> {
    tx.first(GET, &[slot.scope().into(), slot.name().into()], read)
}

/// The slots of a scope, by name.
pub fn of_scope(tx: &Tx<'_>, scope: &str) -> Result<Vec<Slot>> {
    tx.all(OF_SCOPE, &[scope.into()], read)
}

/// The scopes that start with `prefix`.
pub fn scopes(tx: &Tx<'_>, prefix: &str) -> Result<Vec<String>> {
    let mut found = tx.all(SCOPES, &[prefix.into()], |row| Ok(row.text(0)?.to_owned()))?;
    found.retain(|scope| scope.starts_with(prefix));
    Ok(found)
}

/// The value of a slot.
#[derive(Debug, Clone, Copy)]
pub struct SlotValue<'a> {
    /// Any JSON.
    pub value: &'a Value,
    /// The slot is deleted with this session.
    pub session_key: Option<i64>,
}

/// Sets a slot.
pub fn put(tx: &Tx<'_>, slot: &SlotName, slot_value: SlotValue<'_>, now: Timestamp) -> Result<()> {
    let text = slot_value.value.to_string();
    let values = [
        slot.scope().into(),
        slot.name().into(),
        slot_value.session_key.into(),
        text.as_str().into(),
        now.micros().into(),
    ];
    tx.execute(PUT, &values).map(|_| ())
}

/// Removes a slot.
pub fn remove(tx: &Tx<'_>, slot: &SlotName) -> Result<()> {
    tx.execute(REMOVE, &[slot.scope().into(), slot.name().into()]).map(|_| ())
}

/// Removes every slot of a scope.
pub fn remove_scope(tx: &Tx<'_>, scope: &str) -> Result<()> {
    tx.execute(REMOVE_SCOPE, &[scope.into()]).map(|_| ())
}

/// Removes the slots of a session that are named after the id of a message.
pub fn remove_of_message(tx: &Tx<'_>, session_key: i64, message: MessageId) -> Result<()> {
    let name = message.to_string();
    tx.execute(REMOVE_OF_MESSAGE, &[session_key.into(), name.as_str().into()]).map(|_| ())
}

/// Calls `each` with every text in slots.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(STORED, &[], |row| {
        (0..3).try_for_each(|column| {
            each(row.text(column)?.as_bytes());
            Ok(())
        })
    })
}

fn read(row: &dyn Row) -> Result<Slot> {
    let damaged = |_| Error::new(ErrorKind::Corrupt, "a slot's value is not JSON");
    let value = oneiro_model::json::parse_text(row.text(1)?).map_err(damaged)?.value;
    Ok(Slot {
        name: row.text(0)?.to_owned(),
        value,
        updated_at: Timestamp::from_micros(row.int(2)?),
    })
}
