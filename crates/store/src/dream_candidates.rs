//! Dream candidates: claims that dreams decide about, the entries that dreams wrote into notes for them, and
//! the stored evidence that a dream reads.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::dreams::{from_json, json, scrub_findings};
use crate::memories::{MemoryRow, read as read_memory, select as select_memory};
use crate::notes::ErasedLines;
use crate::signals::RELEVANCE_STEPS;
use crate::{Tx, notes, sequence};
use oneiro_model::{
    CandidateId, DreamCandidate, DreamGate, DreamId, DreamVerdict, ListCandidates, MemoryId,
    MemoryKind, NoteName, Result, SCORE_STEPS, SessionId, SignalKind, Timestamp, Trust,
    VerdictCount,
};

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT c.id, m.id, m.content, m.kind, m.project, m.subject, c.tags, c.evidence, c.parts, \
             c.score, c.decision, c.reason, c.gate, c.decided_at, c.dream_id, c.staged_at, \
             c.promoted_at, c.key, c.claim, c.memory_key, c.refused_at \
             FROM dream_candidates c JOIN memories m ON m.key = c.memory_key ",
            $rest
        )
    };
}

statements! {
    SAVE = "INSERT INTO dream_candidates (key, id, claim, memory_key, tags, evidence, parts, score, \
            decision, gate, reason, decided_at, dream_id, staged_at, promoted_at, refused_at) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) \
            ON CONFLICT (claim) DO UPDATE SET memory_key = excluded.memory_key, \
            evidence = excluded.evidence, parts = excluded.parts, score = excluded.score, \
            decision = excluded.decision, gate = excluded.gate, reason = excluded.reason, \
            decided_at = excluded.decided_at, dream_id = excluded.dream_id, \
            promoted_at = excluded.promoted_at, refused_at = excluded.refused_at \
            RETURNING key";
    ALL = select!("ORDER BY c.key");
    LIST = select!("WHERE (c.score < CAST(?1 AS BIGINT) OR (c.score = CAST(?1 AS BIGINT) \
                    AND c.key < CAST(?2 AS BIGINT))) \
                    AND (CAST(?3 AS TEXT) IS NULL OR c.decision = ?3) \
                    AND (CAST(?4 AS TEXT) IS NULL OR m.subject = ?4) \
                    AND (CAST(?5 AS TEXT) IS NULL OR m.project = ?5) \
                    ORDER BY c.score DESC, c.key DESC LIMIT CAST(?6 AS BIGINT)");
    BY_ID = select!("WHERE c.id >= ?1 AND c.id < ?2 ORDER BY c.id LIMIT 2");
    BY_MEMORY = select!("WHERE m.id = ?1 LIMIT 1");
    COUNTS = "SELECT decision, COUNT(*) FROM dream_candidates GROUP BY decision ORDER BY decision";
    COUNT = "SELECT COUNT(*) FROM dream_candidates";
    REFUSE = "UPDATE dream_candidates SET refused_at = ?2, decision = 'rejected', \
              gate = 'refused', reason = ?3, decided_at = ?2 WHERE id = ?1";
    MEMORIES = select_memory!("WHERE (removed = 0 AND (status = 'active' OR status = 'candidate')) \
                               OR key IN (SELECT memory_key FROM dream_candidates) ORDER BY key");
    SIGNALS = "SELECT memory_key, kind, query_hash, at, relevance FROM signals \
               WHERE kind IN ('recalled', 'confirmed', 'used') \
               ORDER BY memory_key, kind, query_hash, date";
    STATEMENTS_OF = "SELECT c.memory_key, c.quote, c.trust, c.session_id, s.source, g.at \
                     FROM citations c JOIN messages g ON g.seq = c.message_seq \
                     JOIN sessions s ON s.key = g.session_key \
                     WHERE g.rewind = 0 ORDER BY c.memory_key, c.place";
    STATEMENTS_BY_MEMORY = "SELECT c.memory_key, c.quote, c.trust, c.session_id, s.source, g.at \
                            FROM citations c JOIN messages g ON g.seq = c.message_seq \
                            JOIN sessions s ON s.key = g.session_key \
                            WHERE c.memory_key = CAST(?1 AS BIGINT) AND g.rewind = 0 \
                            ORDER BY c.place";
    EACH = "SELECT c.id, m.id, m.content, m.kind, m.project, m.subject, c.tags, c.evidence, \
            c.parts, c.score, c.decision, c.reason, c.gate, c.decided_at, c.dream_id, c.staged_at, \
            c.promoted_at, c.key, c.claim, c.memory_key, c.refused_at \
            FROM dream_candidates c LEFT JOIN memories m ON m.key = c.memory_key ORDER BY c.key";
    REMOVE = "DELETE FROM dream_candidates WHERE id = ?1";
    ENTRIES = "SELECT e.note, c.id, e.line, e.removed_at FROM dream_entries e \
               JOIN dream_candidates c ON c.key = e.candidate_key ORDER BY e.note, c.key";
    PUT_ENTRY = "INSERT INTO dream_entries (note, candidate_key, line, dream_id, added_at, removed_at) \
                 SELECT CAST(?1 AS TEXT), c.key, CAST(?3 AS TEXT), CAST(?4 AS TEXT), \
                 CAST(?5 AS BIGINT), NULL FROM dream_candidates c WHERE c.id = ?2 \
                 ON CONFLICT (note, candidate_key) DO UPDATE SET line = excluded.line, \
                 dream_id = excluded.dream_id, added_at = excluded.added_at, removed_at = NULL";
    REMOVE_ENTRY = "UPDATE dream_entries SET removed_at = ?3 WHERE note = ?1 AND candidate_key = \
                    (SELECT c.key FROM dream_candidates c WHERE c.id = ?2)";
    LINES_OF_MEMORY = "SELECT e.note, e.line FROM dream_entries e \
                       JOIN dream_candidates c ON c.key = e.candidate_key \
                       WHERE c.memory_key = CAST(?1 AS BIGINT) \
                       UNION SELECT d.note, d.line FROM dream_decisions d \
                       JOIN dream_candidates c ON c.key = d.candidate_key \
                       WHERE c.memory_key = CAST(?1 AS BIGINT) AND d.line IS NOT NULL \
                       AND d.note IS NOT NULL \
                       UNION SELECT d.note, d.written FROM dream_decisions d \
                       JOIN dream_candidates c ON c.key = d.candidate_key \
                       WHERE c.memory_key = CAST(?1 AS BIGINT) AND d.written IS NOT NULL \
                       AND d.note IS NOT NULL";
    DANGLING = "SELECT c.id FROM dream_candidates c JOIN memories m ON m.key = c.memory_key \
                WHERE m.removed = 1 AND NOT EXISTS (SELECT 1 FROM dream_entries e \
                WHERE e.candidate_key = c.key AND e.removed_at IS NULL) ORDER BY c.id";
    REMOVE_DANGLING = "DELETE FROM dream_candidates WHERE memory_key IN \
                       (SELECT key FROM memories WHERE removed = 1) AND NOT EXISTS \
                       (SELECT 1 FROM dream_entries e WHERE e.removed_at IS NULL \
                        AND e.candidate_key = dream_candidates.key)";
    OVER_LIMIT = "DELETE FROM dream_candidates WHERE promoted_at IS NULL AND key IN \
                  (SELECT key FROM dream_candidates WHERE promoted_at IS NULL \
                   ORDER BY score, key LIMIT CAST(?1 AS BIGINT))";
    TEXTS = "SELECT tags FROM dream_candidates";
    LINES = "SELECT line FROM dream_entries";
}

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "dream_candidates",
        columns: "key, id, claim, memory_key, tags, evidence, parts, score, decision, gate, reason, \
                  decided_at, dream_id, staged_at, promoted_at, refused_at",
    },
    Table {
        name: "dream_decisions",
        columns: "dream_key, candidate_key, decision, gate, reason, score, parts, evidence, note, \
                  line, written, takes_place_of",
    },
    Table {
        name: "dream_entries",
        columns: "note, candidate_key, line, dream_id, added_at, removed_at",
    },
];

