//! What was decided about a candidate and why, for people.

use super::about;
use crate::output::{count, one_line, plain};
use oneiro::{
    CountedEvidence, CountedKind, DreamEvidence, DreamPromotion, DreamThresholds, DreamVerdict,
    DreamWeights, ExplainedCandidate, ScoreParts,
};

/// Columns of a claim, and of a prompt.
const CLAIM_COLUMNS: usize = 100;
const PROMPT_COLUMNS: usize = 60;

pub(super) fn text(explained: &ExplainedCandidate) -> String {
    let candidate = &explained.candidate;
    let claim = one_line(&candidate.claim, CLAIM_COLUMNS);
    let mut lines = vec![
        format!("{} {claim}", candidate.id),
        format!(
            "{} ({}{}): {}",
            candidate.decision.as_str(),
            about(candidate.subject.as_deref(), candidate.project.as_deref()),
            candidate.memory_id,
            plain(&candidate.reason)
        ),
    ];
    lines.extend(candidate.gate.map(|gate| format!("gate: {}", gate.as_str())));
    lines.extend(explained.promotion.as_ref().map(promotion));
    lines.extend(line(explained));
    lines.push(thresholds(explained.preset.as_str(), &explained.thresholds));
    lines.push(format!("score {:.3}", candidate.score));
    lines.extend(parts(&candidate.parts, &explained.thresholds.weights));
    lines.push(sum(&candidate.evidence));
    lines.extend(explained.counted.iter().map(counted));
    lines.join("\n")
}

fn promotion(promotion: &DreamPromotion) -> String {
    format!(
        "promoted {} by {} with score {:.3}: {}",
        promotion.at.minute_text(),
        promotion.dream_id,
        promotion.score,
        plain(&promotion.reason)
    )
}

/// Where its line stands.
fn line(explained: &ExplainedCandidate) -> Option<String> {
    let is_promoted = explained.candidate.decision == DreamVerdict::Promoted;
    match &explained.line {
        Some(line) => Some(format!("{}: {}", line.note, one_line(&line.text, CLAIM_COLUMNS))),
        None if is_promoted => Some("no note has a line for it".to_owned()),
        None => None,
    }
}

fn thresholds(preset: &str, thresholds: &DreamThresholds) -> String {
    format!(
        "preset {preset}: score at least {}, {} by {}, half-life {} days",
        thresholds.min_score,
        count(thresholds.min_recall_count as usize, "recall"),
        count(thresholds.min_unique_queries as usize, "prompt"),
        thresholds.half_life_days
    )
}

fn parts(parts: &ScoreParts, weights: &DreamWeights) -> Vec<String> {
    let weighed = [
        ("frequency", parts.frequency, weights.frequency),
        ("relevance", parts.relevance, weights.relevance),
        ("diversity", parts.diversity, weights.diversity),
        ("recency", parts.recency, weights.recency),
        ("consolidation", parts.consolidation, weights.consolidation),
        ("conceptual", parts.conceptual, weights.conceptual),
    ];
    let line = |(name, value, weight): &(&str, f64, f64)| {
        format!("  {name:<14} {value:.3}  weight {weight:.2}")
    };
    let boost = format!("  {:<14} {:.3}", "boost", parts.boost);
    weighed.iter().map(line).chain([boost]).collect()
}

fn sum(evidence: &DreamEvidence) -> String {
    format!(
        "{} by {} on {}, {}, {}, {}",
        count(evidence.recalls as usize, "recall"),
        count(evidence.prompts as usize, "prompt"),
        count(evidence.days as usize, "day"),
        count(evidence.statements as usize, "statement"),
        count(evidence.confirmations as usize, "confirmation"),
        count(evidence.uses as usize, "use")
    )
}

fn counted(one: &CountedEvidence) -> String {
    let what = match one.kind {
        CountedKind::Recall => "asked",
        CountedKind::Statement => "said",
        CountedKind::Confirmation => "confirmed",
        CountedKind::Use => "used",
    };
    let text = one.text.as_deref().map(|text| format!(": {}", one_line(text, PROMPT_COLUMNS)));
    format!("  {} {what}{}", one.date, text.unwrap_or_default())
}
