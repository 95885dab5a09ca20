//! The figures of `bench context --data`: shares of evidence, steps to it, and how people read them.

use super::Evidence;
use super::guide::Answer;
use crate::search::share;
use serde::Serialize;

/// One question, followed.
pub(super) struct Asked {
    pub(super) category: u64,
    pub(super) evidence: Vec<Traced>,
    pub(super) answer: Answer,
}

/// One piece of evidence, followed.
pub(super) struct Traced {
    /// Every word of it is in the window.
    pub(super) shown: bool,
    /// Expansions of the right thing until it is read; none when nothing leads to it.
    pub(super) pages: Option<usize>,
    /// The same when the question alone says what to expand.
    pub(super) guided: Option<usize>,
    /// The newest messages have it.
    pub(super) newest: bool,
    /// The oldest and the newest have it.
    pub(super) both_ends: bool,
}

/// Expansions until a piece of evidence is read; none is needed for what the window shows.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Steps {
    /// Half of the pieces took no more.
    pub p50: f64,
    /// Nineteen of twenty took no more.
    pub p95: f64,
    /// How many they took on average.
    pub mean: f64,
}

/// What is left of answers, in percent of the questions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Words {
    /// Every content word of the answer is in the text.
    pub all: f64,
    /// Half of them at least.
    pub half: f64,
}

/// What was found, in percent of the evidence, each question weighing the same.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    /// Questions followed.
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
    /// What is reachable over what truncation keeps, in points.
    pub points_over_truncation: f64,
    /// What is in the window over what truncation keeps, in points.
    pub in_window_over_truncation: f64,
    /// Expansions when the right thing is expanded.
    pub steps: Steps,
    /// Expansions when the question alone says what to expand.
    pub guided: Steps,
    /// Words of answers in the window.
    pub answer_in_window: Words,
    /// In the newest messages.
    pub answer_in_truncation: Words,
    /// In the oldest and the newest.
    pub answer_in_both_ends: Words,
}

impl Figures {
    pub(super) fn of<'a>(asked: impl Iterator<Item = &'a Asked> + Clone) -> Figures {
        let questions = asked.clone().count();
        let traced = || asked.clone().flat_map(|one| &one.evidence);
        let percent = |is: &dyn Fn(&Traced) -> bool| {
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
                let met = shares.iter().filter(|share| **share >= least).count();
                rounded(100.0 * met as f64 / shares.len().max(1) as f64)
            };
            Words { all: at_least(1.0), half: at_least(0.5) }
        };
        let reachable = percent(&|one| one.pages.is_some());
        let in_window = percent(&|one| one.shown);
        let truncation = percent(&|one| one.newest);
        Figures {
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
        Steps { p50: share(&mut steps, 0.5), p95: share(&mut steps, 0.95), mean: rounded(mean) }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The figures as people read them.
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
        std::iter::once(("1 to 4".to_owned(), &evidence.figures))
            .chain(categories.map(|(number, figures)| (number.to_string(), figures)))
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
        let words = |words: &Words| format!("{:.1}/{:.1}", words.all, words.half);
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
