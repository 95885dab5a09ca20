//! How good promotions were: precision, recall, F1 and days to promotion.

use super::baseline::Promotions;
use super::claim::{Claim, Minimum};
use super::words::ClaimKind;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Days after a claim was due within which it is promoted in time.
const DAYS_IN_TIME: usize = 7;

/// Wrong promotions that are shown.
const EXAMPLES_MAX: usize = 20;

/// How good promotions were.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PromotionMetrics {
    /// Claims that have earned promotion by the minimum of the preset.
    pub due: usize,
    /// Claims and other texts that were promoted.
    pub promoted: usize,
    /// Promoted claims that were durable and held in that night, as a part of the promoted ones; 0
    /// without any promotion.
    pub precision: f64,
    /// Promoted ones of those that were due.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
    /// The median of days from the first statement to the promotion over all that were due; null
    /// if half of them were never promoted.
    pub median_days: Option<f64>,
    /// Due claims that were promoted within a week of earning it, or before.
    pub in_time: usize,
    /// Durable claims that were promoted though they never earned it.
    pub undue: usize,
    /// Promoted claims by kind; `ended` ones were durable but held no longer, and `unknown` ones are
    /// texts that state no claim of the year.
    pub by_kind: BTreeMap<&'static str, usize>,
    /// Tainted, self-written and machine-made claims and small talk.
    pub forbidden: usize,
    /// Some of what was wrong.
    pub wrong: Vec<String>,
    /// Some of what was due and never promoted.
    pub missed: Vec<String>,
}

/// Measures promotions against what is true.
pub fn measure(
    claims: &[Claim],
    promoted: &Promotions,
    unknown: &BTreeSet<String>,
    minimum: &Minimum,
) -> PromotionMetrics {
    let mut metrics = PromotionMetrics {
        promoted: promoted.len() + unknown.len(),
        wrong: unknown.iter().map(|text| format!("unknown: {text}")).collect(),
        ..PromotionMetrics::default()
    };
    if !unknown.is_empty() {
        metrics.by_kind.insert("unknown", unknown.len());
    }
    let mut right = 0;
    for (number, night) in promoted {
        let Some(claim) = claims.get(*number) else { continue };
        let has_ended = claim.kind == ClaimKind::Durable && !claim.holds_on(*night);
        let kind = if has_ended { "ended" } else { claim.kind.as_str() };
        *metrics.by_kind.entry(kind).or_default() += 1;
        metrics.forbidden += usize::from(claim.kind.is_forbidden());
        if claim.kind == ClaimKind::Durable && !has_ended {
            right += 1;
            metrics.undue += usize::from(claim.due_on(minimum).is_none());
        } else {
            metrics.wrong.push(format!("{kind}: {}, night {night}", named(claim)));
        }
    }
    let mut days = Vec::new();
    let mut found = 0;
    for (number, claim) in claims.iter().enumerate() {
        let Some(due) = claim.due_on(minimum) else { continue };
        metrics.due += 1;
        let night = promoted.get(&number).filter(|night| claim.holds_on(**night));
        found += usize::from(night.is_some());
        metrics.in_time += usize::from(night.is_some_and(|night| *night <= due + DAYS_IN_TIME));
        match night {
            Some(night) => days.push((*night - claim.first_day) as f64),
            None => {
                days.push(f64::INFINITY);
                metrics.missed.push(format!("{}, due on day {due}", named(claim)));
            }
        }
    }
    metrics.wrong.truncate(EXAMPLES_MAX);
    metrics.missed.truncate(EXAMPLES_MAX);
    metrics.precision = share(right, metrics.promoted);
    metrics.recall = share(found, metrics.due);
    let sum = metrics.precision + metrics.recall;
    metrics.f1 = if sum > 0.0 { 2.0 * metrics.precision * metrics.recall / sum } else { 0.0 };
    metrics.median_days = median(days);
    metrics
}

fn named(claim: &Claim) -> String {
    format!("{} of {} ({})", claim.topic, claim.subject, claim.value)
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The median; `None` if it is infinite or there is nothing.
fn median(mut days: Vec<f64>) -> Option<f64> {
    days.sort_by(f64::total_cmp);
    let upper = days.get(days.len() / 2)?;
    let lower = days.get((days.len() - 1) / 2)?;
    Some((lower + upper) / 2.0).filter(|median| median.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dreams::claim::{End, Evidence, MINIMA};

    fn claim(kind: ClaimKind, first_day: usize) -> Claim {
        let asked =
            |day, prompt: &str| Evidence { day: first_day + day, prompt: prompt.to_owned() };
        Claim {
            topic: "home",
            kind,
            subject: "Ana".to_owned(),
            value: format!("value{first_day}"),
            slot: first_day,
            first_day,
            ended: None,
            evidence: vec![asked(1, "a"), asked(2, "b"), asked(3, "a")],
            said_on: BTreeSet::new(),
        }
    }

    #[test]
    fn promotions_are_measured_against_the_truth() {
        let mut ended = claim(ClaimKind::Durable, 20);
        ended.ended = Some((30, End::Stopped));
        let claims = [
            claim(ClaimKind::Durable, 0),
            claim(ClaimKind::Passing, 10),
            ended,
            claim(ClaimKind::Durable, 40),
        ];
        let promoted = Promotions::from([(0, 4), (1, 12), (2, 31)]);
        let unknown = BTreeSet::from(["junk".to_owned()]);
        let metrics = measure(&claims, &promoted, &unknown, &MINIMA[0]);
        assert_eq!((metrics.due, metrics.promoted, metrics.in_time), (3, 4, 1));
        assert_eq!((metrics.precision, metrics.recall), (0.25, 1.0 / 3.0));
        assert_eq!(metrics.median_days, None, "two of three were never promoted in time");
        assert_eq!(metrics.by_kind["ended"], 1);
        assert_eq!(metrics.by_kind["passing"], 1);
        assert_eq!(metrics.forbidden, 0);
    }

    #[test]
    fn no_promotion_has_precision_zero() {
        let metrics = measure(
            &[claim(ClaimKind::Durable, 0)],
            &Promotions::new(),
            &BTreeSet::new(),
            &MINIMA[0],
        );
        assert_eq!((metrics.precision, metrics.recall, metrics.f1), (0.0, 0.0, 0.0));
        assert_eq!(metrics.median_days, None);
    }
}
