//! Candidates: which documents are worth a closer look. Postings, rarest words first and within a
//! budget, the nearest vectors, and days that the question names; then a cheap score of absolute
//! parts, computed from the index alone.

use super::best::{Best, best};
use super::doc_set::DocSet;
use super::matches::{Effort, Matches};
use super::question::{Question, WORDS};
use super::rank::{CONTEXT, Measured, NEIGHBOURS, date_fit, fade, in_context, length};
use super::scope::Scope;
use oneiro_index::{View, cosine, distance, scan};
use rustc_hash::FxHashMap;

/// Documents by words.
const BY_WORDS: usize = 300;

/// Documents by operators: all that one stretch of reading may find, and the newest of more.
const BY_OPERATORS: usize = 1_024;

/// Documents by vector.
const BY_VECTOR: usize = 150;

/// Documents by day.
const BY_DATE: usize = 200;

/// Best documents whose neighbours are looked at too.
const WITH_NEIGHBOURS: usize = 100;

/// How far neighbours of a session are looked for among the documents of others.
pub(super) const NEAR: usize = 48;

/// Documents to each side of a candidate that count as its conversation.
const AROUND: u32 = 96;

/// Where candidates came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) words: bool,
    pub(super) vector: bool,
    pub(super) date: bool,
    pub(super) neighbour: bool,
}

/// A document worth a closer look.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// The document; of a message in chunks, the best of them.
    pub(super) doc: u32,
    /// The message.
    pub(super) seq: i64,
    /// Its session.
    pub(super) session: i64,
    /// The words that occur in the whole message.
    pub(super) mask: u16,
    /// How far the words are covered, neighbours included.
    pub(super) coverage: f32,
    /// How far neighbours alone meet each word.
    pub(super) near: [f32; WORDS],
    /// What the vectors of neighbours add to the similarity, as far as signs tell.
    pub(super) context: f32,
    /// Whether the question names its speaker.
    pub(super) is_named: bool,
    /// How much of the question its whole session covers.
    pub(super) conversation: f32,
    /// The cheap score.
    pub(super) score: f32,
    pub(super) origin: Origin,
}

/// The search for candidates.
pub(super) struct Hunt<'h> {
    pub(super) view: &'h View<'h>,
    pub(super) question: &'h Question,
    pub(super) matches: &'h Matches,
    pub(super) scope: &'h Scope,
    /// What the operators of the query leave over.
    pub(super) within: Option<&'h DocSet>,
    /// Whether everything is in scope.
    pub(super) is_free: bool,
    pub(super) effort: Effort,
}

