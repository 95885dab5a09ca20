//! Reads the texts of the best candidates and of their neighbours and computes every feature of the
//! score.

use super::candidates::{Candidate, NEIGHBOUR_SCAN_DOCS};
use super::features::{
    CONTEXT, Features, NEIGHBOURS, date_score, length, length_discount, similarity,
    similarity_in_context,
};
use super::query_terms::{QUERY_WORDS_MAX, QueryTerms};
use crate::WordModel;
use crate::index::stored_vectors;
use oneiro_index::{View, indexed};
use oneiro_model::{Result, Role, Searchable, Visibility, searchable_split};
use oneiro_store::Tx;
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How well each word of the query is matched, from 0 to 1.
type WordMatches = [f32; QUERY_WORDS_MAX];

/// A message that was read.
pub(super) struct Text {
    pub(super) said: MessageRow,
    pub(super) text: String,
    pub(super) name: Option<String>,
    chunks: Vec<Chunk>,
    /// The maximum over all chunks.
    matched: WordMatches,
    words: usize,
    /// Whether only harness text in it matches the query.
    matches_in_harness: bool,
    /// The vector of the whole message.
    vector: Option<Vec<f32>>,
    asks: bool,
    has_time_word: bool,
    is_first_person: bool,
}

struct Chunk {
    range: Range<usize>,
    matched: WordMatches,
    vector: Option<Vec<f32>>,
}

/// A candidate with its features.
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) features: Features,
    pub(super) matched: WordMatches,
    /// The best chunk.
    pub(super) chunk: Range<usize>,
    vector: Option<Vec<f32>>,
}

/// Coverage up to this value, neighbours included, is accidental.
const COVERAGE_MIN: f32 = 0.05;

/// Vectors with a lower similarity are unrelated.
const SIMILARITY_MIN: f32 = 0.25;

impl Scored {
    /// Whether the candidate may be shown.
    pub(super) fn is_relevant(&self) -> bool {
        let features = &self.features;
        self.candidate.mask != 0
            || features.coverage > COVERAGE_MIN
            || features.similarity > SIMILARITY_MIN
            || features.date > 0.0
    }
}

