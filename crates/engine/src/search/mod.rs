//! Search: a query in, ranked hits out, in one snapshot. Candidates come from the index and the
//! rows after it, the ranking is the same on both engines, and every hit can tell why it is there.

mod best;
mod candidates;
mod conversations;
mod doc_set;
mod hits;
mod look;
mod matches;
mod matching;
mod meaning;
mod place;
mod question;
mod rank;
mod scope;
mod snippet;

use crate::index::{Reader, View};
use crate::{EmbedderChoice, Oneiro};
use candidates::Hunt;
use doc_set::DocSet;
use hits::{Answer, Ranked};
use look::{Look, Vectors};
use matches::{Effort, Matches};
use matching::Match;
pub(crate) use meaning::Breaker;
use meaning::Meaning;
use oneiro_model::{
    Error, ErrorKind, Found, Query, Result, SEARCH_LIMIT_MAX, SearchRequest, Sort, Tier,
    Visibility, searchable,
};
use oneiro_store::{Tx, said};
use place::Place;
pub(crate) use question::Kin;
use question::Question;
use scope::Scope;
use std::sync::{Mutex, PoisonError};

/// Candidates that are read and measured for a first page.
const LOOKED_AT: usize = 48;

/// Of these, those whose neighbours are read as well.
const CLOSE: usize = 20;

/// Messages that are read for a pattern before the page ends.
const SCANNED: usize = 20_000;

/// Messages that match a pattern, of which the best are found.
const MATCHED: usize = 500;

/// How near a meaning must be when no word of the question occurs anywhere.
const NEAR_ENOUGH: f32 = 0.35;

impl Oneiro {
    /// Searches what was said. Everything acknowledged before this began is found.
    pub fn search(&self, request: &SearchRequest) -> Result<Found> {
        if request.limit == 0 || request.limit > SEARCH_LIMIT_MAX {
            return Err(Error::field("limit", format!("is not between 1 and {SEARCH_LIMIT_MAX}")));
        }
        let query = Query::parse(&request.query, self.now())?;
        let meaning = self.meaning(&query)?;
        let mut reader = self.index.reader(meaning.choice);
        let mut is_current = true;
        let found = self.store.read(|tx| {
            let view = self.index.cache.view(tx, &mut reader, meaning.kept_as())?;
            is_current = view.is_current;
            let asked = Asked { request, query: &query, meaning: &meaning };
            Searching { oneiro: self, tx, view: &view, asked }.run(&mut reader)
        });
        let asked = Asked { request, query: &query, meaning: &meaning };
        let mut found = match found {
            Err(error) if is_damage(&error) => self.search_newest(asked, error)?,
            found => found?,
        };
        if let Some(note) = meaning.note {
            found.note = Some(found.note.map_or(note.clone(), |other| format!("{other}; {note}")));
        }
        self.index.give_back(reader);
        if !is_current {
            self.rebuild_index_soon();
        }
        self.fold_soon()?;
        Ok(found)
    }

    /// Looks at the newest messages without the index, which is damaged, and has it mended.
    fn without_index<T>(
        &self,
        damage: Error,
        look: impl for<'t, 'c> FnOnce(&'t Tx<'c>, &'t View<'t, 'c>, &mut Reader) -> Result<T>,
    ) -> Result<T> {
        tracing::warn!(error = %damage, "the text index is not used");
        self.rebuild_index_soon();
        let mut reader = self.index.reader(EmbedderChoice::Static);
        let found = self.store.read(|tx| {
            let view = View::newest(tx, &mut reader, SCANNED)?;
            look(tx, &view, &mut reader)
        });
        // Damage that is elsewhere stays what it is.
        found.map_err(|_| damage)
    }

    fn search_newest(&self, asked: Asked<'_>, damage: Error) -> Result<Found> {
        let mut found = self.without_index(damage, |tx, view, reader| {
            Searching { oneiro: self, tx, view, asked }.run(reader)
        })?;
        found.note = Some(format!(
            "the text index is damaged, so only the newest {SCANNED} messages were searched; \
             `oneiro doctor --fix` mends it"
        ));
        Ok(found)
    }

    /// Leaves a job that builds the index anew; a store that cannot be written to stays as it is.
    fn rebuild_index_soon(&self) {
        let now = self.now();
        let job = self.new_job(crate::jobs::REBUILD_INDEX, serde_json::Value::Null, now);
        let added = self.store.write(move |tx| oneiro_store::jobs::add(tx, &job, now));
        if let Err(error) = added {
            tracing::info!(%error, "the text index waits to be built anew");
        }
    }
}

/// Whether an error may say that the index cannot be read: its bytes make no sense, or a table of
/// it is gone. If it is something else, reading without the index fails alike.
fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Internal)
}

/// Room for what postings say, kept between searches.
#[derive(Default)]
pub(crate) struct Scratch(Mutex<Vec<Matches>>);

