//! Notes and their texts. A text is stored once, under its hash, and belongs to the changes that wrote
//! it. Rows of notes change through [`crate::operations`] only.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::identity::Identity;
use crate::operations::{self, Record, sealed::Save};
use crate::{Tx, note_entries, note_origins, revisions, served_lines};
use oneiro_model::{NoteName, Result, SubjectKind, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT n.name, n.text_hash, n.updated_at, t.text FROM notes n \
             JOIN note_texts t ON t.hash = n.text_hash WHERE n.removed = 0 ",
            $rest
        )
    };
}

statements! {
    PUT_TEXT = "INSERT INTO note_texts (hash, text) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
    TEXT = "SELECT text FROM note_texts WHERE hash = ?1";
    SAVE = "INSERT INTO notes (name, text_hash, updated_at, removed) VALUES (?1, ?2, ?3, 0) \
            ON CONFLICT (name) DO UPDATE SET text_hash = excluded.text_hash, \
            updated_at = excluded.updated_at, removed = 0, entries_due = 1";
    REMOVE = "UPDATE notes SET removed = 1, entries_due = 1 WHERE name = ?1";
    GET = select!("AND n.name = ?1");
    LIST = select!("AND n.name >= ?1 AND n.name < ?2 ORDER BY n.name");
    STATE = "SELECT name, text_hash FROM notes WHERE removed = 0 AND name = ?1";
    EVERY = "SELECT name, text_hash, removed FROM notes ORDER BY name";
    NAMES = "SELECT name FROM notes ORDER BY name";
    COUNT = "SELECT COUNT(*) FROM notes WHERE removed = 0";
    EVERY_TEXT = "SELECT hash, text FROM note_texts ORDER BY hash";
    DELETE = "DELETE FROM notes WHERE name = ?1";
    DELETE_UNUSED_TEXTS = "DELETE FROM note_texts WHERE NOT EXISTS \
                           (SELECT 1 FROM note_changes c WHERE c.text_hash = note_texts.hash) \
                           AND NOT EXISTS \
                           (SELECT 1 FROM notes n WHERE n.text_hash = note_texts.hash) \
                           AND NOT EXISTS \
                           (SELECT 1 FROM mount_files m WHERE m.base_hash = note_texts.hash)";
    TEXTS_OF_NOTE = "SELECT t.text FROM note_texts t WHERE t.hash IN \
                     (SELECT c.text_hash FROM note_changes c WHERE c.name = ?1) OR t.hash IN \
                     (SELECT m.base_hash FROM mount_files m WHERE m.name = ?1)";
    MISSING_TEXTS = "SELECT name FROM notes WHERE removed = 0 AND NOT EXISTS \
                     (SELECT 1 FROM note_texts t WHERE t.hash = notes.text_hash) ORDER BY name";
    TEXTS = "SELECT text FROM note_texts";
    HISTORY = "SELECT DISTINCT t.hash, t.text FROM note_texts t JOIN note_changes c \
               ON c.text_hash = t.hash WHERE c.name = ?1 AND t.text <> REPLACE(t.text, ?2, '') \
               ORDER BY t.hash";
    REPOINT_NOTE = "UPDATE notes SET text_hash = ?3, entries_due = 1 WHERE name = ?1 AND text_hash = ?2";
    REPOINT_CHANGES = "UPDATE note_changes SET text_hash = ?3 WHERE name = ?1 AND text_hash = ?2";
    REPOINT_OPERATIONS = "UPDATE operations SET before = REPLACE(before, ?2, ?3), \
                          after = REPLACE(after, ?2, ?3) \
                          WHERE subject = ?1 AND subject_kind = 'note'";
}

pub(crate) const TABLES: &[Table] = &[
    Table { name: "note_texts", columns: "hash, text" },
    Table { name: "notes", columns: "name, text_hash, updated_at, removed, entries_due" },
];

/// Bytes of a hash. It is not keyed: hashes are the same in every store, so that histories can be
/// moved, and an erasure removes them together with the text.
const HASH_BYTES: usize = 20;

/// The hash of a text.
pub fn hash_of(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// A note as operations record it: which text it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteState {
    /// Its name.
    pub name: String,
    /// The hash of its text.
    pub text: String,
}

/// A note with its text.
#[derive(Debug, Clone)]
pub struct StoredNote {
    /// Its name.
    pub name: NoteName,
    /// The hash of its text.
    pub hash: String,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Its text.
    pub text: String,
}

impl Record for NoteState {
    const KIND: SubjectKind = SubjectKind::Note;
    const DERIVED_FIELDS: &'static [&'static str] = &["name"];

    fn id(&self) -> &str {
        &self.name
    }

    fn load(tx: &Tx<'_>, id: &str) -> Result<Option<NoteState>> {
        tx.first(STATE, &[id.into()], |row| {
            Ok(NoteState { name: row.text(0)?.to_owned(), text: row.text(1)?.to_owned() })
        })
    }

    fn add_derived(fields: &mut Map<String, Value>, id: &str, _: Timestamp) {
        fields.insert("name".to_owned(), id.into());
    }
}

impl Save for NoteState {
    fn save(&self, tx: &Tx<'_>, _: &Identity, at: Timestamp) -> Result<()> {
        let values = [(&self.name).into(), (&self.text).into(), at.micros().into()];
        tx.execute(SAVE, &values).map(|_| ())
    }

