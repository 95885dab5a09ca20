//! The indexed texts as the store has them, one source per kind.

use crate::memories::with_asked_words;
use oneiro_index::{Kind, Source, Sources, Text, role, role_code};
use oneiro_model::{Result, searchable};
use oneiro_store::Tx;
use oneiro_store::memory_texts::{self, MemoryText};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::note_entries::{self, NoteEntry};

/// Everything that is indexed.
pub(crate) fn texts<'t>(tx: &'t Tx<'_>) -> Sources<'t> {
    Sources(vec![Box::new(Messages(tx)), Box::new(Memories(tx)), Box::new(NoteEntries(tx))])
}

/// The messages of all sessions.
struct Messages<'t, 'c>(&'t Tx<'c>);

fn text(said: &MessageRow) -> Text {
    Text {
        number: said.seq,
        kind: Kind::Message,
        session: said.session_key,
        at: said.at,
        role: role_code(&said.role),
        name: said.body.get("name").and_then(serde_json::Value::as_str).map(str::to_owned),
        text: searchable(&said.role, &said.body),
    }
}

impl Source for Messages<'_, '_> {
    fn after(&self, number: i64, limit: usize) -> Result<Vec<Text>> {
        Ok(message_rows::after(self.0, number, limit)?.iter().map(text).collect())
    }

    fn newest(&self, limit: usize) -> Result<Vec<Text>> {
        Ok(message_rows::before(self.0, i64::MAX, limit)?.iter().rev().map(text).collect())
    }

    fn by_numbers(&self, numbers: &[i64]) -> Result<Vec<Text>> {
        Ok(message_rows::by_ids(self.0, numbers)?.iter().map(text).collect())
    }

    fn numbers(&self, first: i64, last: i64) -> Result<Vec<i64>> {
        message_rows::ids_between(self.0, first, last)
    }

    fn count(&self, first: i64, last: i64) -> Result<i64> {
        message_rows::count_between(self.0, first, last)
    }

    fn last(&self) -> Result<i64> {
        message_rows::last_id(self.0)
    }
}

/// The memories, whatever their status.
struct Memories<'t, 'c>(&'t Tx<'c>);

/// A memory is its statement, about somebody who is found like a speaker. Its own key stands for a
/// session, which makes it a conversation of one text.
pub(crate) fn memory_text(one: &MemoryText) -> Text {
    Text {
        number: one.number,
        kind: Kind::Memory,
        session: one.key,
        at: one.memory.holds_from(),
        role: role::USER,
        name: one.memory.subject.clone(),
        text: with_asked_words(&one.memory.content),
    }
}

impl Source for Memories<'_, '_> {
    fn after(&self, number: i64, limit: usize) -> Result<Vec<Text>> {
        Ok(memory_texts::after(self.0, number, limit)?.iter().map(memory_text).collect())
    }

    fn newest(&self, limit: usize) -> Result<Vec<Text>> {
        Ok(memory_texts::newest(self.0, limit)?.iter().rev().map(memory_text).collect())
    }

    fn by_numbers(&self, numbers: &[i64]) -> Result<Vec<Text>> {
        Ok(memory_texts::by_numbers(self.0, numbers)?.iter().map(memory_text).collect())
    }

    fn numbers(&self, first: i64, last: i64) -> Result<Vec<i64>> {
        memory_texts::numbers(self.0, first, last)
    }

    fn count(&self, first: i64, last: i64) -> Result<i64> {
        memory_texts::count(self.0, first, last)
    }

    fn last(&self) -> Result<i64> {
        memory_texts::last_number(self.0)
    }
}

/// The entries of notes.
struct NoteEntries<'t, 'c>(&'t Tx<'c>);

/// Like a memory, an entry is a conversation of one text.
fn entry_text(one: &NoteEntry) -> Text {
    Text {
        number: one.number,
        kind: Kind::Note,
        session: one.key,
        at: one.at,
        role: role::USER,
        name: None,
        text: one.text.clone(),
    }
}

impl Source for NoteEntries<'_, '_> {
    fn after(&self, number: i64, limit: usize) -> Result<Vec<Text>> {
        Ok(note_entries::after(self.0, number, limit)?.iter().map(entry_text).collect())
    }

    fn newest(&self, limit: usize) -> Result<Vec<Text>> {
        Ok(note_entries::newest(self.0, limit)?.iter().rev().map(entry_text).collect())
    }

    fn by_numbers(&self, numbers: &[i64]) -> Result<Vec<Text>> {
        Ok(note_entries::by_numbers(self.0, numbers)?.iter().map(entry_text).collect())
    }

    fn numbers(&self, first: i64, last: i64) -> Result<Vec<i64>> {
        note_entries::numbers(self.0, first, last)
    }

    fn count(&self, first: i64, last: i64) -> Result<i64> {
        note_entries::count(self.0, first, last)
    }

    fn last(&self) -> Result<i64> {
        note_entries::last_number(self.0)
    }
}
