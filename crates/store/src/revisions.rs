//! Revisions of the notes: who changed which notes when, and the text that each change wrote. Their
//! order is that of their keys.

use crate::aggregates::Table;
use crate::backend::{Row, Value};
use crate::{Tx, note_origins, sequence};
use oneiro_model::{
    ActorKind, GroupId, ListRevisions, NoteName, Result, Revision, RevisionId, Timestamp,
};

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT r.id, r.key, r.parent, r.at, r.author, r.author_kind, r.message, r.dream_id, \
             r.store_id FROM revisions r ",
            $rest
        )
    };
}

/// A list with all filters but the note, by the key of one table: the index on it ends the reading at the
/// limit, which is `?6`.
macro_rules! list {
    ($from:expr, $key:literal) => {
        select!(concat!(
            $from,
            " ",
            $key,
            " < CAST(?1 AS BIGINT) \
             AND (CAST(?2 AS TEXT) IS NULL OR r.author_kind = ?2) \
             AND (CAST(?3 AS TEXT) IS NULL OR r.message <> REPLACE(r.message, ?3, '') \
                  OR EXISTS (SELECT 1 FROM note_changes w JOIN note_texts t ON t.hash = w.text_hash \
                             WHERE w.revision = r.id AND t.text <> REPLACE(t.text, ?3, ''))) \
             AND r.at >= CAST(?4 AS BIGINT) AND r.at < CAST(?5 AS BIGINT) \
             ORDER BY ",
            $key,
            " DESC LIMIT CAST(?6 AS BIGINT)"
        ))
    };
}

statements! {
    INSERT = "INSERT INTO revisions (id, key, group_id, parent, at, author, author_kind, message, \
              dream_id, store_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    INSERT_CHANGE = "INSERT INTO note_changes (revision, name, key, text_hash, erased) \
                     VALUES (?1, ?2, ?3, ?4, ?5)";
    BY_ID = select!("WHERE r.id >= ?1 AND r.id < ?2 ORDER BY r.id LIMIT 2");
    LAST = select!("ORDER BY r.key DESC LIMIT 1");
    BEFORE = select!("WHERE r.key < CAST(?1 AS BIGINT) ORDER BY r.key DESC LIMIT 1");
    LIST = list!("WHERE", "r.key");
    LIST_OF_NOTE = list!(
        "JOIN note_changes c ON c.revision = r.id WHERE c.name = ?7 AND",
        "c.key"
    );
    OF_NOTE = select!("JOIN note_changes c ON c.revision = r.id WHERE c.name = ?1 ORDER BY c.key");
    CHANGES = "SELECT name, text_hash, erased FROM note_changes WHERE revision = ?1 ORDER BY name";
    AT = "SELECT text_hash, erased FROM note_changes WHERE name = ?1 \
          AND key <= CAST(?2 AS BIGINT) ORDER BY key DESC LIMIT 1";
    LAST_OF_NOTE = "SELECT revision FROM note_changes WHERE name = ?1 ORDER BY key DESC LIMIT 1";
    TEXTS_OF_NOTE = "SELECT c.revision, t.text FROM note_changes c \
                     LEFT JOIN note_texts t ON t.hash = c.text_hash WHERE c.name = ?1 \
                     AND c.key > CAST(?2 AS BIGINT) ORDER BY c.key";
    COUNT_OF_NOTE = "SELECT COUNT(*) FROM note_changes WHERE name = ?1 AND key > CAST(?2 AS BIGINT)";
    UNDONE_BY = "SELECT u.group_id FROM operations o JOIN operations u ON u.id = o.undone_by \
                 WHERE o.group_id = ?1 AND o.subject_kind = 'note' ORDER BY u.key DESC LIMIT 1";
    COUNT = "SELECT COUNT(*) FROM revisions";
    MESSAGES_OF_NOTE = "SELECT r.message FROM revisions r JOIN note_changes c ON c.revision = r.id \
                        WHERE c.name = ?1";
    SCRUB_MESSAGES = "UPDATE revisions SET message = '' WHERE id IN \
                      (SELECT c.revision FROM note_changes c WHERE c.name = ?1)";
    SCRUB_CHANGES = "UPDATE note_changes SET text_hash = NULL, erased = 1 WHERE name = ?1";
    MESSAGES = "SELECT message FROM revisions";
    MISSING_TEXTS = "SELECT DISTINCT c.name FROM note_changes c WHERE c.text_hash IS NOT NULL \
                     AND NOT EXISTS (SELECT 1 FROM note_texts t WHERE t.hash = c.text_hash) \
                     ORDER BY c.name";
}

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "revisions",
        columns: "id, key, group_id, parent, at, author, author_kind, message, dream_id, store_id",
    },
    Table { name: "note_changes", columns: "revision, name, key, text_hash, erased" },
];

