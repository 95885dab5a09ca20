//! Exact search: messages that match the whole query, ranked by BM25 alone, as users of a full-text
//! index expect.

use super::doc_set::DocSet;
use super::hits::Ranked;
use super::posting_scores::PostingScores;
use super::run::SearchRun;
use super::scope::Scope;
use oneiro_model::{Result, searchable};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;

/// Rows read beyond a page, for those that turn out to be rewound or out of scope.
const EXTRA_ROWS: usize = 4;

/// Newest messages whose texts are read to count words with a prefix.
const PREFIX_READ_MESSAGES: usize = 256;

/// Word scores of messages.
#[derive(Clone, Copy)]
pub(super) struct WordScores<'w> {
    pub(super) scope: &'w Scope,
    /// Scores by the postings of whole words.
    pub(super) matches: &'w PostingScores,
    /// Prefixes of the query, which the postings do not count.
    pub(super) prefixes: &'w [String],
}

impl SearchRun<'_, '_> {
    /// The messages of a set by score; of equals the oldest first.
    pub(super) fn by_words(
        &self,
        set: &DocSet,
        scores_of_words: WordScores<'_>,
        analyzer: &mut Analyzer,
    ) -> Result<Vec<Ranked>> {
        let scope = scores_of_words.scope;
        let low_priority_sessions = self.low_priority_sessions()?;
        let mut scores: FxHashMap<u32, f32> = FxHashMap::default();
        for doc in scores_of_words.matches.touched() {
            let first = self.view.first_chunk(*doc);
            if set.has(first) {
                let best = scores.entry(first).or_insert(0.0);
                *best = best.max(scores_of_words.matches.score(*doc));
            }
        }
        let mut docs: Vec<(bool, f32, i64)> = set
            .newest_first()
            .filter_map(|doc| {
                let found = self.view.doc(doc)?;
                let is_first = self.view.first_chunk(doc) == doc;
                let score =
                    scores.get(&doc).copied().unwrap_or(0.0) * bm25_weight_once(found.words.into());
                let page_start = (low_priority_sessions.contains(&found.session), score, found.seq);
                (is_first && scope.allows(&found, doc)).then_some(page_start)
            })
            .collect();
        if !scores_of_words.prefixes.is_empty() {
            let newest: Vec<i64> =
                docs.iter().take(PREFIX_READ_MESSAGES).map(|(_, _, seq)| *seq).collect();
            let matched = self.matched(&newest, scores_of_words.prefixes, analyzer)?;
            for (_, score, seq) in &mut docs {
                *score += matched.get(seq).copied().unwrap_or(0.0);
            }
        }
        docs.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        let mut ranked = Vec::new();
        for some in docs.chunks(self.wanted() + EXTRA_ROWS) {
            if self.page_is_full(&ranked)? {
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

    /// The BM25 weight of the words with a prefix in each message.
    fn matched(
        &self,
        seqs: &[i64],
        prefixes: &[String],
        analyzer: &mut Analyzer,
    ) -> Result<FxHashMap<i64, f32>> {
        let mut found = FxHashMap::default();
        for said in message_rows::by_ids(self.tx, seqs)? {
            let (mut words, mut matched) = (0.0_f32, 0.0_f32);
            analyzer.tokens(&searchable(&said.role, &said.body), |token| {
                words += 1.0;
                let begins = prefixes.iter().any(|prefix| token.norm.starts_with(prefix.as_str()));
                matched += f32::from(u8::from(begins));
            });
            found.insert(said.seq, bm25_weight(matched, words));
        }
        Ok(found)
    }
}

/// The BM25 weight of a word that occurs `times` in a text of `words` words.
fn bm25_weight(times: f32, words: f32) -> f32 {
    2.2 * times / (times + 1.2 * (0.25 + 0.75 * words / 60.0))
}

/// The length normalisation for a word that occurs once; its impact already holds the frequency.
fn bm25_weight_once(words: f32) -> f32 {
    bm25_weight(1.0, words)
}
