//! What a query with operators matches: from the index where that is enough, else by reading texts,
//! newest first, a stretch at a time.

use super::SCANNED;
use super::doc_set::DocSet;
use super::matching::Match;
use super::place::Place;
use super::scope::Scope;
use super::searching::Searching;
use oneiro_index::Reader;
use oneiro_model::{Result, Visibility, searchable};
use oneiro_store::message_rows;

/// Messages that match a pattern, of which the best are found.
const MATCHED: usize = 500;

/// What is left of the documents after the operators of a query.
#[derive(Default)]
pub(super) struct Within {
    pub(super) set: Option<DocSet>,
    /// Where reading texts stopped, if it did before the end.
    pub(super) stopped: Option<i64>,
}

impl Searching<'_, '_> {
    /// The messages that a query matches. Those whose text must be read are read, newest first, up
    /// to a limit.
    pub(super) fn within(
        &self,
        expr: &Match,
        scope: &Scope,
        reader: &mut Reader,
    ) -> Result<Within> {
        let may = expr.may_match(self.view)?;
        if !expr.needs_text() {
            return Ok(Within { set: Some(may), stopped: None });
        }
        let before = Place::of(self.asked.request.cursor).before;
        let mut set = DocSet::none(self.view.docs());
        let mut left = SCANNED;
        let mut matched = 0;
        let mut stopped = None;
        let docs = may.newest_first().filter_map(|doc| {
            let found = self.view.doc(doc)?;
            let is_first = self.view.first_chunk(doc) == doc;
            let is_before = before.is_none_or(|before| found.seq < before);
            (is_first && is_before && scope.allows(&found, doc)).then_some((found.seq, doc))
        });
        let docs: Vec<(i64, u32)> = docs.take(SCANNED + 1).collect();
        for some in docs.chunks(256) {
            if left == 0 || matched >= MATCHED {
                stopped = some.first().map(|(seq, _)| seq + 1);
                break;
            }
            let seqs: Vec<i64> = some.iter().map(|(seq, _)| *seq).collect();
            for said in message_rows::by_ids(self.tx, &seqs)? {
                if said.visibility == Visibility::Rewound || !scope.holds(&said) {
                    continue;
                }
                let text = searchable(&said.role, &said.body);
                if expr.matches(&text, &mut reader.analyzer)
                    && let Some((_, doc)) = some.iter().find(|(seq, _)| *seq == said.seq)
                {
                    set.insert(*doc);
                    matched += 1;
                }
            }
            left = left.saturating_sub(some.len());
        }
        Ok(Within { set: Some(set), stopped })
    }
}
