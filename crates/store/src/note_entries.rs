//! The entries of the notes as they are now, as texts of the index. An entry gets its number when it
//! appears in its note, and keeps it until it is changed or removed.

use crate::aggregates::Table;
use crate::backend::{Row, Value};
use crate::notes::hash_of;
use crate::{Tx, sequence};
use oneiro_model::{NoteName, Result, Timestamp};
use std::collections::BTreeMap;

macro_rules! select {
    ($rest:expr) => {
        concat!("SELECT number, key, name, handle, text, at FROM note_entries ", $rest)
    };
}

statements! {
    DUE = "SELECT n.name, n.removed, n.updated_at, t.text FROM notes n \
           LEFT JOIN note_texts t ON t.hash = n.text_hash \
           WHERE n.entries_due = 1 ORDER BY n.name LIMIT CAST(?1 AS BIGINT)";
    NOT_DUE = "UPDATE notes SET entries_due = 0 WHERE name = ?1";
    HANDLES = "SELECT handle, number FROM note_entries WHERE name = ?1";
    INSERT = "INSERT INTO note_entries (number, key, name, handle, text, at) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    DELETE = "DELETE FROM note_entries WHERE number = ?1";
    OF_NOTE = select!("WHERE name = ?1 ORDER BY number");
    DELETE_OF_NOTE = "DELETE FROM note_entries WHERE name = ?1";
    TEXTS_AFTER = select!("WHERE number > ?1 ORDER BY number LIMIT CAST(?2 AS BIGINT)");
    NEWEST_TEXTS = select!("ORDER BY number DESC LIMIT CAST(?1 AS BIGINT)");
    BY_NUMBER = select!("WHERE number IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
                         ?14, ?15, ?16)");
    NUMBERS = "SELECT number FROM note_entries WHERE number >= ?1 AND number <= ?2 ORDER BY number";
    COUNT = "SELECT COUNT(*) FROM note_entries WHERE number >= ?1 AND number <= ?2";
    LAST = "SELECT COALESCE(MAX(number), 0) FROM note_entries";
    TEXTS = "SELECT text FROM note_entries";
}

pub(crate) const TABLES: &[Table] =
    &[Table { name: "note_entries", columns: "number, key, name, handle, text, at" }];

/// How many numbers one statement selects.
const NUMBERS_PER_SELECT: usize = 16;

/// Letters of a handle: a part of the hash of the entry's text.
const HANDLE_CHARS: usize = 12;

/// A note whose entries must be listed again.
#[derive(Debug)]
pub struct DueNote {
    /// Its name.
    pub name: NoteName,
    /// When it was last changed.
    pub at: Timestamp,
    /// Its text; `None` if it is deleted.
    pub text: Option<String>,
}

/// An entry with the number of its text.
#[derive(Debug, Clone)]
pub struct NoteEntry {
    /// The number of the text, from the sequence that messages have theirs from.
    pub number: i64,
    /// Its key.
    pub key: i64,
    /// The note.
    pub name: NoteName,
    /// Names the entry in its note, as long as its text is the same.
    pub handle: String,
    /// Its text.
    pub text: String,
    /// When it appeared.
    pub at: Timestamp,
}

/// The handle of an entry with this text.
pub fn handle_of(text: &str) -> String {
    hash_of(text).chars().take(HANDLE_CHARS).collect()
}

/// Up to `limit` notes that were changed, and whose entries were not listed since.
pub fn due(tx: &Tx<'_>, limit: usize) -> Result<Vec<DueNote>> {
    tx.all(DUE, &[(limit as i64).into()], |row| {
        Ok(DueNote {
            name: NoteName::parse(row.text(0)?)?,
            at: Timestamp::from_micros(row.int(2)?),
            text: row.opt_string(3)?.filter(|_| row.int(1).is_ok_and(|removed| removed == 0)),
        })
    })
}

