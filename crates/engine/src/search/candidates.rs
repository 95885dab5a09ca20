//! Collects candidates from the index: by postings (rarest words first, up to a budget), by vector,
//! and by the days that a query names. A cheap score from the index alone ranks them.

use super::doc_set::DocSet;
use super::features::{
    CONTEXT, Features, NEIGHBOURS, REPLY_WORDS_MAX, RoleFeatures, date_score, decision, length,
    length_discount, similarity_in_context,
};
use super::posting_scores::{PostingScores, SearchLimits};
use super::query_terms::{QUERY_WORDS_MAX, QueryTerms};
use super::scope::Scope;
use super::top_k::{TopK, top_k};
use oneiro_index::{Doc, View, cosine, distance, role, scan};
use rustc_hash::FxHashMap;

/// Candidates by words.
const WORD_CANDIDATES: usize = 300;

/// Candidates by operators: at least what one scan may find, newest first.
const OPERATOR_CANDIDATES: usize = 1_024;

/// Candidates by vector.
const VECTOR_CANDIDATES: usize = 150;

/// Candidates by day.
const DATE_CANDIDATES: usize = 200;

/// Best candidates by words whose neighbours become candidates, too.
const NEIGHBOUR_SOURCES: usize = 100;

/// How many documents are scanned to find a neighbour in the same session.
pub(super) const NEIGHBOUR_SCAN_DOCS: usize = 48;

/// How many documents are scanned for the message that began an exchange.
const EXCHANGE_SCAN_DOCS: usize = 48;

/// The best sessions by words, and the messages on each side of their best one, that become
/// candidates.
const BEST_SESSIONS: usize = 3;
const SESSION_DOCS: usize = 20;
const SESSION_SCAN_DOCS: usize = 96;

/// Chunks of one message with equal scores that become candidates. A log that repeats a line a
/// hundred times must not take every place.
const EQUAL_CHUNKS_MAX: u8 = 3;

/// Documents to each side of a candidate that count as its conversation.
const CONVERSATION_DOCS: u32 = 96;

/// How a candidate was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) words: bool,
    pub(super) vector: bool,
    pub(super) date: bool,
    pub(super) neighbour: bool,
}

/// A document that may answer the query.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// The document; of a message in several chunks, the best one.
    pub(super) doc: u32,
    pub(super) seq: i64,
    pub(super) session: i64,
    /// A bit for each word that occurs in the message.
    pub(super) mask: u16,
    /// The share of the query's word weight that is covered, neighbours included.
    pub(super) coverage: f32,
    /// How well the neighbours alone match each word.
    pub(super) near: [f32; QUERY_WORDS_MAX],
    /// The similarity that neighbours add, estimated from vector signs.
    pub(super) context: f32,
    /// Whether the query names its speaker.
    pub(super) is_named: bool,
    /// The share of the query's word weight that its session covers.
    pub(super) conversation: f32,
    /// How far the message that began its exchange covers the query, less for what does not end it.
    pub(super) exchange: f32,
    /// The cheap score.
    pub(super) score: f32,
    pub(super) origin: Origin,
}

/// The inputs of the search for candidates.
pub(super) struct CandidateSearch<'h> {
    pub(super) view: &'h View<'h>,
    pub(super) query_terms: &'h QueryTerms,
    pub(super) matches: &'h PostingScores,
    pub(super) scope: &'h Scope,
    /// The documents that the operators of the query match.
    pub(super) within: Option<&'h DocSet>,
    /// Whether every document is in scope.
    pub(super) is_unfiltered: bool,
    pub(super) limits: SearchLimits,
}

/// The best score of each message and how many of its chunks have it.
#[derive(Default)]
struct RepeatedChunks(FxHashMap<u32, (f32, u8)>);

impl RepeatedChunks {
    /// Whether a chunk adds something to the chunks of its message that were seen before.
    fn is_new(&mut self, message: u32, score: f32) -> bool {
        let (best, count) = self.0.entry(message).or_insert((score, 0));
        if score > *best {
            (*best, *count) = (score, 0);
        }
        *count = count.saturating_add(1);
        *count <= EQUAL_CHUNKS_MAX
    }
}

