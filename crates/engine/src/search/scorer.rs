//! Reads the texts of the best candidates and of their neighbours and computes every feature of the
//! score.

use super::candidates::{Candidate, NEIGHBOUR_SCAN_DOCS};
use super::features::{
    CONTEXT, Features, NEIGHBOURS, REPLY_WORDS_MAX, RoleFeatures, date_score, decision, length,
    length_discount, may_be_user, similarity, similarity_in_context,
};
use super::known_text::{Correction, KnownText, KnownTextsAt, Vector};
use super::query_terms::QueryTerms;
use super::reading::{ReadAs, TermMatches, Text, WordMatches};
use super::rows::Rows;
use crate::WordModel;
use crate::index::stored_vectors;
use oneiro_index::{View, role, role_code};
use oneiro_model::{Result, Role, Visibility};
use oneiro_store::Tx;
use oneiro_text::{Analyzer, Marks};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// A candidate with its features.
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) features: Features,
    pub(super) matched: WordMatches,
    /// How well its own text matches each word, without neighbours.
    pub(super) own: WordMatches,
    pub(super) correction: Correction,
    /// How far it is a short statement of the user, from 0 to 1.
    pub(super) statement: f32,
    /// Whether it calls a tool, or a tool wrote it.
    pub(super) is_tool_work: bool,
    /// The best chunk.
    pub(super) chunk: Range<usize>,
    pub(super) vector: Option<Vector>,
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
    pub(super) rows: &'l Rows,
    pub(super) known: KnownTextsAt<'l>,
}

/// Reads texts and scores candidates.
pub(super) struct Scorer<'l, 'c> {
    tx: &'l Tx<'c>,
    view: &'l View<'l>,
    rows: &'l Rows,
    pub(super) query_terms: &'l QueryTerms,
    analyzer: &'l mut Analyzer,
    vectors: Vectors<'l>,
    texts: FxHashMap<i64, Text>,
    matches: TermMatches,
    known: KnownTextsAt<'l>,
    /// The query vector mixed with the best candidates of the first batch.
    pub(super) wanted: Option<Vec<f32>>,
    /// The session of the best candidate of the first batch, and how it matches.
    pub(super) best: Option<(i64, WordMatches)>,
}

impl<'l, 'c> Scorer<'l, 'c> {
    pub(super) fn new(
        snapshot: Snapshot<'l, 'c>,
        query_terms: &'l QueryTerms,
        analyzer: &'l mut Analyzer,
        vectors: Vectors<'l>,
    ) -> Scorer<'l, 'c> {
        Scorer {
            tx: snapshot.tx,
            view: snapshot.view,
            rows: snapshot.rows,
            query_terms,
            analyzer,
            vectors,
            texts: FxHashMap::default(),
            matches: TermMatches::new(query_terms),
            known: snapshot.known,
            wanted: None,
            best: None,
        }
    }

    /// A message that was read.
    pub(super) fn text(&self, seq: i64) -> Option<&Text> {
        self.texts.get(&seq)
    }

    /// Reads the messages that were not read yet, and adds the vectors that are needed.
    fn read(&mut self, seqs: &[i64], read_as: ReadAs) -> Result<()> {
        let mut missing: Vec<i64> =
            seqs.iter().copied().filter(|seq| !self.texts.contains_key(seq)).collect();
        missing.sort_unstable();
        missing.dedup();
        let mut known = self.known.get(&missing);
        let mut analysed = Vec::new();
        for said in self.rows.by_numbers(self.tx, &missing)? {
            let seq = said.seq;
            let known = known.remove(&seq).unwrap_or_else(|| {
                let text = Arc::new(KnownText::read(&said, self.analyzer));
                analysed.push((seq, Arc::clone(&text)));
                text
            });
            let mut text = Text::new(said, known, &self.matches);
            if let Vectors::Kept(name) = self.vectors {
                text.set_vectors(stored_vectors(self.tx, seq, name)?);
            }
            self.texts.insert(seq, text);
        }
        self.known.add(analysed);
        if let Vectors::Words(model) = self.vectors
            && self.query_terms.vector.is_some()
        {
            let embed = |text: &str| {
                let mut vector = vec![0.0; model.dims()];
                model.embed(text, &mut vector).then(|| vector.into())
            };
            for seq in seqs {
                if let Some(text) = self.texts.get_mut(seq) {
                    text.add_vectors(read_as, &embed);
                }
            }
        }
        Ok(())
    }

    /// Reads and scores candidates, with their neighbours as far as the index knows them. Deleted,
    /// rewound and rejected ones are left out.
    pub(super) fn score_batch(
        &mut self,
        candidates: &[Candidate],
        holds: &mut dyn FnMut(&Text) -> bool,
    ) -> Result<Vec<Scored>> {
        let seqs: Vec<i64> = candidates.iter().map(|candidate| candidate.seq).collect();
        self.read(&seqs, ReadAs::Candidate)?;
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
        let seqs: Vec<i64> = around.iter().flatten().flatten().copied().collect();
        self.read(&seqs, ReadAs::Neighbour)?;
        for (one, near) in scored.iter_mut().zip(around) {
            let Some(text) = self.texts.get(&one.candidate.seq) else { continue };
            *one = self.score_one(one.candidate.clone(), text, Some(near));
        }
        Ok(())
    }

