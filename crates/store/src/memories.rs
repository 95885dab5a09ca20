//! Memories and their citations. Rows change through [`operations`] only.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::identity::Identity;
use crate::operations::{Record, sealed::Save};
use crate::{Tx, claim_hash, dream_candidates, operations, packs, sequence, served_lines};
use oneiro_model::{
    ActorKind, CONFIDENCE_STEPS, Citation, Error, Memory, MemoryId, MemoryKind, MemoryStatus,
    MessageId, Result, SessionId, SubjectKind, Timestamp, Trust,
};
use serde_json::{Map, Value, json};

/// Selects the columns that [`read`] expects.
macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT id, kind, subject, content, status, trust, origin, initial_confidence, \
             project, tags, valid_from, valid_until, superseded_by, suspended_by, confirmed_at, \
             reference_count, last_referenced_at, created_at, updated_at, key, removed, \
             text_number, replaces, idle_days FROM memories ",
            $rest
        )
    };
}
pub(crate) use select;

/// A list by one column that has an index, and the other filters.
macro_rules! list {
    ($by:expr) => {
        select!(concat!(
            "WHERE ",
            $by,
            " key < CAST(?1 AS BIGINT) \
             AND (CAST(?2 AS TEXT) IS NULL OR status = ?2) \
             AND (CAST(?3 AS TEXT) IS NULL OR kind = ?3) \
             AND (CAST(?4 AS TEXT) IS NULL OR project = ?4) \
             AND (CAST(?5 AS TEXT) IS NULL OR subject = ?5) \
             AND (CAST(?6 AS BIGINT) = 1 OR removed = 0) \
             AND (CAST(?8 AS BIGINT) = 0 OR suspended_by IS NOT NULL) \
             ORDER BY key DESC LIMIT CAST(?7 AS BIGINT)"
        ))
    };
}

