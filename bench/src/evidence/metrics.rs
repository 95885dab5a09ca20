//! Metrics of `bench context --data`: shares of evidence and steps to it.

use super::Evidence;
use super::guide::Answer;
use crate::search::percentile;
use serde::Serialize;

/// One question with its evidence.
pub(super) struct TracedQuestion {
    pub(super) category: u64,
    pub(super) evidence: Vec<TracedEvidence>,
    pub(super) answer: Answer,
}

/// One piece of evidence.
pub(super) struct TracedEvidence {
    /// Whether every word of it is in the window.
    pub(super) shown: bool,
    /// Expansions until it is read, if the right item is expanded; `None` if it is unreachable.
    pub(super) pages: Option<usize>,
    /// Expansions if the question alone decides what to expand.
    pub(super) guided: Option<usize>,
    /// Whether the newest messages contain it.
    pub(super) newest: bool,
    /// Whether the oldest and the newest messages contain it.
    pub(super) both_ends: bool,
}

/// Expansions until a piece of evidence is read; 0 if the window shows it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Steps {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Mean.
    pub mean: f64,
}

/// Answers that are left, in percent of the questions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AnswerWords {
    /// Every content word of the answer is in the text.
    pub all: f64,
    /// At least half of them.
    pub half: f64,
}

/// Percentages of the evidence; every question has the same weight.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EvidenceMetrics {
    /// The number of questions.
    pub questions: usize,
    /// Pieces of evidence.
    pub evidence: usize,
    /// In the window, or read by expanding what it names.
    pub reachable: f64,
    /// In the window, or one expansion away.
    pub one_step: f64,
    /// In the window, every word.
    pub in_window: f64,
    /// In the newest messages that fit the same budget.
    pub truncation: f64,
    /// In the oldest and the newest messages that fit half of the budget each.
    pub both_ends: f64,
    /// Reachable minus kept by truncation, in percentage points.
    pub points_over_truncation: f64,
    /// In the window minus kept by truncation, in percentage points.
    pub in_window_over_truncation: f64,
    /// Expansions if the right item is expanded.
    pub steps: Steps,
    /// Expansions if the question alone decides what to expand.
    pub guided: Steps,
    /// Words of answers in the window.
    pub answer_in_window: AnswerWords,
    /// In the newest messages.
    pub answer_in_truncation: AnswerWords,
    /// In the oldest and the newest.
    pub answer_in_both_ends: AnswerWords,
}

impl EvidenceMetrics {
    pub(super) fn of<'a>(
        asked: impl Iterator<Item = &'a TracedQuestion> + Clone,
    ) -> EvidenceMetrics {
        let questions = asked.clone().count();
        let traced = || asked.clone().flat_map(|one| &one.evidence);
        let percent = |is: &dyn Fn(&TracedEvidence) -> bool| {
            let shares = asked.clone().map(|one| {
                let met = one.evidence.iter().filter(|traced| is(traced)).count();
                met as f64 / one.evidence.len().max(1) as f64
            });
            rounded(100.0 * shares.sum::<f64>() / questions.max(1) as f64)
        };
        let answers = |index: usize| {
            let shares = asked.clone().filter_map(|one| one.answer.as_ref()?.get(index).copied());
            let shares: Vec<f64> = shares.collect();
            let at_least = |least: f64| {
                let met = shares.iter().filter(|percentile| **percentile >= least).count();
                rounded(100.0 * met as f64 / shares.len().max(1) as f64)
            };
            AnswerWords { all: at_least(1.0), half: at_least(0.5) }
        };
        let reachable = percent(&|one| one.pages.is_some());
        let in_window = percent(&|one| one.shown);
        let truncation = percent(&|one| one.newest);
        EvidenceMetrics {
            questions,
            evidence: traced().count(),
            reachable,
            one_step: percent(&|one| one.pages.is_some_and(|pages| pages <= 1)),
            in_window,
            truncation,
            both_ends: percent(&|one| one.both_ends),
            points_over_truncation: rounded(reachable - truncation),
            in_window_over_truncation: rounded(in_window - truncation),
            steps: Steps::of(traced().filter_map(|one| one.pages)),
            guided: Steps::of(traced().filter_map(|one| one.guided)),
            answer_in_window: answers(0),
            answer_in_truncation: answers(1),
            answer_in_both_ends: answers(2),
        }
    }
}

impl Steps {
    fn of(steps: impl Iterator<Item = usize>) -> Steps {
        let mut steps: Vec<f64> = steps.map(|one| one as f64).collect();
        let mean = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
        Steps {
            p50: percentile(&mut steps, 0.5),
            p95: percentile(&mut steps, 0.95),
            mean: rounded(mean),
        }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Formats the metrics for people.
pub fn describe(evidence: &Evidence) -> String {
    let mut lines = vec![
        format!(
            "{} conversations of {} tokens in windows of {}: one part in {}; {} summaries, depth {}",
            evidence.conversations,
            evidence.tokens,
            evidence.window_tokens,
            evidence.part,
            evidence.summaries,
            evidence.depth
        ),
        format!(
            "compacted at {:.2} MB/s, a window p50 {:.2} ms",
            evidence.compact_mb_per_s, evidence.window_p50_ms
        ),
        String::new(),
        "category     asked  reach  1 step  window   trunc  2 ends  points  \
         steps p50/p95/mean  guided p50/p95/mean"
            .to_owned(),
    ];
    let each = || {
        let categories = evidence.by_category.iter();
        std::iter::once(("1 to 4".to_owned(), &evidence.metrics))
            .chain(categories.map(|(number, metrics)| (number.to_string(), metrics)))
    };
    lines.extend(each().map(|(name, f)| {
        let steps = |s: &Steps| format!("{:>7}/{}/{:.2}", s.p50, s.p95, s.mean);
        format!(
            "{name:<12} {:>5} {:>6.1} {:>7.1} {:>7.1} {:>7.1} {:>7.1} {:>+7.1} {:>19} {:>20}",
            f.questions,
            f.reachable,
            f.one_step,
            f.in_window,
            f.truncation,
            f.both_ends,
            f.points_over_truncation,
            steps(&f.steps),
            steps(&f.guided)
        )
    }));
    lines.push(String::new());
    lines
        .push("answers, all/half of the words     window     truncation       two ends".to_owned());
    lines.extend(each().map(|(name, f)| {
        let words = |words: &AnswerWords| format!("{:.1}/{:.1}", words.all, words.half);
        format!(
            "{name:<28} {:>12} {:>14} {:>14}",
            words(&f.answer_in_window),
            words(&f.answer_in_truncation),
            words(&f.answer_in_both_ends)
        )
    }));
    lines.extend([String::new(), evidence.junk.describe()]);
    lines.join("\n")
}
