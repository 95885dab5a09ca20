//! The closer look: the texts of the best candidates and of their neighbours are read, and every
//! part of the score is measured on them.

use super::candidates::{Candidate, NEAR};
use super::question::{Question, WORDS};
use super::rank::{CONTEXT, Measured, NEIGHBOURS, date_fit, fade, in_context, length, similarity};
use crate::WordModel;
use crate::index::stored_of;
use oneiro_index::{View, indexed};
use oneiro_model::{Result, Role, Searchable, Visibility, searchable_split};
use oneiro_store::Tx;
use oneiro_store::said::{self, Said};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How far the words of a question are met, each from 0 to 1.
type Met = [f32; WORDS];

/// A message that was read.
pub(super) struct Text {
    pub(super) said: Said,
    pub(super) text: String,
    pub(super) name: Option<String>,
    chunks: Vec<Chunk>,
    /// The best of all chunks for each word.
    met: Met,
    words: usize,
    /// Whether only harness text in it meets the question.
    meets_in_harness: bool,
    /// The vector of the whole.
    vector: Option<Vec<f32>>,
    asks: bool,
    tells_time: bool,
    tells_of_self: bool,
}

struct Chunk {
    range: Range<usize>,
    met: Met,
    vector: Option<Vec<f32>>,
}

/// A candidate that was looked at.
pub(super) struct Looked {
    pub(super) candidate: Candidate,
    pub(super) measured: Measured,
    pub(super) met: Met,
    /// The chunk that matters.
    pub(super) chunk: Range<usize>,
    vector: Option<Vec<f32>>,
}

/// Words met this little, neighbours included, are met by chance.
const COVERED: f32 = 0.05;

/// Meanings this far apart have nothing to do with each other.
const NEAR_AT_ALL: f32 = 0.25;

impl Looked {
    /// Whether there is any reason to show it.
    pub(super) fn is_about(&self) -> bool {
        let measured = &self.measured;
        self.candidate.mask != 0
            || measured.coverage > COVERED
            || measured.similarity > NEAR_AT_ALL
            || measured.date > 0.0
    }
}