/// A revision with its key and the store it was made in.
#[derive(Debug, Clone)]
pub struct StoredRevision {
    /// Its key.
    pub key: i64,
    /// The revision, without the names of its notes and what undid it.
    pub revision: Revision,
    /// The id of the store it was made in.
    pub store_id: String,
}

/// What a revision made of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteChange {
    /// The note.
    pub name: NoteName,
    /// The hash of its text; `None` if it was deleted or is erased.
    pub hash: Option<String>,
    /// Whether its text is erased.
    pub is_erased: bool,
}

/// Inserts a revision after all others, and returns its key.
pub fn add(
    tx: &Tx<'_>,
    revision: &Revision,
    changes: &[NoteChange],
    store_id: &str,
) -> Result<i64> {
    let key = sequence::take_key(tx)?;
    insert(tx, &StoredRevision { key, revision: revision.clone(), store_id: store_id.to_owned() })?;
    changes.iter().try_for_each(|change| insert_change(tx, (&revision.id, key), change))?;
    Ok(key)
}

pub(crate) fn insert(tx: &Tx<'_>, stored: &StoredRevision) -> Result<()> {
    let revision = &stored.revision;
    let group = revision.id.group();
    let values = [
        revision.id.as_str().into(),
        stored.key.into(),
        group.as_str().into(),
        revision.parent.as_ref().map(RevisionId::as_str).into(),
        revision.at.micros().into(),
        (&revision.author).into(),
        revision.author_kind.as_str().into(),
        (&revision.message).into(),
        revision.dream_id.as_deref().into(),
        (&stored.store_id).into(),
    ];
    tx.execute(INSERT, &values).map(|_| ())
}

pub(crate) fn insert_change(
    tx: &Tx<'_>,
    (revision, key): (&RevisionId, i64),
    change: &NoteChange,
) -> Result<()> {
    let values = [
        revision.as_str().into(),
        change.name.as_str().into(),
        key.into(),
        change.hash.as_deref().into(),
        i64::from(change.is_erased).into(),
    ];
    tx.execute(INSERT_CHANGE, &values).map(|_| ())
}

/// Up to two revisions whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<StoredRevision>> {
    let end = format!("{prefix}\u{7f}");
    tx.all(BY_ID, &[prefix.into(), end.as_str().into()], read)
}

/// The newest revision.
pub fn last(tx: &Tx<'_>) -> Result<Option<StoredRevision>> {
    tx.first(LAST, &[], read)
}

/// The revision before a key.
pub fn before(tx: &Tx<'_>, key: i64) -> Result<Option<StoredRevision>> {
    tx.first(BEFORE, &[key.into()], read)
}

/// Revisions, newest first: one more than the limit, if there are more.
pub fn list(tx: &Tx<'_>, request: &ListRevisions) -> Result<Vec<StoredRevision>> {
    let before = request.cursor.as_ref().map_or(i64::MAX, |cursor| cursor.key);
    let mut values: Vec<Value<'_>> = vec![
        before.into(),
        request.author_kind.map(ActorKind::as_str).into(),
        request.text.as_deref().into(),
        request.since.map_or(i64::MIN, Timestamp::micros).into(),
        request.until.map_or(i64::MAX, Timestamp::micros).into(),
        (request.limit as i64 + 1).into(),
    ];
    match &request.note {
        Some(note) => {
            values.push(note.as_str().into());
            tx.all(LIST_OF_NOTE, &values, read)
        }
        None => tx.all(LIST, &values, read),
    }
}

/// Every revision that changed a note, oldest first.
pub fn of_note(tx: &Tx<'_>, name: &NoteName) -> Result<Vec<StoredRevision>> {
    tx.all(OF_NOTE, &[name.as_str().into()], read)
}