/// A candidate as it is stored.
#[derive(Debug, Clone)]
pub struct StoredCandidate {
    /// Its key; 0 before it is stored.
    pub key: i64,
    /// What stands for its claim, subject and project.
    pub claim_hash: String,
    /// The key of its memory.
    pub memory_key: i64,
    /// When a person refused it last.
    pub refused_at: Option<Timestamp>,
    /// The candidate.
    pub candidate: DreamCandidate,
}

/// Stores a candidate and returns its key.
pub fn save(tx: &Tx<'_>, stored: &StoredCandidate) -> Result<i64> {
    let candidate = &stored.candidate;
    let texts = [json(&candidate.tags)?, json(&candidate.evidence)?, json(&candidate.parts)?];
    let [tags, evidence, parts] = &texts;
    let key = if stored.key > 0 { stored.key } else { sequence::take_key(tx)? };
    let values = [
        key.into(),
        candidate.id.as_str().into(),
        stored.claim_hash.as_str().into(),
        stored.memory_key.into(),
        tags.into(),
        evidence.into(),
        parts.into(),
        ((candidate.score * SCORE_STEPS).round() as i64).into(),
        candidate.decision.as_str().into(),
        candidate.gate.map(DreamGate::as_str).into(),
        candidate.reason.as_str().into(),
        candidate.decided_at.micros().into(),
        candidate.dream_id.as_str().into(),
        candidate.staged_at.micros().into(),
        candidate.promoted_at.map(Timestamp::micros).into(),
        stored.refused_at.map(Timestamp::micros).into(),
    ];
    tx.one(SAVE, &values, |row| row.int(0))
}

