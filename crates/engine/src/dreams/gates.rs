//! The gates of promotion: the thresholds of each preset, calibrated so that the documented minimum of
//! evidence really passes, and what a candidate that does not pass is missing.

use super::score::{self, DAY_MICROS, HALF_LIFE_DAYS};
use oneiro_model::{
    DreamEvidence, DreamGate, DreamMode, DreamPreset, DreamThresholds, DreamWeights, MemoryKind,
    SCORE_STEPS, ScoreParts, Timestamp,
};

/// One preset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preset {
    pub(crate) name: DreamPreset,
    /// When it runs.
    pub(crate) cron: &'static str,
    pub(crate) limit: usize,
    pub(crate) min_score: f64,
    pub(crate) min_recall_count: u32,
    pub(crate) min_unique_queries: u32,
}

/// The presets. `custom` is core with what the settings of the space change.
const PRESETS: [Preset; 4] = [
    Preset {
        name: DreamPreset::Core,
        cron: "0 3 * * *",
        limit: 10,
        min_score: 0.75,
        min_recall_count: 3,
        min_unique_queries: 2,
    },
    Preset {
        name: DreamPreset::Deep,
        cron: "0 */12 * * *",
        limit: 10,
        min_score: 0.80,
        min_recall_count: 3,
        min_unique_queries: 3,
    },
    Preset {
        name: DreamPreset::Rem,
        cron: "0 */6 * * *",
        limit: 10,
        min_score: 0.85,
        min_recall_count: 4,
        min_unique_queries: 3,
    },
    Preset {
        name: DreamPreset::Custom,
        cron: "0 3 * * *",
        limit: 10,
        min_score: 0.75,
        min_recall_count: 3,
        min_unique_queries: 2,
    },
];

/// The preset with this name.
pub(crate) fn preset(name: DreamPreset) -> Preset {
    let [core, ..] = PRESETS;
    PRESETS.into_iter().find(|preset| preset.name == name).unwrap_or(core)
}

/// The preset of a mode; that of core if dreams are off, so that thresholds are always known.
pub(crate) fn preset_of_mode(mode: DreamMode) -> DreamPreset {
    match mode {
        DreamMode::Off | DreamMode::Core => DreamPreset::Core,
        DreamMode::Deep => DreamPreset::Deep,
        DreamMode::Rem => DreamPreset::Rem,
    }
}

impl Preset {
    pub(crate) fn thresholds(self) -> DreamThresholds {
        DreamThresholds {
            limit: self.limit,
            min_score: self.min_score,
            min_recall_count: self.min_recall_count,
            min_unique_queries: self.min_unique_queries,
            half_life_days: HALF_LIFE_DAYS,
            weights: DreamWeights::default(),
        }
    }
}

/// The documented minimum besides recalls and prompts: days, relevance, concepts, and how old the last
/// recall may be, so that what was earned is not lost before the next nights.
const MINIMUM_DAYS: u32 = 2;
const MINIMUM_RELEVANCE: f64 = 0.5;
const MINIMUM_TAGS: usize = 3;
const MINIMUM_AGE_DAYS: f64 = 7.0;

/// What an identity, and a preference or a standing instruction, is worth more than other facts: every task
/// may need it.
const IDENTITY_VALUE: f64 = 0.10;
const PREFERENCE_VALUE: f64 = 0.08;

fn rounded(value: f64) -> f64 {
    (value * SCORE_STEPS).round() / SCORE_STEPS
}

/// Differences below this come from rounding.
const ROUNDING: f64 = 1e-9;

/// Thresholds with the score that the documented minimum has.
#[derive(Debug, Clone)]
pub(crate) struct Gates {
    thresholds: DreamThresholds,
    minimum: f64,
    /// The threshold that the documented minimum reaches.
    calibrated_to: f64,
}

/// A candidate's score, and the gate that it does not pass.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    pub(crate) parts: ScoreParts,
    /// Calibrated, at most 1.
    pub(crate) score: f64,
    /// The first gate that it does not pass, and what is missing.
    pub(crate) missing: Option<(DreamGate, String)>,
}

impl Gates {
    /// Gates with these thresholds.
    pub(crate) fn new(preset: DreamPreset, thresholds: DreamThresholds) -> Gates {
        let calibrated_to = self::preset(preset).min_score;
        let mut gates = Gates { thresholds, minimum: 1.0, calibrated_to };
        let (evidence, now) = gates.documented_minimum();
        gates.minimum = gates.raw(&gates.parts(&evidence, MINIMUM_TAGS, now));
        gates
    }

