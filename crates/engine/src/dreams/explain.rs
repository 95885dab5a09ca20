//! Explains a candidate: the evidence that counts, by day, the night that promoted it, and its line in a note.

use super::evidence::{EvidenceKind, RELEVANCE_FLOOR};
use super::gates::{preset, preset_of_mode};
use super::ledger::resolve;
use super::note_lines::note_lines;
use crate::settings::Settings;
use crate::views::Dreams;
use oneiro_model::{
    CandidateId, CountedEvidence, CountedKind, DreamCandidate, DreamLine, DreamPreset,
    DreamPromotion, DreamThresholds, Error, ErrorKind, ExplainedCandidate, Memory, MemoryId,
    Remedy, Result, Signal, SignalKind, Timestamp, Trust,
};
use oneiro_store::dream_candidates::{self, StoredCandidate};
use oneiro_store::operations::Record as _;
use oneiro_store::{Tx, dreams, signals};

/// Candidates that are named when a text fits several.
const NAMED_MAX: usize = 5;

/// Characters of a claim that is named.
const CLAIM_CHARS: usize = 80;

impl Dreams<'_> {
    /// The candidate with this id or unambiguous id prefix, of this memory, or the only one whose claim has
    /// these words, with what its last decision rests on.
    pub fn explain(&self, name: &str) -> Result<ExplainedCandidate> {
        self.oneiro.store.read(|tx| {
            let settings = self.oneiro.settings_in(tx)?;
            let stored = find_candidate(tx, name)?;
            let (preset, thresholds) = gates_of(tx, &stored.candidate, &settings)?;
            Ok(ExplainedCandidate {
                preset,
                thresholds,
                promotion: promotion(tx, &stored)?,
                counted: counted(tx, &stored, (&settings, self.oneiro.now()))?,
                line: line(tx, &stored.candidate)?,
                candidate: stored.candidate,
            })
        })
    }
}

/// The thresholds of the dream that decided last; those of the space if its row is gone.
fn gates_of(
    tx: &Tx<'_>,
    candidate: &DreamCandidate,
    settings: &Settings,
) -> Result<(DreamPreset, DreamThresholds)> {
    match resolve(tx, candidate.dream_id.as_str()) {
        Ok(dream) => Ok((dream.preset, dream.thresholds)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let name = preset_of_mode(settings.dream_mode);
            Ok((name, settings.dream_thresholds(preset(name).thresholds())))
        }
        Err(error) => Err(error),
    }
}

/// The decision that promoted a candidate.
fn promotion(tx: &Tx<'_>, stored: &StoredCandidate) -> Result<Option<DreamPromotion>> {
    let Some(at) = stored.candidate.promoted_at else { return Ok(None) };
    let Some((dream_id, decision)) = dreams::promotion(tx, stored.key, at)? else {
        return Ok(None);
    };
    Ok(Some(DreamPromotion {
        dream_id,
        at,
        reason: decision.reason,
        score: decision.score,
        parts: decision.parts,
        evidence: decision.evidence,
    }))
}

/// The evidence of the memory of a candidate, oldest first.
fn counted(
    tx: &Tx<'_>,
    stored: &StoredCandidate,
    (settings, now): (&Settings, Timestamp),
) -> Result<Vec<CountedEvidence>> {
    let mut found: Vec<_> = signals::of_memory(tx, &stored.candidate.memory_id)?
        .iter()
        .filter_map(|signal| Some((signal.at, counted_signal(signal)?)))
        .collect();
    for row in dream_candidates::statements_of(tx, stored.memory_key)? {
        let id = row.session_id.as_ref();
        if row.trust == Trust::Owner
            && !id.is_some_and(|id| settings.is_of_machine(id, &row.source))
        {
            let (date, text) = (row.at.date_text(), Some(row.quote));
            found.push((row.at, CountedEvidence { date, kind: CountedKind::Statement, text }));
        }
    }
    if let Some(memory) = Memory::load(tx, stored.candidate.memory_id.as_str())? {
        for line in note_lines(tx, &[&memory], now)? {
            let kind = match line.kind {
                EvidenceKind::Use => CountedKind::Use,
                _ => CountedKind::Statement,
            };
            let (date, text) = (line.at.date_text(), Some(line.text));
            found.push((line.at, CountedEvidence { date, kind, text }));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, one)| one).collect())
}

fn counted_signal(signal: &Signal) -> Option<CountedEvidence> {
    let kind = match signal.kind {
        SignalKind::Recalled if signal.relevance.is_some_and(|it| it < RELEVANCE_FLOOR) => {
            return None;
        }
        SignalKind::Recalled => CountedKind::Recall,
        SignalKind::Confirmed => CountedKind::Confirmation,
        SignalKind::Used => CountedKind::Use,
        SignalKind::Exposed | SignalKind::Contradicted => return None,
    };
    Some(CountedEvidence { date: signal.date.clone(), kind, text: signal.query.clone() })
}

/// The line that stands in a note for a candidate.
fn line(tx: &Tx<'_>, candidate: &DreamCandidate) -> Result<Option<DreamLine>> {
    let mut entries = dream_candidates::entries(tx)?.into_iter();
    let entry = entries.find(|it| it.candidate == candidate.id && it.removed_at.is_none());
    Ok(entry.map(|entry| DreamLine { note: entry.note, text: entry.line }))
}

fn find_candidate(tx: &Tx<'_>, name: &str) -> Result<StoredCandidate> {
    let none = || {
        Error::not_found(format!("there is no dream candidate {name:?}"))
            .remedy(Remedy::ListDreamCandidates)
    };
    if let Ok(memory) = MemoryId::parse(name) {
        return dream_candidates::of_memory(tx, &memory)?.ok_or_else(none);
    }
    let is_prefix = name.len() > CandidateId::PREFIX.len() && name.starts_with(CandidateId::PREFIX);
    if !is_prefix {
        return with_words(tx, name)?.ok_or_else(none);
    }
    let mut found = dream_candidates::by_id_prefix(tx, name)?.into_iter();
    match (found.next(), found.next()) {
        (Some(one), other) if other.is_none() || one.candidate.id.as_str() == name => Ok(one),
        (Some(_), _) => Err(Error::conflict(format!("several candidate ids begin with {name:?}"))
            .remedy("give more of the id")),
        (None, _) => Err(none()),
    }
}

/// The only candidate whose claim has all these words.
fn with_words(tx: &Tx<'_>, text: &str) -> Result<Option<StoredCandidate>> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Ok(None);
    }
    let has_words = |stored: &StoredCandidate| {
        let claim = stored.candidate.claim.to_lowercase();
        words.iter().all(|word| claim.contains(word))
    };
    let mut found = dream_candidates::all(tx)?;
    found.retain(has_words);
    if found.len() > 1 {
        let named: Vec<String> = found.iter().take(NAMED_MAX).map(named).collect();
        let count = found.len();
        return Err(Error::conflict(format!(
            "{count} candidates have {text:?}: {}",
            named.join(", ")
        ))
        .remedy("give the id of one, or more words"));
    }
    Ok(found.pop())
}

fn named(stored: &StoredCandidate) -> String {
    let candidate = &stored.candidate;
    let claim: String = candidate.claim.chars().take(CLAIM_CHARS).collect();
    let claim = claim.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} “{claim}”", candidate.id)
}