/// Searches at once for which room is kept.
const SCRATCH: usize = 4;

impl Scratch {
    fn take(&self) -> Matches {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give_back(&self, matches: Matches) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < SCRATCH {
            kept.push(matches);
        }
    }
}

/// One search in its snapshot.
struct Searching<'s, 'c> {
    oneiro: &'s Oneiro,
    tx: &'s Tx<'c>,
    view: &'s View<'s, 'c>,
    asked: Asked<'s>,
}

/// What is asked.
#[derive(Clone, Copy)]
struct Asked<'s> {
    request: &'s SearchRequest,
    query: &'s Query,
    meaning: &'s Meaning,
}

/// What is left of the documents after the operators of a query.
#[derive(Default)]
struct Within {
    set: Option<DocSet>,
    /// Where reading texts stopped, if it did before the end.
    stopped: Option<i64>,
}

impl Searching<'_, '_> {
    fn run(&self, reader: &mut Reader) -> Result<Found> {
        let mut matches = self.oneiro.scratch.take();
        let found = self.run_with(reader, &mut matches);
        self.oneiro.scratch.give_back(matches);
        found
    }

    fn run_with(&self, reader: &mut Reader, matches: &mut Matches) -> Result<Found> {
        let scope = Scope::new(self.tx, self.view, self.asked.request, &self.asked.query.filters)?;
        let asking = self.asked.meaning.asking(self.oneiro);
        let expr = match &self.asked.query.expr {
            Some(expr) => Some(Match::new(expr, &mut reader.analyzer)?),
            None => None,
        };
        let mut question = Question::new(
            (&self.asked.query.text, self.oneiro.now()),
            self.view,
            &mut reader.analyzer,
            &asking,
        )?;
        let mut answer =
            Answer::new(self.tx, (self.asked.request, self.asked.query), expr.as_ref(), &question);
        let Some(expr) = expr else {
            if scope.is_everything() {
                return Ok(answer.nothing("the query has no words"));
            }
            let everything = DocSet::all(self.view.docs());
            let ranked = self.by_time(&scope, &everything, Sort::Newest)?;
            return answer.finish(ranked, &mut reader.analyzer);
        };
        let effort = Effort {
            exhaustive: self.asked.request.exhaustive,
            wanted: self.offset() + self.asked.request.limit,
            // Enough of each that the best of it is among them, and no more: one long conversation
            // must not hide the others.
            of_session: if self.asked.request.one_per_lineage { 3 } else { usize::MAX },
        };
        matches.read(self.view, &mut question, effort)?;
        let matches = &*matches;
        answer.question(&question);
        let mut within = Within::default();
        let mut tier = None;
        if self.asked.query.explicit || question.words.is_empty() {
            let is_first = Place::of(self.asked.request.cursor).before.is_none();
            let needs_text = expr.needs_text();
            within = self.within(&expr, &scope, reader)?;
            tier = Some(Tier::Precise);
            let is_empty = within.set.as_ref().is_some_and(|set| set.count() == 0);
            if is_empty && within.stopped.is_none() && is_first {
                // What was refused stays refused when the rest is relaxed.
                within = match expr.refusals() {
                    Some(refusals) => self.within(&refusals, &scope, reader)?,
                    None => Within::default(),
                };
                tier = Some(Tier::Relaxed);
            } else if is_empty && needs_text {
                answer.stopped_at(within.stopped);
                return answer.finish(Vec::new(), &mut reader.analyzer);
            }
        }
        answer.stopped_at(within.stopped);
        if self.asked.request.sort != Sort::Relevance {
            let (set, found) = match &within.set {
                Some(set) if tier == Some(Tier::Precise) => (set.clone(), Tier::Precise),
                refused => self.with_words(&question, matches, refused.as_ref()),
            };
            answer.tier(found);
            let ranked = self.by_time(&scope, &set, self.asked.request.sort)?;
            return answer.finish(ranked, &mut reader.analyzer);
        }
        let hunt = Hunt {
            view: self.view,
            question: &question,
            matches,
            scope: &scope,
            within: within.set.as_ref(),
            is_free: within.set.is_none() && scope.is_everything(),
            effort,
        };
        let candidates = hunt.run();
        let vectors = match self.asked.meaning.kept_as() {
            Some(kept) => Vectors::Kept(kept),
            None => asking.words.filter(|_| asking.by_words).map_or(Vectors::None, Vectors::Words),
        };
        let mut look = Look::new((self.tx, self.view), &question, &mut reader.analyzer, vectors);
        let mut looked = Vec::new();
        let mut from = 0;
        let mut step = LOOKED_AT.max(effort.wanted * 3);
        if effort.exhaustive {
            step = step.max(4_096);
        }
        while let Some(some) = candidates.get(from..(from + step).min(candidates.len()))
            && !some.is_empty()
            && (from == 0 || looked.len() <= effort.wanted)
        {
            looked.append(&mut look.measure(some, &mut |text| scope.holds(&text.said))?);
            from += step;
        }
        let others = candidates.get(from..).unwrap_or_default();
        look.settle(&mut looked, others);
        let close = match effort.exhaustive {
            true => looked.len(),
            false => CLOSE.max(effort.wanted + 8),
        };
        let close = close.min(looked.len());
        look.measure_closer(looked.get_mut(..close).unwrap_or_default())?;
        look.settle(&mut looked, others);
        let no_word = matches.touched().is_empty() && within.set.is_none();
        looked.retain(|one| match (tier, no_word) {
            (Some(Tier::Precise), _) => true,
            (Some(_), _) => one.candidate.mask != 0,
            (None, true) => question.is_known && one.measured.similarity >= NEAR_ENOUGH,
            (None, false) => one.is_about(),
        });
        let full = question.full_mask();
        let tier_of = |mask: u16, has_words: bool| match tier {
            Some(tier) => tier,
            None if mask == full && full != 0 => Tier::Precise,
            None if no_word || !has_words => Tier::Semantic,
            None => Tier::Relaxed,
        };
        let mut ranked: Vec<Ranked> = Vec::with_capacity(looked.len());
        for one in looked {
            let near_words = one.candidate.coverage > 0.0;
            ranked.push(Ranked {
                tier: tier_of(one.candidate.mask, near_words),
                score: one.measured.score(),
                mask: one.candidate.mask,
                trace: Some(hits::Traced::new(&one)),
                chunk: Some(one.chunk),
                said: look.text(one.candidate.seq).map(|text| text.said.clone()),
                seq: one.candidate.seq,
                session: one.candidate.session,
            });
        }
        // A list of words is a wish for each of them; a sentence describes what is wanted.
        if question.is_keywords && tier.is_none() && !no_word {
            ranked.retain(|one| one.mask != 0);
            ranked.sort_by_key(|one| one.tier);
        }
        answer.finish(ranked, &mut reader.analyzer)
    }

