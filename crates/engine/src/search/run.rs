//! One search in its snapshot, step by step: scope, operators, candidates, scoring in batches, and
//! the answer. The order of hits does not depend on the limit, so that pages fit together.

use super::by_words::{ExactMatches, ExactSearch};
use super::candidates::{Candidate, CandidateSearch};
use super::doc_set::DocSet;
use super::hits::{Answer, Ranked, TraceData};
use super::kinds::{MemoryScope, MergeOrder, merge, of_scope};
use super::matcher::Matcher;
use super::operators::OperatorMatches;
use super::page_start::PageStart;
use super::posting_scores::{PostingScores, SearchLimits};
use super::query_terms::{QueryTerms, QueryText};
use super::query_vector::QueryVector;
use super::scope::Scope;
use super::scorer::{Scored, Scorer, Snapshot, Vectors};
use crate::Oneiro;
use oneiro_index::{Reader, View};
use oneiro_model::{Error, Found, Query, Result, SearchRequest, Sort, Tier};
use oneiro_store::{Tx, lineage, sessions};
use rustc_hash::FxHashSet;

/// Candidates that are read and scored at once.
const SCORE_BATCH: usize = 64;

/// Candidates of a batch that are scored again with their neighbours' texts.
const RESCORED_PER_BATCH: usize = 28;

/// Minimum similarity of a hit if no word of the query occurs anywhere.
const SEMANTIC_SIMILARITY_MIN: f32 = 0.25;

pub(super) struct SearchRun<'s, 'c> {
    pub(super) oneiro: &'s Oneiro,
    pub(super) tx: &'s Tx<'c>,
    pub(super) view: &'s View<'s>,
    pub(super) asked: SearchInput<'s>,
}

/// The parsed request.
#[derive(Clone, Copy)]
pub(super) struct SearchInput<'s> {
    pub(super) request: &'s SearchRequest,
    pub(super) query: &'s Query,
    pub(super) query_vector: &'s QueryVector,
}

/// The terms and the scope of the query, with the postings read.
struct Prepared<'r> {
    query_terms: &'r QueryTerms,
    matches: &'r PostingScores,
    scope: &'r Scope,
    limits: SearchLimits,
}

/// What the operators of a query restrict the ranking to.
#[derive(Clone, Copy, Default)]
pub(super) struct Restriction<'r> {
    /// The matching documents; `None` allows all.
    pub(super) within: Option<&'r DocSet>,
    /// The tier of all hits; `None` decides by the words that they contain.
    pub(super) tier: Option<Tier>,
}

impl<'s, 'c> SearchRun<'s, 'c> {
    pub(super) fn run(&self, reader: &mut Reader) -> Result<Found> {
        let mut matches = self.oneiro.scratch.take();
        let found = self.run_with(reader, &mut matches);
        self.oneiro.scratch.give_back(matches);
        found
    }

    fn run_with(&self, reader: &mut Reader, matches: &mut PostingScores) -> Result<Found> {
        let SearchInput { request, query, .. } = self.asked;
        let messages = if request.wants_messages() {
            Some(Scope::new(self.tx, self.view, request, &query.filters)?)
        } else {
            None
        };
        let (memories, note) = self.memory_scope(reader)?;
        let (notes, no_notes) = self.note_scope()?;
        let mut scopes: Vec<&Scope> = messages.iter().collect();
        let (mut answer, ranked) = match &memories {
            Some(MemoryScope::Earlier(view, scope)) => {
                let earlier = SearchRun { view, ..*self };
                let (answer, memories) = earlier.rank(&[scope], reader, matches)?;
                if scopes.is_empty() {
                    (answer, memories)
                } else {
                    let (answer, messages) = self.rank(&scopes, reader, matches)?;
                    (answer, merge(vec![messages, memories], self.order()))
                }
            }
            Some(MemoryScope::Stored(scope)) => {
                scopes.push(scope);
                scopes.extend(&notes);
                self.rank(&scopes, reader, matches)?
            }
            None => {
                scopes.extend(&notes);
                self.rank(&scopes, reader, matches)?
            }
        };
        answer.add_note(note);
        answer.add_note(no_notes);
        answer.finish(ranked, &mut reader.analyzer)
    }

