//! Operations: the only way to change a memory, a note, a project or its state. [`write()`] stores the record
//! and the operation in one transaction; the functions that store a record alone cannot be called from
//! outside this crate.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::identity::Identity;
use crate::{Tx, changes, sequence};
use oneiro_model::{
    Actor, Error, GroupId, ListOperations, Operation, OperationId, OperationVerb, Result, Subject,
    SubjectKind, Timestamp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT id, kind, actor, subject_kind, subject, before, after, reason, group_id, \
             undoes, undone_by, at, store_id, erased, key FROM operations ",
            $rest
        )
    };
}

/// A list by one column that has an index, and the other filters. `?1` is the key before which it
/// starts, `?8` the limit.
macro_rules! list {
    ($by:expr) => {
        select!(concat!(
            "WHERE ",
            $by,
            " key < CAST(?1 AS BIGINT) \
             AND (CAST(?2 AS TEXT) IS NULL OR actor_kind = ?2) \
             AND (CAST(?3 AS TEXT) IS NULL OR kind = ?3) \
             AND (CAST(?4 AS TEXT) IS NULL OR subject = ?4) \
             AND (CAST(?5 AS TEXT) IS NULL OR group_id = ?5) \
             AND (CAST(?6 AS TEXT) IS NULL OR subject_kind = ?6) AND key >= CAST(?7 AS BIGINT) \
             ORDER BY key DESC LIMIT CAST(?8 AS BIGINT)"
        ))
    };
}

/// The last operation by which a person refused a statement.
macro_rules! refusal {
    ($by:expr, $more:expr) => {
        concat!(
            "SELECT at, kind, subject, id FROM operations WHERE ",
            $by,
            " AND actor_kind = 'person' AND undone_by IS NULL \
             AND (kind IN ('memory.reject', 'memory.forget', 'memory.supersede') \
                  OR (kind = 'memory.undo' AND after IS NULL) ",
            $more,
            ") ORDER BY key DESC LIMIT 1"
        )
    };
}

/// An operation by which a memory became a person's.
macro_rules! decided {
    ($by:expr) => {
        concat!(
            "SELECT key FROM operations WHERE ",
            $by,
            " actor_kind = 'person' AND undone_by IS NULL \
             AND (kind IN ('memory.create', 'memory.promote', 'memory.confirm', 'memory.cite', \
                           'memory.merge') \
                  OR (kind = 'memory.edit' \
                      AND (before <> REPLACE(before, '\"content\":', '') \
                           OR before <> REPLACE(before, '\"status\":', '')))) LIMIT 1"
        )
    };
}

statements! {
    INSERT = "INSERT INTO operations (key, id, kind, actor, actor_kind, subject_kind, subject, \
              before, after, claim, reason, group_id, undoes, store_id, at) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    LAST = "SELECT at, store_id FROM operations ORDER BY key DESC LIMIT 1";
    BY_ID = select!("WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 2");
    BY_GROUP = select!("WHERE group_id = ?1 ORDER BY key");
    BY_SUBJECT = select!("WHERE subject = ?1 ORDER BY key");
    AFTER = select!("WHERE subject = ?1 AND key > CAST(?2 AS BIGINT) ORDER BY key DESC");
    LAST_KEY = "SELECT COALESCE(MAX(key), 0) FROM operations";
    LAST_KEY_AT = "SELECT key FROM operations WHERE at <= CAST(?1 AS BIGINT) \
                   ORDER BY at DESC, key DESC LIMIT 1";
    LIST = list!("");
    LIST_OF_ACTOR = list!("actor_kind = CAST(?2 AS TEXT) AND");
    LIST_OF_KIND = list!("kind = CAST(?3 AS TEXT) AND");
    LIST_OF_SUBJECT = list!("subject = CAST(?4 AS TEXT) AND");
    LIST_OF_GROUP = list!("group_id = CAST(?5 AS TEXT) AND");
    FIRST_KEY_FROM = "SELECT key FROM operations WHERE at >= CAST(?1 AS BIGINT) \
                      ORDER BY at, key LIMIT 1";
    SET_UNDONE_BY = "UPDATE operations SET undone_by = ?2 WHERE id = ?1";
    // A person who rewrites a statement, or undoes that somebody rewrote it, refuses the text before.
    LAST_REFUSAL = refusal!("claim = ?1", "OR (kind IN ('memory.edit', 'memory.undo') \
                                               AND before <> REPLACE(before, '\"content\":', ''))");
    LAST_REFUSAL_OF_SUBJECT = refusal!("subject = ?1", "");
    DECIDED_BY_PERSON = decided!("subject = ?1 AND");
    // Of a memory that is erased only its operations are left.
    ANY_DECIDED_BY_PERSON = decided!("subject IN (SELECT id FROM memories) AND");
    SCRUB = "UPDATE operations SET before = NULL, after = NULL, claim = NULL, reason = NULL, \
             erased = 1 WHERE subject = ?1 AND subject_kind = ?2";
    TEXTS = "SELECT before, after, reason FROM operations";
    TEXTS_OF_SUBJECT = "SELECT before, after, reason FROM operations \
                        WHERE subject = ?1 AND subject_kind = ?2";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "operations",
    columns: "key, id, kind, actor, actor_kind, subject_kind, subject, before, after, claim, \
              reason, group_id, undoes, undone_by, store_id, at, erased",
}];

