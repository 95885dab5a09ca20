//! Reflects on what was gathered: themes, likely truths, contradictions and stale lines. It changes nothing.

use super::decide::Decided;
use super::gather::Gathered;
use super::note_lines::day_of_name;
use super::staleness::stale_line;
use crate::notes::note_entries;
use oneiro_model::{
    DreamFinding, DreamFindingKind, DreamGate, DreamVerdict, MemoryKind, NoteName, Result,
    Timestamp,
};
use oneiro_store::{Tx, notes};
use std::collections::BTreeMap;

/// Maximum number of findings of each kind.
const THEMES_MAX: usize = 5;
const TRUTHS_MAX: usize = 3;
const CONTRADICTIONS_MAX: usize = 20;
const STALE_MAX: usize = 50;

/// Minimum number of claims that share a concept that is a theme.
const THEME_CLAIMS: usize = 3;

/// The least confidence of a likely truth.
const TRUTH_CONFIDENCE: f64 = 0.45;

/// The lines of all notes that no longer hold, whatever is new.
pub(super) fn stale_lines(tx: &Tx<'_>, now: Timestamp) -> Result<Vec<DreamFinding>> {
    let mut found = Vec::new();
    for note in notes::list(tx, "")? {
        if note.name.file_name() == NoteName::DIARY {
            continue;
        }
        let written = day_of_name(&note.name).unwrap_or(note.updated_at);
        for (place, line) in note_entries(&note.text).iter().enumerate() {
            if let Some(bound) = stale_line(line, written, now) {
                found.push(DreamFinding {
                    kind: DreamFindingKind::Stale,
                    what: format!("{}, entry {}", note.name, place + 1),
                    confidence: 1.0,
                    reason: format!("{}, more than two weeks ago", bound.describe()),
                });
            }
            if found.len() >= STALE_MAX {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// What is noticed about the claims.
pub(super) fn reflect(gathered: &Gathered, decided: &[Decided]) -> Vec<DreamFinding> {
    let mut findings = themes(gathered);
    findings.extend(truths(gathered, decided));
    let suspended = gathered.claims.iter().filter_map(|claim| {
        let by = claim.memory.suspended_by.as_ref()?;
        Some(DreamFinding {
            kind: DreamFindingKind::Contradiction,
            what: format!("{} and {by}", claim.memory.id),
            confidence: 1.0,
            reason: "both cannot hold; a person settles it".to_owned(),
        })
    });
    findings.extend(suspended.take(CONTRADICTIONS_MAX));
    findings
}

fn themes(gathered: &Gathered) -> Vec<DreamFinding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut claims = 0;
    for claim in gathered.claims.iter().filter(|claim| claim.evidence.recalls > 0) {
        claims += 1;
        let subject = claim.memory.subject.as_deref().map(oneiro_text::normalise);
        for tag in &claim.tags {
            let is_label = Some(tag) == subject.as_ref()
                || MemoryKind::NAMES.contains(&tag.as_str())
                || Some(tag.as_str()) == claim.memory.project.as_deref();
            if !is_label {
                *counts.entry(tag).or_default() += 1;
            }
        }
    }
    let mut themes: Vec<(&str, usize)> =
        counts.into_iter().filter(|(_, count)| *count >= THEME_CLAIMS).collect();
    themes.sort_by_key(|(tag, count)| (std::cmp::Reverse(*count), *tag));
    themes.truncate(THEMES_MAX);
    let finding = |(tag, count): (&str, usize)| DreamFinding {
        kind: DreamFindingKind::Theme,
        what: tag.to_owned(),
        confidence: count as f64 / f64::from(claims.max(1)),
        reason: format!("{count} claims that people asked for are about it"),
    };
    themes.into_iter().map(finding).collect()
}

fn truths(gathered: &Gathered, decided: &[Decided]) -> Vec<DreamFinding> {
    let waits = gathered.claims.iter().zip(decided).filter(|(_, one)| {
        one.verdict == DreamVerdict::Waiting
            && one.gate != Some(DreamGate::Contradiction)
            && one.score >= TRUTH_CONFIDENCE
    });
    let mut truths: Vec<DreamFinding> = waits
        .map(|(claim, one)| DreamFinding {
            kind: DreamFindingKind::Truth,
            what: claim.memory.id.to_string(),
            confidence: one.score,
            reason: one.reason.clone(),
        })
        .collect();
    truths.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.what.cmp(&b.what)));
    truths.truncate(TRUTHS_MAX);
    truths
}