    /// Ranks the texts of some scopes in one list.
    fn rank(
        &self,
        scopes: &[&Scope],
        reader: &mut Reader,
        matches: &mut PostingScores,
    ) -> Result<(Answer<'s, 'c>, Vec<Ranked>)> {
        let SearchInput { request, query, query_vector } = self.asked;
        let vector_source = query_vector.vector_source(self.oneiro);
        let expr = match &query.expr {
            Some(expr) if request.exact => Some(Matcher::exact(expr, &mut reader.analyzer)?),
            Some(expr) => Some(Matcher::new(expr, &mut reader.analyzer)?),
            None => None,
        };
        let text = QueryText { text: &query.text, now: self.oneiro.now() };
        let mut query_terms =
            QueryTerms::new(text, self.view, &mut reader.analyzer, &vector_source)?;
        let mut answer = Answer::new(self.tx, self.asked, expr.as_ref(), &query_terms);
        let order = match self.order() {
            MergeOrder::Relevance if query_terms.is_keywords => MergeOrder::Tier,
            order => order,
        };
        let each = |rank: &mut dyn FnMut(&Scope) -> Result<Vec<Ranked>>| {
            let lists = scopes.iter().map(|scope| Ok(of_scope(scope, rank(scope)?)));
            Ok::<_, Error>(merge(lists.collect::<Result<_>>()?, order))
        };
        let Some(expr) = expr else {
            if scopes.iter().all(|scope| scope.is_everything()) {
                answer.add_note(Some("the query has no words".to_owned()));
                return Ok((answer, Vec::new()));
            }
            let all = DocSet::all(self.view.docs());
            let ranked = each(&mut |scope| self.by_time(scope, &all, request.sort))?;
            return Ok((answer, ranked));
        };
        let limits = SearchLimits {
            exhaustive: request.exhaustive,
            // Enough that the best of a session is among them, and few enough that one long
            // conversation does not crowd out the others.
            per_session: if request.one_per_lineage { 3 } else { usize::MAX },
        };
        if request.exact {
            answer.query_terms(&query_terms);
            let mut ranked = Vec::new();
            for scope in scopes {
                let exact = ExactSearch { query_terms: &mut query_terms, matches, scope, limits };
                let found: ExactMatches = self.exact(&expr, exact, reader)?;
                answer.add_scan_end(found.stopped);
                ranked.push(of_scope(scope, found.ranked));
            }
            return Ok((answer, merge(ranked, order)));
        }
        matches.read(self.view, &mut query_terms, limits)?;
        answer.query_terms(&query_terms);
        // Words with operators and lists of keywords are met or not; only a sentence asks.
        if !query.explicit && !query_terms.is_keywords && !request.exact {
            answer.asks(&query_terms);
        }
        let (query_terms, matches) = (&query_terms, &*matches);
        if !query.explicit && !query_terms.words.is_empty() {
            let ranked = each(&mut |scope| {
                self.plain(&Prepared { query_terms, matches, scope, limits }, reader)
            })?;
            return Ok((answer, ranked));
        }
        let ranked = each(&mut |scope| {
            let within = self.within(&expr, scope, reader)?;
            answer.add_scan_end(within.stopped);
            let prepared = Prepared { query_terms, matches, scope, limits };
            self.ranked(&prepared, within.restriction(Tier::Precise), reader)
        })?;
        let is_first = PageStart::of(request.cursor).before.is_none();
        if !ranked.is_empty() || answer.has_scan_end() || !is_first {
            return Ok((answer, ranked));
        }
        // Negations stay in force when the words are relaxed.
        let negations = expr.negations();
        let ranked = each(&mut |scope| {
            let within = match &negations {
                Some(negations) => self.within(negations, scope, reader)?,
                None => OperatorMatches::default(),
            };
            answer.add_scan_end(within.stopped);
            let prepared = Prepared { query_terms, matches, scope, limits };
            self.ranked(&prepared, within.restriction(Tier::Relaxed), reader)
        })?;
        Ok((answer, ranked))
    }

    /// Words without operators.
    fn plain(&self, prepared: &Prepared<'_>, reader: &mut Reader) -> Result<Vec<Ranked>> {
        match self.asked.request.sort {
            Sort::Relevance => self.by_relevance(prepared, Restriction::default(), reader),
            sort => self.words_by_time(prepared, None, sort),
        }
    }

    /// Ranks the messages that the operators match.
    fn ranked(
        &self,
        prepared: &Prepared<'_>,
        restriction: Restriction<'_>,
        reader: &mut Reader,
    ) -> Result<Vec<Ranked>> {
        let Restriction { within, tier } = restriction;
        let tier = tier.unwrap_or(Tier::Relaxed);
        match (self.asked.request.sort, within, tier) {
            (Sort::Relevance, ..) => self.by_relevance(prepared, restriction, reader),
            (sort, Some(set), Tier::Precise) => self.by_time(prepared.scope, set, sort),
            (sort, set, _) => {
                let mut ranked = self.words_by_time(prepared, set, sort)?;
                ranked.iter_mut().for_each(|one| one.tier = one.tier.max(tier));
                Ok(ranked)
            }
        }
    }

    /// The messages with every word, by time; if there is none, those with any.
    fn words_by_time(
        &self,
        prepared: &Prepared<'_>,
        within: Option<&DocSet>,
        sort: Sort,
    ) -> Result<Vec<Ranked>> {
        let (mut all, mut any) = self.with_words(prepared.query_terms, prepared.matches);
        if let Some(within) = within {
            all.and(within);
            any.and(within);
        }
        let ranked = self.by_time(prepared.scope, &all, sort)?;
        if !ranked.is_empty() {
            return Ok(ranked);
        }
        let mut ranked = self.by_time(prepared.scope, &any, sort)?;
        ranked.iter_mut().for_each(|one| one.tier = Tier::Relaxed);
        Ok(ranked)
    }