/// Sets the entries of a note. Those that it had already keep their numbers.
pub fn set(tx: &Tx<'_>, name: &NoteName, at: Timestamp, texts: &[&str]) -> Result<()> {
    let listed =
        tx.all(HANDLES, &[name.as_str().into()], |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
    let mut gone: BTreeMap<String, i64> = listed.into_iter().collect();
    let mut new: Vec<(String, &str)> = Vec::new();
    let mut kept = std::collections::BTreeSet::new();
    for text in texts {
        let handle = handle_of(text);
        if kept.insert(handle.clone()) && gone.remove(&handle).is_none() {
            new.push((handle, text));
        }
    }
    for number in gone.into_values() {
        tx.execute(DELETE, &[number.into()])?;
    }
    for (handle, text) in new {
        let values = [
            sequence::take_text_number(tx)?.into(),
            sequence::take_key(tx)?.into(),
            name.as_str().into(),
            handle.as_str().into(),
            text.into(),
            at.micros().into(),
        ];
        tx.execute(INSERT, &values)?;
    }
    tx.execute(NOT_DUE, &[name.as_str().into()]).map(|_| ())
}

/// Removes the entries of a note that is erased; `each` gets their texts.
pub(crate) fn erase_of_note(
    tx: &Tx<'_>,
    name: &NoteName,
    each: &mut dyn FnMut(&[u8]),
) -> Result<()> {
    of_note(tx, name)?.iter().for_each(|entry| each(entry.text.as_bytes()));
    tx.execute(DELETE_OF_NOTE, &[name.as_str().into()]).map(|_| ())
}

/// The entries of a note, in the order in which they appeared.
pub fn of_note(tx: &Tx<'_>, name: &NoteName) -> Result<Vec<NoteEntry>> {
    tx.all(OF_NOTE, &[name.as_str().into()], read)
}

/// Entries with a number after this one, lowest first.
pub fn after(tx: &Tx<'_>, number: i64, limit: usize) -> Result<Vec<NoteEntry>> {
    tx.all(TEXTS_AFTER, &[number.into(), (limit as i64).into()], read)
}

/// The entries with the highest numbers, highest first.
pub fn newest(tx: &Tx<'_>, limit: usize) -> Result<Vec<NoteEntry>> {
    tx.all(NEWEST_TEXTS, &[(limit as i64).into()], read)
}

/// The entries with these numbers, in any order.
pub fn by_numbers(tx: &Tx<'_>, numbers: &[i64]) -> Result<Vec<NoteEntry>> {
    let mut found = Vec::new();
    for chunk in numbers.chunks(NUMBERS_PER_SELECT) {
        // The statement has a fixed number of parameters; the last number fills the rest.
        let padding = chunk.last().copied().unwrap_or_default();
        let values = chunk.iter().copied().chain(std::iter::repeat(padding));
        let values: Vec<Value<'_>> = values.take(NUMBERS_PER_SELECT).map(Value::Int).collect();
        found.append(&mut tx.all(BY_NUMBER, &values, read)?);
    }
    Ok(found)
}

/// The numbers of entries from `first` to `last`, lowest first.
pub fn numbers(tx: &Tx<'_>, first: i64, last: i64) -> Result<Vec<i64>> {
    tx.all(NUMBERS, &[first.into(), last.into()], |row| row.int(0))
}

/// How many entries have a number from `first` to `last`.
pub fn count(tx: &Tx<'_>, first: i64, last: i64) -> Result<i64> {
    tx.one(COUNT, &[first.into(), last.into()], |row| row.int(0))
}

/// The highest number of an entry; 0 if there is none.
pub fn last_number(tx: &Tx<'_>) -> Result<i64> {
    tx.one(LAST, &[], |row| row.int(0))
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(TEXTS, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}

fn read(row: &dyn Row) -> Result<NoteEntry> {
    Ok(NoteEntry {
        number: row.int(0)?,
        key: row.int(1)?,
        name: NoteName::parse(row.text(2)?)?,
        handle: row.text(3)?.to_owned(),
        text: row.text(4)?.to_owned(),
        at: Timestamp::from_micros(row.int(5)?),
    })
}
