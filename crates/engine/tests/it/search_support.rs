//! What the tests of search share: asking, looking at segments, breaking them, a model of words
//! that knows a few, and dice that fall the same for the same seed.

use crate::support::{FakeIds, Fixed, clock, ids as fake_ids, target};
use oneiro::{
    Durability, Found, MessageId, NewMessage, Oneiro, Options, SearchRequest, Sort, WordModel,
};
use oneiro_store::segments::{self, Segment};
use oneiro_testkit::{Backend, TestSpace};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

/// A search of as many hits as a page may have.
pub fn request(query: &str) -> SearchRequest {
    SearchRequest { limit: 200, ..SearchRequest::new(query) }
}

pub fn search(oneiro: &Oneiro, request: SearchRequest) -> Found {
    let query = request.query.clone();
    oneiro.search().run(&request).unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// The ids of hits, in order.
pub fn ids(found: &Found) -> Vec<i64> {
    found.hits.iter().map(|hit| hit.id.0).collect()
}

/// What a query finds, best first.
pub fn find(oneiro: &Oneiro, query: &str) -> Vec<i64> {
    ids(&search(oneiro, request(query)))
}

/// What a query finds, newest first.
pub fn newest(oneiro: &Oneiro, query: &str) -> Vec<i64> {
    ids(&search(oneiro, SearchRequest { sort: Sort::Newest, ..request(query) }))
}

/// What a query finds, oldest first.
pub fn oldest(oneiro: &Oneiro, query: &str) -> Vec<i64> {
    ids(&search(oneiro, SearchRequest { sort: Sort::Oldest, ..request(query) }))
}

/// Every page of a search by its cursors, with something done between two of them.
pub fn pages(oneiro: &Oneiro, request: SearchRequest, mut between: impl FnMut()) -> Vec<i64> {
    let mut seen = Vec::new();
    let mut next = None;
    for _ in 0..500 {
        let page = search(oneiro, SearchRequest { cursor: next, ..request.clone() });
        assert!(page.hits.len() <= request.limit);
        seen.extend(ids(&page));
        next = page.next;
        if next.is_none() {
            return seen;
        }
        between();
    }
    panic!("the pages have no end: {seen:?}");
}

/// Every pair of a list that occurs more than once.
pub fn repeated(ids: &[i64]) -> Vec<i64> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

/// Runs a statement as it is, with a list of numbers for an answer.
pub fn raw(oneiro: &Oneiro, sql: &str) -> Vec<i64> {
    oneiro.store().write_bulk(|tx| tx.raw(sql)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

pub fn number(oneiro: &Oneiro, sql: &str) -> i64 {
    raw(oneiro, sql)[0]
}

/// Every segment there is.
pub fn all_segments(oneiro: &Oneiro) -> Vec<Segment> {
    oneiro.store().read(segments::all).unwrap()
}

/// The last message that the index covers.
pub fn reach(oneiro: &Oneiro) -> i64 {
    oneiro.store().read(|tx| segments::last_covered(tx, segments::state(tx)?.build)).unwrap()
}

pub fn fold(oneiro: &Oneiro) {
    oneiro.index().catch_up(&mut |_, _| {}).unwrap();
}

pub fn rebuild(oneiro: &Oneiro) {
    let mut steps = 0;
    let told = &mut |_, _| {
        steps += 1;
        assert!(steps < 200, "the rebuild has no end");
    };
    oneiro.index().rebuild(told).unwrap();
}

/// Takes every segment away, as if there had never been one.
pub fn without_segments(oneiro: &Oneiro) {
    for table in ["segment_terms", "segment_docs", "segment_vectors", "segments"] {
        raw(oneiro, &format!("DELETE FROM {table} RETURNING 1"));
    }
}

/// Every block belongs to a segment that answers, and every segment answers.
pub fn assert_swept(oneiro: &Oneiro) {
    let build = number(oneiro, "SELECT COALESCE(MAX(build), 1) FROM text_index");
    for segment in all_segments(oneiro) {
        assert_eq!((segment.stage, segment.build), (segments::Stage::Live, build), "{segment:?}");
    }
    for table in ["segment_terms", "segment_docs", "segment_vectors"] {
        let lost = format!(
            "SELECT COUNT(*) FROM {table} WHERE key / 16777216 NOT IN (SELECT id FROM segments)"
        );
        assert_eq!(number(oneiro, &lost), 0, "{table} has blocks of no segment");
    }
}

/// How many rows of the tables of the index hold these bytes.
pub fn in_segments(oneiro: &Oneiro, text: &str) -> i64 {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let holds = |column: &str| match oneiro.store().engine() {
        oneiro::Engine::Sqlite => format!("instr({column}, x'{hex}') > 0"),
        oneiro::Engine::Postgres => format!("position('\\x{hex}'::bytea in {column}) > 0"),
    };
    let columns = [
        ("segment_terms", "data"),
        ("segment_terms", "first_term"),
        ("segment_docs", "data"),
        ("segment_vectors", "data"),
        ("embeddings", "data"),
    ];
    let count = |(table, column): (&str, &str)| {
        number(oneiro, &format!("SELECT COUNT(*) FROM {table} WHERE {}", holds(column)))
    };
    columns.into_iter().map(count).sum()
}

/// Whether these bytes stand anywhere in the files of a space.
pub fn in_files(space: &TestSpace, text: &str) -> bool {
    if space.backend != Backend::Sqlite {
        return false;
    }
    let file = space.file();
    let log = std::path::PathBuf::from(format!("{}-wal", file.display()));
    [file, log].iter().any(|file| {
        let bytes = std::fs::read(file).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

/// A message of a session at a time of its own, in seconds.
pub fn at(message: NewMessage, seconds: i64) -> NewMessage {
    message.at(oneiro::Timestamp::from_micros(crate::support::NOW.micros() + seconds * 1_000_000))
}

/// A message by its id, wherever it is.
pub fn exists(oneiro: &Oneiro, id: i64) -> bool {
    oneiro.store().read(|tx| oneiro_store::messages::get(tx, MessageId(id))).unwrap().is_some()
}

/// Numbers that look random and are the same for the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }
}

/// What a model of words hears before it answers.
type Hook = Box<dyn FnOnce() + Send>;

/// A model that knows a few words by what they are about, and can be made to do something else
/// when it first reads a word: between what a fold reads and what it writes.
#[derive(Default)]
pub struct FewWords {
    hook: Mutex<Option<(String, Hook)>>,
}

const KNOWN: &[(&str, usize)] = &[
    ("serpent", 0),
    ("snake", 0),
    ("python", 0),
    ("lantern", 1),
    ("lamp", 1),
    ("torch", 1),
    ("rain", 2),
    ("storm", 2),
    ("weather", 2),
    ("bread", 3),
    ("baker", 3),
    ("violin", 4),
    ("orchestra", 4),
    ("harbour", 5),
    ("ship", 5),
];

impl FewWords {
    /// Does `what` when `word` is first read.
    pub fn when_reading(&self, word: &str, what: impl FnOnce() + Send + 'static) {
        *self.hook.lock().unwrap() = Some((word.to_owned(), Box::new(what)));
    }

    /// Whether what was to be done was done.
    pub fn is_done(&self) -> bool {
        self.hook.lock().unwrap().is_none()
    }
}

impl WordModel for FewWords {
    fn id(&self) -> &str {
        "few-words-1"
    }

    fn dims(&self) -> usize {
        8
    }

    fn center(&self) -> &[f32] {
        &[0.0; 8]
    }

    fn embed(&self, text: &str, out: &mut [f32]) -> bool {
        let hook = {
            let mut hook = self.hook.lock().unwrap();
            let is_due = hook.as_ref().is_some_and(|(word, _)| text.contains(word));
            hook.take_if(|_| is_due)
        };
        if let Some((_, what)) = hook {
            what();
        }
        out.fill(0.0);
        let text = text.to_lowercase();
        for word in text.split(|letter: char| !letter.is_alphanumeric()) {
            if let Some((_, about)) = KNOWN.iter().find(|(known, _)| *known == word) {
                out[*about] += 1.0;
            }
        }
        let length = out.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            out.iter_mut().for_each(|value| *value /= length);
        }
        length > 0.0
    }

    fn nearest(&self, word: &str, count: usize) -> Vec<(&str, f32)> {
        let Some((_, about)) = KNOWN.iter().find(|(known, _)| *known == word) else {
            return Vec::new();
        };
        let near = KNOWN.iter().filter(|(other, theirs)| theirs == about && *other != word);
        near.take(count).map(|(word, _)| (*word, 0.9)).collect()
    }

    fn rarity(&self, word: &str) -> f32 {
        if KNOWN.iter().any(|(known, _)| *known == word) { 9.0 } else { 13.0 }
    }
}

/// Ids that count, from elsewhere for every handle: two of a space never make the same.
pub fn own_ids() -> Arc<FakeIds> {
    static OPENED: AtomicI64 = AtomicI64::new(1);
    let ids = fake_ids();
    ids.set(OPENED.fetch_add(1, Ordering::SeqCst) * 1_000_000);
    ids
}

/// Opens a space.
pub fn open(space: &TestSpace) -> Fixed {
    open_as(space, Options::default())
}

/// Opens a space with a model of words.
pub fn open_with_words(space: &TestSpace) -> (Fixed, Arc<FewWords>) {
    let words = Arc::new(FewWords::default());
    let options = Options { words: Some(Arc::clone(&words) as _), ..Options::default() };
    (open_as(space, options), words)
}

/// Opens a space; what these tests lose with the power they may lose.
pub fn open_as(space: &TestSpace, options: Options) -> Fixed {
    let clock = clock();
    let options = Options {
        durability: Durability::Normal,
        clock: Arc::clone(&clock) as _,
        ids: own_ids(),
        ..options
    };
    Fixed { oneiro: Oneiro::open(&target(space), options).unwrap(), clock }
}
