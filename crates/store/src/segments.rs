//! The text index as rows: immutable segments over ranges of messages, each with blocks of terms,
//! documents and vectors. It keeps bytes; what is in them is the business of the index.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::{Tx, sequence};
use oneiro_model::{Result, Timestamp};

macro_rules! columns {
    () => {
        "SELECT id, build, live, first_seq, last_seq, messages, docs, words, blocks, analyzer, \
         embedder, created_at FROM segments "
    };
}

statements! {
    STATE = "SELECT build, generation FROM text_index WHERE id = 1";
    PUT_STATE = "INSERT INTO text_index (id, build, generation) VALUES (1, ?1, ?2) \
        ON CONFLICT (id) DO UPDATE SET build = excluded.build, generation = excluded.generation";
    LIVE = concat!(columns!(), "WHERE build = ?1 AND live = 1 ORDER BY first_seq");
    ALL = concat!(columns!(), "ORDER BY id");
    REACH = "SELECT COALESCE(MAX(last_seq), 0) FROM segments WHERE build = ?1 AND live = 1";
    INSERT = "INSERT INTO segments (id, build, live, first_seq, last_seq, messages, docs, words, \
        blocks, analyzer, embedder, created_at) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11)";
    COUNT_BLOCKS = "UPDATE segments SET blocks = CAST(?2 AS BIGINT) WHERE id = ?1";
    REMOVE_STRAY_TERMS = "DELETE FROM segment_terms WHERE segment NOT IN (SELECT id FROM segments)";
    REMOVE_STRAY_DOCS = "DELETE FROM segment_docs WHERE key / 16777216 NOT IN (SELECT id FROM segments)";
    REMOVE_STRAY_VECTORS = "DELETE FROM segment_vectors \
        WHERE key / 16777216 NOT IN (SELECT id FROM segments)";
    STATE_OF = "SELECT live FROM segments WHERE id = ?1";
    SET_STATE = "UPDATE segments SET live = ?2 WHERE id = ?1";
    SET_EMBEDDER = "UPDATE segments SET embedder = ?2 WHERE id = ?1";
    REMOVE = "DELETE FROM segments WHERE id = ?1";
    FIRST_TERMS = "SELECT MIN(key) FROM segment_terms WHERE key >= ?1 AND key < ?2";
    REMOVE_TERMS = "DELETE FROM segment_terms WHERE key >= ?1 AND key < ?2";
    REMOVE_DOCS = "DELETE FROM segment_docs WHERE key >= ?1 AND key < ?2";
    REMOVE_VECTORS = "DELETE FROM segment_vectors WHERE key >= ?1 AND key < ?2";
    TOUCH = "UPDATE segments SET created_at = ?2 WHERE id = ?1";
    INSERT_TERMS = "INSERT INTO segment_terms (key, segment, first_term, part, data) \
        VALUES (?1, ?2, ?3, ?4, ?5)";
    INSERT_DOCS = "INSERT INTO segment_docs (key, data) VALUES (?1, ?2)";
    INSERT_VECTORS = "INSERT INTO segment_vectors (key, data) VALUES (?1, ?2)";
    // The one block of each live segment that may hold the term.
    LOOKUP = "SELECT s.id, b.part, b.data FROM segments s \
        JOIN segment_terms b ON b.key = (SELECT c.key FROM segment_terms c WHERE c.segment = s.id \
        AND c.first_term <= ?2 ORDER BY c.first_term DESC, c.part DESC LIMIT 1) \
        WHERE s.build = ?1 AND s.live = 1";
    PARTS = "SELECT data FROM segment_terms WHERE segment = ?1 AND first_term = ?2 \
        AND part < CAST(?3 AS BIGINT) ORDER BY part DESC";
    BETWEEN = "SELECT data FROM segment_terms WHERE segment = ?1 \
        AND first_term > ?2 AND first_term < ?3 ORDER BY first_term, part LIMIT CAST(?4 AS BIGINT)";
    TERMS = "SELECT first_term, part, data FROM segment_terms WHERE key >= ?1 AND key < ?2 \
        ORDER BY key LIMIT CAST(?3 AS BIGINT)";
    DOCS = "SELECT data FROM segment_docs WHERE key >= ?1 AND key < ?2 ORDER BY key";
    VECTORS = "SELECT data FROM segment_vectors WHERE key >= ?1 AND key < ?2 ORDER BY key";
    PUT_EMBEDDING = "INSERT INTO embeddings (seq, chunk, model, data) VALUES (?1, ?2, ?3, ?4) \
        ON CONFLICT (seq, chunk, model) DO UPDATE SET data = excluded.data";
    EMBEDDINGS = "SELECT seq, chunk, data FROM embeddings WHERE seq >= ?1 AND seq <= ?2 \
        AND model = ?3 ORDER BY seq, chunk";
}

