//! Reads postings: which words of the query each document contains, rarest words first, up to a
//! budget.

use super::doc_set::DocSet;
use super::query_terms::QueryTerms;
use oneiro_index::{View, weight};
use oneiro_model::Result;
use rustc_hash::FxHashMap;

/// Postings that one search may read.
const POSTINGS_PER_SEARCH: u64 = 250_000;

/// Postings of the newest documents that every word may read, however common it is.
const POSTINGS_PER_WORD_MIN: u64 = 16_000;

/// The matched words and their score, per document. Reused between searches: zeroing a million
/// entries takes longer than most searches.
#[derive(Default)]
pub(crate) struct PostingScores {
    masks: Vec<u16>,
    scores: Vec<f32>,
    touched: Vec<u32>,
    named: Option<DocSet>,
}

/// Limits on the work of one search.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchLimits {
    /// No limit, to measure what the limits cost.
    pub(super) exhaustive: bool,
    /// Candidates per session.
    pub(super) per_session: usize,
}

impl PostingScores {
    /// Removes the scores of the previous search.
    fn clear(&mut self, docs: usize) {
        for doc in self.touched.drain(..) {
            if let Some(mask) = self.masks.get_mut(doc as usize) {
                *mask = 0;
            }
            if let Some(score) = self.scores.get_mut(doc as usize) {
                *score = 0.0;
            }
        }
        self.masks.resize(docs, 0);
        self.scores.resize(docs, 0.0);
        self.named = None;
    }

    /// Reads the postings of the query's words.
    pub(super) fn read(
        &mut self,
        view: &View<'_>,
        query_terms: &mut QueryTerms,
        limits: SearchLimits,
    ) -> Result<()> {
        let docs = view.docs();
        self.clear(docs);
        let matches = self;
        let mut left = if limits.exhaustive { u64::MAX } else { POSTINGS_PER_SEARCH };
        // Words are sorted by weight, so the rarest are read first.
        for (at, word) in query_terms.words.iter_mut().enumerate() {
            for lists in &mut word.lists {
                let budget = left.max(POSTINGS_PER_WORD_MIN);
                view.read_rest(lists, budget)?;
                left = left.saturating_sub(lists.count);
            }
            let scores_of_words = word.weight;
            let mut add =
                |doc: u32, impact: u8| matches.add(doc, at, scores_of_words * weight(impact));
            match (word.all, word.lists.as_slice()) {
                (true, [first, rest @ ..]) if !rest.is_empty() => {
                    let mut seen: FxHashMap<u32, (usize, u8)> =
                        first.postings().map(|(doc, impact)| (doc, (1, impact))).collect();
                    for (more, lists) in rest.iter().enumerate() {
                        for (doc, _) in lists.postings() {
                            if let Some((times, _)) = seen.get_mut(&doc)
                                && *times == more + 1
                            {
                                *times += 1;
                            }
                        }
                    }
                    let mut whole: Vec<(u32, u8)> = seen
                        .into_iter()
                        .filter(|(_, (times, _))| *times == rest.len() + 1)
                        .map(|(doc, (_, impact))| (doc, impact))
                        .collect();
                    whole.sort_unstable();
                    whole.into_iter().for_each(|(doc, impact)| add(doc, impact));
                }
                (_, lists) => {
                    for list in lists {
                        list.postings().for_each(|(doc, impact)| add(doc, impact));
                    }
                }
            }
        }
        if !query_terms.speakers.is_empty() {
            let mut named = DocSet::none(docs);
            for term in &query_terms.speakers {
                let mut lists = view.lists(term)?;
                view.read_rest(&mut lists, left.max(POSTINGS_PER_WORD_MIN))?;
                lists.postings().for_each(|(doc, _)| named.insert(doc));
            }
            matches.named = Some(named);
        }
        Ok(())
    }

    #[inline]
    fn add(&mut self, doc: u32, word: usize, score: f32) {
        let (Some(mask), Some(total)) =
            (self.masks.get_mut(doc as usize), self.scores.get_mut(doc as usize))
        else {
            return;
        };
        if *mask == 0 {
            self.touched.push(doc);
        }
        // Two forms of one word count once.
        if *mask >> word & 1 == 0 {
            *mask |= 1 << word;
            *total += score;
        }
    }

    /// A bit for each word that a document contains.
    pub(super) fn mask(&self, doc: u32) -> u16 {
        self.masks.get(doc as usize).copied().unwrap_or(0)
    }

    /// The summed score of the words that a document contains.
    pub(super) fn score(&self, doc: u32) -> f32 {
        self.scores.get(doc as usize).copied().unwrap_or(0.0)
    }

    /// The documents that contain any word.
    pub(super) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Whether the query names the speaker of a message.
    pub(super) fn is_named(&self, first: u32) -> bool {
        self.named.as_ref().is_some_and(|named| named.has(first))
    }
}
