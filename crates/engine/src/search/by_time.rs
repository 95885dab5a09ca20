//! Hits by time: everything that matches, newest or oldest first. Minutes are known from the index;
//! within one, the exact time decides.

use super::doc_set::DocSet;
use super::hits::Ranked;
use super::matches::Matches;
use super::question::Question;
use super::scope::Scope;
use super::searching::Searching;
use oneiro_model::{Result, Sort};
use oneiro_store::message_rows;
use rustc_hash::FxHashMap;

/// Messages of one minute that are put in their exact order; of more, the order they came in is.
const MINUTE: usize = 4_096;

/// Messages read at once at the least.
const READ: usize = 64;

impl Searching<'_, '_> {
    /// The messages that have every word, and those that have some.
    pub(super) fn with_words(&self, question: &Question, matches: &Matches) -> (DocSet, DocSet) {
        let docs = self.view.docs();
        let (mut all, mut any) = (DocSet::none(docs), DocSet::none(docs));
        let mut masks: FxHashMap<u32, u16> = FxHashMap::default();
        for doc in matches.touched() {
            let first = self.view.first_chunk(*doc);
            any.insert(first);
            *masks.entry(first).or_default() |= matches.mask(*doc);
        }
        let full = question.full_mask();
        for (doc, _) in masks.iter().filter(|(_, mask)| **mask == full && full != 0) {
            all.insert(*doc);
        }
        (all, any)
    }

    /// The messages of a set by time, as many as a page needs; of sources that rank below others
    /// come last.
    pub(super) fn by_time(&self, scope: &Scope, set: &DocSet, sort: Sort) -> Result<Vec<Ranked>> {
        let demoted = self.demoted()?;
        let mut docs: Vec<(bool, i64, i64)> = set
            .newest_first()
            .filter_map(|doc| {
                let found = self.view.doc(doc)?;
                let is_first = self.view.first_chunk(doc) == doc;
                let place = (demoted.contains(&found.session), found.minute, found.seq);
                (is_first && scope.allows(&found, doc)).then_some(place)
            })
            .collect();
        let turn = |minute: i64, seq: i64| match sort {
            Sort::Oldest => (minute, seq),
            Sort::Newest | Sort::Relevance => (-minute, -seq),
        };
        docs.sort_unstable_by_key(|(is_low, minute, seq)| (*is_low, turn(*minute, *seq)));
        let mut ranked = Vec::new();
        let mut left = docs.as_slice();
        while !left.is_empty() && !self.has_enough(&ranked)? {
            let (some, rest) = left.split_at(whole_minutes(left));
            left = rest;
            let seqs: Vec<i64> = some.iter().map(|(_, _, seq)| *seq).collect();
            let mut rows = message_rows::by_ids(self.tx, &seqs)?;
            rows.retain(|said| scope.holds(said));
            rows.sort_by_cached_key(|said| {
                (demoted.contains(&said.session_key), turn(said.at.micros(), said.seq))
            });
            ranked.extend(rows.into_iter().map(Ranked::by_time));
        }
        Ok(ranked)
    }
}

/// How many to read at once, so that no minute is torn: its messages would be put in order without
/// each other.
fn whole_minutes(docs: &[(bool, i64, i64)]) -> usize {
    let minute = |at: usize| docs.get(at).map(|(is_low, minute, _)| (*is_low, *minute));
    let mut end = READ.min(docs.len());
    while end < docs.len() && end < MINUTE && minute(end) == minute(end - 1) {
        end += 1;
    }
    end
}
