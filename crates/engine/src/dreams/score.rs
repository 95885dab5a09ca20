//! The score of a candidate: six parts with weights, and a boost. It is pure: the same evidence at the same
//! time has the same score, and more evidence never lowers it.

use oneiro_model::{DreamEvidence, DreamWeights, ScoreParts, Span, Timestamp};

/// Days after which a recall counts half.
pub(crate) const HALF_LIFE_DAYS: f64 = 14.0;

/// Recalls whose mean is the relevance. With missing ones counted as 0, another recall never lowers it.
pub(crate) const BEST_RECALLS: usize = 3;

/// Recalls that count fully.
const FULL_RECALLS: f64 = 10.0;
/// Different prompts that count fully.
const FULL_PROMPTS: f64 = 5.0;
/// Days that count fully, and days between the first and the last that do.
const FULL_DAYS: f64 = 5.0;
const FULL_SPAN_DAYS: f64 = 7.0;
/// Shares of days and of span in the consolidation.
const SPACING_SHARE: f64 = 0.55;
const SPAN_SHARE: f64 = 0.45;
/// The consolidation of one day.
const ONE_DAY_CONSOLIDATION: f64 = 0.2;
/// Concepts that count fully.
const FULL_TAGS: f64 = 6.0;
/// Uses or confirmations that count fully in the boost.
const FULL_HITS: f64 = 6.0;
/// What uses and confirmations add at most.
const USES_BOOST: f64 = 0.06;
const CONFIRMATIONS_BOOST: f64 = 0.09;

pub(super) const DAY_MICROS: f64 = Span::DAY.micros() as f64;

/// Weights that add up to 1: negative ones count as 0, and without any the defaults hold.
pub(crate) fn normalised(weights: DreamWeights) -> DreamWeights {
    let clean = |weight: f64| if weight.is_finite() { weight.max(0.0) } else { 0.0 };
    let all = [
        weights.frequency,
        weights.relevance,
        weights.diversity,
        weights.recency,
        weights.consolidation,
        weights.conceptual,
    ]
    .map(clean);
    let sum: f64 = all.iter().sum();
    if sum <= 0.0 {
        return DreamWeights::default();
    }
    let [frequency, relevance, diversity, recency, consolidation, conceptual] =
        all.map(|weight| weight / sum);
    DreamWeights { frequency, relevance, diversity, recency, consolidation, conceptual }
}

/// The weighted sum of the parts with the boost; it may pass 1.
pub(crate) fn weighted_sum(weights: &DreamWeights, parts: &ScoreParts) -> f64 {
    weights.frequency * parts.frequency
        + weights.relevance * parts.relevance
        + weights.diversity * parts.diversity
        + weights.recency * parts.recency
        + weights.consolidation * parts.consolidation
        + weights.conceptual * parts.conceptual
        + parts.boost
}

/// The parts of the score of some evidence, for a claim with `tags` concepts.
pub(crate) fn parts(
    evidence: &DreamEvidence,
    tags: usize,
    now: Timestamp,
    half_life_days: f64,
) -> ScoreParts {
    let recalls = f64::from(evidence.recalls);
    let best = evidence.best.iter().take(BEST_RECALLS).map(|relevance| clamp_unit(*relevance));
    let recency = match evidence.last_at {
        Some(at) => decay(age_days(at, now), half_life_days),
        None => 0.0,
    };
    ScoreParts {
        frequency: clamp_unit((1.0 + recalls).ln() / (1.0 + FULL_RECALLS).ln()),
        relevance: clamp_unit(best.sum::<f64>() / BEST_RECALLS as f64),
        diversity: clamp_unit(f64::from(evidence.prompts) / FULL_PROMPTS),
        recency,
        consolidation: consolidation(evidence.days, evidence.span_days),
        conceptual: clamp_unit(tags as f64 / FULL_TAGS),
        boost: (USES_BOOST * log_share(evidence.uses)
            + CONFIRMATIONS_BOOST * log_share(evidence.confirmations))
            * recency,
    }
}

/// Days between two times; 0 if the first is later.
pub(crate) fn age_days(at: Timestamp, now: Timestamp) -> f64 {
    (now.micros().saturating_sub(at.micros()) as f64 / DAY_MICROS).max(0.0)
}

fn decay(age_days: f64, half_life_days: f64) -> f64 {
    if half_life_days <= 0.0 || !half_life_days.is_finite() {
        return 1.0;
    }
    (-std::f64::consts::LN_2 * age_days / half_life_days).exp()
}

fn consolidation(days: u32, span_days: u32) -> f64 {
    match days {
        0 => 0.0,
        1 => ONE_DAY_CONSOLIDATION,
        days => {
            let spacing = clamp_unit(f64::from(days).ln() / FULL_DAYS.ln());
            let span = clamp_unit(f64::from(span_days) / FULL_SPAN_DAYS);
            clamp_unit(SPACING_SHARE * spacing + SPAN_SHARE * span)
        }
    }
}

fn log_share(count: u32) -> f64 {
    clamp_unit((1.0 + f64::from(count)).ln() / (1.0 + FULL_HITS).ln())
}

fn clamp_unit(value: f64) -> f64 {
    if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_have_the_values_of_the_formula() {
        let at = Timestamp::from_micros(0);
        let evidence = DreamEvidence {
            recalls: 3,
            prompts: 2,
            days: 3,
            span_days: 6,
            best: vec![0.9, 0.6],
            last_at: Some(at),
            ..DreamEvidence::default()
        };
        let now = Timestamp::from_micros(14 * DAY_MICROS as i64);
        let parts = parts(&evidence, 3, now, HALF_LIFE_DAYS);
        let near = |value: f64, expected: f64| (value - expected).abs() < 0.001;
        assert!(near(parts.frequency, 0.578), "{parts:?}");
        assert!(near(parts.relevance, 0.5), "a missing recall counts as 0: {parts:?}");
        assert!(near(parts.diversity, 0.4), "{parts:?}");
        assert!(near(parts.recency, 0.5), "{parts:?}");
        assert!(near(parts.consolidation, 0.55 * 0.683 + 0.45 * 6.0 / 7.0), "{parts:?}");
        assert!(near(parts.conceptual, 0.5), "{parts:?}");
        assert_eq!(parts.boost, 0.0);
    }

    #[test]
    fn weights_are_normalised_or_the_defaults() {
        let default = DreamWeights::default();
        let odd = DreamWeights { frequency: 2.0, relevance: -1.0, recency: f64::NAN, ..default };
        let sum = |it: DreamWeights| {
            it.frequency
                + it.relevance
                + it.diversity
                + it.recency
                + it.consolidation
                + it.conceptual
        };
        assert!((sum(normalised(odd)) - 1.0).abs() < 1e-9);
        assert_eq!(normalised(odd).relevance, 0.0);
        let none = DreamWeights {
            frequency: 0.0,
            relevance: 0.0,
            diversity: 0.0,
            recency: 0.0,
            consolidation: 0.0,
            conceptual: -3.0,
        };
        assert_eq!(normalised(none), default);
        assert!((sum(default) - 1.0).abs() < 1e-9);
    }
}
