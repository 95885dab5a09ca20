//! The ledger of dreams: one row per run with its lease, and one per candidate that a run decided
//! about.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::{Tx, changes, sequence};
use oneiro_model::{
    CandidateId, Dream, DreamCounts, DreamDecision, DreamEvidence, DreamFinding, DreamGate,
    DreamId, DreamMode, DreamOutcome, DreamPreset, DreamTrigger, DreamVerdict, Error, ErrorKind,
    GroupId, MemoryId, NoteName, Result, RevisionId, SCORE_STEPS, ScoreParts, Timestamp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT id, mode, preset, started_by, period, apply, outcome, reason, thresholds, \
             inputs, counts, findings, group_id, revision, started_at, finished_at, undone_at, key \
             FROM dreams ",
            $rest
        )
    };
}

statements! {
    // A period has at most one dream, no matter which process adds it.
    INSERT = "INSERT INTO dreams (key, id, mode, preset, started_by, period, apply, outcome, \
              reason, thresholds, inputs, counts, findings, holder, lease_until, started_at, \
              finished_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, \
              ?15, ?16, ?17) ON CONFLICT DO NOTHING";
    FINISH = "UPDATE dreams SET outcome = ?2, reason = ?3, inputs = ?4, counts = ?5, \
              findings = ?6, group_id = ?7, revision = ?8, finished_at = ?9, holder = NULL, \
              lease_until = NULL, apply = ?10, preset = ?11, thresholds = ?12 \
              WHERE id = ?1 AND holder = ?13";
    EXTEND = "UPDATE dreams SET lease_until = CAST(?3 AS BIGINT) WHERE id = ?1 AND holder = ?2";
    TAKE_OVER = "UPDATE dreams SET holder = ?2, lease_until = ?3 WHERE id = ?1 \
                 AND outcome = 'running' AND holder = ?4";
    RUNNING = "SELECT id, holder, lease_until FROM dreams WHERE outcome = 'running' ORDER BY key";
    ABANDON = "UPDATE dreams SET outcome = 'failed', reason = ?3, finished_at = ?2, \
               holder = NULL, lease_until = NULL WHERE id = ?1 AND outcome = 'running'";
    SET_UNDONE = "UPDATE dreams SET undone_at = ?2 WHERE id = ?1";
    LIST = select!("WHERE key < CAST(?1 AS BIGINT) ORDER BY key DESC LIMIT CAST(?2 AS BIGINT)");
    BY_ID = select!("WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 2");
    LAST_RUN = select!("WHERE outcome = 'processed' ORDER BY key DESC LIMIT 1");
    LAST_PERIOD = "SELECT MAX(period) FROM dreams WHERE period IS NOT NULL";
    BY_PERIOD = select!("WHERE period = ?1");
    KEY = "SELECT key FROM dreams WHERE id = ?1";
    DECIDE = "INSERT INTO dream_decisions (dream_key, candidate_key, decision, gate, reason, score, \
              parts, evidence, note, line, written, takes_place_of) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
              ON CONFLICT (dream_key, candidate_key) DO UPDATE SET decision = excluded.decision, \
              gate = excluded.gate, reason = excluded.reason, score = excluded.score, \
              parts = excluded.parts, evidence = excluded.evidence, note = excluded.note, \
              line = excluded.line, written = excluded.written, \
              takes_place_of = excluded.takes_place_of";
    DECISIONS = "SELECT c.id, m.id, m.content, m.subject, m.project, d.decision, d.gate, d.reason, \
                 d.score, d.parts, d.evidence, d.note, d.line, d.written, d.takes_place_of, c.tags, \
                 m.kind \
                 FROM dream_decisions d JOIN dream_candidates c ON c.key = d.candidate_key \
                 JOIN memories m ON m.key = c.memory_key \
                 WHERE d.dream_key = CAST(?1 AS BIGINT) ORDER BY d.score DESC, c.key";
    REMOVE = "DELETE FROM dreams WHERE id = ?1";
    EACH = select!("ORDER BY key");
    PROMOTION = "SELECT r.id, d.reason, d.score, d.parts, d.evidence FROM dream_decisions d \
                 JOIN dreams r ON r.key = d.dream_key \
                 WHERE d.candidate_key = CAST(?1 AS BIGINT) AND d.decision = 'promoted' \
                 AND r.started_at = CAST(?2 AS BIGINT) ORDER BY r.key LIMIT 1";
    SCRUB_FINDINGS = "UPDATE dreams SET findings = '[]' WHERE findings <> '[]'";
    FINDINGS = "SELECT findings FROM dreams";
    LINES = "SELECT line, written FROM dream_decisions \
             WHERE line IS NOT NULL OR written IS NOT NULL";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "dreams",
    columns: "key, id, mode, preset, started_by, period, apply, outcome, reason, thresholds, inputs, \
              counts, findings, holder, lease_until, group_id, revision, started_at, finished_at, \
              undone_at",
}];