    fn remove(&self, tx: &Tx<'_>) -> Result<()> {
        tx.execute(REMOVE, &[(&self.name).into()]).map(|_| ())
    }

    fn claim(&self, _: &Identity) -> Option<String> {
        None
    }
}

/// Stores a text and returns its hash.
pub fn put_text(tx: &Tx<'_>, text: &str) -> Result<String> {
    let hash = hash_of(text);
    tx.execute(PUT_TEXT, &[hash.as_str().into(), text.into()])?;
    Ok(hash)
}

/// The text with this hash.
pub fn text(tx: &Tx<'_>, hash: &str) -> Result<Option<String>> {
    tx.first(TEXT, &[hash.into()], |row| row.text(0).map(str::to_owned))
}

/// The note with this name.
pub fn get(tx: &Tx<'_>, name: &NoteName) -> Result<Option<StoredNote>> {
    tx.first(GET, &[name.as_str().into()], read)
}

/// Notes whose name starts with `prefix`, by name.
pub fn list(tx: &Tx<'_>, prefix: &str) -> Result<Vec<StoredNote>> {
    let end = format!("{prefix}\u{10FFFF}");
    tx.all(LIST, &[prefix.into(), end.as_str().into()], read)
}

/// Every note that was ever written, by name, and whether it is deleted.
pub fn every(tx: &Tx<'_>) -> Result<Vec<(NoteState, bool)>> {
    tx.all(EVERY, &[], |row| {
        let state = NoteState { name: row.text(0)?.to_owned(), text: row.text(1)?.to_owned() };
        Ok((state, row.int(2)? != 0))
    })
}

/// The names of all notes that were ever written.
pub fn names(tx: &Tx<'_>) -> Result<Vec<NoteName>> {
    tx.all(NAMES, &[], |row| NoteName::parse(row.text(0)?))
}

/// How many notes there are.
pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one(COUNT, &[], |row| row.int(0))
}

/// Calls `each` with every stored text.
pub fn each_stored_text(tx: &Tx<'_>, mut each: impl FnMut(&str) -> Result<()>) -> Result<()> {
    tx.each(EVERY_TEXT, &[], |row| each(row.text(1)?))
}

/// Erases a note: its row, its texts in every revision, and the content of its operations. A text that
/// another note has too is kept. `each` gets the removed texts. Returns whether there was one.
pub fn erase(tx: &Tx<'_>, name: &NoteName, each: &mut dyn FnMut(&[u8])) -> Result<bool> {
    tx.each(TEXTS_OF_NOTE, &[name.as_str().into()], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })?;
    revisions::erase_of_note(tx, name, each)?;
    note_entries::erase_of_note(tx, name, each)?;
    served_lines::remove_of_note(tx, name)?;
    operations::scrub(tx, SubjectKind::Note, name.as_str(), &mut |_| {})?;
    let removed = tx.execute(DELETE, &[name.as_str().into()])?;
    remove_unused_texts(tx)?;
    Ok(removed > 0)
}

/// Which lines of a note an erasure removes.
#[derive(Clone, Copy)]
pub(crate) enum ErasedLines<'a> {
    /// Those that are this entry, whatever their list marker. What quotes it stays.
    Entry(&'a str),
    /// Those that name this id.
    Naming(&'a str),
}

impl ErasedLines<'_> {
    fn words(&self) -> &str {
        match self {
            ErasedLines::Entry(words) | ErasedLines::Naming(words) => words,
        }
    }

    fn is_erased(&self, line: &str) -> bool {
        match self {
            ErasedLines::Entry(entry) => {
                let text = line.trim().trim_start_matches(['-', '*', '+']).trim_start();
                text == entry.trim().trim_start_matches(['-', '*', '+']).trim_start()
            }
            ErasedLines::Naming(id) => line.contains(id),
        }
    }
}

/// Erases lines from a note and from its history.
pub(crate) fn erase_lines(tx: &Tx<'_>, name: &str, lines: ErasedLines<'_>) -> Result<()> {
    let texts = tx.all(HISTORY, &[name.into(), lines.words().into()], |row| {
        Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
    })?;
    for (hash, text) in &texts {
        let kept: String =
            text.split_inclusive('\n').filter(|line| !lines.is_erased(line)).collect();
        let new = put_text(tx, &kept)?;
        for sql in [REPOINT_NOTE, REPOINT_CHANGES, REPOINT_OPERATIONS] {
            tx.execute(sql, &[name.into(), hash.as_str().into(), new.as_str().into()])?;
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    note_origins::remove(tx, &NoteName::parse(name)?)?;
    remove_unused_texts(tx)
}

/// Removes texts that no note and no change has.
pub fn remove_unused_texts(tx: &Tx<'_>) -> Result<()> {
    tx.execute(DELETE_UNUSED_TEXTS, &[]).map(|_| ())
}

/// The names of notes whose text is missing.
pub fn without_text(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.all(MISSING_TEXTS, &[], |row| row.text(0).map(str::to_owned))
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(TEXTS, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}

fn read(row: &dyn Row) -> Result<StoredNote> {
    Ok(StoredNote {
        name: NoteName::parse(row.text(0)?)?,
        hash: row.text(1)?.to_owned(),
        updated_at: Timestamp::from_micros(row.int(2)?),
        text: row.text(3)?.to_owned(),
    })
}
