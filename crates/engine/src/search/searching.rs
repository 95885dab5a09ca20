//! One search in its snapshot, step by step: what is in scope, what the operators leave over,
//! candidates, a look at the best of them batch by batch, and the answer. The order of hits does
//! not depend on how many are asked for, so that pages fit together.

use super::candidates::{Candidate, Hunt};
use super::doc_set::DocSet;
use super::exact::Worth;
use super::hits::{Answer, Ranked, Traced};
use super::look::{Look, Looked, Vectors};
use super::matches::{Effort, Matches};
use super::matching::Match;
use super::meaning::Meaning;
use super::patterns::Within;
use super::place::Place;
use super::question::Question;
use super::scope::Scope;
use crate::Oneiro;
use oneiro_index::{Reader, View};
use oneiro_model::{Found, Query, Result, SearchRequest, Sort, Tier};
use oneiro_store::{Tx, lineage, sessions};
use rustc_hash::FxHashSet;

/// Candidates that are read and measured at once.
const BATCH: usize = 64;

/// Of these, those whose neighbours are read as well.
const CLOSE: usize = 28;

/// How near a meaning must be when no word of the question occurs anywhere.
const NEAR_ENOUGH: f32 = 0.25;

/// One search in its snapshot.
pub(super) struct Searching<'s, 'c> {
    pub(super) oneiro: &'s Oneiro,
    pub(super) tx: &'s Tx<'c>,
    pub(super) view: &'s View<'s>,
    pub(super) asked: Asked<'s>,
}

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked<'s> {
    pub(super) request: &'s SearchRequest,
    pub(super) query: &'s Query,
    pub(super) meaning: &'s Meaning,
}

/// A question in its scope, with what the index says about it.
struct Ready<'r> {
    question: &'r Question,
    matches: &'r Matches,
    scope: &'r Scope,
    effort: Effort,
}

impl Searching<'_, '_> {
    pub(super) fn run(&self, reader: &mut Reader) -> Result<Found> {
        let mut matches = self.oneiro.scratch.take();
        let found = self.run_with(reader, &mut matches);
        self.oneiro.scratch.give_back(matches);
        found
    }

    fn run_with(&self, reader: &mut Reader, matches: &mut Matches) -> Result<Found> {
        let Asked { request, query, meaning } = self.asked;
        let scope = Scope::new(self.tx, self.view, request, &query.filters)?;
        let asking = meaning.asking(self.oneiro);
        let expr = match &query.expr {
            Some(expr) if request.exact => Some(Match::exact(expr, &mut reader.analyzer)?),
            Some(expr) => Some(Match::new(expr, &mut reader.analyzer)?),
            None => None,
        };
        let text = (query.text.as_str(), self.oneiro.now());
        let mut question = Question::new(text, self.view, &mut reader.analyzer, &asking)?;
        let mut answer = Answer::new(self.tx, (request, query), expr.as_ref(), &question);
        let Some(expr) = expr else {
            if scope.is_everything() {
                return Ok(answer.nothing("the query has no words"));
            }
            let ranked = self.by_time(&scope, &DocSet::all(self.view.docs()), request.sort)?;
            return answer.finish(ranked, &mut reader.analyzer);
        };
        let effort = Effort {
            exhaustive: request.exhaustive,
            // Enough of each that the best of it is among them, and no more: one long conversation
            // must not hide the others.
            of_session: if request.one_per_lineage { 3 } else { usize::MAX },
        };
        matches.read(self.view, &mut question, effort)?;
        answer.question(&question);
        let ready = Ready { question: &question, matches, scope: &scope, effort };
        if request.exact {
            let within = self.within(&expr, &scope, reader)?;
            answer.stopped_at(within.stopped);
            let set = within.set.unwrap_or_else(|| DocSet::all(self.view.docs()));
            let ranked = match request.sort {
                Sort::Relevance => {
                    let (mut patterns, mut prefixes) = (Vec::new(), Vec::new());
                    expr.patterns(&mut patterns, &mut prefixes);
                    let worth = Worth { matches: ready.matches, prefixes: &prefixes };
                    self.by_words((&scope, &set), worth, &mut reader.analyzer)?
                }
                sort => self.by_time(&scope, &set, sort)?,
            };
            return answer.finish(ranked, &mut reader.analyzer);
        }
        if !query.explicit && !question.words.is_empty() {
            let ranked = self.plain(&ready, reader)?;
            return answer.finish(ranked, &mut reader.analyzer);
        }
        let within = self.within(&expr, &scope, reader)?;
        answer.stopped_at(within.stopped);
        let ranked = self.ranked(&ready, (&within, Tier::Precise), reader)?;
        let is_first = Place::of(request.cursor).before.is_none();
        if !ranked.is_empty() || within.stopped.is_some() || !is_first {
            return answer.finish(ranked, &mut reader.analyzer);
        }
        // What was refused stays refused when the rest is relaxed.
        let within = match expr.refusals() {
            Some(refusals) => self.within(&refusals, &scope, reader)?,
            None => Within::default(),
        };
        answer.stopped_at(within.stopped);
        let ranked = self.ranked(&ready, (&within, Tier::Relaxed), reader)?;
        answer.finish(ranked, &mut reader.analyzer)
    }

    /// Words without any operator.
    fn plain(&self, ready: &Ready<'_>, reader: &mut Reader) -> Result<Vec<Ranked>> {
        match self.asked.request.sort {
            Sort::Relevance => self.by_relevance(ready, (None, None), reader),
            sort => self.words_by_time(ready, None, sort),
        }
    }