statements! {
    KEY = "SELECT key FROM memories WHERE id = ?1";
    SAVED = "SELECT key, text_number, content, subject, COALESCE(valid_from, created_at) \
             FROM memories WHERE id = ?1";
    INSERT = "INSERT INTO memories (key, id, kind, subject, content, status, trust, origin, \
              initial_confidence, project, tags, valid_from, valid_until, superseded_by, \
              suspended_by, confirmed_at, created_at, updated_at, claim, text_number, replaces) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
              ?18, ?19, ?20, ?21)";
    UPDATE = "UPDATE memories SET kind = ?3, subject = ?4, content = ?5, status = ?6, trust = ?7, \
              origin = ?8, initial_confidence = ?9, project = ?10, tags = ?11, valid_from = ?12, \
              valid_until = ?13, superseded_by = ?14, suspended_by = ?15, confirmed_at = ?16, \
              created_at = ?17, updated_at = ?18, claim = ?19, text_number = ?20, replaces = ?21, removed = 0 \
              WHERE key = ?1 AND id = ?2";
    REMOVE = "UPDATE memories SET removed = 1, text_number = NULL WHERE id = ?1";
    BY_ID = select!("WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 2");
    BY_CLAIM = select!("WHERE claim = ?1 AND status = ?2 AND removed = 0 ORDER BY key LIMIT 1");
    OTHER_BY_CLAIM = "SELECT id FROM memories WHERE claim = ?1 AND status = 'active' AND removed = 0 \
                      AND id <> ?2 ORDER BY key LIMIT 1";
    DANGLING = "SELECT m.id FROM memories m WHERE m.removed = 0 AND ( \
        (m.superseded_by IS NOT NULL AND NOT EXISTS (SELECT 1 FROM memories o \
         WHERE o.id = m.superseded_by AND o.removed = 0)) OR \
        (m.suspended_by IS NOT NULL AND NOT EXISTS (SELECT 1 FROM memories o \
         WHERE o.id = m.suspended_by AND o.removed = 0))) ORDER BY m.id";
    LIST = list!("");
    LIST_OF_STATUS = list!("status = CAST(?2 AS TEXT) AND");
    LIST_OF_PROJECT = list!("project = CAST(?4 AS TEXT) AND");
    LIST_OF_BOTH = list!("project = CAST(?4 AS TEXT) AND status = CAST(?2 AS TEXT) AND");
    LIST_OF_SUBJECT = list!("subject = CAST(?5 AS TEXT) AND");
    LIST_SUSPENDED = list!("suspended_by IS NOT NULL AND");
    REFERRING = select!("WHERE (superseded_by = ?1 OR suspended_by = ?1) AND removed = 0");
    CITING_MESSAGE = "SELECT DISTINCT m.id FROM citations c JOIN memories m ON m.key = c.memory_key \
                      WHERE c.message_seq = ?1 AND m.removed = 0 ORDER BY m.id";
    CITING_SESSION = "SELECT DISTINCT m.id FROM citations c JOIN memories m ON m.key = c.memory_key \
                      WHERE c.session_id = ?1 AND m.removed = 0 ORDER BY m.id";
    CITED_SESSIONS = "SELECT DISTINCT c.session_id FROM citations c JOIN sessions s \
                      ON s.id = c.session_id WHERE s.source = ?1 ORDER BY c.session_id";
    SESSIONS_OF_USER = "SELECT DISTINCT c.session_id FROM citations c JOIN sessions s \
                        ON s.id = c.session_id WHERE s.user_id = ?1 ORDER BY c.session_id";
    CITATIONS = "SELECT message_seq, session_id, quote, trust FROM citations \
                 WHERE memory_key = ?1 ORDER BY place";
    ADD_CITATION = "INSERT INTO citations (memory_key, place, message_seq, session_id, quote, trust) \
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    REMOVE_CITATIONS = "DELETE FROM citations WHERE memory_key = ?1";
    ALL_CITING = "SELECT DISTINCT m.id FROM citations c JOIN memories m ON m.key = c.memory_key \
                  WHERE c.message_seq = ?1 ORDER BY m.id";
    // What is read late was used early: the last use does not become earlier.
    COUNT_REFERENCE = "UPDATE memories SET reference_count = reference_count + 1, idle_days = 0, \
                       last_referenced_at = CASE WHEN last_referenced_at > ?2 \
                       THEN last_referenced_at ELSE CAST(?2 AS BIGINT) END WHERE id = ?1";
    COUNTS = "SELECT status, COUNT(*) FROM memories WHERE removed = 0 GROUP BY status \
              ORDER BY status";
    COUNT_SUSPENDED = "SELECT COUNT(*) FROM memories WHERE suspended_by IS NOT NULL \
                       AND removed = 0";
    DELETE = "DELETE FROM memories WHERE key = ?1";
    CLEAR_REFERENCES = "UPDATE memories SET \
        superseded_by = CASE WHEN superseded_by = ?1 THEN NULL ELSE superseded_by END, \
        suspended_by = CASE WHEN suspended_by = ?1 THEN NULL ELSE suspended_by END \
        WHERE superseded_by = ?1 OR suspended_by = ?1";
    TEXTS = "SELECT content, subject, tags FROM memories";
    QUOTES = "SELECT quote FROM citations";
}

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "memories",
        columns: "key, id, kind, subject, content, status, trust, origin, initial_confidence, \
                  project, tags, valid_from, valid_until, superseded_by, suspended_by, \
                  confirmed_at, reference_count, last_referenced_at, created_at, updated_at, \
                  claim, removed, text_number, replaces, idle_days",
    },
    Table {
        name: "citations",
        columns: "memory_key, place, message_seq, session_id, quote, trust",
    },
];

impl Record for Memory {
    const KIND: SubjectKind = SubjectKind::Memory;
    const DERIVED_FIELDS: &'static [&'static str] = &Memory::DERIVED_FIELDS;

    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn load(tx: &Tx<'_>, id: &str) -> Result<Option<Memory>> {
        Ok(by_id_prefix(tx, id)?.into_iter().find_map(|(stored, memory)| {
            (stored == Stored::Present && memory.id.as_str() == id).then_some(memory)
        }))
    }

    fn add_derived(fields: &mut Map<String, Value>, id: &str, at: Timestamp) {
        let derived = [
            ("id", json!(id)),
            ("confidence", json!(0)),
            ("reference_count", json!(0)),
            ("last_referenced_at", Value::Null),
            ("updated_at", json!(at)),
        ];
        fields.extend(derived.map(|(name, value)| (name.to_owned(), value)));
    }
}