/// Where the vectors of texts come from.
#[derive(Clone, Copy)]
pub(super) enum Vectors<'v> {
    /// Nowhere.
    None,
    /// They are made here.
    Words(&'v dyn WordModel),
    /// They are kept under a name.
    Kept(&'v str),
}

/// Reads texts and measures candidates.
pub(super) struct Look<'l, 'c> {
    tx: &'l Tx<'c>,
    view: &'l View<'l>,
    question: &'l Question,
    analyzer: &'l mut Analyzer,
    vectors: Vectors<'l>,
    texts: FxHashMap<i64, Text>,
    /// How far each term meets each word of the question.
    near: FxHashMap<&'l str, Met>,
    /// What the best candidates are about, once that is known.
    wanted: Option<Vec<f32>>,
}

impl<'l, 'c> Look<'l, 'c> {
    pub(super) fn new(
        (tx, view): (&'l Tx<'c>, &'l View<'l>),
        question: &'l Question,
        analyzer: &'l mut Analyzer,
        vectors: Vectors<'l>,
    ) -> Look<'l, 'c> {
        let mut near: FxHashMap<&str, Met> = FxHashMap::default();
        for (at, word) in question.words.iter().enumerate() {
            let exact = word.terms.iter().filter(|_| !word.all).map(|term| (term, 1.0));
            let about = word.near.iter().map(|(term, met)| (term, *met));
            for (term, met) in exact.chain(about) {
                if let Some(slot) = near.entry(term).or_default().get_mut(at) {
                    *slot = slot.max(met);
                }
            }
        }
        Look {
            tx,
            view,
            question,
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

    /// Reads the messages among `seqs` that were not read yet.
    pub(super) fn read(&mut self, seqs: impl Iterator<Item = i64>) -> Result<()> {
        let mut missing: Vec<i64> = seqs.filter(|seq| !self.texts.contains_key(seq)).collect();
        missing.sort_unstable();
        missing.dedup();
        for said in said::said(self.tx, &missing)? {
            let kept = match self.vectors {
                Vectors::Kept(name) => stored_of(self.tx, said.seq, name)?,
                Vectors::None | Vectors::Words(_) => FxHashMap::default(),
            };
            let text = self.analyse(said, kept);
            self.texts.insert(text.said.seq, text);
        }
        Ok(())
    }

    fn analyse(&mut self, said: Said, mut kept: FxHashMap<i64, Vec<f32>>) -> Text {
        let Searchable { text, said: said_bytes } = searchable_split(&said.role, &said.body);
        let name = said.body.get("name").and_then(serde_json::Value::as_str).map(str::to_owned);
        let mut chunks = Vec::new();
        let mut met = Met::default();
        let mut words = 0;
        let (mut tells_time, mut tells_of_self) = (false, false);
        let (mut met_in_words, mut met_in_harness) = (false, false);
        for range in oneiro_text::chunks(indexed(&text)) {
            let part = text.get(range.clone()).unwrap_or_default();
            let mut here = Met::default();
            let (near, asks_when) = (&self.near, self.question.asks_when);
            let mut seen = AllTerms::new(self.question);
            let words_end = said_bytes.saturating_sub(range.start).min(part.len());
            let (in_words, in_harness) = part.split_at_checked(words_end).unwrap_or((part, ""));
            self.analyzer.tokens(in_words, |token| {
                words += usize::from(token.stop || token.term.len() > 1);
                tells_time |= asks_when && oneiro_text::is_time_word(token.norm);
                tells_of_self |= oneiro_text::is_first_person(token.norm);
                meet(near, token.term, &mut here);
                seen.see(token.term, &mut here);
            });
            met_in_words |= here.iter().any(|met| *met > 0.0);
            if !in_harness.is_empty() {
                let before = here;
                self.analyzer.tokens(in_harness, |token| {
                    meet(near, token.term, &mut here);
                    seen.see(token.term, &mut here);
                });
                met_in_harness |= here != before;
            }
            met.iter_mut().zip(here).for_each(|(all, here)| *all = all.max(here));
            let vector = kept.remove(&(chunks.len() as i64)).or_else(|| self.embed(part));
            chunks.push(Chunk { vector, range, met: here });
        }
        let vector = match chunks.as_slice() {
            [first, rest @ ..] if rest.is_empty() || matches!(self.vectors, Vectors::Kept(_)) => {
                first.vector.clone()
            }
            _ => self.embed(indexed(&text)),
        };
        let words_said = text.get(..said_bytes).unwrap_or(&text);
        let asks = words_said.trim_end().ends_with(['?', '？', '؟']);
        let meets_in_harness = met_in_harness && !met_in_words;
        Text {
            said,
            name,
            chunks,
            met,
            words,
            meets_in_harness,
            vector,
            asks,
            tells_time,
            tells_of_self,
            text,
        }
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let Vectors::Words(model) = self.vectors else { return None };
        self.question.vector.as_ref()?;
        let mut vector = vec![0.0; model.dims()];
        model.embed(text, &mut vector).then_some(vector)
    }

    /// Reads candidates and measures them with what the index tells of their neighbours. Those
    /// that are gone, rewound or refused are left out.
    pub(super) fn measure(
        &mut self,
        candidates: &[Candidate],
        holds: &mut dyn FnMut(&Text) -> bool,
    ) -> Result<Vec<Looked>> {
        self.read(candidates.iter().map(|candidate| candidate.seq))?;
        let mut looked = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let Some(text) = self.texts.get(&candidate.seq) else { continue };
            if text.said.visibility != Visibility::Rewound && holds(text) {
                looked.push(self.measure_one(candidate.clone(), text, None));
            }
        }
        Ok(looked)
    }

    /// Measures the best of them again, with their neighbours read as well.
    pub(super) fn measure_closer(&mut self, looked: &mut [Looked]) -> Result<()> {
        let around: Vec<[Option<i64>; 4]> =
            looked.iter().map(|one| self.neighbours(one.candidate.doc)).collect();
        self.read(around.iter().flatten().flatten().copied())?;
        for (one, near) in looked.iter_mut().zip(around) {
            let Some(text) = self.texts.get(&one.candidate.seq) else { continue };
            *one = self.measure_one(one.candidate.clone(), text, Some(near));
        }
        Ok(())
    }

    fn neighbours(&self, doc: u32) -> [Option<i64>; 4] {
        let mut near = [None; 4];
        for (step, places) in [(-1, [0, 2]), (1, [1, 3])] {
            let found = self.view.nearby(doc, step, NEAR).zip(places);
            for (at, place) in found {
                if let Some(slot) = near.get_mut(place) {
                    *slot = self.view.doc(at).map(|doc| doc.seq);
                }
            }
        }
        near
    }

    fn measure_one(
        &self,
        candidate: Candidate,
        text: &Text,
        around: Option<[Option<i64>; 4]>,
    ) -> Looked {
        let question = self.question;
        let near = around.unwrap_or_default().map(|seq| {
            let text = self.texts.get(&seq?)?;
            (text.said.visibility != Visibility::Rewound).then_some(text)
        });
        let is_close = around.is_some();
        let total = question.total_weight();
        let own_fade = fade(text.words);
        let mut best: Option<(f32, Looked)> = None;
        for chunk in &text.chunks {
            let mut met = chunk.met;
            if !is_close {
                met.iter_mut().zip(candidate.near).for_each(|(met, near)| *met = met.max(near));
            }
            for (neighbour, share) in near.iter().zip(NEIGHBOURS) {
                let Some(neighbour) = neighbour else { continue };
                let share = share * own_fade * fade(neighbour.words);
                for (met, theirs) in met.iter_mut().zip(neighbour.met) {
                    *met = met.max(share * theirs);
                }
            }
            let weighted = question.words.iter().zip(met).map(|(word, met)| word.weight * met);
            let coverage = weighted.sum::<f32>() / total;
            let similarity = match (&question.vector, chunk.vector.as_deref()) {
                (Some((asked, _)), Some(own)) if is_close => {
                    similarity(asked, &with_context(own, own_fade, &near))
                }
                (Some((asked, _)), Some(own)) => {
                    in_context(similarity(asked, own), candidate.context)
                }
                _ => 0.0,
            };
            let measured = Measured { coverage, similarity, ..Measured::default() };
            let score = measured.score();
            if best.as_ref().is_none_or(|(there, _)| score > *there) {
                let looked = Looked {
                    candidate: candidate.clone(),
                    measured,
                    met,
                    chunk: chunk.range.clone(),
                    vector: chunk.vector.clone(),
                };
                best = Some((score, looked));
            }
        }
        let mut looked = best.map(|(_, looked)| looked).unwrap_or_else(|| Looked {
            candidate,
            measured: Measured::default(),
            met: Met::default(),
            chunk: 0..text.text.len(),
            vector: None,
        });
        let measured = &mut looked.measured;
        let day = text.said.at.micros().div_euclid(86_400_000_000);
        measured.date = date_fit(&question.dates, day);
        measured.conversation = looked.candidate.conversation;
        measured.length = length(text.words);
        measured.speaker = f32::from(u8::from(self.is_by_whom_it_asks(text, &looked.candidate)));
        measured.time = f32::from(u8::from(question.asks_when && text.tells_time));
        measured.person = f32::from(u8::from(text.tells_of_self));
        measured.asks = f32::from(u8::from(text.asks));
        if let Some(previous) = near.first().copied().flatten()
            && previous.asks
            && (previous.said.role != text.said.role || previous.name != text.name)
        {
            let met = question.words.iter().zip(previous.met);
            measured.answers = met.map(|(word, met)| word.weight * met).sum::<f32>() / total;
        }
        looked
    }

    /// Whether the question is about what this speaker said: it names them, or, where nobody has a
    /// name, the person it comes from said it themselves.
    fn is_by_whom_it_asks(&self, text: &Text, candidate: &Candidate) -> bool {
        match (&text.name, self.question.names.is_empty()) {
            (Some(_), false) => candidate.is_named,
            (None, _) => text.said.role == Role::User && !text.meets_in_harness,
            (Some(_), true) => false,
        }
    }

    /// Adds what can only be known when all were looked at: the best of each session, and what the
    /// best candidates are about.
    pub(super) fn settle(&self, looked: &mut [Looked], others: &[Candidate]) {
        let mut sessions: FxHashMap<i64, f32> = FxHashMap::default();
        let exact = looked.iter().map(|one| (one.candidate.session, one.measured.coverage));
        let cheap = others.iter().map(|one| (one.session, one.coverage));
        for (session, coverage) in exact.chain(cheap) {
            let best = sessions.entry(session).or_insert(0.0);
            *best = best.max(coverage);
        }
        for one in looked.iter_mut() {
            one.measured.session = sessions.get(&one.candidate.session).copied().unwrap_or(0.0);
            one.measured.feedback = 0.0;
        }
        sort(looked);
        let Some(wanted) = self.wanted.clone().or_else(|| self.wanted_of(looked)) else { return };
        for one in looked.iter_mut() {
            one.measured.feedback =
                one.vector.as_deref().map_or(0.0, |vector| similarity(&wanted, vector));
        }
        sort(looked);
    }
}

/// Notes how far a term meets the words of the question.
fn meet(near: &FxHashMap<&str, Met>, term: &str, here: &mut Met) {
    if let Some(met) = near.get(term) {
        here.iter_mut().zip(met).for_each(|(here, met)| *here = here.max(*met));
    }
}

impl Look<'_, '_> {
    /// The question with what the best three candidates say.
    fn wanted_of(&self, looked: &[Looked]) -> Option<Vec<f32>> {
        let (asked, _) = self.question.vector.as_ref()?;
        let top: Vec<&[f32]> =
            looked.iter().take(3).filter_map(|one| one.vector.as_deref()).collect();
        let mut wanted = asked.clone();
        for vector in &top {
            let share = 0.5 / top.len() as f32;
            wanted.iter_mut().zip(*vector).for_each(|(sum, value)| *sum += share * value);
        }
        (!top.is_empty()).then_some(wanted)
    }

    /// Holds all that come after against the best of the first.
    pub(super) fn keep_wanted(&mut self, looked: &[Looked]) {
        if self.wanted.is_none() {
            self.wanted = self.wanted_of(looked);
        }
    }
}

fn sort(looked: &mut [Looked]) {
    let key = |one: &Looked| (one.measured.score(), one.candidate.seq);
    looked.sort_by(|a, b| {
        let ((a, a_seq), (b, b_seq)) = (key(a), key(b));
        b.total_cmp(&a).then(b_seq.cmp(&a_seq))
    });
}

/// Half the vector of a chunk and half of it with its neighbours.
fn with_context(own: &[f32], own_fade: f32, near: &[Option<&Text>; 4]) -> Vec<f32> {
    let mut context = own.to_vec();
    for (neighbour, share) in near.iter().zip(CONTEXT) {
        let Some(neighbour) = neighbour else { continue };
        let Some(vector) = &neighbour.vector else { continue };
        let share = share * own_fade * fade(neighbour.words);
        context.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
    }
    let length = context.iter().map(|value| value * value).sum::<f32>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    context.iter_mut().zip(own).for_each(|(sum, own)| *sum = 0.5 * *sum * scale + 0.5 * own);
    context
}

/// Watches for words that are met only by all of their terms.
struct AllTerms<'q> {
    question: &'q Question,
    /// Which terms of each were seen.
    seen: Vec<u64>,
    is_needed: bool,
}

impl<'q> AllTerms<'q> {
    fn new(question: &'q Question) -> AllTerms<'q> {
        let is_needed = question.words.iter().any(|word| word.all);
        AllTerms { question, seen: vec![0; question.words.len()], is_needed }
    }

    fn see(&mut self, term: &str, met: &mut Met) {
        if !self.is_needed {
            return;
        }
        for ((word, seen), met) in
            self.question.words.iter().zip(&mut self.seen).zip(met.iter_mut())
        {
            let Some(at) = word.terms.iter().position(|wanted| wanted == term) else { continue };
            *seen |= 1 << at.min(63);
            if !word.all || seen.count_ones() as usize >= word.terms.len().min(64) {
                *met = 1.0;
            }
        }
    }
}