/// The tables that belong here.
pub(crate) const TABLES: &[Table] = &[
    Table { name: "text_index", columns: "id, build, generation" },
    Table {
        name: "segments",
        columns: "id, build, live, first_seq, last_seq, messages, docs, words, blocks, analyzer, \
                  embedder, created_at",
    },
    Table { name: "segment_terms", columns: "key, segment, first_term, part, data" },
    Table { name: "segment_docs", columns: "key, data" },
    Table { name: "segment_vectors", columns: "key, data" },
    Table { name: "embeddings", columns: "seq, chunk, model, data" },
];

/// Blocks of one segment are numbered below this.
const BLOCKS: i64 = 1 << 24;

/// Which build answers, and how often what was indexed had to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexState {
    /// The build that answers searches.
    pub build: i64,
    /// Changed by every erasure: what was read before it must not be written after it.
    pub generation: i64,
}

/// Where a segment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Being written; it does not answer yet.
    Written,
    /// Whole; it answers.
    Live,
    /// Replaced; its blocks are being removed.
    Dead,
}

impl Stage {
    fn number(self) -> i64 {
        match self {
            Stage::Written => 0,
            Stage::Live => 1,
            Stage::Dead => 2,
        }
    }

    fn of(number: i64) -> Stage {
        match number {
            0 => Stage::Written,
            1 => Stage::Live,
            _ => Stage::Dead,
        }
    }
}

/// One segment: the index of a range of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Never used twice.
    pub id: i64,
    /// The build it belongs to.
    pub build: i64,
    /// Whether it answers.
    pub stage: Stage,
    /// The first message it covers.
    pub first_seq: i64,
    /// The last message it covers.
    pub last_seq: i64,
    /// Messages in it.
    pub messages: i64,
    /// Documents in it: a message has one to each chunk.
    pub docs: i64,
    /// Words in them.
    pub words: i64,
    /// Blocks of terms; counted as they are written.
    pub blocks: i64,
    /// The version of the index that made it.
    pub analyzer: i64,
    /// The model of its vectors, if it has some.
    pub embedder: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A block of terms as it lies in its segment.
#[derive(Debug, Clone, Copy)]
pub struct TermRow<'r> {
    /// The first term in it, in byte order.
    pub first_term: &'r [u8],
    /// Which part of a list too long for one block.
    pub part: i64,
    /// Terms and their lists.
    pub data: &'r [u8],
}

/// Which build answers; the first when nothing was ever said about it.
pub fn state(tx: &Tx<'_>) -> Result<IndexState> {
    let found =
        tx.first(STATE, &[], |row| Ok(IndexState { build: row.int(0)?, generation: row.int(1)? }))?;
    Ok(found.unwrap_or(IndexState { build: 1, generation: 0 }))
}

/// Says which build answers.
pub fn put_state(tx: &Tx<'_>, state: IndexState) -> Result<()> {
    tx.execute(PUT_STATE, &[state.build.into(), state.generation.into()]).map(|_| ())
}

/// The segments of a build that answer, oldest messages first.
pub fn live(tx: &Tx<'_>, build: i64) -> Result<Vec<Segment>> {
    tx.all(LIVE, &[build.into()], read)
}

/// Every segment, of every build, whole or not.
pub fn all(tx: &Tx<'_>) -> Result<Vec<Segment>> {
    tx.all(ALL, &[], read)
}

/// The last message that a build covers: the watermark.
pub fn reach(tx: &Tx<'_>, build: i64) -> Result<i64> {
    tx.one(REACH, &[build.into()], |row| row.int(0))
}