    /// The least evidence that passes, and when.
    pub(crate) fn documented_minimum(&self) -> (DreamEvidence, Timestamp) {
        let recalls = self.thresholds.min_recall_count.max(self.thresholds.min_unique_queries);
        let days = MINIMUM_DAYS.min(recalls.max(1));
        let best = vec![MINIMUM_RELEVANCE; (recalls as usize).min(score::BEST_RECALLS)];
        let at = Timestamp::from_micros(0);
        let evidence = DreamEvidence {
            recalls,
            prompts: self.thresholds.min_unique_queries,
            days,
            span_days: days.saturating_sub(1),
            best,
            last_at: Some(at),
            ..DreamEvidence::default()
        };
        (evidence, Timestamp::from_micros((MINIMUM_AGE_DAYS * DAY_MICROS) as i64))
    }

    fn parts(&self, evidence: &DreamEvidence, tags: usize, now: Timestamp) -> ScoreParts {
        score::parts(evidence, tags, now, self.thresholds.half_life_days)
    }

    /// What a claim is worth in a note: its score without what fades with time, so that what was earned stays.
    pub(crate) fn value(&self, parts: &ScoreParts, kind: MemoryKind) -> f64 {
        let lasting = ScoreParts { recency: 0.0, boost: 0.0, ..*parts };
        let bonus = match kind {
            MemoryKind::Identity => IDENTITY_VALUE,
            MemoryKind::Preference | MemoryKind::Adaptation => PREFERENCE_VALUE,
            _ => 0.0,
        };
        rounded(self.raw(&lasting) + bonus)
    }

    fn raw(&self, parts: &ScoreParts) -> f64 {
        score::weighted_sum(&self.thresholds.weights, parts)
    }

    /// The score of a candidate, and whether it passes.
    pub(crate) fn judge(&self, evidence: &DreamEvidence, tags: usize, now: Timestamp) -> Judged {
        let parts = self.parts(evidence, tags, now);
        let raw = self.raw(&parts) / self.minimum.max(f64::MIN_POSITIVE) * self.calibrated_to;
        let missing = self.missing(evidence, raw);
        Judged { parts, score: rounded(raw.clamp(0.0, 1.0)), missing }
    }

