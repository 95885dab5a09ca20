//! Exact search: messages that match the whole query, ranked by BM25 alone, as users of a full-text
//! index expect.

use super::all_words::messages_with_all;
use super::doc_set::DocSet;
use super::hits::Ranked;
use super::matcher::Matcher;
use super::posting_scores::{PostingScores, SearchLimits};
use super::query_terms::QueryTerms;
use super::run::SearchRun;
use super::scope::Scope;
use oneiro_index::Reader;
use oneiro_model::{Result, Sort, searchable};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;

/// Rows read beyond a page, for those that turn out to be rewound or out of scope.
const EXTRA_ROWS: usize = 4;

/// Newest messages whose texts are read to count words with a prefix.
const PREFIX_READ_MESSAGES: usize = 256;

/// What an exact search needs.
pub(super) struct ExactSearch<'e> {
    pub(super) query_terms: &'e mut QueryTerms,
    pub(super) matches: &'e mut PostingScores,
    pub(super) scope: &'e Scope,
    pub(super) limits: SearchLimits,
}

/// What an exact search found.
pub(super) struct ExactMatches {
    pub(super) ranked: Vec<Ranked>,
    /// The message at which reading texts stopped, if it stopped before the end.
    pub(super) stopped: Option<i64>,
}

/// A message and the part of its score that the postings give.
type Scored = (u32, f32);

/// Whether a message is of low priority, its score and its id.
type Rank = (bool, f32, i64);

impl SearchRun<'_, '_> {
    /// The messages that match an exact query, by score or by time.
    pub(super) fn exact(
        &self,
        expr: &Matcher,
        exact: ExactSearch<'_>,
        reader: &mut Reader,
    ) -> Result<ExactMatches> {
        let ExactSearch { query_terms, matches, scope, limits } = exact;
        let sort = self.asked.request.sort;
        if let Some(words) = expr.all_words() {
            let found = messages_with_all(self.view, &words, query_terms)?;
            let found = found.into_iter().rev().map(|doc| (doc.first, doc.score)).collect();
            let ranked = match sort {
                Sort::Relevance => self.by_words(self.ranks(found, scope)?, scope)?,
                sort => self.by_time(scope, &self.doc_set(&found), sort)?,
            };
            return Ok(ExactMatches { ranked, stopped: None });
        }
        let within = self.within(expr, scope, reader)?;
        let set = within.set.unwrap_or_else(|| DocSet::all(self.view.docs()));
        let ranked = match sort {
            Sort::Relevance => {
                matches.read(self.view, query_terms, limits)?;
                let mut ranks = self.ranks(self.scored(&set, matches), scope)?;
                let (mut patterns, mut prefixes) = (Vec::new(), Vec::new());
                expr.patterns(&mut patterns, &mut prefixes);
                if !prefixes.is_empty() {
                    self.add_prefixes(&mut ranks, &prefixes, &mut reader.analyzer)?;
                }
                self.by_words(ranks, scope)?
            }
            sort => self.by_time(scope, &set, sort)?,
        };
        Ok(ExactMatches { ranked, stopped: within.stopped })
    }

    fn doc_set(&self, found: &[Scored]) -> DocSet {
        let mut set = DocSet::none(self.view.docs());
        found.iter().for_each(|(first, _)| set.insert(*first));
        set
    }

    /// The messages of a set with the scores of their words, newest first.
    fn scored(&self, set: &DocSet, matches: &PostingScores) -> Vec<Scored> {
        let mut scores: FxHashMap<u32, f32> = FxHashMap::default();
        for doc in matches.touched() {
            let first = self.view.first_chunk(*doc);
            if set.has(first) {
                let best = scores.entry(first).or_insert(0.0);
                *best = best.max(matches.score(*doc));
            }
        }
        let firsts = set.newest_first().filter(|doc| self.view.first_chunk(*doc) == *doc);
        firsts.map(|doc| (doc, scores.get(&doc).copied().unwrap_or(0.0))).collect()
    }

    /// What the messages in scope are ranked by.
    fn ranks(&self, found: Vec<Scored>, scope: &Scope) -> Result<Vec<Rank>> {
        let low_priority_sessions = self.low_priority_sessions()?;
        let rank = |(doc, score): Scored| {
            let found = self.view.doc(doc)?;
            let score = score * bm25_weight_once(found.words.into());
            let rank = (low_priority_sessions.contains(&found.session), score, found.seq);
            scope.allows(&found, doc).then_some(rank)
        };
        Ok(found.into_iter().filter_map(rank).collect())
    }

    /// Counts the words with a prefix, which the postings do not count, in the first messages.
    fn add_prefixes(
        &self,
        ranks: &mut [Rank],
        prefixes: &[String],
        analyzer: &mut Analyzer,
    ) -> Result<()> {
        let newest: Vec<i64> =
            ranks.iter().take(PREFIX_READ_MESSAGES).map(|(_, _, seq)| *seq).collect();
        let matched = self.matched(&newest, prefixes, analyzer)?;
        for (_, score, seq) in ranks {
            *score += matched.get(seq).copied().unwrap_or(0.0);
        }
        Ok(())
    }

    /// Messages by rank; of equals the oldest first.
    fn by_words(&self, mut ranks: Vec<Rank>, scope: &Scope) -> Result<Vec<Ranked>> {
        let order =
            |a: &Rank, b: &Rank| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2));
        let mut ranked = Vec::new();
        let mut left = ranks.as_mut_slice();
        while !left.is_empty() && !self.page_is_full(&ranked)? {
            // Sorting everything would take longer than finding it.
            let size = left.len().min(self.wanted() + EXTRA_ROWS);
            if size < left.len() {
                left.select_nth_unstable_by(size - 1, order);
            }
            let (some, rest) = left.split_at_mut(size);
            left = rest;
            some.sort_unstable_by(order);
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