impl CandidateSearch<'_> {
    /// The candidates, best first by the cheap score.
    pub(super) fn run(&self) -> Vec<Candidate> {
        let mut found: FxHashMap<u32, Origin> = FxHashMap::default();
        let limit = |limit: usize| if self.limits.exhaustive { usize::MAX } else { limit };
        let by_words = self.by_words(limit(WORD_CANDIDATES));
        for (_, doc) in &by_words {
            found.entry(*doc).or_default().words = true;
        }
        if let Some(within) = self.within {
            let allowed = within.newest_first().filter(|doc| self.allows(*doc));
            for doc in allowed.take(limit(OPERATOR_CANDIDATES)) {
                found.entry(doc).or_default();
            }
        }
        for doc in self.by_vector(limit(VECTOR_CANDIDATES)) {
            found.entry(doc).or_default().vector = true;
        }
        for doc in self.by_date(limit(DATE_CANDIDATES)) {
            found.entry(doc).or_default().date = true;
        }
        for doc in self.best_sessions(&by_words) {
            for step in [-1, 1] {
                let around = self.view.nearby(doc, step, SESSION_SCAN_DOCS).take(SESSION_DOCS);
                for near in around.filter(|near| self.allows(*near)) {
                    found.entry(near).or_default().neighbour = true;
                }
            }
        }
        for (_, doc) in by_words.iter().take(limit(NEIGHBOUR_SOURCES)) {
            if let Some(answer) = self.answer(*doc).filter(|answer| self.allows(*answer)) {
                found.entry(answer).or_default().neighbour = true;
            }
            for step in [-1, 1] {
                for near in self.view.nearby(*doc, step, NEIGHBOUR_SCAN_DOCS).take(2) {
                    if self.allows(near) {
                        found.entry(near).or_default().neighbour = true;
                    }
                }
            }
        }
        self.score(found)
    }

    /// The best document of each of the best sessions. What was decided or corrected there may have
    /// none of the words.
    fn best_sessions(&self, by_words: &[(f32, u32)]) -> Vec<u32> {
        let mut sessions: Vec<i64> = Vec::new();
        let mut best = Vec::new();
        // Keywords are required, and a hit without any is left out.
        if self.query_terms.is_keywords {
            return best;
        }
        for (_, doc) in by_words.iter().take(NEIGHBOUR_SOURCES) {
            let Some(session) = self.view.session(*doc) else { continue };
            if best.len() < BEST_SESSIONS && !sessions.contains(&session) {
                sessions.push(session);
                best.push(*doc);
            }
        }
        best
    }

    fn allows(&self, doc: u32) -> bool {
        if self.is_unfiltered {
            return true;
        }
        let first = self.view.first_chunk(doc);
        self.within.is_none_or(|within| within.has(first))
            && self.view.doc(doc).is_some_and(|found| self.scope.allows(&found, first))
    }

    fn by_words(&self, limit: usize) -> Vec<(f32, u32)> {
        let score = |doc: u32| self.matches.score(doc);
        let touched = self.matches.touched().iter().copied();
        if self.limits.per_session != usize::MAX {
            let allowed = touched.filter(|doc| self.allows(*doc));
            return self.best_per_session(allowed.map(|doc| (score(doc), doc)).collect(), limit);
        }
        let mut best = TopK::new(limit);
        let mut repeated = RepeatedChunks::default();
        for doc in touched {
            let score = score(doc);
            if best.would_enter(score)
                && repeated.is_new(self.view.first_chunk(doc), score)
                && self.allows(doc)
            {
                best.insert(score, doc);
            }
        }
        best.into_sorted()
    }

    /// The best documents, with a limit per session.
    fn best_per_session(&self, scored: Vec<(f32, u32)>, limit: usize) -> Vec<(f32, u32)> {
        let most = self.limits.per_session;
        let mut sessions: FxHashMap<i64, Vec<(f32, u32)>> = FxHashMap::default();
        for (score, doc) in scored {
            let kept = sessions.entry(self.view.session(doc).unwrap_or_default()).or_default();
            kept.push((score, doc));
            if kept.len() > most * 4 {
                *kept = top_k(kept.drain(..), most);
            }
        }
        let kept = sessions.into_values().flat_map(|kept| top_k(kept, most));
        top_k(kept, limit)
    }

    fn by_vector(&self, limit: usize) -> Vec<u32> {
        let Some((_, bits)) = &self.query_terms.vector else { return Vec::new() };
        if let Some(docs) = &self.scope.docs {
            let far = |doc: u32| {
                let known = self.view.bits(doc).filter(|vector| **vector != [0; 4]);
                known.map(|vector| (-(distance(bits, vector) as f32), doc))
            };
            let near = docs.iter().filter(|doc| self.allows(**doc)).filter_map(|doc| far(*doc));
            return top_k(near, limit).into_iter().map(|(_, doc)| doc).collect();
        }
        let is_some_of_each = self.limits.per_session != usize::MAX;
        let mut all = Vec::new();
        let mut best = TopK::new(limit);
        for (base, vectors) in self.view.vectors() {
            let bound = |best: &TopK| {
                if is_some_of_each || best.bound == f32::NEG_INFINITY {
                    u16::MAX
                } else {
                    -best.bound as u16
                }
            };
            scan(bits, vectors, bound(&best), |at, far| {
                let doc = base + at as u32;
                let is_known = vectors.get(at).is_some_and(|vector| *vector != [0; 4]);
                if is_known && self.allows(doc) {
                    if is_some_of_each {
                        all.push((-f32::from(far), doc))
                    } else {
                        best.insert(-f32::from(far), doc)
                    }
                }
                bound(&best)
            });
        }
        let found =
            if is_some_of_each { self.best_per_session(all, limit) } else { best.into_sorted() };
        found.into_iter().map(|(_, doc)| doc).collect()
    }

    fn by_date(&self, limit: usize) -> Vec<u32> {
        if self.query_terms.dates.is_empty() {
            return Vec::new();
        }
        let mut scored = Vec::new();
        for doc in 0..self.view.docs() as u32 {
            let Some(found) = self.view.doc(doc) else { continue };
            let fit = date_score(&self.query_terms.dates, found.minute.div_euclid(1_440));
            if fit > 0.0 && self.allows(doc) {
                scored.push((fit * 4.0 + self.matches.score(doc), doc));
            }
        }
        top_k(scored, limit).into_iter().map(|(_, doc)| doc).collect()
    }

    /// Scores documents by the index alone and keeps the best chunk of each message.
    fn score(&self, found: FxHashMap<u32, Origin>) -> Vec<Candidate> {
        let total = self.query_terms.total_weight();
        let mut by_message: FxHashMap<i64, Candidate> = FxHashMap::default();
        for (doc, origin) in found {
            let Some(here) = self.view.doc(doc) else { continue };
            let near = self.near(doc, here.words);
            let own = self.matches.mask(doc);
            let matched = |at: usize, near: f32| if own >> at & 1 == 1 { 1.0 } else { near };
            let words = self.query_terms.words.iter().zip(near).enumerate();
            let coverage =
                words.map(|(at, (word, near))| word.weight * matched(at, near)).sum::<f32>();
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
                exchange: 0.0,
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
            let own = self.sign_similarity(candidate.doc);
            candidate.context = self.context(candidate.doc, doc.words);
            let similarity = similarity_in_context(own, candidate.context);
            candidate.conversation = covered.get(&candidate.session).copied().unwrap_or(0.0);
            candidate.exchange = self.exchange(candidate.doc, &doc);
            let role = RoleFeatures::of(
                self.query_terms.question.preferred,
                doc.role,
                usize::from(doc.words),
            );
            let features = Features {
                person: role.person,
                assistant: role.assistant,
                conclusion: role.conclusion,
                output: role.output,
                printed: role.printed,
                exchange: candidate.exchange,
                replies: self.replies(candidate.doc, &doc),
                decision: decision(&self.query_terms.question, doc.role),
                coverage: candidate.coverage,
                similarity,
                session,
                speaker: f32::from(u8::from(candidate.is_named)),
                date: date_score(&self.query_terms.dates, doc.minute.div_euclid(1_440)),
                conversation: candidate.conversation,
                length: length(usize::from(doc.words)),
                ..Features::default()
            };
            candidate.score = features.score();
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
        candidates
    }

    /// The share of the query's word weight that each session covers near its candidates.
    fn conversations(&self, docs: impl Iterator<Item = (i64, u32)>) -> FxHashMap<i64, f32> {
        let mut masks: FxHashMap<i64, u16> = FxHashMap::default();
        for (session, doc) in docs {
            let mask = masks.entry(session).or_insert(0);
            for near in
                doc.saturating_sub(CONVERSATION_DOCS)..=doc.saturating_add(CONVERSATION_DOCS)
            {
                let found = self.matches.mask(near);
                if found & !*mask != 0 && self.view.session(near) == Some(session) {
                    *mask |= found;
                }
            }
        }
        masks.into_iter().map(|(session, mask)| (session, self.mask_weight(mask))).collect()
    }

    /// The message that ends the exchange that a user's message began, if it is not a neighbour.
    fn answer(&self, doc: u32) -> Option<u32> {
        let role = |at: u32| self.view.doc(at).map(|doc| doc.role);
        if role(doc) != Some(role::USER) {
            return None;
        }
        let after = self.view.nearby(doc, 1, EXCHANGE_SCAN_DOCS);
        let exchange = after.take_while(|at| role(*at) != Some(role::USER));
        exchange.filter(|at| role(*at) == Some(role::ASSISTANT)).last()
    }

    /// How far the user's message that began the exchange of an assistant's or a tool's message
    /// covers the query. The message that ends the exchange answers it; the ones on the way less.
    fn exchange(&self, doc: u32, here: &Doc) -> f32 {
        let share = match here.role {
            role::ASSISTANT => {
                let next = self.view.nearby(doc, 1, EXCHANGE_SCAN_DOCS).next();
                let next = next.and_then(|next| self.view.doc(next));
                if next.is_none_or(|next| next.role == role::USER) { 1.0 } else { 0.5 }
            }
            role::TOOL => 0.25,
            _ => return 0.0,
        };
        let mut before = self.view.nearby(doc, -1, EXCHANGE_SCAN_DOCS);
        let is_user = |at: &u32| self.view.doc(*at).is_some_and(|doc| doc.role == role::USER);
        let Some(question) = before.find(is_user) else { return 0.0 };
        share * self.mask_weight(self.message_mask(self.view.first_chunk(question)))
    }

    /// How far the assistant's message that a user's short message replies to covers the query.
    fn replies(&self, doc: u32, here: &Doc) -> f32 {
        if here.role != role::USER || usize::from(here.words) > REPLY_WORDS_MAX {
            return 0.0;
        }
        let previous = self.view.nearby(doc, -1, NEIGHBOUR_SCAN_DOCS).next();
        let is_assistant =
            |at: &u32| self.view.doc(*at).is_some_and(|doc| doc.role == role::ASSISTANT);
        let Some(previous) = previous.filter(is_assistant) else { return 0.0 };
        self.mask_weight(self.message_mask(self.view.first_chunk(previous)))
    }

    /// The share of the query's word weight that a mask has.
    fn mask_weight(&self, mask: u16) -> f32 {
        let words = self.query_terms.words.iter().enumerate();
        let matched = words.filter(|(at, _)| mask >> at & 1 == 1);
        matched.map(|(_, word)| word.weight).sum::<f32>() / self.query_terms.total_weight()
    }

    /// The similarity of a document, estimated from vector signs.
    fn sign_similarity(&self, doc: u32) -> f32 {
        match (&self.query_terms.vector, self.view.bits(doc)) {
            (Some((_, asked)), Some(bits)) => cosine(distance(asked, bits)),
            _ => 0.0,
        }
    }

    /// The similarity that the neighbours of a document add.
    fn context(&self, doc: u32, words: u16) -> f32 {
        if self.query_terms.vector.is_none() {
            return 0.0;
        }
        let own_fade = length_discount(usize::from(words));
        let mut context = 0.0;
        for (step, shares) in [(-1, [CONTEXT[0], CONTEXT[2]]), (1, [CONTEXT[1], CONTEXT[3]])] {
            for (at, share) in self.view.nearby(doc, step, NEIGHBOUR_SCAN_DOCS).zip(shares) {
                let words = self.view.doc(at).map_or(0, |doc| usize::from(doc.words));
                context += share * own_fade * length_discount(words) * self.sign_similarity(at);
            }
        }
        context
    }

    fn message_mask(&self, first: u32) -> u16 {
        let seq = self.view.doc(first).map(|doc| doc.seq);
        let chunks = (first..).take_while(|doc| self.view.doc(*doc).map(|found| found.seq) == seq);
        chunks.map(|doc| self.matches.mask(doc)).fold(0, |all, mask| all | mask)
    }

    /// How well the neighbours of a document match each word.
    fn near(&self, doc: u32, words: u16) -> [f32; QUERY_WORDS_MAX] {
        let own_fade = length_discount(usize::from(words));
        let mut near = [0.0f32; QUERY_WORDS_MAX];
        for (step, shares) in
            [(-1, [NEIGHBOURS[0], NEIGHBOURS[2]]), (1, [NEIGHBOURS[1], NEIGHBOURS[3]])]
        {
            for (at, share) in self.view.nearby(doc, step, NEIGHBOUR_SCAN_DOCS).zip(shares) {
                let mask = self.matches.mask(at);
                if mask != 0 {
                    let words = self.view.doc(at).map_or(0, |doc| doc.words);
                    let share = share * own_fade * length_discount(usize::from(words));
                    for (at, matched) in near.iter_mut().enumerate() {
                        if mask >> at & 1 == 1 {
                            *matched = matched.max(share);
                        }
                    }
                }
            }
        }
        near
    }
}