/// What stores a record without an operation. Outside this crate it cannot be named.
pub(crate) mod sealed {
    use super::{Identity, Result, Timestamp, Tx};

    pub trait Save {
        /// Inserts or overwrites the row.
        fn save(&self, tx: &Tx<'_>, identity: &Identity, at: Timestamp) -> Result<()>;
        /// Marks the row as removed: its creation was undone.
        fn remove(&self, tx: &Tx<'_>) -> Result<()>;
        /// A hash of what it states, under which an operation on it is found.
        fn claim(&self, identity: &Identity) -> Option<String>;
    }
}

/// A record whose changes are operations.
pub trait Record: sealed::Save + Serialize + DeserializeOwned {
    /// What kind of thing it is.
    const KIND: SubjectKind;
    /// Fields that are not part of an operation.
    const DERIVED_FIELDS: &'static [&'static str];

    /// Its id.
    fn id(&self) -> &str;
    /// The record with this id, unless it is removed.
    fn load(tx: &Tx<'_>, id: &str) -> Result<Option<Self>>;
    /// Restores the derived fields of a record that is read from an operation.
    fn add_derived(fields: &mut Map<String, Value>, id: &str, at: Timestamp);

    /// The fields that operations record.
    fn fields(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut fields)) => {
                fields.retain(|name, _| !Self::DERIVED_FIELDS.contains(&name.as_str()));
                Ok(fields)
            }
            _ => Err(Error::internal("a record is not a JSON object")),
        }
    }

    /// The record that has these fields.
    fn from_fields(mut fields: Map<String, Value>, id: &str, at: Timestamp) -> Result<Self> {
        Self::add_derived(&mut fields, id, at);
        serde_json::from_value(Value::Object(fields)).map_err(|error| {
            Error::internal("an operation does not hold its record").because(error)
        })
    }
}

/// A change of a record: `before` is the stored one, `None` if there is none; `after` is what it
/// becomes, `None` if it is removed.
pub struct Change<'a, R> {
    /// The stored record.
    pub before: Option<&'a R>,
    /// The new record.
    pub after: Option<&'a R>,
    /// What is recorded about it.
    pub note: OperationMeta<'a>,
}

/// What an operation records besides the change.
pub struct OperationMeta<'a> {
    /// The id of the operation.
    pub id: OperationId,
    /// What is done.
    pub verb: OperationVerb,
    /// Who does it.
    pub actor: &'a Actor,
    /// Why.
    pub reason: Option<&'a str>,
    /// The group of the operation.
    pub group: Option<&'a GroupId>,
    /// The operation that it undoes.
    pub undoes: Option<&'a OperationId>,
    /// The identity of the space.
    pub identity: &'a Identity,
    /// The current time.
    pub now: Timestamp,
}

/// Stores a change with its operation. Returns `None`, and stores nothing, if no field changes.
pub fn write<R: Record>(tx: &Tx<'_>, change: Change<'_, R>) -> Result<Option<Operation>> {
    let Change { before, after, note } = change;
    let Some(record) = after.or(before) else { return Ok(None) };
    let mut old = before.map(Record::fields).transpose()?;
    let mut new = after.map(Record::fields).transpose()?;
    if let (Some(old), Some(new)) = (&mut old, &mut new) {
        old.retain(|name, value| new.get(name) != Some(value));
        new.retain(|name, _| old.contains_key(name));
        if new.is_empty() {
            return Ok(None);
        }
    }
    let at = next_time(tx, &note)?;
    match after {
        Some(after) => after.save(tx, note.identity, at)?,
        None => record.remove(tx)?,
    }
    let operation = Operation {
        id: note.id,
        kind: format!("{}.{}", R::KIND.as_str(), note.verb.as_str()),
        actor: note.actor.clone(),
        subject: Subject { kind: R::KIND, id: record.id().to_owned() },
        before: old.map(Value::Object),
        after: new.map(Value::Object),
        reason: note.reason.map(str::to_owned),
        group: note.group.cloned(),
        undoes: note.undoes.cloned(),
        undone_by: None,
        at,
        store_id: note.identity.store_id.clone(),
        erased: false,
    };
    // Of a change of the statement, what it replaced: that is what a person refused.
    let claim = before.unwrap_or(record).claim(note.identity);
    insert(tx, &operation, claim.as_deref())?;
    changes::record_operation(tx, &operation)?;
    Ok(Some(operation))
}

