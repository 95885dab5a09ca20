//! How sure an answer is: whether its first hits have what the question asks for, and stand out from
//! those that follow.

use super::features::Evidence;
use super::hits::{Ranked, TraceData};
use super::query_terms::{QueryTerms, Word};
use oneiro_model::{Confidence, Tier};

/// The hits that are to hold the answer.
const FIRST_HITS: usize = 3;

/// A larger gap between the first hit and the ones that follow says no more.
const GAP_MAX: f32 = 1.5;

/// From this sum on an answer is strong: of the transcripts' and LoCoMo's tune halves, more than 85 %
/// of such answers hold a gold message in the first three hits (`scripts/fit-ranking`).
const STRONG_MIN: f32 = 1.25;

/// Below this sum the hits have next to nothing of the question, and none stands out.
const WEAK_MIN: f32 = -1.4;

/// The words of a question that the first hits are compared with; none if the query does not ask.
#[derive(Default)]
pub(super) struct AskedWords {
    words: Vec<AskedWord>,
}

struct AskedWord {
    weight: f32,
    /// Whether any message has it.
    is_known: bool,
}

impl AskedWords {
    pub(super) fn of(query_terms: &QueryTerms) -> AskedWords {
        let word = |word: &Word| AskedWord {
            weight: word.weight,
            is_known: word.lists.iter().any(|list| list.count > 0),
        };
        AskedWords { words: query_terms.words.iter().map(word).collect() }
    }

    /// How sure the answer is, and what that follows from.
    pub(super) fn confidence(&self, ranked: &[&Ranked]) -> (Confidence, Option<Evidence>) {
        let Some(first) = ranked.first() else { return (Confidence::None, None) };
        let traced: Vec<&TraceData> =
            ranked.iter().take(FIRST_HITS).filter_map(|one| one.trace.as_ref()).collect();
        let (Some(best), false) = (traced.first(), self.words.is_empty()) else {
            // Words and operators that were asked for are met, or some of the words are.
            let is_met = first.tier == Tier::Precise;
            return (if is_met { Confidence::Strong } else { Confidence::Weak }, None);
        };
        let total = self.words.iter().map(|word| word.weight).sum::<f32>().max(f32::MIN_POSITIVE);
        let share = |one: &&TraceData| {
            let words = self.words.iter().zip(&one.own);
            words.map(|(word, matched)| word.weight * matched).sum::<f32>() / total
        };
        let own = traced.iter().map(share).fold(0.0, f32::max);
        let missing = self.words.iter().filter(|word| !word.is_known).map(|word| word.weight);
        // A hit without others to stand out from says as much as it has of the question.
        let gap = ranked.get(FIRST_HITS).map_or(own * GAP_MAX, |next| first.score - next.score);
        let features = &best.features;
        let evidence = Evidence {
            bias: 1.0,
            own,
            similarity: features.similarity,
            gap: gap.clamp(0.0, GAP_MAX),
            missing: missing.sum::<f32>() / total,
            date: features.date,
            speaker: features.speaker.max(features.person),
        };
        let found = match evidence.score() {
            sum if sum >= STRONG_MIN => Confidence::Strong,
            sum if sum >= WEAK_MIN => Confidence::Weak,
            _ => Confidence::None,
        };
        (found, Some(evidence))
    }
}
