//! The evidence for a candidate: what counts, and what it sums up to. Exposure, echoes and the traffic of
//! machines never get here.

use super::score::BEST_RECALLS;
use oneiro_model::{DreamEvidence, Timestamp};
use std::collections::BTreeSet;

/// A recall that has less of the prompt than this was brought up by chance: it counts as exposure.
pub(crate) const RELEVANCE_FLOOR: f64 = 0.34;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EvidenceKind {
    /// A person's prompt brought it up.
    Recall,
    /// The person stated it.
    Statement,
    /// A person confirmed it.
    Confirmation,
    /// A person wrote it in a dated note.
    Line,
    /// An answer rested on it. It counts for the rank alone: the answer may follow from what was served.
    Use,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) kind: EvidenceKind,
    /// What stands for the prompt.
    pub(crate) prompt: u64,
    pub(crate) at: Timestamp,
    pub(crate) relevance: f64,
}

/// The day of a time, counted from 1970.
pub(crate) fn day_of(at: Timestamp) -> i64 {
    at.day_number()
}

/// Sums evidence up. The same kind by the same prompt on the same day counts once. With
/// `has_first_statement` the claim was stated elsewhere first; otherwise its first statement, which made the
/// claim, is no evidence for it.
pub(crate) fn summarise(all: &[Evidence], has_first_statement: bool) -> DreamEvidence {
    let first = if has_first_statement {
        None
    } else {
        let statements = all.iter().enumerate();
        let statements = statements.filter(|(_, one)| one.kind == EvidenceKind::Statement);
        statements.min_by_key(|(_, one)| one.at).map(|(index, _)| index)
    };
    let mut seen = BTreeSet::new();
    let mut prompts = BTreeSet::new();
    let mut days = BTreeSet::new();
    let mut relevances = Vec::new();
    let mut sum = DreamEvidence::default();
    let mut order: Vec<usize> = (0..all.len()).collect();
    // Of several at one day by one prompt the most relevant one counts.
    order.sort_by(|a, b| {
        let of = |index: &usize| all.get(*index).map_or(0.0, |one| one.relevance);
        of(b).total_cmp(&of(a)).then(a.cmp(b))
    });
    for index in order {
        let Some(one) = all.get(index) else { continue };
        let is_chance = one.kind == EvidenceKind::Recall && one.relevance < RELEVANCE_FLOOR;
        let day = day_of(one.at);
        if first == Some(index) || is_chance || !seen.insert((one.kind, one.prompt, day)) {
            continue;
        }
        if one.kind == EvidenceKind::Use {
            continue;
        }
        sum.recalls += 1;
        sum.statements += u32::from(one.kind == EvidenceKind::Statement);
        sum.confirmations += u32::from(one.kind == EvidenceKind::Confirmation);
        prompts.insert(one.prompt);
        days.insert(day);
        relevances.push(one.relevance.clamp(0.0, 1.0));
        sum.last_at = sum.last_at.max(Some(one.at));
    }
    relevances.sort_by(|a, b| b.total_cmp(a));
    relevances.truncate(BEST_RECALLS);
    let uses = all.iter().filter(|one| one.kind == EvidenceKind::Use);
    let use_days: BTreeSet<i64> = uses.map(|one| day_of(one.at)).collect();
    let span = days.last().zip(days.first()).map_or(0, |(last, first)| last - first);
    DreamEvidence {
        prompts: prompts.len() as u32,
        days: days.len() as u32,
        span_days: u32::try_from(span).unwrap_or(u32::MAX),
        best: relevances,
        uses: use_days.len() as u32,
        ..sum
    }
}

/// When a piece of evidence that counts was last seen after `time`.
pub(crate) fn is_newer_than(evidence: &DreamEvidence, time: Timestamp) -> bool {
    evidence.last_at.is_some_and(|at| at > time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro_model::Span;

    fn one(kind: EvidenceKind, prompt: u64, day: i64, relevance: f64) -> Evidence {
        let at = Timestamp::from_micros(day * Span::DAY.micros() + 1);
        Evidence { kind, prompt, at, relevance }
    }

    #[test]
    fn the_first_statement_does_not_count_and_later_ones_do() {
        let said = |day: i64| one(EvidenceKind::Statement, day.unsigned_abs(), day, 1.0);
        assert_eq!(summarise(&[said(1)], false).recalls, 0);
        let sum = summarise(&[said(4), said(1), said(2)], false);
        assert_eq!((sum.recalls, sum.statements, sum.prompts, sum.days), (2, 2, 2, 2));
        assert_eq!(summarise(&[said(1)], true).recalls, 1, "it was stated elsewhere first");
    }

    #[test]
    fn the_same_prompt_counts_once_a_day() {
        let asked = |day, relevance| one(EvidenceKind::Recall, 7, day, relevance);
        let sum = summarise(&[asked(1, 0.4), asked(1, 0.9), asked(2, 0.5)], false);
        assert_eq!((sum.recalls, sum.prompts, sum.days, sum.span_days), (2, 1, 2, 1));
        assert_eq!(sum.best, [0.9, 0.5]);
    }

    #[test]
    fn chance_and_uses_are_no_recalls() {
        let chance = one(EvidenceKind::Recall, 8, 1, 0.2);
        let used = |day| one(EvidenceKind::Use, 9, day, 1.0);
        let sum = summarise(&[chance, used(1), used(1), used(2)], false);
        assert_eq!((sum.recalls, sum.uses, sum.last_at), (0, 2, None));
    }
}
