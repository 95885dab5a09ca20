//! Hits by time, newest or oldest first. The index knows minutes; within a minute the exact time
//! decides.

use super::doc_set::DocSet;
use super::hits::Ranked;
use super::posting_scores::PostingScores;
use super::query_terms::QueryTerms;
use super::run::SearchRun;
use super::scope::Scope;
use oneiro_model::{Result, Sort};
use rustc_hash::FxHashMap;

/// Messages of one minute that are sorted by exact time; beyond that, they keep their stored order.
const SORTED_PER_MINUTE_MAX: usize = 4_096;

/// Minimum number of messages read at once.
const READ_BATCH_MESSAGES: usize = 64;

impl SearchRun<'_, '_> {
    /// The messages that contain every word, and those that contain any.
    pub(super) fn with_words(
        &self,
        query_terms: &QueryTerms,
        matches: &PostingScores,
    ) -> (DocSet, DocSet) {
        let docs = self.view.docs();
        let (mut all, mut any) = (DocSet::none(docs), DocSet::none(docs));
        let mut masks: FxHashMap<u32, u16> = FxHashMap::default();
        for doc in matches.touched() {
            let first = self.view.first_chunk(*doc);
            any.insert(first);
            *masks.entry(first).or_default() |= matches.mask(*doc);
        }
        let full = query_terms.full_mask();
        for (doc, _) in masks.iter().filter(|(_, mask)| **mask == full && full != 0) {
            all.insert(*doc);
        }
        (all, any)
    }

    /// The messages of a set by time, as many as the page needs; low-priority sources come last.
    pub(super) fn by_time(&self, scope: &Scope, set: &DocSet, sort: Sort) -> Result<Vec<Ranked>> {
        let low_priority_sessions = self.low_priority_sessions()?;
        let mut docs: Vec<(bool, i64, i64)> = set
            .newest_first()
            .filter_map(|doc| {
                let found = self.view.doc(doc)?;
                let is_first = self.view.first_chunk(doc) == doc;
                let page_start =
                    (low_priority_sessions.contains(&found.session), found.minute, found.seq);
                (is_first && scope.allows(&found, doc)).then_some(page_start)
            })
            .collect();
        let sort_key = |minute: i64, seq: i64| match sort {
            Sort::Oldest => (minute, seq),
            Sort::Newest | Sort::Relevance => (-minute, -seq),
        };
        docs.sort_unstable_by_key(|(is_low, minute, seq)| (*is_low, sort_key(*minute, *seq)));
        let mut ranked = Vec::new();
        let mut left = docs.as_slice();
        while !left.is_empty() && !self.page_is_full(&ranked)? {
            let (some, rest) = left.split_at(whole_minutes(left));
            left = rest;
            let seqs: Vec<i64> = some.iter().map(|(_, _, seq)| *seq).collect();
            let mut rows = scope.rows.by_numbers(self.tx, &seqs)?;
            rows.retain(|said| scope.holds(said));
            rows.sort_by_cached_key(|said| {
                (
                    low_priority_sessions.contains(&said.session_key),
                    sort_key(said.at.micros(), said.seq),
                )
            });
            ranked.extend(rows.into_iter().map(Ranked::by_time));
        }
        Ok(ranked)
    }
}

/// The size of the next batch. A batch never splits a minute, whose messages are sorted together.
fn whole_minutes(docs: &[(bool, i64, i64)]) -> usize {
    let minute = |at: usize| docs.get(at).map(|(is_low, minute, _)| (*is_low, *minute));
    let mut end = READ_BATCH_MESSAGES.min(docs.len());
    while end < docs.len() && end < SORTED_PER_MINUTE_MAX && minute(end) == minute(end - 1) {
        end += 1;
    }
    end
}