/// Where the vectors of texts come from.
#[derive(Clone, Copy)]
pub(super) enum Vectors<'v> {
    None,
    /// Computed from word vectors.
    Words(&'v dyn WordModel),
    /// Stored under this name.
    Kept(&'v str),
}

/// A transaction and the index as it sees it.
pub(super) struct Snapshot<'l, 'c> {
    pub(super) tx: &'l Tx<'c>,
    pub(super) view: &'l View<'l>,
}

/// Reads texts and scores candidates.
pub(super) struct Scorer<'l, 'c> {
    tx: &'l Tx<'c>,
    view: &'l View<'l>,
    query_terms: &'l QueryTerms,
    analyzer: &'l mut Analyzer,
    vectors: Vectors<'l>,
    texts: FxHashMap<i64, Text>,
    /// How well each indexed term matches each word of the query.
    near: FxHashMap<&'l str, WordMatches>,
    /// The query vector mixed with the best candidates of the first batch.
    wanted: Option<Vec<f32>>,
}

impl<'l, 'c> Scorer<'l, 'c> {
    pub(super) fn new(
        snapshot: Snapshot<'l, 'c>,
        query_terms: &'l QueryTerms,
        analyzer: &'l mut Analyzer,
        vectors: Vectors<'l>,
    ) -> Scorer<'l, 'c> {
        let mut near: FxHashMap<&str, WordMatches> = FxHashMap::default();
        for (at, word) in query_terms.words.iter().enumerate() {
            let exact = word.terms.iter().filter(|_| !word.all).map(|term| (term, 1.0));
            let about = word.near.iter().map(|(term, matched)| (term, *matched));
            for (term, matched) in exact.chain(about) {
                if let Some(slot) = near.entry(term).or_default().get_mut(at) {
                    *slot = slot.max(matched);
                }
            }
        }
        Scorer {
            tx: snapshot.tx,
            view: snapshot.view,
            query_terms,
            analyzer,
            vectors,
            texts: FxHashMap::default(),
            near,
            wanted: None,
        }
    }

    /// A message that was read.
    pub(super) fn text(&self, seq: i64) -> Option<&Text> {
        self.texts.get(&seq)
    }

    /// Reads the messages that were not read yet.
    pub(super) fn read(&mut self, seqs: impl Iterator<Item = i64>) -> Result<()> {
        let mut missing: Vec<i64> = seqs.filter(|seq| !self.texts.contains_key(seq)).collect();
        missing.sort_unstable();
        missing.dedup();
        for said in message_rows::by_ids(self.tx, &missing)? {
            let kept = match self.vectors {
                Vectors::Kept(name) => stored_vectors(self.tx, said.seq, name)?,
                Vectors::None | Vectors::Words(_) => FxHashMap::default(),
            };
            let text = self.analyse(said, kept);
            self.texts.insert(text.said.seq, text);
        }
        Ok(())
    }

    fn analyse(&mut self, said: MessageRow, mut kept: FxHashMap<i64, Vec<f32>>) -> Text {
        let Searchable { text, said: words_end } = searchable_split(&said.role, &said.body);
        let name = said.body.get("name").and_then(serde_json::Value::as_str).map(str::to_owned);
        let mut chunks = Vec::new();
        let mut matched = WordMatches::default();
        let mut words = 0;
        let (mut has_time_word, mut is_first_person) = (false, false);
        let (mut matched_in_words, mut matched_in_harness) = (false, false);
        for range in oneiro_text::chunks(indexed(&text)) {
            let part = text.get(range.clone()).unwrap_or_default();
            let mut here = WordMatches::default();
            let (near, asks_for_time) = (&self.near, self.query_terms.asks_for_time);
            let mut seen = AllTerms::new(self.query_terms);
            let words_here = words_end.saturating_sub(range.start).min(part.len());
            let (in_words, in_harness) = part.split_at_checked(words_here).unwrap_or((part, ""));
            self.analyzer.tokens(in_words, |token| {
                words += usize::from(token.stop || token.term.len() > 1);
                has_time_word |= asks_for_time && oneiro_text::is_time_word(token.norm);
                is_first_person |= oneiro_text::is_first_person(token.norm);
                raise(&mut here, near.get(token.term));
                seen.record(token.term, &mut here);
            });
            matched_in_words |= here.iter().any(|matched| *matched > 0.0);
            if !in_harness.is_empty() {
                let before = here;
                self.analyzer.tokens(in_harness, |token| {
                    raise(&mut here, near.get(token.term));
                    seen.record(token.term, &mut here);
                });
                matched_in_harness |= here != before;
            }
            matched.iter_mut().zip(here).for_each(|(all, here)| *all = all.max(here));
            let vector = kept.remove(&(chunks.len() as i64)).or_else(|| self.embed(part));
            chunks.push(Chunk { vector, range, matched: here });
        }
        let vector = match chunks.as_slice() {
            [first, rest @ ..] if rest.is_empty() || matches!(self.vectors, Vectors::Kept(_)) => {
                first.vector.clone()
            }
            _ => self.embed(indexed(&text)),
        };
        let asks = text.get(..words_end).unwrap_or(&text).trim_end().ends_with(['?', '？', '؟']);
        Text {
            said,
            name,
            chunks,
            matched,
            words,
            matches_in_harness: matched_in_harness && !matched_in_words,
            vector,
            asks,
            has_time_word,
            is_first_person,
            text,
        }
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let Vectors::Words(model) = self.vectors else { return None };
        self.query_terms.vector.as_ref()?;
        let mut vector = vec![0.0; model.dims()];
        model.embed(text, &mut vector).then_some(vector)
    }

    /// Reads and scores candidates, with their neighbours as far as the index knows them. Deleted,
    /// rewound and rejected ones are left out.
    pub(super) fn score_batch(
        &mut self,
        candidates: &[Candidate],
        holds: &mut dyn FnMut(&Text) -> bool,
    ) -> Result<Vec<Scored>> {
        self.read(candidates.iter().map(|candidate| candidate.seq))?;
        let mut scored = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let Some(text) = self.texts.get(&candidate.seq) else { continue };
            if text.said.visibility != Visibility::Rewound && holds(text) {
                scored.push(self.score_one(candidate.clone(), text, None));
            }
        }
        Ok(scored)
    }

    /// Scores the best candidates again with the texts of their neighbours.
    pub(super) fn rescore_with_neighbours(&mut self, scored: &mut [Scored]) -> Result<()> {
        let around: Vec<[Option<i64>; 4]> =
            scored.iter().map(|one| self.neighbours(one.candidate.doc)).collect();
        self.read(around.iter().flatten().flatten().copied())?;
        for (one, near) in scored.iter_mut().zip(around) {
            let Some(text) = self.texts.get(&one.candidate.seq) else { continue };
            *one = self.score_one(one.candidate.clone(), text, Some(near));
        }
        Ok(())
    }

    fn neighbours(&self, doc: u32) -> [Option<i64>; 4] {
        let mut near = [None; 4];
        for (step, places) in [(-1, [0, 2]), (1, [1, 3])] {
            let found = self.view.nearby(doc, step, NEIGHBOUR_SCAN_DOCS).zip(places);
            for (at, page_start) in found {
                if let Some(slot) = near.get_mut(page_start) {
                    *slot = self.view.doc(at).map(|doc| doc.seq);
                }
            }
        }
        near
    }

    fn score_one(
        &self,
        candidate: Candidate,
        text: &Text,
        around: Option<[Option<i64>; 4]>,
    ) -> Scored {
        let query_terms = self.query_terms;
        let near = around.unwrap_or_default().map(|seq| {
            let text = self.texts.get(&seq?)?;
            (text.said.visibility != Visibility::Rewound).then_some(text)
        });
        let is_close = around.is_some();
        let total = query_terms.total_weight();
        let own_fade = length_discount(text.words);
        let mut best: Option<(f32, Scored)> = None;
        for chunk in &text.chunks {
            let mut matched = chunk.matched;
            if !is_close {
                matched
                    .iter_mut()
                    .zip(candidate.near)
                    .for_each(|(matched, near)| *matched = matched.max(near));
            }
            for (neighbour, share) in near.iter().zip(NEIGHBOURS) {
                let Some(neighbour) = neighbour else { continue };
                let share = share * own_fade * length_discount(neighbour.words);
                for (matched, theirs) in matched.iter_mut().zip(neighbour.matched) {
                    *matched = matched.max(share * theirs);
                }
            }
            let weighted =
                query_terms.words.iter().zip(matched).map(|(word, matched)| word.weight * matched);
            let coverage = weighted.sum::<f32>() / total;
            let similarity = match (&query_terms.vector, chunk.vector.as_deref()) {
                (Some((asked, _)), Some(own)) if is_close => {
                    similarity(asked, &with_context(own, own_fade, &near))
                }
                (Some((asked, _)), Some(own)) => {
                    similarity_in_context(similarity(asked, own), candidate.context)
                }
                _ => 0.0,
            };
            let features = Features { coverage, similarity, ..Features::default() };
            let score = features.score();
            if best.as_ref().is_none_or(|(there, _)| score > *there) {
                let scored = Scored {
                    candidate: candidate.clone(),
                    features,
                    matched,
                    chunk: chunk.range.clone(),
                    vector: chunk.vector.clone(),
                };
                best = Some((score, scored));
            }
        }
        let mut scored = best.map(|(_, scored)| scored).unwrap_or_else(|| Scored {
            candidate,
            features: Features::default(),
            matched: WordMatches::default(),
            chunk: 0..text.text.len(),
            vector: None,
        });
        let features = &mut scored.features;
        let day = text.said.at.micros().div_euclid(86_400_000_000);
        features.date = date_score(&query_terms.dates, day);
        features.conversation = scored.candidate.conversation;
        features.length = length(text.words);
        features.speaker =
            f32::from(u8::from(self.is_by_preferred_speaker(text, &scored.candidate)));
        features.time = f32::from(u8::from(query_terms.asks_for_time && text.has_time_word));
        features.person = f32::from(u8::from(text.is_first_person));
        features.asks = f32::from(u8::from(text.asks));
        if let Some(previous) = near.first().copied().flatten()
            && previous.asks
            && (previous.said.role != text.said.role || previous.name != text.name)
        {
            let matched = query_terms.words.iter().zip(previous.matched);
            features.answers =
                matched.map(|(word, matched)| word.weight * matched).sum::<f32>() / total;
        }
        scored
    }

    /// Whether the query asks for this speaker: it names them or, if speakers have no names, the
    /// message is from the user.
    fn is_by_preferred_speaker(&self, text: &Text, candidate: &Candidate) -> bool {
        match (&text.name, self.query_terms.names.is_empty()) {
            (Some(_), false) => candidate.is_named,
            (None, _) => text.said.role == Role::User && !text.matches_in_harness,
            (Some(_), true) => false,
        }
    }

    /// Adds the features that depend on the whole list: the best coverage of each session, and the
    /// similarity to the best candidates.
    pub(super) fn add_list_features(&self, scored: &mut [Scored], others: &[Candidate]) {
        let mut sessions: FxHashMap<i64, f32> = FxHashMap::default();
        let exact = scored.iter().map(|one| (one.candidate.session, one.features.coverage));
        let cheap = others.iter().map(|one| (one.session, one.coverage));
        for (session, coverage) in exact.chain(cheap) {
            let best = sessions.entry(session).or_insert(0.0);
            *best = best.max(coverage);
        }
        for one in scored.iter_mut() {
            one.features.session = sessions.get(&one.candidate.session).copied().unwrap_or(0.0);
            one.features.feedback = 0.0;
        }
        sort(scored);
        let Some(wanted) = self.wanted.clone().or_else(|| self.feedback_vector(scored)) else {
            return;
        };
        for one in scored.iter_mut() {
            one.features.feedback =
                one.vector.as_deref().map_or(0.0, |vector| similarity(&wanted, vector));
        }
        sort(scored);
    }
}