    fn missing(&self, evidence: &DreamEvidence, score: f64) -> Option<(DreamGate, String)> {
        let wanted = &self.thresholds;
        let few = |gate, has: u32, least: u32, what: &str| {
            (has < least).then(|| {
                let left = least - has;
                let plural = if left == 1 { "" } else { "s" };
                (
                    gate,
                    format!(
                        "{has} of {least} {what}; {left} more {what_one}{plural} needed",
                        what_one = what.trim_end_matches('s')
                    ),
                )
            })
        };
        few(DreamGate::Recalls, evidence.recalls, wanted.min_recall_count, "recalls")
            .or_else(|| {
                few(DreamGate::Prompts, evidence.prompts, wanted.min_unique_queries, "prompts")
            })
            .or_else(|| {
                let days = MINIMUM_DAYS.min(wanted.min_recall_count.max(1));
                few(DreamGate::Days, evidence.days, days, "days")
            })
            .or_else(|| {
                (score + ROUNDING < wanted.min_score).then(|| {
                    let least = wanted.min_score;
                    (DreamGate::Score, format!("score {score:.3} of {least:.3}"))
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::{Evidence, EvidenceKind, summarise};
    use super::*;
    use proptest::prelude::*;

    const NAMED: [DreamPreset; 3] = [DreamPreset::Core, DreamPreset::Deep, DreamPreset::Rem];

    fn gates(name: DreamPreset) -> Gates {
        Gates::new(name, preset(name).thresholds())
    }

    #[test]
    fn the_documented_minimum_of_each_preset_passes() {
        for name in NAMED {
            let gates = gates(name);
            let (evidence, now) = gates.documented_minimum();
            let judged = gates.judge(&evidence, MINIMUM_TAGS, now);
            assert_eq!(judged.missing, None, "{name:?} {judged:?}");
            assert!((judged.score - preset(name).min_score).abs() < 1e-9, "{name:?} {judged:?}");
        }
    }

    #[test]
    fn the_documented_minimum_passes_with_other_weights_and_half_lives() {
        let of_recency = DreamWeights { recency: 1.0, ..DreamWeights::default() };
        for (weights, half_life_days) in [(of_recency, 14.0), (of_recency, 0.0), (of_recency, 1.0)]
        {
            let weights = score::normalised(weights);
            for name in NAMED {
                let base = preset(name).thresholds();
                let gates = Gates::new(name, DreamThresholds { weights, half_life_days, ..base });
                let (evidence, now) = gates.documented_minimum();
                assert_eq!(gates.judge(&evidence, MINIMUM_TAGS, now).missing, None, "{name:?}");
            }
        }
    }

    #[test]
    fn one_thing_less_than_the_minimum_names_its_gate() {
        for name in NAMED {
            let gates = gates(name);
            let (minimum, now) = gates.documented_minimum();
            let gate = |evidence: DreamEvidence, tags| {
                gates.judge(&evidence, tags, now).missing.map(|(gate, _)| gate)
            };
            let fewer = |change: fn(&mut DreamEvidence)| {
                let mut evidence = minimum.clone();
                change(&mut evidence);
                evidence
            };
            assert_eq!(gate(fewer(|it| it.recalls -= 1), 3), Some(DreamGate::Recalls));
            assert_eq!(gate(fewer(|it| it.prompts -= 1), 3), Some(DreamGate::Prompts));
            assert_eq!(gate(fewer(|it| it.days = 1), 3), Some(DreamGate::Days));
            assert_eq!(gate(fewer(|it| it.best = vec![0.4; 3]), 3), Some(DreamGate::Score));
            assert_eq!(gate(minimum.clone(), 2), Some(DreamGate::Score));
        }
    }

    #[test]
    fn a_missing_recall_is_told_in_words() {
        let (evidence, now) = gates(DreamPreset::Core).documented_minimum();
        let evidence = DreamEvidence { recalls: 2, ..evidence };
        let (_, words) = gates(DreamPreset::Core).judge(&evidence, 3, now).missing.unwrap();
        assert_eq!(words, "2 of 3 recalls; 1 more recall needed");
    }

    /// A history: kind, prompt, day and relevance of each piece of evidence.
    fn history() -> impl Strategy<Value = Vec<Evidence>> {
        let one =
            (0..4u8, 0..6u8, 0..40i64, 0.0..1.0f64).prop_map(|(kind, prompt, day, relevance)| {
                let kind = match kind {
                    0 => EvidenceKind::Recall,
                    1 => EvidenceKind::Statement,
                    2 => EvidenceKind::Confirmation,
                    _ => EvidenceKind::Use,
                };
                let at = Timestamp::from_micros(day * DAY_MICROS as i64 + i64::from(prompt));
                Evidence { kind, prompt: u64::from(prompt), at, relevance }
            });
        proptest::collection::vec(one, 0..30)
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(512))]

        #[test]
        fn more_evidence_never_lowers_a_score(
            history in history(), more in history(), tags in 0usize..9, later in 0i64..30,
        ) {
            // The first statement of the shorter history stays the first.
            let first = history.iter().filter(|one| one.kind == EvidenceKind::Statement)
                .map(|one| one.at).min();
            let more = more.into_iter().filter(|one| {
                one.kind != EvidenceKind::Statement || first.is_some_and(|first| one.at > first)
            });
            let all: Vec<Evidence> = history.iter().cloned().chain(more).collect();
            let now = Timestamp::from_micros((40 + later) * DAY_MICROS as i64);
            for name in NAMED {
                let gates = gates(name);
                let before = gates.judge(&summarise(&history, false), tags, now);
                let after = gates.judge(&summarise(&all, false), tags, now);
                prop_assert!(after.score >= before.score - 1e-9, "{before:?} {after:?}");
                prop_assert!(before.missing.is_some() || after.missing.is_none());
            }
        }

        #[test]
        fn exposure_and_use_alone_never_pass(
            days in proptest::collection::vec(0i64..365, 0..300), tags in 0usize..9,
            relevance in 0.0..0.33f64,
        ) {
            let at = |day: i64| Timestamp::from_micros(day * DAY_MICROS as i64);
            let shown = days.iter().enumerate().flat_map(|(place, day)| {
                let prompt = place as u64;
                [(EvidenceKind::Use, 1.0), (EvidenceKind::Recall, relevance)].map(|(kind, relevance)| {
                    Evidence { kind, prompt, at: at(*day), relevance }
                })
            });
            let sum = summarise(&shown.collect::<Vec<_>>(), false);
            for name in NAMED {
                let judged = gates(name).judge(&sum, tags, at(365));
                prop_assert_eq!(judged.missing.map(|(gate, _)| gate), Some(DreamGate::Recalls));
            }
        }

        #[test]
        fn what_reaches_the_minimum_in_everything_passes(
            recalls in 0u32..20, prompts in 0u32..10, days in 0u32..10, relevance in 0.5..1.0f64,
            tags in 3usize..9, age in 0.0..7.0f64,
        ) {
            for name in NAMED {
                let gates = gates(name);
                let (minimum, _) = gates.documented_minimum();
                let evidence = DreamEvidence {
                    recalls: minimum.recalls + recalls,
                    prompts: minimum.prompts + prompts,
                    days: minimum.days + days,
                    span_days: minimum.span_days + days,
                    best: vec![relevance; 3],
                    last_at: Some(Timestamp::from_micros(0)),
                    ..DreamEvidence::default()
                };
                let now = Timestamp::from_micros((age * DAY_MICROS) as i64);
                let judged = gates.judge(&evidence, tags, now);
                prop_assert_eq!(judged.missing, None);
            }
        }
    }
}
