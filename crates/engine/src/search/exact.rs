//! Exact hits: what meets the whole query and nothing else, ranked by its words alone. It is what
//! callers of a plain full-text index expect; meanings, neighbours and speakers do not count.

use super::doc_set::DocSet;
use super::hits::Ranked;
use super::matches::Matches;
use super::scope::Scope;
use super::searching::Searching;
use oneiro_model::{Result, searchable};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;

/// Messages read beyond a page, for those that turn out to be rewound or out of scope.
const SPARE: usize = 4;

/// The newest messages whose texts are read for how often beginnings of words occur in them.
const READ: usize = 256;

/// What a message is worth.
#[derive(Clone, Copy)]
pub(super) struct Worth<'w> {
    /// What the postings of whole words say.
    pub(super) matches: &'w Matches,
    /// Beginnings of words that are asked for: no posting tells how often they occur.
    pub(super) prefixes: &'w [String],
}

impl Searching<'_, '_> {
    /// The messages of a set by what their words are worth; of equals the oldest first.
    pub(super) fn by_words(
        &self,
        (scope, set): (&Scope, &DocSet),
        worth: Worth<'_>,
        analyzer: &mut Analyzer,
    ) -> Result<Vec<Ranked>> {
        let demoted = self.demoted()?;
        let mut scores: FxHashMap<u32, f32> = FxHashMap::default();
        for doc in worth.matches.touched() {
            let first = self.view.first_chunk(*doc);
            if set.has(first) {
                let best = scores.entry(first).or_insert(0.0);
                *best = best.max(worth.matches.score(*doc));
            }
        }
        let mut docs: Vec<(bool, f32, i64)> = set
            .newest_first()
            .filter_map(|doc| {
                let found = self.view.doc(doc)?;
                let is_first = self.view.first_chunk(doc) == doc;
                let score = scores.get(&doc).copied().unwrap_or(0.0) * once(found.words.into());
                let place = (demoted.contains(&found.session), score, found.seq);
                (is_first && scope.allows(&found, doc)).then_some(place)
            })
            .collect();
        if !worth.prefixes.is_empty() {
            let newest: Vec<i64> = docs.iter().take(READ).map(|(_, _, seq)| *seq).collect();
            let met = self.met(&newest, worth.prefixes, analyzer)?;
            for (_, score, seq) in &mut docs {
                *score += met.get(seq).copied().unwrap_or(0.0);
            }
        }
        docs.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        let mut ranked = Vec::new();
        for some in docs.chunks(self.wanted() + SPARE) {
            if self.has_enough(&ranked)? {
                break;
            }
            let seqs: Vec<i64> = some.iter().map(|(_, _, seq)| *seq).collect();
            let rows =
                message_rows::by_ids(self.tx, &seqs)?.into_iter().map(|said| (said.seq, said));
            let mut rows: FxHashMap<i64, MessageRow> = rows.collect();
            for (_, score, seq) in some {
                if let Some(said) = rows.remove(seq).filter(|said| scope.holds(said)) {
                    ranked.push(Ranked { score: *score, ..Ranked::by_time(said) });
                }
            }
        }
        Ok(ranked)
    }

    /// How often words of messages begin as asked for; in a long message once counts for less.
    fn met(
        &self,
        seqs: &[i64],
        prefixes: &[String],
        analyzer: &mut Analyzer,
    ) -> Result<FxHashMap<i64, f32>> {
        let mut found = FxHashMap::default();
        for said in message_rows::by_ids(self.tx, seqs)? {
            let (mut words, mut met) = (0.0_f32, 0.0_f32);
            analyzer.tokens(&searchable(&said.role, &said.body), |token| {
                words += 1.0;
                let begins = prefixes.iter().any(|prefix| token.norm.starts_with(prefix.as_str()));
                met += f32::from(u8::from(begins));
            });
            found.insert(said.seq, often(met, words));
        }
        Ok(found)
    }
}

/// What a word is worth that occurs so often in so many words, as BM25 has it.
fn often(times: f32, words: f32) -> f32 {
    2.2 * times / (times + 1.2 * (0.25 + 0.75 * words / 60.0))
}

/// What one that occurs once is worth: how often others do, their impact tells.
fn once(words: f32) -> f32 {
    often(1.0, words)
}