/// The time of a new operation. Times of operations never go back, so that what was known at a time is
/// a prefix of them. At one time, those of one store follow each other, so an operation after one of
/// another store is later than it.
fn next_time(tx: &Tx<'_>, note: &OperationMeta<'_>) -> Result<Timestamp> {
    let last = tx.first(LAST, &[], |row| Ok((row.int(0)?, row.text(1)?.to_owned())))?;
    let earliest = last.map_or(i64::MIN, |(at, store_id)| {
        if store_id == note.identity.store_id { at } else { at.saturating_add(1) }
    });
    Ok(Timestamp::from_micros(note.now.micros().max(earliest)))
}

fn insert(tx: &Tx<'_>, operation: &Operation, claim: Option<&str>) -> Result<()> {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    let (before, after) = (json(&operation.before), json(&operation.after));
    let actor = serde_json::to_string(&operation.actor)
        .map_err(|error| Error::internal("an actor is not JSON").because(error))?;
    let values = [
        sequence::take_key(tx)?.into(),
        operation.id.as_str().into(),
        operation.kind.as_str().into(),
        actor.as_str().into(),
        operation.actor.kind.as_str().into(),
        operation.subject.kind.as_str().into(),
        operation.subject.id.as_str().into(),
        before.as_deref().into(),
        after.as_deref().into(),
        claim.into(),
        operation.reason.as_deref().into(),
        operation.group.as_ref().map(GroupId::as_str).into(),
        operation.undoes.as_ref().map(OperationId::as_str).into(),
        operation.store_id.as_str().into(),
        operation.at.micros().into(),
    ];
    tx.execute(INSERT, &values).map(|_| ())
}

/// Up to two operations whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<(i64, Operation)>> {
    let end = format!("{prefix}\u{7f}");
    tx.all(BY_ID, &[prefix.into(), end.as_str().into()], read)
}

/// The operations of a group, in order.
pub fn of_group(tx: &Tx<'_>, group: &GroupId) -> Result<Vec<(i64, Operation)>> {
    tx.all(BY_GROUP, &[group.as_str().into()], read)
}

/// The operations on a subject, in order.
pub fn of_subject(tx: &Tx<'_>, subject: &str) -> Result<Vec<(i64, Operation)>> {
    tx.all(BY_SUBJECT, &[subject.into()], read)
}

/// The operations on a subject after an operation, newest first.
pub fn of_subject_after(tx: &Tx<'_>, subject: &str, key: i64) -> Result<Vec<(i64, Operation)>> {
    tx.all(AFTER, &[subject.into(), key.into()], read)
}

/// The key of the last operation; 0 if there is none.
pub fn last_key(tx: &Tx<'_>) -> Result<i64> {
    tx.one(LAST_KEY, &[], |row| row.int(0))
}

/// The key of the last operation at or before a time; 0 if there is none.
pub fn last_key_at(tx: &Tx<'_>, at: Timestamp) -> Result<i64> {
    Ok(tx.first(LAST_KEY_AT, &[at.micros().into()], |row| row.int(0))?.unwrap_or(0))
}

/// Operations with their keys, newest first.
pub fn list(tx: &Tx<'_>, request: &ListOperations) -> Result<Vec<(i64, Operation)>> {
    let sql = if request.subject.is_some() {
        LIST_OF_SUBJECT
    } else if request.group.is_some() {
        LIST_OF_GROUP
    } else if request.kind.is_some() {
        LIST_OF_KIND
    } else if request.actor.is_some() {
        LIST_OF_ACTOR
    } else {
        LIST
    };
    // Times follow keys, so a range of times is a range of keys. With a condition on the time, an
    // engine would read the index of times and sort all of it.
    let first_key = |at: Option<Timestamp>, otherwise: i64| match at {
        Some(at) => {
            let key = tx.first(FIRST_KEY_FROM, &[at.micros().into()], |row| row.int(0))?;
            Ok::<_, Error>(key.unwrap_or(i64::MAX))
        }
        None => Ok(otherwise),
    };
    let before = request.cursor.as_ref().map_or(i64::MAX, |cursor| cursor.key);
    let before = before.min(first_key(request.until, i64::MAX)?);
    let values = [
        before.into(),
        request.actor.map(|actor| actor.as_str()).into(),
        request.kind.as_deref().into(),
        request.subject.as_deref().into(),
        request.group.as_ref().map(GroupId::as_str).into(),
        request.subject_kind.map(SubjectKind::as_str).into(),
        first_key(request.since, i64::MIN)?.into(),
        (request.limit as i64 + 1).into(),
    ];
    tx.all(sql, &values, read)
}

