//! What the postings say: which words of the question each document has, rarest words first and
//! within a budget.

use super::doc_set::DocSet;
use super::question::Question;
use oneiro_index::{View, weight};
use oneiro_model::Result;
use rustc_hash::FxHashMap;

/// Postings that one search may read.
const POSTINGS: u64 = 250_000;

/// Postings that every word may read, however common it is: those of the newest documents.
const EVERY_WORD: u64 = 16_000;

/// What the postings say about every document. Kept between searches, since a million zeros take
/// longer to write than most questions to answer.
#[derive(Default)]
pub(crate) struct Matches {
    masks: Vec<u16>,
    scores: Vec<f32>,
    touched: Vec<u32>,
    named: Option<DocSet>,
}

/// How much of the index may be looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Look at everything, to measure what the plan leaves out.
    pub(super) exhaustive: bool,
    /// Candidates of one session at the most.
    pub(super) of_session: usize,
}

impl Matches {
    /// Forgets the question before.
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

    /// Reads the postings of a question's words.
    pub(super) fn read(
        &mut self,
        view: &View<'_>,
        question: &mut Question,
        effort: Effort,
    ) -> Result<()> {
        let docs = view.docs();
        self.clear(docs);
        let matches = self;
        let mut left = if effort.exhaustive { u64::MAX } else { POSTINGS };
        // Words are sorted by weight, so the rarest are read first.
        for (at, word) in question.words.iter_mut().enumerate() {
            for lists in &mut word.lists {
                let budget = left.max(EVERY_WORD);
                view.read_rest(lists, budget)?;
                left = left.saturating_sub(lists.count);
            }
            let worth = word.weight;
            let mut add = |doc: u32, impact: u8| matches.add(doc, at, worth * weight(impact));
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
        if !question.speakers.is_empty() {
            let mut named = DocSet::none(docs);
            for term in &question.speakers {
                let mut lists = view.lists(term)?;
                view.read_rest(&mut lists, left.max(EVERY_WORD))?;
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
        // Two forms of one word are one word.
        if *mask >> word & 1 == 0 {
            *mask |= 1 << word;
            *total += score;
        }
    }

    /// The words that a document has.
    pub(super) fn mask(&self, doc: u32) -> u16 {
        self.masks.get(doc as usize).copied().unwrap_or(0)
    }

    /// What the words of a document are worth.
    pub(super) fn score(&self, doc: u32) -> f32 {
        self.scores.get(doc as usize).copied().unwrap_or(0.0)
    }

    /// The documents that have any word.
    pub(super) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Whether the question names the speaker of a message.
    pub(super) fn is_named(&self, first: u32) -> bool {
        self.named.as_ref().is_some_and(|named| named.has(first))
    }
}