impl Save for Memory {
    fn save(&self, tx: &Tx<'_>, identity: &Identity, at: Timestamp) -> Result<()> {
        let saved = tx.first(SAVED, &[self.id.as_str().into()], |row| Saved::read(self, row))?;
        let key = saved.as_ref().map_or_else(|| sequence::take_key(tx), |saved| Ok(saved.key))?;
        let number = saved.as_ref().and_then(|saved| saved.text_number);
        let number = number.map_or_else(|| sequence::take_text_number(tx), Ok)?;
        let tags = json!(self.tags).to_string();
        let claim = claim_hash::of_memory(identity, self);
        let micros = |at: Option<Timestamp>| at.map(Timestamp::micros);
        let id = |id: &'_ Option<MemoryId>| id.as_ref().map(|id| id.as_str().to_owned());
        let (superseded_by, suspended_by) = (id(&self.superseded_by), id(&self.suspended_by));
        let replaces = id(&self.replaces);
        let values = [
            key.into(),
            self.id.as_str().into(),
            self.kind.as_str().into(),
            self.subject.as_deref().into(),
            self.content.as_str().into(),
            self.status.as_str().into(),
            self.trust.as_str().into(),
            self.origin.as_str().into(),
            ((self.initial_confidence * CONFIDENCE_STEPS).round() as i64).into(),
            self.project.as_deref().into(),
            tags.as_str().into(),
            micros(self.valid_from).into(),
            micros(self.valid_until).into(),
            superseded_by.as_deref().into(),
            suspended_by.as_deref().into(),
            micros(self.confirmed_at).into(),
            self.created_at.micros().into(),
            at.micros().into(),
            claim.as_str().into(),
            number.into(),
            replaces.as_deref().into(),
        ];
        tx.execute(if saved.is_some() { UPDATE } else { INSERT }, &values)?;
        tx.execute(REMOVE_CITATIONS, &[key.into()])?;
        for (place, citation) in self.citations.iter().enumerate() {
            let values = [
                key.into(),
                (place as i64).into(),
                citation.message_id.map(|id| id.0).into(),
                citation.session_id.as_ref().map(SessionId::as_str).into(),
                citation.quote.as_str().into(),
                citation.trust.as_str().into(),
            ];
            tx.execute(ADD_CITATION, &values)?;
        }
        Ok(())
    }

    fn remove(&self, tx: &Tx<'_>) -> Result<()> {
        tx.execute(REMOVE, &[self.id.as_str().into()]).map(|_| ())
    }

    fn claim(&self, identity: &Identity) -> Option<String> {
        Some(claim_hash::of_statement(identity, &self.content))
    }
}

/// The row of a memory before it is saved again.
struct Saved {
    key: i64,
    /// The number of its text, if the text index has that text as it is to be saved.
    text_number: Option<i64>,
}

impl Saved {
    fn read(memory: &Memory, row: &dyn Row) -> Result<Saved> {
        let is_same = row.text(2)? == memory.content
            && row.opt_text(3)? == memory.subject.as_deref()
            && row.int(4)? == memory.holds_from().micros();
        Ok(Saved { key: row.int(0)?, text_number: row.opt_int(1)?.filter(|_| is_same) })
    }
}

/// Whether a row is a memory, or one whose creation was undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It is a memory.
    Present,
    /// Its creation was undone.
    Removed,
}

/// Up to two memories whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<(Stored, Memory)>> {
    let end = format!("{prefix}\u{7f}");
    let rows = tx.all(BY_ID, &[prefix.into(), end.as_str().into()], read)?;
    rows.into_iter()
        .map(|row| with_citations(tx, row).map(|row| (row.stored, row.memory)))
        .collect()
}

/// The memory with this statement and status.
pub fn by_claim(tx: &Tx<'_>, claim: &str, status: MemoryStatus) -> Result<Option<Memory>> {
    let found = tx.first(BY_CLAIM, &[claim.into(), status.as_str().into()], read)?;
    Ok(found.map(|row| with_citations(tx, row)).transpose()?.map(|row| row.memory))
}