impl Hunt<'_> {
    /// The candidates, best first by the cheap score.
    pub(super) fn run(&self) -> Vec<Candidate> {
        let mut found: FxHashMap<u32, Origin> = FxHashMap::default();
        let limit = |limit: usize| match self.effort.exhaustive {
            true => usize::MAX,
            false => limit,
        };
        let by_words = self.by_words(limit(BY_WORDS));
        for (_, doc) in &by_words {
            found.entry(*doc).or_default().words = true;
        }
        if let Some(within) = self.within {
            let allowed = within.newest_first().filter(|doc| self.allows(*doc));
            for doc in allowed.take(limit(BY_OPERATORS)) {
                found.entry(doc).or_default();
            }
        }
        for doc in self.by_vector(limit(BY_VECTOR)) {
            found.entry(doc).or_default().vector = true;
        }
        for doc in self.by_date(limit(BY_DATE)) {
            found.entry(doc).or_default().date = true;
        }
        for (_, doc) in by_words.iter().take(limit(WITH_NEIGHBOURS)) {
            for step in [-1, 1] {
                for near in self.view.nearby(*doc, step, NEAR).take(2) {
                    if self.allows(near) {
                        found.entry(near).or_default().neighbour = true;
                    }
                }
            }
        }
        self.score(found)
    }

    fn allows(&self, doc: u32) -> bool {
        if self.is_free {
            return true;
        }
        let first = self.view.first_chunk(doc);
        self.within.is_none_or(|within| within.has(first))
            && self.view.doc(doc).is_some_and(|found| self.scope.allows(&found, first))
    }

    fn by_words(&self, limit: usize) -> Vec<(f32, u32)> {
        let score = |doc: u32| self.matches.score(doc);
        let touched = self.matches.touched().iter().copied();
        if self.effort.of_session != usize::MAX {
            let allowed = touched.filter(|doc| self.allows(*doc));
            return self.some_of_each(allowed.map(|doc| (score(doc), doc)).collect(), limit);
        }
        let mut best = Best::new(limit);
        for doc in touched {
            let score = score(doc);
            if best.may_take(score) && self.allows(doc) {
                best.take(score, doc);
            }
        }
        best.done()
    }

    /// The best of many, and not too many of one session.
    fn some_of_each(&self, scored: Vec<(f32, u32)>, limit: usize) -> Vec<(f32, u32)> {
        let most = self.effort.of_session;
        let mut sessions: FxHashMap<i64, Vec<(f32, u32)>> = FxHashMap::default();
        for (score, doc) in scored {
            let kept = sessions.entry(self.view.session(doc).unwrap_or_default()).or_default();
            kept.push((score, doc));
            if kept.len() > most * 4 {
                *kept = best(kept.drain(..), most);
            }
        }
        let kept = sessions.into_values().flat_map(|kept| best(kept, most));
        best(kept, limit)
    }

    fn by_vector(&self, limit: usize) -> Vec<u32> {
        let Some((_, bits)) = &self.question.vector else { return Vec::new() };
        let is_some_of_each = self.effort.of_session != usize::MAX;
        let mut all = Vec::new();
        let mut best = Best::new(limit);
        for (base, vectors) in self.view.vectors() {
            let bound = |best: &Best| match is_some_of_each || best.bound == f32::NEG_INFINITY {
                true => u16::MAX,
                false => -best.bound as u16,
            };
            scan(bits, vectors, bound(&best), |at, far| {
                let doc = base + at as u32;
                let is_known = vectors.get(at).is_some_and(|vector| *vector != [0; 4]);
                if is_known && self.allows(doc) {
                    match is_some_of_each {
                        true => all.push((-f32::from(far), doc)),
                        false => best.take(-f32::from(far), doc),
                    }
                }
                bound(&best)
            });
        }
        let found = if is_some_of_each { self.some_of_each(all, limit) } else { best.done() };
        found.into_iter().map(|(_, doc)| doc).collect()
    }

    fn by_date(&self, limit: usize) -> Vec<u32> {
        if self.question.dates.is_empty() {
            return Vec::new();
        }
        let mut scored = Vec::new();
        for doc in 0..self.view.docs() as u32 {
            let Some(found) = self.view.doc(doc) else { continue };
            let fit = date_fit(&self.question.dates, found.minute.div_euclid(1_440));
            if fit > 0.0 && self.allows(doc) {
                scored.push((fit * 4.0 + self.matches.score(doc), doc));
            }
        }
        best(scored, limit).into_iter().map(|(_, doc)| doc).collect()
    }

    /// Scores documents by what the index alone tells, and keeps the best chunk of each message.
    fn score(&self, found: FxHashMap<u32, Origin>) -> Vec<Candidate> {
        let total = self.question.total_weight();
        let mut by_message: FxHashMap<i64, Candidate> = FxHashMap::default();
        for (doc, origin) in found {
            let Some(here) = self.view.doc(doc) else { continue };
            let near = self.near(doc, here.words);
            let own = self.matches.mask(doc);
            let met = |at: usize, near: f32| if own >> at & 1 == 1 { 1.0 } else { near };
            let words = self.question.words.iter().zip(near).enumerate();
            let coverage = words.map(|(at, (word, near))| word.weight * met(at, near)).sum::<f32>();
            let first = self.view.first_chunk(doc);
            let candidate = Candidate {
                doc,
                seq: here.seq,
                session: here.session,
                mask: self.message_mask(first),
                coverage: coverage / total,
                near,
                context: 0.0,
                is_named: self.matches.is_named(first),
                conversation: 0.0,
                score: 0.0,
                origin,
            };
            by_message
                .entry(here.seq)
                .and_modify(|there| {
                    if candidate.coverage > there.coverage {
                        *there = candidate.clone();
                    }
                })
                .or_insert(candidate);
        }
        let mut best_of_session: FxHashMap<i64, f32> = FxHashMap::default();
        for candidate in by_message.values() {
            let best = best_of_session.entry(candidate.session).or_insert(0.0);
            *best = best.max(candidate.coverage);
        }
        let covered = self.conversations(by_message.values().map(|one| (one.session, one.doc)));
        let mut candidates: Vec<Candidate> = by_message.into_values().collect();
        for candidate in &mut candidates {
            let Some(doc) = self.view.doc(candidate.doc) else { continue };
            let session = best_of_session.get(&candidate.session).copied().unwrap_or(0.0);
            let own = self.nearness(candidate.doc);
            candidate.context = self.context(candidate.doc, doc.words);
            let similarity = in_context(own, candidate.context);
            candidate.conversation = covered.get(&candidate.session).copied().unwrap_or(0.0);
            let measured = Measured {
                coverage: candidate.coverage,
                similarity,
                session,
                speaker: f32::from(u8::from(candidate.is_named)),
                date: date_fit(&self.question.dates, doc.minute.div_euclid(1_440)),
                conversation: candidate.conversation,
                length: length(usize::from(doc.words)),
                ..Measured::default()
            };
            candidate.score = measured.score();
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
        candidates
    }

    /// How much of the question each session covers, as far as it lies around the candidates.
    fn conversations(&self, docs: impl Iterator<Item = (i64, u32)>) -> FxHashMap<i64, f32> {
        let mut masks: FxHashMap<i64, u16> = FxHashMap::default();
        for (session, doc) in docs {
            let mask = masks.entry(session).or_insert(0);
            for near in doc.saturating_sub(AROUND)..=doc.saturating_add(AROUND) {
                let found = self.matches.mask(near);
                if found & !*mask != 0 && self.view.session(near) == Some(session) {
                    *mask |= found;
                }
            }
        }
        let total = self.question.total_weight();
        let words = || self.question.words.iter().enumerate();
        let covered = |mask: u16| {
            let met = words().filter(|(at, _)| mask >> at & 1 == 1);
            met.map(|(_, word)| word.weight).sum::<f32>() / total
        };
        masks.into_iter().map(|(session, mask)| (session, covered(mask))).collect()
    }

    /// How near a document is in meaning, as far as signs tell.
    fn nearness(&self, doc: u32) -> f32 {
        match (&self.question.vector, self.view.bits(doc)) {
            (Some((_, asked)), Some(bits)) => cosine(distance(asked, bits)),
            _ => 0.0,
        }
    }

    /// What the neighbours of a document add to that.
    fn context(&self, doc: u32, words: u16) -> f32 {
        if self.question.vector.is_none() {
            return 0.0;
        }
        let own_fade = fade(usize::from(words));
        let mut context = 0.0;
        for (step, shares) in [(-1, [CONTEXT[0], CONTEXT[2]]), (1, [CONTEXT[1], CONTEXT[3]])] {
            for (at, share) in self.view.nearby(doc, step, NEAR).zip(shares) {
                let words = self.view.doc(at).map_or(0, |doc| usize::from(doc.words));
                context += share * own_fade * fade(words) * self.nearness(at);
            }
        }
        context
    }

    fn message_mask(&self, first: u32) -> u16 {
        let seq = self.view.doc(first).map(|doc| doc.seq);
        let chunks = (first..).take_while(|doc| self.view.doc(*doc).map(|found| found.seq) == seq);
        chunks.map(|doc| self.matches.mask(doc)).fold(0, |all, mask| all | mask)
    }

    /// How far the neighbours of a document meet each word.
    fn near(&self, doc: u32, words: u16) -> [f32; WORDS] {
        let own_fade = fade(usize::from(words));
        let mut near = [0.0f32; WORDS];
        for (step, shares) in
            [(-1, [NEIGHBOURS[0], NEIGHBOURS[2]]), (1, [NEIGHBOURS[1], NEIGHBOURS[3]])]
        {
            for (at, share) in self.view.nearby(doc, step, NEAR).zip(shares) {
                let mask = self.matches.mask(at);
                if mask != 0 {
                    let words = self.view.doc(at).map_or(0, |doc| doc.words);
                    let share = share * own_fade * fade(usize::from(words));
                    for (at, met) in near.iter_mut().enumerate() {
                        if mask >> at & 1 == 1 {
                            *met = met.max(share);
                        }
                    }
                }
            }
        }
        near
    }
}