/// Adds the row of a segment under a new id, which is answered.
pub fn insert(tx: &Tx<'_>, segment: &Segment) -> Result<i64> {
    let id = sequence::take_key(tx)?;
    let values = [
        id.into(),
        segment.build.into(),
        segment.stage.number().into(),
        segment.first_seq.into(),
        segment.last_seq.into(),
        segment.messages.into(),
        segment.docs.into(),
        segment.words.into(),
        segment.analyzer.into(),
        segment.embedder.as_deref().into(),
        segment.created_at.micros().into(),
    ];
    tx.execute(INSERT, &values)?;
    Ok(id)
}

/// Says that a segment is still being written.
pub fn touch(tx: &Tx<'_>, id: i64, now: Timestamp) -> Result<()> {
    tx.execute(TOUCH, &[id.into(), now.micros().into()]).map(|_| ())
}

/// Adds block number `at` of a segment's terms.
pub fn insert_terms(tx: &Tx<'_>, id: i64, at: i64, block: TermRow<'_>) -> Result<()> {
    let values = [
        (id * BLOCKS + at).into(),
        id.into(),
        block.first_term.into(),
        block.part.into(),
        block.data.into(),
    ];
    tx.execute(INSERT_TERMS, &values).map(|_| ())
}

/// Adds block number `at` of a segment's documents.
pub fn insert_docs(tx: &Tx<'_>, id: i64, at: i64, data: &[u8]) -> Result<()> {
    tx.execute(INSERT_DOCS, &[(id * BLOCKS + at).into(), data.into()]).map(|_| ())
}

/// Adds block number `at` of a segment's vectors.
pub fn insert_vectors(tx: &Tx<'_>, id: i64, at: i64, data: &[u8]) -> Result<()> {
    tx.execute(INSERT_VECTORS, &[(id * BLOCKS + at).into(), data.into()]).map(|_| ())
}

/// Says how many blocks of terms a segment has.
pub fn count_blocks(tx: &Tx<'_>, id: i64, blocks: i64) -> Result<()> {
    tx.execute(COUNT_BLOCKS, &[id.into(), blocks.into()]).map(|_| ())
}

/// Where a segment stands; `None` when it is gone.
pub fn stage(tx: &Tx<'_>, id: i64) -> Result<Option<Stage>> {
    tx.first(STATE_OF, &[id.into()], |row| Ok(Stage::of(row.int(0)?)))
}

/// Moves a segment to another stage.
pub fn set_stage(tx: &Tx<'_>, id: i64, stage: Stage) -> Result<()> {
    tx.execute(SET_STATE, &[id.into(), stage.number().into()]).map(|_| ())
}

/// Gives a segment the vectors of a model, in the order of its documents.
pub fn replace_vectors(tx: &Tx<'_>, id: i64, model: &str, vectors: &[Vec<u8>]) -> Result<()> {
    let base = id * BLOCKS;
    tx.execute(REMOVE_VECTORS, &[base.into(), (base + BLOCKS).into()])?;
    for (at, block) in (0..).zip(vectors) {
        insert_vectors(tx, id, at, block)?;
    }
    tx.execute(SET_EMBEDDER, &[id.into(), model.into()]).map(|_| ())
}

/// Removes a segment with all its blocks.
pub fn remove(tx: &Tx<'_>, id: i64) -> Result<()> {
    while !remove_some(tx, id, BLOCKS)? {}
    Ok(())
}

/// Removes up to `blocks` blocks of terms of a segment, and itself after the last; answers whether
/// nothing is left.
pub fn remove_some(tx: &Tx<'_>, id: i64, blocks: i64) -> Result<bool> {
    let range = [(id * BLOCKS).into(), ((id + 1) * BLOCKS).into()];
    let first = tx.one(FIRST_TERMS, &range, |row| row.opt_int(0))?;
    if let Some(first) = first {
        let until = first.saturating_add(blocks).min((id + 1) * BLOCKS);
        tx.execute(REMOVE_TERMS, &[first.into(), until.into()])?;
        if until < (id + 1) * BLOCKS {
            return Ok(false);
        }
    }
    tx.execute(REMOVE_DOCS, &range)?;
    tx.execute(REMOVE_VECTORS, &range)?;
    tx.execute(REMOVE, &[id.into()])?;
    Ok(true)
}