    fn by_relevance(
        &self,
        prepared: &Prepared<'_>,
        restriction: Restriction<'_>,
        reader: &mut Reader,
    ) -> Result<Vec<Ranked>> {
        let Restriction { within, tier } = restriction;
        let Prepared { query_terms, matches, scope, limits } = *prepared;
        let candidate_search = CandidateSearch {
            view: self.view,
            query_terms,
            matches,
            scope,
            within,
            is_unfiltered: within.is_none() && scope.allows_all(),
            limits,
        };
        let no_word = matches.touched().is_empty() && within.is_none();
        // Keywords are each required; a sentence only describes what is searched.
        let by_tier = query_terms.is_keywords && tier.is_none() && !no_word;
        let full = query_terms.full_mask();
        let low_priority_sessions = self.low_priority_sessions()?;
        let features = |one: &Candidate| {
            (
                low_priority_sessions.contains(&one.session),
                by_tier && (one.mask != full || full == 0),
            )
        };
        let mut candidates = candidate_search.run();
        candidates.sort_by_key(features);
        let vector_source = self.asked.query_vector.vector_source(self.oneiro);
        let vectors = match self.asked.query_vector.remote_name() {
            Some(kept) => Vectors::Kept(kept),
            None => vector_source
                .words
                .filter(|_| vector_source.by_words)
                .map_or(Vectors::None, Vectors::Words),
        };
        let is_wanted = |one: &Scored| match (tier, no_word) {
            (Some(Tier::Precise), _) => true,
            (Some(_), _) => one.candidate.mask != 0,
            (None, true) => {
                query_terms.is_known && one.features.similarity >= SEMANTIC_SIMILARITY_MIN
            }
            (None, false) if by_tier => one.candidate.mask != 0,
            (None, false) => one.is_relevant(),
        };
        let tier_of = |one: &Scored| match tier {
            Some(tier) => tier,
            None if one.candidate.mask == full && full != 0 => Tier::Precise,
            None if no_word || one.candidate.coverage == 0.0 => Tier::Semantic,
            None => Tier::Relaxed,
        };
        let dims = vector_source.words.map_or(0, |model| model.dims());
        let known = self.oneiro.known_texts.at(self.view.generation(), dims);
        let mut scorer = Scorer::new(
            Snapshot { tx: self.tx, view: self.view, rows: &scope.rows, known },
            query_terms,
            &mut reader.analyzer,
            vectors,
        );
        // Scores restart where the order changes for another reason than the score.
        let rank_changes = by_tier || !low_priority_sessions.is_empty();
        let mut ranked: Vec<Ranked> = Vec::new();
        let size = if limits.exhaustive { candidates.len().max(1) } else { SCORE_BATCH };
        for batch in candidates.chunks(size) {
            if self.page_is_full(&ranked)? {
                break;
            }
            let mut scored = scorer.score_batch(batch, &mut |text| scope.holds(&text.said))?;
            scorer.add_list_features(&mut scored, &candidates);
            let close =
                if limits.exhaustive { scored.len() } else { RESCORED_PER_BATCH.min(scored.len()) };
            scorer.rescore_with_neighbours(scored.get_mut(..close).unwrap_or_default())?;
            scorer.add_list_features(&mut scored, &candidates);
            scorer.fix_feedback(&scored);
            scored.retain(is_wanted);
            scored.sort_by_key(|one| features(&one.candidate));
            for one in scored {
                // A batch ranks below the previous one, even if its own scores are higher.
                let score = ranked.last().map_or(f32::MAX, |last: &Ranked| {
                    if rank_changes { f32::MAX } else { last.score }
                });
                let score = score.min(one.features.score());
                ranked.push(Ranked {
                    tier: tier_of(&one),
                    score,
                    trace: Some(TraceData::new(&one, score)),
                    said: scorer.text(one.candidate.seq).map(|text| text.said.clone()),
                    seq: one.candidate.seq,
                    session: one.candidate.session,
                    chunk: Some(one.chunk),
                    memory: None,
                    note: None,
                });
            }
        }
        Ok(ranked)
    }

    /// The number of hits up to the end of the requested page.
    pub(super) fn wanted(&self) -> usize {
        PageStart::of(self.asked.request.cursor).offset + self.asked.request.limit
    }

    /// Whether there are enough hits for the page, and one more to know whether there is a next
    /// page.
    pub(super) fn page_is_full(&self, ranked: &[Ranked]) -> Result<bool> {
        let wanted = self.wanted();
        if !self.asked.request.one_per_lineage || ranked.len() <= wanted {
            return Ok(ranked.len() > wanted);
        }
        let sessions: FxHashSet<i64> = ranked.iter().map(|one| one.session).collect();
        let mut roots = FxHashSet::default();
        for session in sessions {
            roots.insert(lineage::root_key(self.tx, session)?);
        }
        Ok(roots.len() > wanted)
    }

    /// The sessions of low-priority sources.
    pub(super) fn low_priority_sessions(&self) -> Result<FxHashSet<i64>> {
        let mut low_priority_sessions = FxHashSet::default();
        for source in &self.asked.request.demote_sources {
            low_priority_sessions.extend(sessions::keys_of_source(self.tx, source)?);
        }
        Ok(low_priority_sessions)
    }
}