    fn offset(&self) -> usize {
        Place::of(self.asked.request.cursor).offset
    }

    /// The messages that a query matches. Those whose text must be read are read, newest first, up
    /// to a limit.
    fn within(&self, expr: &Match, scope: &Scope, reader: &mut Reader) -> Result<Within> {
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
            for said in said::said(self.tx, &seqs)? {
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

    /// The messages that have every word, or some of them when none has all.
    fn with_words(
        &self,
        question: &Question,
        matches: &Matches,
        within: Option<&DocSet>,
    ) -> (DocSet, Tier) {
        let mut any = DocSet::none(self.view.docs());
        let mut masks: rustc_hash::FxHashMap<u32, u16> = rustc_hash::FxHashMap::default();
        for doc in matches.touched() {
            let first = self.view.first_chunk(*doc);
            any.insert(first);
            *masks.entry(first).or_default() |= matches.mask(*doc);
        }
        let full = question.full_mask();
        let mut all = DocSet::none(self.view.docs());
        for (doc, _) in masks.iter().filter(|(_, mask)| **mask == full && full != 0) {
            all.insert(*doc);
        }
        let (mut set, tier) =
            if all.count() > 0 { (all, Tier::Precise) } else { (any, Tier::Relaxed) };
        if let Some(within) = within {
            set.and(within);
        }
        (set, tier)
    }

    /// The messages of a set by time, as many as a page needs.
    fn by_time(&self, scope: &Scope, set: &DocSet, sort: Sort) -> Result<Vec<Ranked>> {
        let mut docs: Vec<(i64, i64, u32)> = set
            .newest_first()
            .filter_map(|doc| {
                let found = self.view.doc(doc)?;
                let is_first = self.view.first_chunk(doc) == doc;
                (is_first && scope.allows(&found, doc)).then_some((found.minute, found.seq, doc))
            })
            .collect();
        match sort {
            Sort::Oldest => docs.sort_unstable(),
            _ => docs.sort_unstable_by_key(|(minute, seq, _)| std::cmp::Reverse((*minute, *seq))),
        }
        let wanted = self.offset() + self.asked.request.limit + 1;
        let mut ranked = Vec::new();
        for some in docs.chunks(wanted.max(64)) {
            let seqs: Vec<i64> = some.iter().map(|(_, seq, _)| *seq).collect();
            let mut rows = said::said(self.tx, &seqs)?;
            rows.retain(|said| scope.holds(said));
            // Minutes brought them here; within one, the exact time decides.
            rows.sort_by_key(|said| (said.at, said.seq));
            if sort != Sort::Oldest {
                rows.reverse();
            }
            ranked.extend(rows.into_iter().map(Ranked::by_time));
            if ranked.len() >= wanted && !self.asked.request.one_per_lineage {
                break;
            }
        }
        Ok(ranked)
    }
}