    /// What the operators of a query leave over, in order.
    fn ranked(
        &self,
        ready: &Ready<'_>,
        (within, tier): (&Within, Tier),
        reader: &mut Reader,
    ) -> Result<Vec<Ranked>> {
        match (self.asked.request.sort, &within.set, tier) {
            (Sort::Relevance, set, tier) => {
                self.by_relevance(ready, (set.as_ref(), Some(tier)), reader)
            }
            (sort, Some(set), Tier::Precise) => self.by_time(ready.scope, set, sort),
            (sort, set, _) => {
                let mut ranked = self.words_by_time(ready, set.as_ref(), sort)?;
                ranked.iter_mut().for_each(|one| one.tier = one.tier.max(tier));
                Ok(ranked)
            }
        }
    }

    /// The messages with every word by time, or with some when none that may be shown has all.
    fn words_by_time(
        &self,
        ready: &Ready<'_>,
        within: Option<&DocSet>,
        sort: Sort,
    ) -> Result<Vec<Ranked>> {
        let (mut all, mut any) = self.with_words(ready.question, ready.matches);
        if let Some(within) = within {
            all.and(within);
            any.and(within);
        }
        let ranked = self.by_time(ready.scope, &all, sort)?;
        if !ranked.is_empty() {
            return Ok(ranked);
        }
        let mut ranked = self.by_time(ready.scope, &any, sort)?;
        ranked.iter_mut().for_each(|one| one.tier = Tier::Relaxed);
        Ok(ranked)
    }

    fn by_relevance(
        &self,
        ready: &Ready<'_>,
        (within, tier): (Option<&DocSet>, Option<Tier>),
        reader: &mut Reader,
    ) -> Result<Vec<Ranked>> {
        let Ready { question, matches, scope, effort } = *ready;
        let hunt = Hunt {
            view: self.view,
            question,
            matches,
            scope,
            within,
            is_free: within.is_none() && scope.allows_all(),
            effort,
        };
        let no_word = matches.touched().is_empty() && within.is_none();
        // A list of words is a wish for each of them; a sentence describes what is wanted.
        let by_tier = question.is_keywords && tier.is_none() && !no_word;
        let full = question.full_mask();
        let demoted = self.demoted()?;
        let rank = |one: &Candidate| {
            (demoted.contains(&one.session), by_tier && (one.mask != full || full == 0))
        };
        let mut candidates = hunt.run();
        candidates.sort_by_key(rank);
        let asking = self.asked.meaning.asking(self.oneiro);
        let vectors = match self.asked.meaning.kept_as() {
            Some(kept) => Vectors::Kept(kept),
            None => asking.words.filter(|_| asking.by_words).map_or(Vectors::None, Vectors::Words),
        };
        let is_wanted = |one: &Looked| match (tier, no_word) {
            (Some(Tier::Precise), _) => true,
            (Some(_), _) => one.candidate.mask != 0,
            (None, true) => question.is_known && one.measured.similarity >= NEAR_ENOUGH,
            (None, false) if by_tier => one.candidate.mask != 0,
            (None, false) => one.is_about(),
        };
        let tier_of = |one: &Looked| match tier {
            Some(tier) => tier,
            None if one.candidate.mask == full && full != 0 => Tier::Precise,
            None if no_word || one.candidate.coverage == 0.0 => Tier::Semantic,
            None => Tier::Relaxed,
        };
        let mut look = Look::new((self.tx, self.view), question, &mut reader.analyzer, vectors);
        // Below a line that is not drawn by score, scores begin again.
        let rank_changes = by_tier || !demoted.is_empty();
        let mut ranked: Vec<Ranked> = Vec::new();
        let size = if effort.exhaustive { candidates.len().max(1) } else { BATCH };
        for batch in candidates.chunks(size) {
            if self.has_enough(&ranked)? {
                break;
            }
            let mut looked = look.measure(batch, &mut |text| scope.holds(&text.said))?;
            look.settle(&mut looked, &candidates);
            let close = if effort.exhaustive { looked.len() } else { CLOSE.min(looked.len()) };
            look.measure_closer(looked.get_mut(..close).unwrap_or_default())?;
            look.settle(&mut looked, &candidates);
            look.keep_wanted(&looked);
            looked.retain(is_wanted);
            looked.sort_by_key(|one| rank(&one.candidate));
            for one in looked {
                // A batch comes after the one before, whatever its own look at it says.
                let score = ranked.last().map_or(f32::MAX, |last: &Ranked| match rank_changes {
                    true => f32::MAX,
                    false => last.score,
                });
                let score = score.min(one.measured.score());
                ranked.push(Ranked {
                    tier: tier_of(&one),
                    score,
                    trace: Some(Traced::new(&one, score)),
                    said: look.text(one.candidate.seq).map(|text| text.said.clone()),
                    seq: one.candidate.seq,
                    session: one.candidate.session,
                    chunk: Some(one.chunk),
                });
            }
        }
        Ok(ranked)
    }

    /// How many hits end with the page that is asked for.
    pub(super) fn wanted(&self) -> usize {
        Place::of(self.asked.request.cursor).offset + self.asked.request.limit
    }

    /// Whether there is enough for the page, and one more to know that there is another.
    pub(super) fn has_enough(&self, ranked: &[Ranked]) -> Result<bool> {
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

    /// The sessions of sources that rank below others.
    pub(super) fn demoted(&self) -> Result<FxHashSet<i64>> {
        let mut demoted = FxHashSet::default();
        for source in &self.asked.request.demote_sources {
            demoted.extend(sessions::keys_of_source(self.tx, source)?);
        }
        Ok(demoted)
    }
}