/// Records which operation undid another, or that none did.
pub fn set_undone_by(tx: &Tx<'_>, id: &OperationId, by: Option<&OperationId>) -> Result<()> {
    let values = [id.as_str().into(), by.map(OperationId::as_str).into()];
    tx.execute(SET_UNDONE_BY, &values).map(|_| ())
}

/// That a person refused a statement: rejected, forgot, replaced or undid it.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// When.
    pub at: Timestamp,
    /// The kind of the operation.
    pub kind: String,
    /// The id of the memory.
    pub subject: String,
    /// The id of the operation.
    pub operation: OperationId,
}

/// The last refusal of a statement with this hash.
pub fn last_refusal(tx: &Tx<'_>, claim: &str) -> Result<Option<Refusal>> {
    tx.first(LAST_REFUSAL, &[claim.into()], read_refusal)
}

/// The last refusal of what a memory states.
pub fn last_refusal_of_subject(tx: &Tx<'_>, subject: &str) -> Result<Option<Refusal>> {
    tx.first(LAST_REFUSAL_OF_SUBJECT, &[subject.into()], read_refusal)
}

fn read_refusal(row: &dyn Row) -> Result<Refusal> {
    Ok(Refusal {
        at: Timestamp::from_micros(row.int(0)?),
        kind: row.text(1)?.to_owned(),
        subject: row.text(2)?.to_owned(),
        operation: OperationId::parse(row.text(3)?)?,
    })
}

/// Whether there is a memory that [`is_decided_by_person`].
pub fn any_decided_by_person(tx: &Tx<'_>) -> Result<bool> {
    Ok(tx.first(ANY_DECIDED_BY_PERSON, &[], |row| row.int(0))?.is_some())
}

/// Whether a person stated, promoted, confirmed, merged or rewrote a memory.
pub fn is_decided_by_person(tx: &Tx<'_>, subject: &str) -> Result<bool> {
    Ok(tx.first(DECIDED_BY_PERSON, &[subject.into()], |row| row.int(0))?.is_some())
}

/// Removes the content of every operation on a subject; `each` gets the removed texts.
pub fn scrub(
    tx: &Tx<'_>,
    kind: SubjectKind,
    subject: &str,
    each: &mut dyn FnMut(&[u8]),
) -> Result<()> {
    let values = [subject.into(), kind.as_str().into()];
    tx.each(TEXTS_OF_SUBJECT, &values, |row| each_text_of(row, each))?;
    tx.execute(SCRUB, &values).map(|_| ())
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(TEXTS, &[], |row| each_text_of(row, each))
}

fn each_text_of(row: &dyn Row, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    for column in 0..3 {
        each(row.opt_text(column)?.unwrap_or_default().as_bytes());
    }
    Ok(())
}

pub(crate) fn read(row: &dyn Row) -> Result<(i64, Operation)> {
    let json = |column: usize| -> Result<Option<Value>> {
        let text = row.opt_text(column)?;
        text.map(serde_json::from_str).transpose().map_err(unreadable)
    };
    let id = |text: Option<&str>| text.map(OperationId::parse).transpose();
    let operation = Operation {
        id: OperationId::parse(row.text(0)?)?,
        kind: row.text(1)?.to_owned(),
        actor: serde_json::from_str(row.text(2)?).map_err(unreadable)?,
        subject: Subject { kind: SubjectKind::parse(row.text(3)?)?, id: row.text(4)?.to_owned() },
        before: json(5)?,
        after: json(6)?,
        reason: row.opt_string(7)?,
        group: row.opt_text(8)?.map(GroupId::parse).transpose()?,
        undoes: id(row.opt_text(9)?)?,
        undone_by: id(row.opt_text(10)?)?,
        at: Timestamp::from_micros(row.int(11)?),
        store_id: row.text(12)?.to_owned(),
        erased: row.int(13)? != 0,
    };
    Ok((row.int(14)?, operation))
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::internal("an operation is not readable").because(error)
}