/// The id of another active memory with this statement.
pub fn other_active_with_claim(tx: &Tx<'_>, claim: &str, id: &MemoryId) -> Result<Option<String>> {
    tx.first(OTHER_BY_CLAIM, &[claim.into(), id.as_str().into()], |row| Ok(row.text(0)?.to_owned()))
}

/// The ids of the memories that a removed or erased one supersedes or suspends.
pub fn dangling(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.all(DANGLING, &[], |row| Ok(row.text(0)?.to_owned()))
}

/// Filters that the database applies to a list of memories.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only keys below this one.
    pub before: Option<i64>,
    /// Only this status.
    pub status: Option<MemoryStatus>,
    /// Only this kind.
    pub kind: Option<MemoryKind>,
    /// Only this project.
    pub project: Option<String>,
    /// Only this subject.
    pub subject: Option<String>,
    /// Only those that a contradiction suspends.
    pub suspended: bool,
    /// Include memories whose creation was undone.
    pub with_removed: bool,
}

/// A memory with its key.
#[derive(Debug, Clone)]
pub struct MemoryRow {
    /// The key, by which lists are ordered.
    pub key: i64,
    /// Whether its creation was undone.
    pub stored: Stored,
    /// The memory.
    pub memory: Memory,
}

/// All memories that match a filter without their citations, newest first.
pub fn all_without_citations(tx: &Tx<'_>, filter: &Filter) -> Result<Vec<MemoryRow>> {
    list_without_citations(tx, filter, i64::MAX as usize)
}

/// Memories without their citations, newest first.
pub fn list_without_citations(
    tx: &Tx<'_>,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<MemoryRow>> {
    let sql = match (&filter.subject, &filter.project, filter.status) {
        _ if filter.suspended => LIST_SUSPENDED,
        (Some(_), ..) => LIST_OF_SUBJECT,
        (None, Some(_), Some(_)) => LIST_OF_BOTH,
        (None, Some(_), None) => LIST_OF_PROJECT,
        (None, None, Some(_)) => LIST_OF_STATUS,
        (None, None, None) => LIST,
    };
    let values = [
        filter.before.unwrap_or(i64::MAX).into(),
        filter.status.map(MemoryStatus::as_str).into(),
        filter.kind.map(MemoryKind::as_str).into(),
        filter.project.as_deref().into(),
        filter.subject.as_deref().into(),
        i64::from(filter.with_removed).into(),
        (limit as i64).into(),
        i64::from(filter.suspended).into(),
    ];
    tx.all(sql, &values, read)
}

/// The memories that another superseded or suspended.
pub fn referring_to(tx: &Tx<'_>, id: &MemoryId) -> Result<Vec<Memory>> {
    let rows = tx.all(REFERRING, &[id.as_str().into()], read)?;
    rows.into_iter().map(|row| with_citations(tx, row).map(|row| row.memory)).collect()
}

