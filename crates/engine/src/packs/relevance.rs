//! Whether a line is relevant for a prompt: how many of the words that carry meaning they share, how rare
//! these are, and how near their meaning is. Below a floor nothing is shown.

use super::line::Line;
use super::prompt::Prompt;
use oneiro_model::{Band, OmitReason, Trace};
use oneiro_text::{Analyzer, QueryWord};
use rustc_hash::FxHashSet;

/// The weight of a word that no search weighed.
const DEFAULT_WEIGHT: f32 = 1.0;

/// What a line has of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Relevance {
    /// The share of the prompt's words that it has, by weight.
    pub(super) share: f32,
    /// How many of them.
    pub(super) matched_words: usize,
    /// The share of the line's own words that the prompt has.
    pub(super) own: f32,
    /// The share that it or what was said around it has, related words included.
    pub(super) coverage: f32,
    /// How near its meaning is.
    pub(super) similarity: f32,
}

/// Compares lines with a prompt.
pub(super) struct RelevanceScorer<'p> {
    prompt: &'p Prompt,
    weights: Vec<f32>,
    total: f32,
    analyzer: Analyzer,
}

impl<'p> RelevanceScorer<'p> {
    /// Weighs the words of a prompt as a search did.
    pub(super) fn new(prompt: &'p Prompt, trace: Option<&Trace>) -> RelevanceScorer<'p> {
        let weight = |word: &QueryWord| match trace {
            Some(trace) => {
                let found = trace.words.iter().find(|one| one.word == word.norm);
                // A word that was not searched for names a speaker or is one too many.
                found.map_or(0.0, |one| one.weight as f32)
            }
            None => DEFAULT_WEIGHT,
        };
        let mut weights: Vec<f32> = prompt.words.iter().map(weight).collect();
        if weights.iter().all(|weight| *weight <= 0.0) {
            weights = vec![DEFAULT_WEIGHT; prompt.words.len()];
        }
        let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        RelevanceScorer { prompt, weights, total, analyzer: Analyzer::default() }
    }

    /// What a line has of the prompt.
    pub(super) fn score(&mut self, line: &str, trace: Option<&Trace>) -> Relevance {
        let mut terms = FxHashSet::default();
        let mut content = FxHashSet::default();
        self.analyzer.tokens(line, |token| {
            terms.insert(token.term.to_owned());
            terms.insert(token.norm.to_owned());
            if !token.stop {
                content.insert(token.term.to_owned());
            }
        });
        let has = |word: &QueryWord| {
            let mut found = word.terms.iter().map(|term| terms.contains(term));
            if word.all { found.all(|is| is) } else { found.any(|is| is) }
        };
        let mut relevance = Relevance::default();
        for (word, weight) in self.prompt.words.iter().zip(&self.weights) {
            if has(word) {
                relevance.share += weight / self.total;
                relevance.matched_words += usize::from(*weight > 0.0);
            }
        }
        let asked: FxHashSet<&String> =
            self.prompt.words.iter().flat_map(|word| &word.terms).collect();
        let shared = content.iter().filter(|term| asked.contains(term)).count();
        relevance.own = shared as f32 / content.len().max(1) as f32;
        let part = |name: &str| {
            let found = trace.and_then(|trace| trace.parts.iter().find(|part| part.name == name));
            found.map_or(0.0, |part| part.value as f32)
        };
        relevance.coverage = part("coverage");
        relevance.similarity = part("similarity");
        relevance
    }
}

// The floors below were chosen on crates/engine/tests/fixtures/pack_prompts.txt, with the static model, and
// checked once on pack_prompts_held_out.txt: docs/design/packs.md has the figures.

/// The least sum of share and similarity of a line with three or more words of the prompt. In a small
/// space the words that no line has weigh most.
const MANY_WORDS_MIN: f32 = 0.5;

/// The same with two words.
const SEVERAL_WORDS_MIN: f32 = 0.68;

/// The same with one word, which is often a common one.
const ONE_WORD_MIN: f32 = 0.88;

/// The same with one word, of a line about a person, for a prompt that speaks of "me".
const PERSONAL_MIN: f32 = 0.68;

/// With this share of the prompt a line is relevant whatever its meaning.
const SHARE_MIN: f32 = 0.45;

/// The same for a message: a conversation has many words by chance.
const MESSAGE_SHARE_MIN: f32 = 0.5;
const MESSAGE_MIN: f32 = 0.95;

/// What a message has at least of the prompt, with what was said around it, if another line is relevant.
const COMPANION_COVERAGE_MIN: f32 = 0.5;

/// Where there are no vectors, the shares alone decide.
const MANY_WORDS_SHARE_MIN: f32 = 0.2;
const SEVERAL_WORDS_SHARE_MIN: f32 = 0.28;
const PERSONAL_SHARE_MIN: f32 = 0.4;

/// The share of a fact's name that the prompt has.
const NAME_SHARE_MIN: f32 = 0.5;

impl RelevanceScorer<'_> {
    /// Marks the lines that are not relevant enough. If none is, nothing is shown. If the messages answer
    /// the prompt, every one of them is relevant, in the order in which they were found.
    pub(super) fn mark_irrelevant(
        &mut self,
        scored: Vec<(Line, Relevance)>,
        is_answer: bool,
    ) -> Vec<Line> {
        let has_vectors = scored.iter().any(|(_, relevance)| relevance.similarity != 0.0);
        let mut relevant = Vec::with_capacity(scored.len());
        for (line, relevance) in &scored {
            relevant.push(self.is_relevant(line, relevance, has_vectors));
        }
        // A message that is the answer often has few words of the question before it.
        let is_any = scored.iter().zip(&relevant).any(|((line, _), is)| *is && line.omit.is_none());
        let is_companion = |line: &Line, relevance: &Relevance| {
            line.band == Band::Messages
                && (is_answer || is_any && relevance.coverage >= COMPANION_COVERAGE_MIN)
        };
        let scored = scored.into_iter().zip(relevant);
        let marked = scored.map(|((line, relevance), is_relevant)| {
            let is_shown = is_relevant || is_companion(&line, &relevance);
            line.omitted((!is_shown).then_some(OmitReason::Irrelevant))
        });
        marked.collect()
    }

    fn is_relevant(&mut self, line: &Line, relevance: &Relevance, has_vectors: bool) -> bool {
        let Relevance { share, matched_words, similarity, .. } = *relevance;
        let is_personal = line.band == Band::Person && self.prompt.first_person;
        match line.band {
            Band::State => {
                let name = line.statement.split(':').next().unwrap_or_default();
                let named = self.score(name, None);
                named.own >= NAME_SHARE_MIN
                    || share >= SHARE_MIN
                    || matched_words >= 2 && share >= SEVERAL_WORDS_SHARE_MIN
            }
            Band::Messages => {
                matched_words >= 1
                    && share >= MESSAGE_SHARE_MIN
                    && (!has_vectors || share + similarity >= MESSAGE_MIN)
            }
            _ if matched_words == 0 => false,
            _ if share >= SHARE_MIN => true,
            _ if !has_vectors => {
                matched_words >= 3 && share >= MANY_WORDS_SHARE_MIN
                    || matched_words >= 2 && share >= SEVERAL_WORDS_SHARE_MIN
                    || is_personal && share >= PERSONAL_SHARE_MIN
            }
            _ => {
                let least = match matched_words {
                    3.. => MANY_WORDS_MIN,
                    2 => SEVERAL_WORDS_MIN,
                    _ if is_personal => PERSONAL_MIN,
                    _ => ONE_WORD_MIN,
                };
                share + similarity >= least
            }
        }
    }
}
