//! What the second look at a candidate needs of its message: how far its chunks match the query, and
//! what its words show about it.

use super::known_text::{Correction, KnownTerm, KnownText, Vector};
use super::query_terms::{QUERY_WORDS_MAX, QueryTerms};
use oneiro_store::message_rows::MessageRow;
use oneiro_text::Marks;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// How well each word of the query is matched, from 0 to 1.
pub(super) type WordMatches = [f32; QUERY_WORDS_MAX];

/// How well the terms of messages match the words of a query.
pub(super) struct TermMatches {
    /// By the hash of a term.
    near: FxHashMap<u64, WordMatches>,
    /// Words that match only if all of their terms occur: the number of the word, and its terms.
    all_terms: Vec<(usize, Vec<u64>)>,
}

impl TermMatches {
    pub(super) fn new(query_terms: &QueryTerms) -> TermMatches {
        let mut near: FxHashMap<u64, WordMatches> = FxHashMap::default();
        let mut all_terms = Vec::new();
        for (at, word) in query_terms.words.iter().enumerate() {
            let exact = word.terms.iter().filter(|_| !word.all).map(|term| (term, 1.0));
            let about = word.near.iter().map(|(term, matched)| (term, *matched));
            for (term, matched) in exact.chain(about) {
                let slots = near.entry(KnownTerm::hash_of(term)).or_default();
                if let Some(slot) = slots.get_mut(at) {
                    *slot = slot.max(matched);
                }
            }
            if word.all {
                let terms = word.terms.iter().map(|term| KnownTerm::hash_of(term));
                all_terms.push((at, terms.collect()));
            }
        }
        TermMatches { near, all_terms }
    }
}

/// A message that was read.
pub(super) struct Text {
    pub(super) said: MessageRow,
    pub(super) name: Option<String>,
    /// The end of the text, in bytes.
    pub(super) end: usize,
    pub(super) chunks: Vec<Chunk>,
    /// The maximum over all chunks.
    pub(super) matched: WordMatches,
    /// Words, of repeated lines once.
    pub(super) words: usize,
    /// Whether only harness text in it matches the query.
    pub(super) matches_in_harness: bool,
    /// The vector of the whole message, if it was asked for.
    pub(super) vector: Option<Vector>,
    /// The share of it that asks.
    pub(super) asks: f32,
    /// What its words show, of all chunks.
    pub(super) marks: Marks,
    pub(super) correction: Correction,
    /// Content words that the query does not have.
    pub(super) new_words: usize,
    /// Whether it calls a tool.
    pub(super) calls_tools: bool,
    /// Numbers in it that the query does not have, as hashes of their terms.
    pub(super) numbers: Vec<u64>,
    known: Arc<KnownText>,
}

pub(super) struct Chunk {
    pub(super) range: Range<usize>,
    pub(super) matched: WordMatches,
    /// If it was asked for.
    pub(super) vector: Option<Vector>,
    pub(super) marks: Marks,
    /// Whether it has a number that the query has not.
    pub(super) has_new_number: bool,
    /// Whether it has a version that the query has not.
    pub(super) has_new_version: bool,
    /// Whether it has a name that the query has not.
    pub(super) has_new_name: bool,
}

/// Numbers of a message that are compared with those of others.
const NUMBERS_MAX: usize = 16;

/// What a message is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadAs {
    /// Each of its chunks is scored, with its vector.
    Candidate,
    /// It is the context of a candidate, with the vector of the whole message.
    Neighbour,
}

