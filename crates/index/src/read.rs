//! Turns texts into documents: splits them into chunks, each with its terms and the sign bits of its
//! vector.

use crate::WordModel;
use crate::bits::{Bits, signs};
use crate::build::SegmentBuilder;
use crate::docs::Doc;
use crate::source::Text;
use oneiro_model::Result;
use oneiro_text::Analyzer;
use std::sync::Arc;

/// How many bytes of a text are indexed; the rest is stored but not found by its words.
const MAX_INDEXED_BYTES: usize = 1 << 20;

const MICROS_PER_MINUTE: i64 = 60_000_000;

/// The longest term of a speaker's name.
const MAX_NAME_TERM_BYTES: usize = 200;

/// Reads texts into segments. Reuse it: the analyzer caches words.
pub struct Reader {
    /// Reads words; a question is read by the same.
    pub analyzer: Analyzer,
    model: Option<Arc<dyn WordModel>>,
    makes_vectors: bool,
    vector: Vec<f32>,
}

impl Reader {
    /// Reads with the vectors of a model, or without any.
    pub fn new(model: Option<Arc<dyn WordModel>>) -> Reader {
        let vector = vec![0.0; model.as_ref().map_or(0, |model| model.dims())];
        Reader { analyzer: Analyzer::default(), model, makes_vectors: true, vector }
    }

    /// Whether it writes the vectors of its model.
    pub fn use_vectors(&mut self, makes_vectors: bool) {
        self.makes_vectors = makes_vectors;
    }

    /// The model whose vectors it writes.
    pub fn model(&self) -> Option<&str> {
        self.model.as_ref().filter(|_| self.makes_vectors).map(|model| model.id())
    }

    /// Adds a text to a segment.
    pub(crate) fn read(&mut self, from: &Text, into: &mut SegmentBuilder) -> Result<()> {
        let text = indexed(&from.text);
        let mut names = from.name.as_deref().map(name_terms).unwrap_or_default();
        let mut chunks = oneiro_text::chunks(text);
        if chunks.is_empty() {
            // A text without words is still found by speaker and time.
            chunks.push(0..0);
        }
        for chunk in chunks {
            let chunk = text.get(chunk).unwrap_or_default();
            let bits = self.signs(chunk);
            let mut terms = Terms::default();
            let mut words = 0u32;
            self.analyzer.tokens(chunk, |token| {
                words = words.max(token.position + 1);
                terms.push(token.term.as_bytes());
            });
            let doc = Doc {
                seq: from.number,
                kind: from.kind,
                session: from.session,
                minute: from.at.micros().div_euclid(MICROS_PER_MINUTE),
                role: from.role,
                words: u16::try_from(words).unwrap_or(u16::MAX),
            };
            let names = std::mem::take(&mut names);
            into.add(doc, bits, |each| {
                terms.iter().for_each(&mut *each);
                names.iter().for_each(|name| each(name));
            })?;
        }
        Ok(())
    }

    /// The signs of a text.
    fn signs(&mut self, text: &str) -> Bits {
        match &self.model {
            Some(model) if self.makes_vectors && model.embed(text, &mut self.vector) => {
                signs(&self.vector, Some(model.center()))
            }
            _ => Bits::default(),
        }
    }
}

/// A list of terms in one buffer, without an allocation for each.
#[derive(Default)]
struct Terms {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Terms {
    fn push(&mut self, term: &[u8]) {
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut from = 0;
        self.ends.iter().filter_map(move |end| {
            let term = self.bytes.get(from..*end);
            from = *end;
            term
        })
    }
}

/// The part of a text that is indexed.
pub fn indexed(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_INDEXED_BYTES)).unwrap_or(text)
}

/// The terms of a speaker: the whole name and each word of it.
fn name_terms(name: &str) -> Vec<Vec<u8>> {
    let whole = oneiro_text::normalise(name);
    let mut terms: Vec<Vec<u8>> = whole.split_whitespace().map(name_term).collect();
    terms.push(name_term(&whole));
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The term of a speaker's name. Its first byte occurs in no word.
pub fn name_term(name: &str) -> Vec<u8> {
    let mut term = vec![1];
    term.extend_from_slice(oneiro_text::normalise(name).as_bytes());
    term.truncate(MAX_NAME_TERM_BYTES);
    term
}
