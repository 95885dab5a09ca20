//! Reads memories as texts of the index: by the number of their text, and in its order. `memories`
//! writes the rows.

use crate::Tx;
use crate::backend::{Row, Value};
use crate::memories::{MemoryRow, read, select};
use oneiro_model::{Memory, Result};

statements! {
    TEXTS_AFTER = select!("WHERE text_number > ?1 ORDER BY text_number LIMIT CAST(?2 AS BIGINT)");
    NEWEST_TEXTS = select!("WHERE text_number IS NOT NULL ORDER BY text_number DESC \
                            LIMIT CAST(?1 AS BIGINT)");
    BY_NUMBER = select!("WHERE text_number IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, \
                         ?13, ?14, ?15, ?16)");
    NUMBERS = "SELECT text_number FROM memories WHERE text_number >= ?1 AND text_number <= ?2 \
               ORDER BY text_number";
    COUNT = "SELECT COUNT(*) FROM memories WHERE text_number >= ?1 AND text_number <= ?2";
    LAST = "SELECT COALESCE(MAX(text_number), 0) FROM memories";
}

/// How many numbers one statement selects.
const NUMBERS_PER_SELECT: usize = 16;

/// A memory, without its citations, with the number of its text.
#[derive(Debug, Clone)]
pub struct MemoryText {
    /// The number of the text, from the sequence that messages have theirs from.
    pub number: i64,
    /// The key of the memory.
    pub key: i64,
    /// The memory.
    pub memory: Memory,
}

/// Memories whose text has a number after this one, lowest first.
pub fn after(tx: &Tx<'_>, number: i64, limit: usize) -> Result<Vec<MemoryText>> {
    tx.all(TEXTS_AFTER, &[number.into(), (limit as i64).into()], text)
}

/// The memories with the highest numbers, highest first.
pub fn newest(tx: &Tx<'_>, limit: usize) -> Result<Vec<MemoryText>> {
    tx.all(NEWEST_TEXTS, &[(limit as i64).into()], text)
}

/// The memories whose text has one of these numbers, in any order.
pub fn by_numbers(tx: &Tx<'_>, numbers: &[i64]) -> Result<Vec<MemoryText>> {
    let mut found = Vec::new();
    for chunk in numbers.chunks(NUMBERS_PER_SELECT) {
        // The statement has a fixed number of parameters; the last number fills the rest.
        let padding = chunk.last().copied().unwrap_or_default();
        let values = chunk.iter().copied().chain(std::iter::repeat(padding));
        let values: Vec<Value<'_>> = values.take(NUMBERS_PER_SELECT).map(Value::Int).collect();
        found.append(&mut tx.all(BY_NUMBER, &values, text)?);
    }
    Ok(found)
}

/// The numbers of texts from `first` to `last`, lowest first.
pub fn numbers(tx: &Tx<'_>, first: i64, last: i64) -> Result<Vec<i64>> {
    tx.all(NUMBERS, &[first.into(), last.into()], |row| row.int(0))
}

/// How many texts have a number from `first` to `last`.
pub fn count(tx: &Tx<'_>, first: i64, last: i64) -> Result<i64> {
    tx.one(COUNT, &[first.into(), last.into()], |row| row.int(0))
}

/// The highest number of a text; 0 if there is none.
pub fn last_number(tx: &Tx<'_>) -> Result<i64> {
    tx.one(LAST, &[], |row| row.int(0))
}

fn text(row: &dyn Row) -> Result<MemoryText> {
    let MemoryRow { key, memory, .. } = read(row)?;
    Ok(MemoryText { number: row.int(21)?, key, memory })
}