impl Text {
    pub(super) fn new(said: MessageRow, known: Arc<KnownText>, matches: &TermMatches) -> Text {
        let name = said.body.get("name").and_then(serde_json::Value::as_str).map(str::to_owned);
        let mut chunks: Vec<Chunk> = Vec::with_capacity(known.chunks.len());
        let mut matched = WordMatches::default();
        let mut new_words = 0;
        let mut numbers = Vec::new();
        let (mut matched_in_words, mut matched_in_harness) = (false, false);
        for chunk in &known.chunks {
            let mut here = WordMatches::default();
            let (mut has_new_number, mut has_new_version) = (false, false);
            let mut has_new_name = false;
            let mut seen = AllTerms::new(matches);
            for term in &chunk.terms {
                let found = matches.near.get(&term.hash());
                if found.is_none() {
                    new_words += usize::from(term.is_content());
                    has_new_number |= term.is_number();
                    has_new_version |= term.is_version();
                    has_new_name |= term.is_name();
                    if term.is_number() && numbers.len() < NUMBERS_MAX {
                        numbers.push(term.hash());
                    }
                }
                raise(&mut here, found);
                seen.record(*term, &mut here);
            }
            matched_in_words |= here.iter().any(|matched| *matched > 0.0);
            let before = here;
            for term in &chunk.harness_terms {
                raise(&mut here, matches.near.get(&term.hash()));
                seen.record(*term, &mut here);
            }
            matched_in_harness |= here != before;
            raise(&mut matched, Some(&here));
            chunks.push(Chunk {
                range: chunk.range.clone(),
                matched: here,
                vector: None,
                marks: chunk.marks,
                has_new_number,
                has_new_version,
                has_new_name,
            });
        }
        Text {
            calls_tools: said.body.get("tool_calls").is_some_and(|calls| !calls.is_null()),
            numbers,
            name,
            end: known.end,
            chunks,
            matched,
            words: known.words,
            matches_in_harness: matched_in_harness && !matched_in_words,
            vector: None,
            asks: known.asks,
            marks: known.marks,
            correction: known.correction,
            new_words,
            said,
            known,
        }
    }

    /// Adds the vectors that are needed, from those that are known or by `embed`.
    pub(super) fn add_vectors(&mut self, read_as: ReadAs, embed: &dyn Fn(&str) -> Option<Vector>) {
        match read_as {
            ReadAs::Candidate => {
                let vectors = self.known.chunk_vectors(&self.said, embed);
                for (chunk, vector) in self.chunks.iter_mut().zip(vectors) {
                    chunk.vector.clone_from(vector);
                }
            }
            ReadAs::Neighbour => {
                self.vector = self.known.whole_vector(&self.said, embed).cloned();
            }
        }
    }

    /// Sets the vectors that a remote model gave its chunks; the first stands for the whole message.
    pub(super) fn set_vectors(&mut self, mut stored: FxHashMap<i64, Vec<f32>>) {
        for (at, chunk) in self.chunks.iter_mut().enumerate() {
            chunk.vector = stored.remove(&(at as i64)).map(Vector::from);
        }
        self.vector = self.chunks.first().and_then(|chunk| chunk.vector.clone());
    }
}

/// Raises matches to those of one term.
fn raise(here: &mut WordMatches, matched: Option<&WordMatches>) {
    for (here, matched) in here.iter_mut().zip(matched.into_iter().flatten()) {
        *here = here.max(*matched);
    }
}

/// Tracks words that match only if all of their terms occur.
struct AllTerms<'q> {
    words: &'q [(usize, Vec<u64>)],
    /// For each of these words, a bit for each of its terms that occurred.
    seen: Vec<u64>,
}

impl<'q> AllTerms<'q> {
    fn new(matches: &'q TermMatches) -> AllTerms<'q> {
        AllTerms { words: &matches.all_terms, seen: vec![0; matches.all_terms.len()] }
    }

    fn record(&mut self, term: KnownTerm, matched: &mut WordMatches) {
        for ((word, terms), seen) in self.words.iter().zip(&mut self.seen) {
            let Some(at) = terms.iter().position(|wanted| *wanted == term.hash()) else { continue };
            *seen |= 1 << at.min(63);
            if seen.count_ones() as usize >= terms.len().min(64)
                && let Some(matched) = matched.get_mut(*word)
            {
                *matched = 1.0;
            }
        }
    }
}