impl Scorer<'_, '_> {
    /// The query vector mixed with the vectors of the three best candidates.
    fn feedback_vector(&self, scored: &[Scored]) -> Option<Vec<f32>> {
        let (asked, _) = self.query_terms.vector.as_ref()?;
        let top: Vec<&[f32]> =
            scored.iter().take(3).filter_map(|one| one.vector.as_deref()).collect();
        let mut wanted = asked.clone();
        for vector in &top {
            let share = 0.5 / top.len() as f32;
            wanted.iter_mut().zip(*vector).for_each(|(sum, value)| *sum += share * value);
        }
        (!top.is_empty()).then_some(wanted)
    }

    /// Keeps the feedback vector of the first batch for all later ones.
    pub(super) fn fix_feedback(&mut self, scored: &[Scored]) {
        if self.wanted.is_none() {
            self.wanted = self.feedback_vector(scored);
        }
    }
}

/// Raises matches to those of one term.
fn raise(here: &mut WordMatches, matched: Option<&WordMatches>) {
    for (here, matched) in here.iter_mut().zip(matched.into_iter().flatten()) {
        *here = here.max(*matched);
    }
}

fn sort(scored: &mut [Scored]) {
    let key = |one: &Scored| (one.features.score(), one.candidate.seq);
    scored.sort_by(|a, b| {
        let ((a, a_seq), (b, b_seq)) = (key(a), key(b));
        b.total_cmp(&a).then(b_seq.cmp(&a_seq))
    });
}