/// Removes blocks that belong to no segment: only damage from outside leaves any.
pub fn remove_strays(tx: &Tx<'_>) -> Result<()> {
    for sql in [REMOVE_STRAY_TERMS, REMOVE_STRAY_DOCS, REMOVE_STRAY_VECTORS] {
        tx.execute(sql, &[])?;
    }
    Ok(())
}

/// Hands over, for each live segment of a build, the block that holds `term` if any does: its
/// segment, which part it is, and its bytes. Of a list in parts it is the last.
pub fn lookup(
    tx: &Tx<'_>,
    build: i64,
    term: &[u8],
    mut each: impl FnMut(i64, i64, &[u8]) -> Result<()>,
) -> Result<()> {
    tx.each(LOOKUP, &[build.into(), term.into()], |row| {
        each(row.int(0)?, row.int(1)?, row.bytes(2)?)
    })
}

/// Hands over the parts of a long list before part `before`, newest first.
pub fn parts(
    tx: &Tx<'_>,
    (segment, term): (i64, &[u8]),
    before: i64,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    tx.each(PARTS, &[segment.into(), term.into(), before.into()], |row| each(row.bytes(0)?))
}

/// Hands over blocks of a segment whose first term lies strictly between two.
pub fn between(
    tx: &Tx<'_>,
    (segment, limit): (i64, usize),
    (after, before): (&[u8], &[u8]),
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let values = [segment.into(), after.into(), before.into(), (limit as i64).into()];
    tx.each(BETWEEN, &values, |row| each(row.bytes(0)?))
}

/// Up to `limit` blocks of terms of a segment from block number `from` on, in order.
pub fn term_blocks<T>(
    tx: &Tx<'_>,
    (id, from): (i64, i64),
    limit: usize,
    each: impl Fn(TermRow<'_>) -> T,
) -> Result<Vec<T>> {
    let base = id * BLOCKS;
    let values = [(base + from).into(), (base + BLOCKS).into(), (limit as i64).into()];
    tx.all(TERMS, &values, |row| {
        Ok(each(TermRow { first_term: row.bytes(0)?, part: row.int(1)?, data: row.bytes(2)? }))
    })
}

/// Hands over the blocks of documents of a segment, in order.
pub fn docs(tx: &Tx<'_>, id: i64, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let range = [(id * BLOCKS).into(), ((id + 1) * BLOCKS).into()];
    tx.each(DOCS, &range, |row| each(row.bytes(0)?))
}

/// Hands over the blocks of vectors of a segment, in order.
pub fn vectors(tx: &Tx<'_>, id: i64, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let range = [(id * BLOCKS).into(), ((id + 1) * BLOCKS).into()];
    tx.each(VECTORS, &range, |row| each(row.bytes(0)?))
}

/// Keeps the exact vector of a chunk.
pub fn put_embedding(tx: &Tx<'_>, place: (i64, i64), model: &str, data: &[u8]) -> Result<()> {
    let values = [place.0.into(), place.1.into(), model.into(), data.into()];
    tx.execute(PUT_EMBEDDING, &values).map(|_| ())
}

/// Hands over the exact vectors of a range of messages: message, chunk, vector.
pub fn embeddings(
    tx: &Tx<'_>,
    (first, last): (i64, i64),
    model: &str,
    mut each: impl FnMut(i64, i64, &[u8]) -> Result<()>,
) -> Result<()> {
    tx.each(EMBEDDINGS, &[first.into(), last.into(), model.into()], |row| {
        each(row.int(0)?, row.int(1)?, row.bytes(2)?)
    })
}

fn read(row: &dyn Row) -> Result<Segment> {
    Ok(Segment {
        id: row.int(0)?,
        build: row.int(1)?,
        stage: Stage::of(row.int(2)?),
        first_seq: row.int(3)?,
        last_seq: row.int(4)?,
        messages: row.int(5)?,
        docs: row.int(6)?,
        words: row.int(7)?,
        blocks: row.int(8)?,
        analyzer: row.int(9)?,
        embedder: row.opt_string(10)?,
        created_at: Timestamp::from_micros(row.int(11)?),
    })
}
