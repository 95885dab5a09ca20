//! What is known of a message whatever the question: its chunks with their terms, marks and vectors.
//! It is kept in memory between searches, so that a message is analysed and embedded once.

use oneiro_index::indexed;
use oneiro_model::{Role, Searchable, searchable_split};
use oneiro_store::message_rows::MessageRow;
use oneiro_text::{Analyzer, Kind, Marks, Token};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::Hasher;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Memory for messages that are kept: about 35,000 of 60 words with vectors of 256 dimensions.
const KEPT_BYTES: usize = 64 << 20;

/// Estimated size of a message or a chunk without its terms and vectors.
const OVERHEAD_BYTES: usize = 200;

/// Words at the beginning of a message that may contradict what was said before.
const CONTRADICTION_WORDS: u32 = 3;

/// The vector of a text.
pub(super) type Vector = Arc<[f32]>;

/// A message as the second look at a candidate needs it.
pub(super) struct KnownText {
    /// The end of the text, in bytes.
    pub(super) end: usize,
    pub(super) chunks: Vec<KnownChunk>,
    /// Words, of repeated lines once.
    pub(super) words: usize,
    /// The share of it that asks.
    pub(super) asks: f32,
    /// What its words show, of all chunks.
    pub(super) marks: Marks,
    pub(super) correction: Correction,
    chunk_vectors: OnceLock<Vec<Option<Vector>>>,
    whole_vector: OnceLock<Option<Vector>>,
}

pub(super) struct KnownChunk {
    pub(super) range: Range<usize>,
    pub(super) marks: Marks,
    /// The terms in the order of the text, except those of harness text.
    pub(super) terms: Vec<KnownTerm>,
    pub(super) harness_terms: Vec<KnownTerm>,
}

/// Whether a message corrects what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Correction {
    None,
    /// It speaks of a change.
    Change,
    /// It contradicts.
    Contradiction,
}

/// A term as a hash of 60 bits, and four flags. Terms are only compared with the few hundred of a
/// query, so that equal hashes of different terms do not occur in practice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownTerm(u64);

impl KnownTerm {
    const IS_CONTENT: u64 = 1;
    const IS_NUMBER: u64 = 1 << 1;
    const IS_VERSION: u64 = 1 << 2;
    const IS_NAME: u64 = 1 << 3;
    const FLAGS: u64 = 0xF;

    /// The hash of a term, by which it is looked up.
    pub(super) fn hash_of(term: &str) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(term.as_bytes());
        hasher.finish() & !KnownTerm::FLAGS
    }

    /// A token of a text.
    fn of(token: &Token<'_>, marks: Marks, text: &str) -> KnownTerm {
        let mut term = KnownTerm::hash_of(token.term);
        if token.stop {
            return KnownTerm(term);
        }
        let is_content =
            token.kind != Kind::Part && token.term.len() > 1 && !marks.has(Marks::FILLER);
        let is_number = token.norm.bytes().any(|byte| byte.is_ascii_digit());
        let flags = [
            (is_content, KnownTerm::IS_CONTENT),
            (is_number, KnownTerm::IS_NUMBER),
            (is_number && is_version(token.norm), KnownTerm::IS_VERSION),
            (is_inner_capital(text, token.start as usize), KnownTerm::IS_NAME),
        ];
        flags.iter().filter(|(is_set, _)| *is_set).for_each(|(_, flag)| term |= flag);
        KnownTerm(term)
    }

    pub(super) fn hash(self) -> u64 {
        self.0 & !KnownTerm::FLAGS
    }

    /// Whether it is a word that says something by itself.
    pub(super) fn is_content(self) -> bool {
        self.0 & KnownTerm::IS_CONTENT != 0
    }

    /// Whether it has a digit.
    pub(super) fn is_number(self) -> bool {
        self.0 & KnownTerm::IS_NUMBER != 0
    }

    /// Whether it is written as a version.
    pub(super) fn is_version(self) -> bool {
        self.0 & KnownTerm::IS_VERSION != 0
    }

    /// Whether it is capitalised inside a sentence.
    pub(super) fn is_name(self) -> bool {
        self.0 & KnownTerm::IS_NAME != 0
    }
}