/// Every candidate.
pub fn all(tx: &Tx<'_>) -> Result<Vec<StoredCandidate>> {
    tx.all(ALL, &[], read)
}

/// Candidates with their keys, the best first.
pub fn list(tx: &Tx<'_>, request: &ListCandidates) -> Result<Vec<StoredCandidate>> {
    let (score, key) =
        request.cursor.as_ref().map_or((i64::MAX, i64::MAX), |cursor| (cursor.order, cursor.key));
    let values = [
        score.into(),
        key.into(),
        request.decision.map(DreamVerdict::as_str).into(),
        request.subject.as_deref().into(),
        request.project.as_deref().into(),
        (request.limit as i64 + 1).into(),
    ];
    tx.all(LIST, &values, read)
}

/// Up to two candidates whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<StoredCandidate>> {
    let end = format!("{prefix}\u{7f}");
    tx.all(BY_ID, &[prefix.into(), end.as_str().into()], read)
}

/// The candidate of a memory.
pub fn of_memory(tx: &Tx<'_>, id: &MemoryId) -> Result<Option<StoredCandidate>> {
    tx.first(BY_MEMORY, &[id.as_str().into()], read)
}

/// How many candidates have each decision.
pub fn counts(tx: &Tx<'_>) -> Result<Vec<VerdictCount>> {
    tx.all(COUNTS, &[], |row| {
        Ok(VerdictCount { decision: DreamVerdict::parse(row.text(0)?)?, count: row.int(1)? })
    })
}

/// Records that a candidate was refused.
pub fn refuse(tx: &Tx<'_>, id: &CandidateId, at: Timestamp, reason: &str) -> Result<()> {
    tx.execute(REFUSE, &[id.as_str().into(), at.micros().into(), reason.into()]).map(|_| ())
}

/// Calls `each` with every memory that is believed, waits for review or has a candidate, even if its creation
/// was undone.
pub fn each_memory(tx: &Tx<'_>, mut each: impl FnMut(MemoryRow) -> Result<()>) -> Result<()> {
    tx.each(MEMORIES, &[], |row| each(read_memory(row)?))
}