/// The right to work on a dream.
#[derive(Debug, Clone)]
pub struct DreamLease {
    /// Who has it.
    pub holder: String,
    /// Until when.
    pub until: Timestamp,
}

/// Adds a dream; false if its period has one.
pub fn add(tx: &Tx<'_>, dream: &Dream, lease: Option<&DreamLease>) -> Result<bool> {
    let texts = [json(&dream.thresholds)?, json(&dream.inputs)?, json(&dream.counts)?];
    let findings = json(&dream.findings)?;
    let [thresholds, inputs, counts] = &texts;
    let values = [
        sequence::take_key(tx)?.into(),
        dream.id.as_str().into(),
        dream.mode.as_str().into(),
        dream.preset.as_str().into(),
        dream.trigger.as_str().into(),
        dream.period.map(Timestamp::micros).into(),
        i64::from(dream.apply).into(),
        dream.outcome.as_str().into(),
        dream.reason.as_deref().into(),
        thresholds.into(),
        inputs.into(),
        counts.into(),
        (&findings).into(),
        lease.map(|lease| lease.holder.as_str()).into(),
        lease.map(|lease| lease.until.micros()).into(),
        dream.started_at.micros().into(),
        dream.finished_at.map(Timestamp::micros).into(),
    ];
    let is_new = tx.execute(INSERT, &values)? > 0;
    if is_new && dream.outcome == DreamOutcome::Running {
        changes::record_dream(tx, &dream.id, dream.started_at)?;
    }
    Ok(is_new)
}

/// Records how a dream ended; false if the lease was lost.
pub fn finish(tx: &Tx<'_>, dream: &Dream, holder: &str) -> Result<bool> {
    let texts = [json(&dream.inputs)?, json(&dream.counts)?, json(&dream.findings)?];
    let thresholds = json(&dream.thresholds)?;
    let [inputs, counts, findings] = &texts;
    let values = [
        dream.id.as_str().into(),
        dream.outcome.as_str().into(),
        dream.reason.as_deref().into(),
        inputs.into(),
        counts.into(),
        findings.into(),
        dream.group.as_ref().map(GroupId::as_str).into(),
        dream.revision.as_ref().map(RevisionId::as_str).into(),
        dream.finished_at.map(Timestamp::micros).into(),
        i64::from(dream.apply).into(),
        dream.preset.as_str().into(),
        (&thresholds).into(),
        holder.into(),
    ];
    let is_finished = tx.execute(FINISH, &values)? > 0;
    if is_finished {
        changes::record_dream(tx, &dream.id, dream.finished_at.unwrap_or(dream.started_at))?;
    }
    Ok(is_finished)
}

/// Extends a lease; false if it was lost.
pub fn extend(tx: &Tx<'_>, id: &DreamId, lease: &DreamLease) -> Result<bool> {
    let values = [id.as_str().into(), lease.holder.as_str().into(), lease.until.micros().into()];
    Ok(tx.execute(EXTEND, &values)? > 0)
}

/// Takes a dream over from a holder that no longer works on it; false if somebody else did.
pub fn take_over(tx: &Tx<'_>, id: &DreamId, lease: &DreamLease, from: &str) -> Result<bool> {
    let values = [
        id.as_str().into(),
        lease.holder.as_str().into(),
        lease.until.micros().into(),
        from.into(),
    ];
    Ok(tx.execute(TAKE_OVER, &values)? > 0)
}

/// The dreams that run, with their leases.
pub fn running(tx: &Tx<'_>) -> Result<Vec<(DreamId, DreamLease)>> {
    tx.all(RUNNING, &[], |row| {
        let holder = row.opt_string(1)?.unwrap_or_default();
        let until = Timestamp::from_micros(row.opt_int(2)?.unwrap_or(0));
        Ok((DreamId::parse(row.text(0)?)?, DreamLease { holder, until }))
    })
}

