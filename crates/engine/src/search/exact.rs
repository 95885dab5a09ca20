//! Exact hits: what meets the whole query and nothing else, ranked by its words alone. It is what
//! callers of a plain full-text index expect; meanings, neighbours and speakers do not count.

use super::doc_set::DocSet;
use super::hits::Ranked;
use super::matches::Matches;
use super::scope::Scope;
use super::searching::Searching;
use oneiro_model::Result;
use oneiro_store::said::{self, Said};
use rustc_hash::FxHashMap;

/// Messages read beyond a page, for those that turn out to be rewound or out of scope.
const SPARE: usize = 4;

impl Searching<'_, '_> {
    /// The messages of a set by what their words are worth; of equals the newest first.
    pub(super) fn by_words(
        &self,
        scope: &Scope,
        set: &DocSet,
        matches: &Matches,
    ) -> Result<Vec<Ranked>> {
        let demoted = self.demoted()?;
        let mut worth: FxHashMap<u32, f32> = FxHashMap::default();
        for doc in matches.touched() {
            let first = self.view.first_chunk(*doc);
            if set.has(first) {
                let best = worth.entry(first).or_insert(0.0);
                *best = best.max(matches.score(*doc));
            }
        }
        let mut docs: Vec<(bool, f32, i64)> = set
            .newest_first()
            .filter_map(|doc| {
                let found = self.view.doc(doc)?;
                let is_first = self.view.first_chunk(doc) == doc;
                let score = worth.get(&doc).copied().unwrap_or(0.0);
                let place = (demoted.contains(&found.session), score, found.seq);
                (is_first && scope.allows(&found, doc)).then_some(place)
            })
            .collect();
        docs.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(b.2.cmp(&a.2)));
        let mut ranked = Vec::new();
        for some in docs.chunks(self.wanted() + SPARE) {
            if self.has_enough(&ranked)? {
                break;
            }
            let seqs: Vec<i64> = some.iter().map(|(_, _, seq)| *seq).collect();
            let rows = said::said(self.tx, &seqs)?.into_iter().map(|said| (said.seq, said));
            let mut rows: FxHashMap<i64, Said> = rows.collect();
            for (_, score, seq) in some {
                if let Some(said) = rows.remove(seq).filter(|said| scope.holds(said)) {
                    ranked.push(Ranked { score: *score, ..Ranked::by_time(said) });
                }
            }
        }
        Ok(ranked)
    }
}