/// Where citations point to.
#[derive(Debug, Clone, Copy)]
pub enum Cited<'a> {
    /// A message.
    Message(i64),
    /// A session.
    Session(&'a str),
    /// Sessions of a source.
    Source(&'a str),
    /// Sessions of a person.
    User(&'a str),
}

/// The ids of the memories that cite a source, in order.
pub fn citing(tx: &Tx<'_>, cited: Cited<'_>) -> Result<Vec<String>> {
    let ids = |sql: &str, value| tx.all(sql, &[value], |row| Ok(row.text(0)?.to_owned()));
    let sessions = match cited {
        Cited::Message(seq) => return ids(CITING_MESSAGE, seq.into()),
        Cited::Session(id) => return ids(CITING_SESSION, id.into()),
        Cited::Source(source) => ids(CITED_SESSIONS, source.into())?,
        Cited::User(user) => ids(SESSIONS_OF_USER, user.into())?,
    };
    let mut found = Vec::new();
    for session in &sessions {
        found.extend(ids(CITING_SESSION, session.into())?);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The ids of all memories that cite a message, including those whose creation was undone.
pub fn all_citing(tx: &Tx<'_>, seq: i64) -> Result<Vec<String>> {
    tx.all(ALL_CITING, &[seq.into()], |row| Ok(row.text(0)?.to_owned()))
}

/// Counts one more reference to a memory.
pub(crate) fn count_reference(tx: &Tx<'_>, id: &MemoryId, at: Timestamp) -> Result<()> {
    tx.execute(COUNT_REFERENCE, &[id.as_str().into(), at.micros().into()]).map(|_| ())
}

/// How many memories have each status.
pub fn counts(tx: &Tx<'_>) -> Result<Vec<(MemoryStatus, i64)>> {
    tx.all(COUNTS, &[], |row| Ok((MemoryStatus::parse(row.text(0)?)?, row.int(1)?)))
}

/// How many memories a contradiction suspends.
pub fn count_suspended(tx: &Tx<'_>) -> Result<i64> {
    tx.one(COUNT_SUSPENDED, &[], |row| row.int(0))
}

/// Erases a memory with its citations, signals and the content of its operations. `each` gets every
/// removed text.
pub fn erase(tx: &Tx<'_>, id: &MemoryId, each: &mut dyn FnMut(&[u8])) -> Result<bool> {
    let Some(key) = tx.first(KEY, &[id.as_str().into()], |row| row.int(0))? else {
        return Ok(false);
    };
    for (_, memory) in by_id_prefix(tx, id.as_str())? {
        each(memory.content.as_bytes());
        each(memory.subject.unwrap_or_default().as_bytes());
        memory.citations.iter().for_each(|citation| each(citation.quote.as_bytes()));
    }
    operations::scrub(tx, SubjectKind::Memory, id.as_str(), each)?;
    dream_candidates::erase_of_memory(tx, (key, id), each)?;
    packs::remove_showing_memory(tx, id)?;
    served_lines::remove_of_memory(tx, id)?;
    tx.execute(CLEAR_REFERENCES, &[id.as_str().into()])?;
    tx.execute(DELETE, &[key.into()])?;
    Ok(true)
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(TEXTS, &[], |row| {
        each(row.text(0)?.as_bytes());
        each(row.opt_text(1)?.unwrap_or_default().as_bytes());
        each(row.text(2)?.as_bytes());
        Ok(())
    })?;
    tx.each(QUOTES, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}

/// The row with its citations.
pub fn with_citations(tx: &Tx<'_>, mut row: MemoryRow) -> Result<MemoryRow> {
    row.memory.citations = tx.all(CITATIONS, &[row.key.into()], |row| {
        Ok(Citation {
            message_id: row.opt_int(0)?.map(MessageId),
            session_id: row.opt_text(1)?.map(SessionId::new).transpose()?,
            quote: row.text(2)?.to_owned(),
            trust: Trust::parse(row.text(3)?)?,
        })
    })?;
    Ok(row)
}

/// A row without its citations.
pub(crate) fn read(row: &dyn Row) -> Result<MemoryRow> {
    let time = |column| Ok::<_, Error>(row.opt_int(column)?.map(Timestamp::from_micros));
    let id = |column| row.opt_text(column)?.map(MemoryId::parse).transpose();
    let initial_confidence = row.int(7)? as f64 / CONFIDENCE_STEPS;
    let reference_count = row.int(15)?;
    let memory = Memory {
        id: MemoryId::parse(row.text(0)?)?,
        kind: MemoryKind::parse(row.text(1)?)?,
        subject: row.opt_string(2)?,
        content: row.text(3)?.to_owned(),
        status: MemoryStatus::parse(row.text(4)?)?,
        trust: Trust::parse(row.text(5)?)?,
        origin: ActorKind::parse(row.text(6)?)?,
        confidence: Memory::derive_confidence(initial_confidence, reference_count, row.int(23)?),
        initial_confidence,
        project: row.opt_string(8)?,
        tags: serde_json::from_str(row.text(9)?)
            .map_err(|error| Error::internal("tags are not readable").because(error))?,
        valid_from: time(10)?,
        valid_until: time(11)?,
        superseded_by: id(12)?,
        suspended_by: id(13)?,
        replaces: id(22)?,
        confirmed_at: time(14)?,
        reference_count,
        last_referenced_at: time(16)?,
        created_at: Timestamp::from_micros(row.int(17)?),
        updated_at: Timestamp::from_micros(row.int(18)?),
        citations: Vec::new(),
    };
    let stored = if row.int(20)? == 0 { Stored::Present } else { Stored::Removed };
    Ok(MemoryRow { key: row.int(19)?, stored, memory })
}
