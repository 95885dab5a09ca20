//! The set of messages that a query with operators matches: from the index if that is exact,
//! otherwise by reading texts, newest first, a limited number per page.

use super::SCAN_MESSAGES_MAX;
use super::doc_set::DocSet;
use super::matcher::Matcher;
use super::page_start::PageStart;
use super::run::{Restriction, SearchRun};
use super::scope::Scope;
use oneiro_index::Reader;
use oneiro_model::{Result, Tier, Visibility, searchable};

/// Matching messages after which a page stops reading.
const PATTERN_MATCHES_MAX: usize = 500;

/// The documents that the operators of a query match.
#[derive(Default)]
pub(super) struct OperatorMatches {
    pub(super) set: Option<DocSet>,
    /// The message at which reading texts stopped, if it stopped before the end.
    pub(super) stopped: Option<i64>,
}

impl OperatorMatches {
    pub(super) fn restriction(&self, tier: Tier) -> Restriction<'_> {
        Restriction { within: self.set.as_ref(), tier: Some(tier) }
    }
}

impl SearchRun<'_, '_> {
    /// The messages that a query matches. If their texts must be read, they are read newest first,
    /// at most `SCAN_MESSAGES_MAX` per page.
    pub(super) fn within(
        &self,
        expr: &Matcher,
        scope: &Scope,
        reader: &mut Reader,
    ) -> Result<OperatorMatches> {
        let may = expr.may_match(self.view)?;
        if !expr.needs_text() {
            return Ok(OperatorMatches { set: Some(may), stopped: None });
        }
        let before = PageStart::of(self.asked.request.cursor).before;
        let mut set = DocSet::none(self.view.docs());
        let mut left = SCAN_MESSAGES_MAX;
        let mut matched = 0;
        let mut stopped = None;
        let docs = may.newest_first().filter_map(|doc| {
            let found = self.view.doc(doc)?;
            let is_first = self.view.first_chunk(doc) == doc;
            let is_before = before.is_none_or(|before| found.seq < before);
            (is_first && is_before && scope.allows(&found, doc)).then_some((found.seq, doc))
        });
        let docs: Vec<(i64, u32)> = docs.take(SCAN_MESSAGES_MAX + 1).collect();
        for some in docs.chunks(256) {
            if left == 0 || matched >= PATTERN_MATCHES_MAX {
                stopped = some.first().map(|(seq, _)| seq + 1);
                break;
            }
            let seqs: Vec<i64> = some.iter().map(|(seq, _)| *seq).collect();
            for said in scope.rows.by_numbers(self.tx, &seqs)? {
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
        Ok(OperatorMatches { set: Some(set), stopped })
    }
}
