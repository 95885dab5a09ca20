//! Settings of a space, which all its processes share: names and JSON values.

use crate::aggregates::Table;
use crate::{Tx, sequence};
use oneiro_model::{Result, Timestamp};

statements! {
    ALL = "SELECT name, value FROM settings ORDER BY name";
    GET = "SELECT value FROM settings WHERE name = ?1";
    PUT = "INSERT INTO settings (name, value, updated_at) VALUES (?1, ?2, ?3) \
           ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    REMOVE = "DELETE FROM settings WHERE name = ?1";
}

pub(crate) const TABLES: &[Table] =
    &[Table { name: "settings", columns: "name, value, updated_at" }];

/// Every setting that differs from its default.
pub fn all(tx: &Tx<'_>) -> Result<Vec<(String, String)>> {
    tx.all(ALL, &[], |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned())))
}

/// The stored value of a name.
pub fn get(tx: &Tx<'_>, name: &str) -> Result<Option<String>> {
    tx.first(GET, &[name.into()], |row| row.text(0).map(str::to_owned))
}

/// Sets a setting, or resets it to its default.
pub fn put(tx: &Tx<'_>, name: &str, value: Option<&str>, now: Timestamp) -> Result<()> {
    match value {
        Some(value) => tx.execute(PUT, &[name.into(), value.into(), now.micros().into()])?,
        None => tx.execute(REMOVE, &[name.into()])?,
    };
    sequence::change_settings(tx)
}