impl KnownText {
    pub(super) fn read(said: &MessageRow, analyzer: &mut Analyzer) -> KnownText {
        let Searchable { text, said: words_end } = searchable_split(&said.role, &said.body);
        let mut chunks: Vec<KnownChunk> = Vec::new();
        let mut words = 0;
        let mut all_marks = Marks::default();
        let mut contradicts = false;
        for range in oneiro_text::chunks(indexed(&text)) {
            let part = text.get(range.clone()).unwrap_or_default();
            let is_first = chunks.is_empty();
            let mut marks = Marks::default();
            let (mut terms, mut harness_terms) = (Vec::new(), Vec::new());
            let words_here = words_end.saturating_sub(range.start).min(part.len());
            let (in_words, in_harness) = part.split_at_checked(words_here).unwrap_or((part, ""));
            analyzer.tokens(in_words, |token| {
                words += usize::from(token.stop || token.term.len() > 1);
                let of_word = Marks::of(token.norm);
                marks = marks.and(of_word);
                contradicts |= is_first
                    && token.position < CONTRADICTION_WORDS
                    && of_word.has(Marks::CONTRADICTION);
                terms.push(KnownTerm::of(&token, of_word, in_words));
            });
            if !in_harness.is_empty() {
                analyzer.tokens(in_harness, |token| {
                    harness_terms.push(KnownTerm(KnownTerm::hash_of(token.term)));
                });
            }
            all_marks = all_marks.and(marks);
            chunks.push(KnownChunk { range, marks, terms, harness_terms });
        }
        let in_words = text.get(..words_end).unwrap_or(&text);
        let is_tool = said.role == Role::Tool;
        KnownText {
            end: text.len(),
            chunks,
            words: if is_tool { (words as f32 * distinct_share(&text)) as usize } else { words },
            asks: if is_tool { 0.0 } else { oneiro_text::question_share(in_words) },
            marks: all_marks,
            correction: if is_tool {
                Correction::None
            } else if contradicts || all_marks.has(Marks::CORRECTION) {
                Correction::Contradiction
            } else if all_marks.has(Marks::CHANGE) {
                Correction::Change
            } else {
                Correction::None
            },
            chunk_vectors: OnceLock::new(),
            whole_vector: OnceLock::new(),
        }
    }

    /// The vector of each chunk, computed by `embed` at the first call.
    pub(super) fn chunk_vectors(
        &self,
        said: &MessageRow,
        embed: &dyn Fn(&str) -> Option<Vector>,
    ) -> &[Option<Vector>] {
        self.chunk_vectors.get_or_init(|| {
            let text = searchable_split(&said.role, &said.body).text;
            let chunks = self.chunks.iter();
            chunks.map(|chunk| embed(text.get(chunk.range.clone()).unwrap_or_default())).collect()
        })
    }

    /// The vector of the whole message, computed by `embed` at the first call.
    pub(super) fn whole_vector(
        &self,
        said: &MessageRow,
        embed: &dyn Fn(&str) -> Option<Vector>,
    ) -> Option<&Vector> {
        if let [_] = self.chunks.as_slice() {
            return self.chunk_vectors(said, embed).first()?.as_ref();
        }
        let whole = self
            .whole_vector
            .get_or_init(|| embed(indexed(&searchable_split(&said.role, &said.body).text)));
        whole.as_ref()
    }

    /// Its size in memory when it has all its vectors.
    fn bytes(&self, dims: usize) -> usize {
        let of_chunk = |chunk: &KnownChunk| {
            let terms = chunk.terms.len() + chunk.harness_terms.len();
            OVERHEAD_BYTES + terms * size_of::<KnownTerm>() + dims * size_of::<f32>()
        };
        let whole = if self.chunks.len() > 1 { dims * size_of::<f32>() } else { 0 };
        OVERHEAD_BYTES + whole + self.chunks.iter().map(of_chunk).sum::<usize>()
    }
}

/// Whether a token is written as a version: 1.2, v3.12.2, 2.0-rc1.
fn is_version(norm: &str) -> bool {
    let digits = norm.strip_prefix('v').unwrap_or(norm);
    digits.split_once('.').is_some_and(|(major, minor)| {
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number(major) && minor.starts_with(|letter: char| letter.is_ascii_digit())
    })
}

/// Whether a word is capitalised inside a sentence, after a lower-case word.
fn is_inner_capital(text: &str, start: usize) -> bool {
    let is_capital = text
        .get(start..)
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_uppercase()));
    is_capital
        && text.get(..start).is_some_and(|before| {
            before.strip_suffix(' ').is_some_and(|before| before.ends_with(char::is_alphanumeric))
        })
}

/// The share of a tool's output that is in lines that differ in more than their digits.
fn distinct_share(text: &str) -> f32 {
    let mut seen = FxHashSet::default();
    let mut distinct = 0;
    for line in text.lines() {
        let mut hasher = FxHasher::default();
        line.bytes().filter(|byte| !byte.is_ascii_digit()).for_each(|byte| hasher.write_u8(byte));
        if seen.insert(hasher.finish()) {
            distinct += line.len();
        }
    }
    distinct as f32 / text.len().max(1) as f32
}

/// Messages that were analysed, by id. The content of a message never changes and its id is never
/// reused; when messages are erased, everything is forgotten.
#[derive(Default)]
pub(crate) struct KnownTexts(Mutex<Kept>);

/// Two halves: when the recent one is full it becomes the earlier one, and what the earlier one held
/// is dropped unless it was used since.
#[derive(Default)]
struct Kept {
    /// The generation of the index that the messages were read in.
    generation: i64,
    recent: FxHashMap<i64, Arc<KnownText>>,
    recent_bytes: usize,
    earlier: FxHashMap<i64, Arc<KnownText>>,
}