/// The mean of a chunk's vector and of that vector in its context.
fn with_context(own: &[f32], own_fade: f32, near: &[Option<&Text>; 4]) -> Vec<f32> {
    let mut context = own.to_vec();
    for (neighbour, share) in near.iter().zip(CONTEXT) {
        let Some(neighbour) = neighbour else { continue };
        let Some(vector) = &neighbour.vector else { continue };
        let share = share * own_fade * length_discount(neighbour.words);
        context.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
    }
    let length = context.iter().map(|value| value * value).sum::<f32>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    context.iter_mut().zip(own).for_each(|(sum, own)| *sum = 0.5 * *sum * scale + 0.5 * own);
    context
}

/// Tracks words that match only if all of their terms occur.
struct AllTerms<'q> {
    query_terms: &'q QueryTerms,
    /// For each word, a bit for each of its terms that occurred.
    seen: Vec<u64>,
    is_needed: bool,
}

impl<'q> AllTerms<'q> {
    fn new(query_terms: &'q QueryTerms) -> AllTerms<'q> {
        let is_needed = query_terms.words.iter().any(|word| word.all);
        AllTerms { query_terms, seen: vec![0; query_terms.words.len()], is_needed }
    }

    fn record(&mut self, term: &str, matched: &mut WordMatches) {
        if !self.is_needed {
            return;
        }
        for ((word, seen), matched) in
            self.query_terms.words.iter().zip(&mut self.seen).zip(matched.iter_mut())
        {
            let Some(at) = word.terms.iter().position(|wanted| wanted == term) else { continue };
            *seen |= 1 << at.min(63);
            if !word.all || seen.count_ones() as usize >= word.terms.len().min(64) {
                *matched = 1.0;
            }
        }
    }
}