/// Records that nobody works on a dream any more; nothing of it was applied.
pub fn abandon(tx: &Tx<'_>, id: &DreamId, now: Timestamp, reason: &str) -> Result<()> {
    let values = [id.as_str().into(), now.micros().into(), reason.into()];
    if tx.execute(ABANDON, &values)? > 0 {
        changes::record_dream(tx, id, now)?;
    }
    Ok(())
}

/// Records that a dream is undone.
pub fn set_undone(tx: &Tx<'_>, id: &DreamId, at: Timestamp) -> Result<()> {
    tx.execute(SET_UNDONE, &[id.as_str().into(), at.micros().into()]).map(|_| ())
}

/// Removes a dream with its decisions; false if there is none.
pub fn remove(tx: &Tx<'_>, id: &DreamId) -> Result<bool> {
    Ok(tx.execute(REMOVE, &[id.as_str().into()])? > 0)
}

/// Ids of the dreams that cannot be read, with what is wrong.
pub fn unreadable(tx: &Tx<'_>) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    tx.each(EACH, &[], |row| {
        if let Err(error) = read(row) {
            found.push((row.text(0)?.to_owned(), error.to_string()));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Removes a dream that cannot be read, with its decisions.
pub fn remove_unreadable(tx: &Tx<'_>, id: &str) -> Result<()> {
    tx.execute(REMOVE, &[id.into()]).map(|_| ())
}

/// What a dream that started at this time decided when it promoted a candidate.
#[derive(Debug, Clone)]
pub struct StoredPromotion {
    /// Why.
    pub reason: String,
    /// The score.
    pub score: f64,
    /// Its parts.
    pub parts: ScoreParts,
    /// The evidence.
    pub evidence: DreamEvidence,
}

/// The promotion of the candidate with this key by the dream that started at this time.
pub fn promotion(
    tx: &Tx<'_>,
    candidate: i64,
    at: Timestamp,
) -> Result<Option<(DreamId, StoredPromotion)>> {
    tx.first(PROMOTION, &[candidate.into(), at.micros().into()], |row| {
        let promotion = StoredPromotion {
            reason: row.text(1)?.to_owned(),
            score: row.int(2)? as f64 / SCORE_STEPS,
            parts: from_json(row.text(3)?)?,
            evidence: from_json(row.text(4)?)?,
        };
        Ok((DreamId::parse(row.text(0)?)?, promotion))
    })
}

/// Dreams with their keys, newest first.
pub fn list(tx: &Tx<'_>, before: i64, limit: usize) -> Result<Vec<(i64, Dream)>> {
    tx.all(LIST, &[before.into(), (limit as i64).into()], |row| Ok((row.int(17)?, read(row)?)))
}

/// Up to two dreams whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<Dream>> {
    let end = format!("{prefix}\u{7f}");
    tx.all(BY_ID, &[prefix.into(), end.as_str().into()], read)
}

/// The last dream that ran.
pub fn last_run(tx: &Tx<'_>) -> Result<Option<Dream>> {
    tx.first(LAST_RUN, &[], read)
}

/// The last period that has a dream.
pub fn last_period(tx: &Tx<'_>) -> Result<Option<Timestamp>> {
    tx.one(LAST_PERIOD, &[], |row| Ok(row.opt_int(0)?.map(Timestamp::from_micros)))
}

/// The dream of a period.
pub fn of_period(tx: &Tx<'_>, period: Timestamp) -> Result<Option<Dream>> {
    tx.first(BY_PERIOD, &[period.micros().into()], read)
}

/// The key of a dream.
pub fn key(tx: &Tx<'_>, id: &DreamId) -> Result<Option<i64>> {
    tx.first(KEY, &[id.as_str().into()], |row| row.int(0))
}

/// A decision as it is stored, with what a replay needs.
#[derive(Debug, Clone)]
pub struct StoredDecision {
    /// The decision.
    pub decision: DreamDecision,
    /// The note that the claim stands in or is meant for.
    pub note: Option<NoteName>,
    /// The entry that a dream had written there before.
    pub written: Option<String>,
    /// The candidate whose place it takes.
    pub takes_place_of: Option<CandidateId>,
    /// The concepts of the candidate.
    pub tags: Vec<String>,
    /// What the claim is about.
    pub kind: oneiro_model::MemoryKind,
}

/// Records a decision about the candidate with this key.
pub fn decide(tx: &Tx<'_>, (dream, candidate): (i64, i64), stored: &StoredDecision) -> Result<()> {
    let decision = &stored.decision;
    let (parts, evidence) = (json(&decision.parts)?, json(&decision.evidence)?);
    let values = [
        dream.into(),
        candidate.into(),
        decision.decision.as_str().into(),
        decision.gate.map(DreamGate::as_str).into(),
        decision.reason.as_str().into(),
        ((decision.score * SCORE_STEPS).round() as i64).into(),
        (&parts).into(),
        (&evidence).into(),
        stored.note.as_ref().map(NoteName::as_str).into(),
        decision.line.as_deref().into(),
        stored.written.as_deref().into(),
        stored.takes_place_of.as_ref().map(CandidateId::as_str).into(),
    ];
    tx.execute(DECIDE, &values).map(|_| ())
}

/// The decisions of a dream, best score first.
pub fn decisions(tx: &Tx<'_>, dream: i64) -> Result<Vec<StoredDecision>> {
    tx.all(DECISIONS, &[dream.into()], |row| {
        let decision = DreamDecision {
            candidate_id: CandidateId::parse(row.text(0)?)?,
            memory_id: MemoryId::parse(row.text(1)?)?,
            claim: row.text(2)?.to_owned(),
            subject: row.opt_string(3)?,
            project: row.opt_string(4)?,
            decision: DreamVerdict::parse(row.text(5)?)?,
            gate: row.opt_text(6)?.map(DreamGate::parse).transpose()?,
            reason: row.text(7)?.to_owned(),
            score: row.int(8)? as f64 / SCORE_STEPS,
            parts: from_json(row.text(9)?)?,
            evidence: from_json(row.text(10)?)?,
            line: row.opt_string(12)?,
        };
        Ok(StoredDecision {
            decision,
            note: row.opt_text(11)?.map(NoteName::parse).transpose()?,
            written: row.opt_string(13)?,
            takes_place_of: row.opt_text(14)?.map(CandidateId::parse).transpose()?,
            tags: from_json(row.text(15)?)?,
            kind: oneiro_model::MemoryKind::parse(row.text(16)?)?,
        })
    })
}

/// Removes what dreams noticed, which has words of claims.
pub(crate) fn scrub_findings(tx: &Tx<'_>) -> Result<()> {
    tx.execute(SCRUB_FINDINGS, &[]).map(|_| ())
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(FINDINGS, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })?;
    tx.each(LINES, &[], |row| {
        each(row.opt_text(0)?.unwrap_or_default().as_bytes());
        each(row.opt_text(1)?.unwrap_or_default().as_bytes());
        Ok(())
    })
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::internal("a part of a dream is not JSON").because(error))
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Error::new(ErrorKind::Corrupt, "a stored dream is not readable").because(error)
    })
}

fn read(row: &dyn Row) -> Result<Dream> {
    let time = |column| Ok::<_, Error>(row.opt_int(column)?.map(Timestamp::from_micros));
    let outcome = DreamOutcome::parse(row.text(6)?)?;
    Ok(Dream {
        id: DreamId::parse(row.text(0)?)?,
        mode: DreamMode::parse(row.text(1)?)?,
        preset: DreamPreset::parse(row.text(2)?)?,
        trigger: DreamTrigger::parse(row.text(3)?)?,
        period: time(4)?,
        apply: row.int(5)? != 0,
        outcome,
        reason: row.opt_string(7)?,
        ran: outcome == DreamOutcome::Processed,
        thresholds: from_json(row.text(8)?)?,
        inputs: from_json(row.text(9)?)?,
        counts: from_json::<DreamCounts>(row.text(10)?)?,
        findings: from_json::<Vec<DreamFinding>>(row.text(11)?)?,
        group: row.opt_text(12)?.map(GroupId::parse).transpose()?,
        revision: row.opt_text(13)?.map(RevisionId::parse).transpose()?,
        started_at: Timestamp::from_micros(row.int(14)?),
        finished_at: time(15)?,
        undone_at: time(16)?,
    })
}