/// A signal about a memory that may be evidence.
#[derive(Debug, Clone)]
pub struct SignalRow {
    /// The key of the memory.
    pub memory_key: i64,
    /// What happened.
    pub kind: SignalKind,
    /// What stands for the query.
    pub query_hash: String,
    /// When.
    pub at: Timestamp,
    /// How much of the query the memory has.
    pub relevance: Option<f64>,
}

/// Calls `each` with every signal that may be evidence, by memory.
pub fn each_signal(tx: &Tx<'_>, mut each: impl FnMut(SignalRow) -> Result<()>) -> Result<()> {
    tx.each(SIGNALS, &[], |row| {
        each(SignalRow {
            memory_key: row.int(0)?,
            kind: SignalKind::parse(row.text(1)?)?,
            query_hash: row.text(2)?.to_owned(),
            at: Timestamp::from_micros(row.int(3)?),
            relevance: row.opt_int(4)?.map(|steps| steps as f64 / RELEVANCE_STEPS),
        })
    })
}

/// A cited statement in a message.
#[derive(Debug, Clone)]
pub struct StatementRow {
    /// The key of the memory.
    pub memory_key: i64,
    /// The cited words.
    pub quote: String,
    /// How far they are trusted.
    pub trust: Trust,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Where the session came from.
    pub source: String,
    /// When it was said.
    pub at: Timestamp,
}

/// Calls `each` with every cited statement, by memory.
pub fn each_statement(tx: &Tx<'_>, mut each: impl FnMut(StatementRow) -> Result<()>) -> Result<()> {
    tx.each(STATEMENTS_OF, &[], |row| each(read_statement(row)?))
}

/// The cited statements of the memory with this key.
pub fn statements_of(tx: &Tx<'_>, memory: i64) -> Result<Vec<StatementRow>> {
    tx.all(STATEMENTS_BY_MEMORY, &[memory.into()], read_statement)
}

fn read_statement(row: &dyn Row) -> Result<StatementRow> {
    Ok(StatementRow {
        memory_key: row.int(0)?,
        quote: row.text(1)?.to_owned(),
        trust: Trust::parse(row.text(2)?)?,
        session_id: row.opt_text(3)?.map(SessionId::new).transpose()?,
        source: row.text(4)?.to_owned(),
        at: Timestamp::from_micros(row.int(5)?),
    })
}

/// An entry that a dream wrote into a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DreamEntry {
    /// The note.
    pub note: NoteName,
    /// The candidate.
    pub candidate: CandidateId,
    /// Its text.
    pub line: String,
    /// When it left the note.
    pub removed_at: Option<Timestamp>,
}

/// Every entry that dreams wrote, also those that left.
pub fn entries(tx: &Tx<'_>) -> Result<Vec<DreamEntry>> {
    tx.all(ENTRIES, &[], |row| {
        Ok(DreamEntry {
            note: NoteName::parse(row.text(0)?)?,
            candidate: CandidateId::parse(row.text(1)?)?,
            line: row.text(2)?.to_owned(),
            removed_at: row.opt_int(3)?.map(Timestamp::from_micros),
        })
    })
}

/// Records an entry that a dream writes.
pub fn put_entry(tx: &Tx<'_>, entry: &DreamEntry, dream: &DreamId, at: Timestamp) -> Result<()> {
    let values = [
        entry.note.as_str().into(),
        entry.candidate.as_str().into(),
        entry.line.as_str().into(),
        dream.as_str().into(),
        at.micros().into(),
    ];
    tx.execute(PUT_ENTRY, &values).map(|_| ())
}

/// Records that an entry left its note.
pub fn remove_entry(
    tx: &Tx<'_>,
    note: &NoteName,
    candidate: &CandidateId,
    at: Timestamp,
) -> Result<()> {
    let values = [note.as_str().into(), candidate.as_str().into(), at.micros().into()];
    tx.execute(REMOVE_ENTRY, &values).map(|_| ())
}