    /// The messages before a document in its session, the nearest first.
    pub(super) fn before(&self, doc: u32, count: usize) -> impl Iterator<Item = i64> {
        let nearby = self.view.nearby(doc, -1, NEIGHBOUR_SCAN_DOCS);
        nearby.take(count).filter_map(|at| self.view.doc(at).map(|doc| doc.seq))
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
            let coverage = query_terms.share(&matched);
            let similarity = match (&query_terms.vector, chunk.vector.as_deref()) {
                (Some((asked, _)), Some(own)) if is_close => {
                    similarity(asked, &with_context(own, own_fade, &near))
                }
                (Some((asked, _)), Some(own)) => {
                    similarity_in_context(similarity(asked, own), candidate.context)
                }
                _ => 0.0,
            };
            let asked = &query_terms.question;
            let fits = |asked: bool, has: bool| f32::from(u8::from(asked && has));
            let gives = |asked: bool, mark: Marks| asked && chunk.marks.has(mark);
            let features = Features {
                coverage,
                similarity,
                number: if asked.version {
                    fits(true, chunk.has_new_version)
                } else {
                    fits(asked.number, chunk.has_new_number)
                },
                who: fits(asked.who, chunk.has_new_name),
                reason: fits(
                    gives(asked.reason, Marks::REASON) || gives(asked.decision, Marks::DECISION),
                    true,
                ),
                ..Features::default()
            };
            let score = features.score();
            if best.as_ref().is_none_or(|(there, _)| score > *there) {
                let scored = Scored {
                    candidate: candidate.clone(),
                    features,
                    matched,
                    own: chunk.matched,
                    correction: text.correction,
                    statement: 0.0,
                    is_tool_work: text.calls_tools || text.said.role == Role::Tool,
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
            own: WordMatches::default(),
            correction: Correction::None,
            statement: 0.0,
            is_tool_work: false,
            chunk: 0..text.end,
            vector: None,
        });
        let features = &mut scored.features;
        let day = text.said.at.day_number();
        features.date = date_score(&query_terms.dates, day);
        features.conversation = scored.candidate.conversation;
        features.believed = self.rows.belief(scored.candidate.seq);
        features.length = length(text.words);
        let flag = |is: bool| f32::from(u8::from(is));
        features.speaker = flag(text.name.is_some() && scored.candidate.is_named);
        let by = if text.matches_in_harness { None } else { Some(role_code(&text.said.role)) };
        let role = by.map(|by| RoleFeatures::of(query_terms.question.preferred, by, text.words));
        let role = role.unwrap_or_default();
        features.person = role.person;
        features.assistant = role.assistant;
        features.conclusion = role.conclusion;
        features.output = role.output;
        features.printed = role.printed;
        features.calls = flag(text.calls_tools);
        let is_user = by == Some(role::USER);
        if let Some(previous) = near.first().copied().flatten()
            && is_user
            && previous.said.role == Role::Assistant
            && text.words <= REPLY_WORDS_MAX
        {
            features.replies = query_terms.share(&previous.matched) * (1.0 - text.asks);
        }
        // Who has a name talks to other people, who state things just as well.
        if is_user && text.name.is_none() && self.rows.are_messages() {
            if text.words <= REPLY_WORDS_MAX {
                scored.statement = 1.0 - text.asks;
            }
            if may_be_user(query_terms.question.preferred) {
                features.user_length = features.length;
            }
        }
        let asks_value = query_terms.question.asks_value();
        let takes_back = text.correction == Correction::Contradiction;
        if asks_value && takes_back && !text.numbers.is_empty() {
            features.replaces = scored.statement;
        }
        let decides = by.filter(|_| text.asks < 0.5);
        features.decision = decides.map_or(0.0, |by| decision(&query_terms.question, by));
        features.time = flag(query_terms.question.time && text.marks.has(Marks::TIME));
        features.first_person = flag(text.marks.has(Marks::FIRST_PERSON));
        features.asks = text.asks;
        features.ids = query_terms.share_of_ids(&text.matched);
        features.exchange = scored.candidate.exchange;
        let known = text.matched.iter().filter(|matched| **matched >= 1.0).count();
        let novelty = if text.asks > 0.5 {
            text.new_words as f32 / known.max(1) as f32
        } else {
            text.new_words as f32
        };
        features.repeats = query_terms.share(&text.matched) * (1.0 - novelty).max(0.0);
        if let Some(previous) = near.first().copied().flatten()
            && previous.asks > 0.0
            && (previous.said.role != text.said.role || previous.name != text.name)
        {
            features.answers = query_terms.share(&previous.matched);
        }
        scored
    }
}

/// The mean of a chunk's vector and of that vector in its context.
fn with_context(own: &[f32], own_fade: f32, near: &[Option<&Text>; 4]) -> Vec<f32> {
    let mut context = own.to_vec();
    for (neighbour, share) in near.iter().zip(CONTEXT) {
        let Some(neighbour) = neighbour else { continue };
        let Some(vector) = &neighbour.vector else { continue };
        let share = share * own_fade * length_discount(neighbour.words);
        context.iter_mut().zip(vector.iter()).for_each(|(sum, value)| *sum += share * value);
    }
    let length = context.iter().map(|value| value * value).sum::<f32>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    context.iter_mut().zip(own).for_each(|(sum, own)| *sum = 0.5 * *sum * scale + 0.5 * own);
    context
}