/// What a revision changed, by name.
pub fn changes(tx: &Tx<'_>, id: &RevisionId) -> Result<Vec<NoteChange>> {
    tx.all(CHANGES, &[id.as_str().into()], |row| {
        Ok(NoteChange {
            name: NoteName::parse(row.text(0)?)?,
            hash: row.opt_string(1)?,
            is_erased: row.int(2)? != 0,
        })
    })
}

/// The text that a note had at a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextAt {
    /// There was no such note.
    Absent,
    /// The hash of its text.
    Hash(String),
    /// It had one that is erased.
    Erased,
}

/// The text of a note after the revision with this key.
pub fn text_at(tx: &Tx<'_>, name: &NoteName, key: i64) -> Result<TextAt> {
    let found = tx.first(AT, &[name.as_str().into(), key.into()], |row| {
        Ok(match (row.opt_string(0)?, row.int(1)? != 0) {
            (_, true) => TextAt::Erased,
            (Some(hash), false) => TextAt::Hash(hash),
            (None, false) => TextAt::Absent,
        })
    })?;
    Ok(found.unwrap_or(TextAt::Absent))
}

/// The last revision that changed a note.
pub fn last_of_note(tx: &Tx<'_>, name: &NoteName) -> Result<Option<RevisionId>> {
    tx.first(LAST_OF_NOTE, &[name.as_str().into()], |row| RevisionId::parse(row.text(0)?))
}

/// Calls `each` with every revision of a note after a key, and the text that it wrote, oldest first.
pub fn each_text_of_note(
    tx: &Tx<'_>,
    (name, after): (&NoteName, i64),
    mut each: impl FnMut(&str, Option<&str>) -> Result<()>,
) -> Result<()> {
    let values = [name.as_str().into(), after.into()];
    tx.each(TEXTS_OF_NOTE, &values, |row| each(row.text(0)?, row.opt_text(1)?))
}

/// How many revisions of a note come after a key.
pub fn count_of_note(tx: &Tx<'_>, name: &NoteName, after: i64) -> Result<i64> {
    tx.one(COUNT_OF_NOTE, &[name.as_str().into(), after.into()], |row| row.int(0))
}

/// The revision that undid a revision.
pub fn undone_by(tx: &Tx<'_>, id: &RevisionId) -> Result<Option<RevisionId>> {
    let group = id.group();
    let found = tx.first(UNDONE_BY, &[group.as_str().into()], |row| row.opt_string(0))?;
    let group = found.flatten().map(|group| GroupId::parse(&group)).transpose()?;
    Ok(group.map(|group| RevisionId::of_group(&group)))
}

/// How many revisions there are.
pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one(COUNT, &[], |row| row.int(0))
}

/// The names of notes that miss a text of a revision.
pub fn without_text(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.all(MISSING_TEXTS, &[], |row| row.text(0).map(str::to_owned))
}

/// Removes the texts of a note and what its revisions say; `each` gets the messages.
pub(crate) fn erase_of_note(
    tx: &Tx<'_>,
    name: &NoteName,
    each: &mut dyn FnMut(&[u8]),
) -> Result<()> {
    let values = [name.as_str().into()];
    tx.each(MESSAGES_OF_NOTE, &values, |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })?;
    tx.execute(SCRUB_MESSAGES, &values)?;
    note_origins::remove(tx, name)?;
    tx.execute(SCRUB_CHANGES, &values).map(|_| ())
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(MESSAGES, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}

fn read(row: &dyn Row) -> Result<StoredRevision> {
    let revision = Revision {
        id: RevisionId::parse(row.text(0)?)?,
        parent: row.opt_text(2)?.map(RevisionId::parse).transpose()?,
        at: Timestamp::from_micros(row.int(3)?),
        author: row.text(4)?.to_owned(),
        author_kind: ActorKind::parse(row.text(5)?)?,
        message: row.text(6)?.to_owned(),
        notes: Vec::new(),
        dream_id: row.opt_string(7)?,
        undone_by: None,
    };
    Ok(StoredRevision { key: row.int(1)?, revision, store_id: row.text(8)?.to_owned() })
}