/// Removes what dreams wrote about a memory that is erased, from notes and their history too. `each` gets the
/// removed lines.
pub(crate) fn erase_of_memory(
    tx: &Tx<'_>,
    (key, id): (i64, &MemoryId),
    each: &mut dyn FnMut(&[u8]),
) -> Result<()> {
    let lines = tx.all(LINES_OF_MEMORY, &[key.into()], |row| {
        Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
    })?;
    if lines.is_empty() && tx.first(BY_MEMORY, &[id.as_str().into()], |_| Ok(()))?.is_none() {
        return Ok(());
    }
    for (note, line) in &lines {
        each(line.as_bytes());
        notes::erase_lines(tx, note, ErasedLines::Entry(line))?;
    }
    notes::erase_lines(tx, NoteName::DIARY, ErasedLines::Naming(id.as_str()))?;
    scrub_findings(tx)
}

/// Candidates whose memory is removed, and that stand in no note.
pub fn dangling(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.all(DANGLING, &[], |row| Ok(row.text(0)?.to_owned()))
}

/// Removes candidates whose memory is removed.
pub fn remove_dangling(tx: &Tx<'_>) -> Result<u64> {
    tx.execute(REMOVE_DANGLING, &[])
}

/// Ids of the candidates that cannot be read, with what is wrong: also those without a memory.
pub fn unreadable(tx: &Tx<'_>) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    tx.each(EACH, &[], |row| {
        let problem = match row.opt_text(1)? {
            None => Some("its memory is missing".to_owned()),
            Some(_) => read(row).err().map(|error| error.to_string()),
        };
        found.extend(problem.map(|problem| (row.text(0).unwrap_or_default().to_owned(), problem)));
        Ok(())
    })?;
    Ok(found)
}

/// Removes a candidate that cannot be read, with its decisions and entries.
pub fn remove_unreadable(tx: &Tx<'_>, id: &str) -> Result<()> {
    tx.execute(REMOVE, &[id.into()]).map(|_| ())
}

/// How many candidates there are.
pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one(COUNT, &[], |row| row.int(0))
}

/// Removes up to `count` of the lowest-scored candidates that were never promoted.
pub fn remove_worst(tx: &Tx<'_>, count: i64) -> Result<u64> {
    tx.execute(OVER_LIMIT, &[count.into()])
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    for sql in [TEXTS, LINES] {
        tx.each(sql, &[], |row| {
            each(row.text(0)?.as_bytes());
            Ok(())
        })?;
    }
    Ok(())
}

fn read(row: &dyn Row) -> Result<StoredCandidate> {
    let candidate = DreamCandidate {
        id: CandidateId::parse(row.text(0)?)?,
        memory_id: MemoryId::parse(row.text(1)?)?,
        claim: row.text(2)?.to_owned(),
        kind: MemoryKind::parse(row.text(3)?)?,
        project: row.opt_string(4)?,
        subject: row.opt_string(5)?,
        tags: from_json(row.text(6)?)?,
        evidence: from_json(row.text(7)?)?,
        parts: from_json(row.text(8)?)?,
        score: row.int(9)? as f64 / SCORE_STEPS,
        decision: DreamVerdict::parse(row.text(10)?)?,
        reason: row.text(11)?.to_owned(),
        gate: row.opt_text(12)?.map(DreamGate::parse).transpose()?,
        decided_at: Timestamp::from_micros(row.int(13)?),
        dream_id: DreamId::parse(row.text(14)?)?,
        staged_at: Timestamp::from_micros(row.int(15)?),
        promoted_at: row.opt_int(16)?.map(Timestamp::from_micros),
    };
    Ok(StoredCandidate {
        key: row.int(17)?,
        claim_hash: row.text(18)?.to_owned(),
        memory_key: row.int(19)?,
        refused_at: row.opt_int(20)?.map(Timestamp::from_micros),
        candidate,
    })
}