impl Kept {
    fn insert(&mut self, seq: i64, text: Arc<KnownText>, dims: usize) {
        let bytes = text.bytes(dims);
        if self.recent_bytes + bytes > KEPT_BYTES / 2 {
            self.earlier = std::mem::take(&mut self.recent);
            self.recent_bytes = 0;
        }
        self.recent_bytes += bytes;
        self.recent.insert(seq, text);
    }
}

/// The known texts as of one generation of the index.
#[derive(Clone, Copy)]
pub(super) struct KnownTextsAt<'k> {
    texts: &'k KnownTexts,
    /// `None` if the index cannot be read: nothing is kept then.
    generation: Option<i64>,
    dims: usize,
}

impl KnownTexts {
    /// The texts as of a generation, which rises with every erasure; `dims` of a vector.
    pub(super) fn at(&self, generation: Option<i64>, dims: usize) -> KnownTextsAt<'_> {
        KnownTextsAt { texts: self, generation, dims }
    }
}

impl KnownTextsAt<'_> {
    /// Calls `use_kept` with what is kept of this generation.
    fn with_kept<T: Default>(&self, use_kept: impl FnOnce(&mut Kept) -> T) -> T {
        let Some(generation) = self.generation else { return T::default() };
        let mut kept = self.texts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.generation < generation {
            *kept = Kept { generation, ..Kept::default() };
        }
        // A search in an older snapshot must not bring back what was erased since.
        if kept.generation == generation { use_kept(&mut kept) } else { T::default() }
    }

    /// Those of the messages that are known.
    pub(super) fn get(&self, seqs: &[i64]) -> FxHashMap<i64, Arc<KnownText>> {
        self.with_kept(|kept| {
            let mut found = FxHashMap::default();
            for seq in seqs {
                if let Some(text) = kept.recent.get(seq) {
                    found.insert(*seq, Arc::clone(text));
                } else if let Some(text) = kept.earlier.remove(seq) {
                    found.insert(*seq, Arc::clone(&text));
                    kept.insert(*seq, text, self.dims);
                }
            }
            found
        })
    }

    /// Keeps messages that were analysed.
    pub(super) fn add(&self, texts: Vec<(i64, Arc<KnownText>)>) {
        self.with_kept(|kept| {
            texts.into_iter().for_each(|(seq, text)| kept.insert(seq, text, self.dims));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewMessage, NewSession, Oneiro, Options, SearchRequest, SessionId, Target};

    /// A text of one chunk without terms.
    fn new_text() -> Arc<KnownText> {
        let chunk = KnownChunk {
            range: 0..0,
            marks: Marks::default(),
            terms: Vec::new(),
            harness_terms: Vec::new(),
        };
        Arc::new(KnownText {
            end: 0,
            chunks: vec![chunk],
            words: 0,
            asks: 0.0,
            marks: Marks::default(),
            correction: Correction::None,
            chunk_vectors: OnceLock::new(),
            whole_vector: OnceLock::new(),
        })
    }

    #[test]
    fn a_second_search_analyses_no_message_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store.db");
        let target = Target::parse(&place.to_string_lossy(), None).unwrap();
        let oneiro = Oneiro::open(&target, Options::default()).unwrap();
        let id = SessionId::new("s").unwrap();
        oneiro.sessions().create(NewSession::with_id(id.clone())).unwrap();
        let message = |n| NewMessage::text(Role::User, format!("the heron at pond number {n}"));
        oneiro.messages().append(&id, (0..20).map(message).collect()).unwrap();
        let known = |question: &str| {
            oneiro.search().run(&SearchRequest::new(question)).unwrap();
            let mut all: Vec<(i64, *const KnownText)> = {
                let kept = oneiro.known_texts.0.lock().unwrap();
                kept.recent.iter().map(|(seq, text)| (*seq, Arc::as_ptr(text))).collect()
            };
            all.sort_unstable();
            all
        };
        let first = known("where is the heron?");
        assert_eq!(first.len(), 20);
        assert_eq!(known("which pond has the number 3?"), first);
    }

    #[test]
    fn an_erasure_forgets_every_text_and_older_snapshots_bring_back_none() {
        let texts = KnownTexts::default();
        let (before, after) = (texts.at(Some(0), 0), texts.at(Some(1), 0));
        before.add(vec![(1, new_text())]);
        assert_eq!(before.get(&[1, 2]).len(), 1);
        assert!(after.get(&[1]).is_empty());
        before.add(vec![(1, new_text())]);
        assert!(before.get(&[1]).is_empty() && after.get(&[1]).is_empty());
    }

    #[test]
    fn known_texts_are_bounded_and_those_in_use_stay() {
        let texts = KnownTexts::default();
        // Sixteen of these fill the memory.
        let dims = KEPT_BYTES / 16 / size_of::<f32>() - OVERHEAD_BYTES;
        let at = texts.at(Some(0), dims);
        for seq in 0..100 {
            at.add(vec![(seq, new_text())]);
            assert_eq!(at.get(&[0]).len(), 1, "after {seq}");
        }
        let kept = texts.0.lock().unwrap();
        assert!(kept.recent.len() + kept.earlier.len() <= 16);
        assert!(kept.recent.contains_key(&99));
    }
}
