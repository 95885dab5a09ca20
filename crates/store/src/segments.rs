//! Storage of the text index: immutable segments over ranges of messages, each with blocks of terms,
//! documents and vectors. The contents of blocks are opaque here; `oneiro-index` encodes them.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::{Tx, sequence};
use oneiro_model::{Result, Timestamp};
use std::ops::{Range, RangeInclusive};

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
    LAST_COVERED = "SELECT COALESCE(MAX(last_seq), 0) FROM segments WHERE build = ?1 AND live = 1";
    INSERT = "INSERT INTO segments (id, build, live, first_seq, last_seq, messages, docs, words, \
        blocks, analyzer, embedder, created_at) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11)";
    SET_BLOCK_COUNT = "UPDATE segments SET blocks = CAST(?2 AS BIGINT) WHERE id = ?1";
    REMOVE_ORPHAN_TERMS = "DELETE FROM segment_terms WHERE segment NOT IN (SELECT id FROM segments)";
    REMOVE_ORPHAN_DOCS = "DELETE FROM segment_docs WHERE key / 16777216 NOT IN (SELECT id FROM segments)";
    REMOVE_ORPHAN_VECTORS = "DELETE FROM segment_vectors \
        WHERE key / 16777216 NOT IN (SELECT id FROM segments)";
    STAGE = "SELECT live FROM segments WHERE id = ?1";
    SET_STAGE = "UPDATE segments SET live = ?2 WHERE id = ?1";
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
    REMOVE_EMBEDDINGS_OF_SESSION = "DELETE FROM embeddings WHERE seq IN \
        (SELECT seq FROM messages WHERE session_key = ?1)";
    REMOVE_ORPHAN_EMBEDDINGS = "DELETE FROM embeddings WHERE \
        NOT EXISTS (SELECT 1 FROM messages m WHERE m.seq = embeddings.seq) AND \
        NOT EXISTS (SELECT 1 FROM memories m WHERE m.text_number = embeddings.seq) AND \
        NOT EXISTS (SELECT 1 FROM note_entries e WHERE e.number = embeddings.seq)";
}

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

/// The key of a block is the id of its segment times this, plus its number.
const BLOCKS_PER_SEGMENT: i64 = 1 << 24;

/// Which build is used, and the generation of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexState {
    /// The build that searches use.
    pub build: i64,
    /// Changed by every erasure: what was read before an erasure must not be written after it.
    pub generation: i64,
}

/// The life cycle of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Being written; not searched yet.
    Written,
    /// Complete; searched.
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

    fn from_number(number: i64) -> Stage {
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
    /// Unique; never reused.
    pub id: i64,
    /// The build it belongs to.
    pub build: i64,
    /// Its stage.
    pub stage: Stage,
    /// The first message it covers.
    pub first_seq: i64,
    /// The last message it covers.
    pub last_seq: i64,
    /// The number of messages.
    pub messages: i64,
    /// The number of documents; a message has one per chunk.
    pub docs: i64,
    /// The number of words.
    pub words: i64,
    /// The number of blocks of terms.
    pub blocks: i64,
    /// The version of the index that made it.
    pub analyzer: i64,
    /// The model of its vectors, if it has any.
    pub embedder: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A stored block of terms.
#[derive(Debug, Clone, Copy)]
pub struct TermRow<'r> {
    /// The first term in it, in byte order.
    pub first_term: &'r [u8],
    /// The part of a posting list that is too long for one block.
    pub part: i64,
    /// Terms and their posting lists.
    pub data: &'r [u8],
}

/// The current state; build 1 if none was stored.
pub fn state(tx: &Tx<'_>) -> Result<IndexState> {
    let found =
        tx.first(STATE, &[], |row| Ok(IndexState { build: row.int(0)?, generation: row.int(1)? }))?;
    Ok(found.unwrap_or(IndexState { build: 1, generation: 0 }))
}

/// Stores which build is used.
pub fn put_state(tx: &Tx<'_>, state: IndexState) -> Result<()> {
    tx.execute(PUT_STATE, &[state.build.into(), state.generation.into()]).map(|_| ())
}

/// The live segments of a build, oldest messages first.
pub fn live(tx: &Tx<'_>, build: i64) -> Result<Vec<Segment>> {
    tx.all(LIVE, &[build.into()], read)
}

/// Every segment of every build, in any stage.
pub fn all(tx: &Tx<'_>) -> Result<Vec<Segment>> {
    tx.all(ALL, &[], read)
}

/// The last message that the live segments of a build cover.
pub fn last_covered(tx: &Tx<'_>, build: i64) -> Result<i64> {
    tx.one(LAST_COVERED, &[build.into()], |row| row.int(0))
}

/// Inserts a segment without blocks and returns its new id.
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

/// Updates the time of a segment that is still being written.
pub fn touch(tx: &Tx<'_>, id: i64, now: Timestamp) -> Result<()> {
    tx.execute(TOUCH, &[id.into(), now.micros().into()]).map(|_| ())
}

/// Adds block number `at` of a segment's terms.
pub fn insert_terms(tx: &Tx<'_>, id: i64, at: i64, block: TermRow<'_>) -> Result<()> {
    let values = [
        (id * BLOCKS_PER_SEGMENT + at).into(),
        id.into(),
        block.first_term.into(),
        block.part.into(),
        block.data.into(),
    ];
    tx.execute(INSERT_TERMS, &values).map(|_| ())
}

/// Adds block number `at` of a segment's documents.
pub fn insert_docs(tx: &Tx<'_>, id: i64, at: i64, data: &[u8]) -> Result<()> {
    tx.execute(INSERT_DOCS, &[(id * BLOCKS_PER_SEGMENT + at).into(), data.into()]).map(|_| ())
}

/// Adds block number `at` of a segment's vectors.
pub fn insert_vectors(tx: &Tx<'_>, id: i64, at: i64, data: &[u8]) -> Result<()> {
    tx.execute(INSERT_VECTORS, &[(id * BLOCKS_PER_SEGMENT + at).into(), data.into()]).map(|_| ())
}

/// Sets the number of blocks of terms of a segment.
pub fn set_block_count(tx: &Tx<'_>, id: i64, blocks: i64) -> Result<()> {
    tx.execute(SET_BLOCK_COUNT, &[id.into(), blocks.into()]).map(|_| ())
}

/// The stage of a segment; `None` if it was removed.
pub fn stage(tx: &Tx<'_>, id: i64) -> Result<Option<Stage>> {
    tx.first(STAGE, &[id.into()], |row| Ok(Stage::from_number(row.int(0)?)))
}

/// Moves a segment to another stage.
pub fn set_stage(tx: &Tx<'_>, id: i64, stage: Stage) -> Result<()> {
    tx.execute(SET_STAGE, &[id.into(), stage.number().into()]).map(|_| ())
}

/// Replaces the vectors of a segment by those of a model, in the order of its documents.
pub fn replace_vectors(tx: &Tx<'_>, id: i64, model: &str, vectors: &[Vec<u8>]) -> Result<()> {
    let base = id * BLOCKS_PER_SEGMENT;
    tx.execute(REMOVE_VECTORS, &[base.into(), (base + BLOCKS_PER_SEGMENT).into()])?;
    for (at, block) in (0..).zip(vectors) {
        insert_vectors(tx, id, at, block)?;
    }
    tx.execute(SET_EMBEDDER, &[id.into(), model.into()]).map(|_| ())
}

/// Removes a segment with all its blocks.
pub fn remove(tx: &Tx<'_>, id: i64) -> Result<()> {
    while !remove_some(tx, id, BLOCKS_PER_SEGMENT)? {}
    Ok(())
}

/// Removes up to `blocks` blocks of terms of a segment, and the segment after the last one. Returns
/// whether the segment is removed.
pub fn remove_some(tx: &Tx<'_>, id: i64, blocks: i64) -> Result<bool> {
    let range = [(id * BLOCKS_PER_SEGMENT).into(), ((id + 1) * BLOCKS_PER_SEGMENT).into()];
    let first = tx.one(FIRST_TERMS, &range, |row| row.opt_int(0))?;
    if let Some(first) = first {
        let until = first.saturating_add(blocks).min((id + 1) * BLOCKS_PER_SEGMENT);
        tx.execute(REMOVE_TERMS, &[first.into(), until.into()])?;
        if until < (id + 1) * BLOCKS_PER_SEGMENT {
            return Ok(false);
        }
    }
    tx.execute(REMOVE_DOCS, &range)?;
    tx.execute(REMOVE_VECTORS, &range)?;
    tx.execute(REMOVE, &[id.into()])?;
    Ok(true)
}

/// Removes blocks without a segment; only damage from outside causes any.
pub fn remove_orphans(tx: &Tx<'_>) -> Result<()> {
    for sql in [REMOVE_ORPHAN_TERMS, REMOVE_ORPHAN_DOCS, REMOVE_ORPHAN_VECTORS] {
        tx.execute(sql, &[])?;
    }
    Ok(())
}

/// Calls `each` with the block of each live segment that may contain `term`: segment, part and bytes.
/// For a list in several parts it is the last part.
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

/// The parts of the posting list of a term.
#[derive(Debug, Clone, Copy)]
pub struct ListParts<'a> {
    /// The segment.
    pub segment: i64,
    /// The term.
    pub term: &'a [u8],
    /// Only parts with a lower number.
    pub before: i64,
}

/// A range of terms of a segment, without its ends.
#[derive(Debug, Clone, Copy)]
pub struct TermRange<'a> {
    /// The segment.
    pub segment: i64,
    /// The lower end.
    pub after: &'a [u8],
    /// The upper end.
    pub before: &'a [u8],
    /// The maximum number of blocks.
    pub limit: usize,
}

/// Calls `each` with parts of a long list, newest first.
pub fn parts(
    tx: &Tx<'_>,
    list: ListParts<'_>,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let values = [list.segment.into(), list.term.into(), list.before.into()];
    tx.each(PARTS, &values, |row| each(row.bytes(0)?))
}

/// Calls `each` with the blocks whose first term is in a range.
pub fn between(
    tx: &Tx<'_>,
    range: TermRange<'_>,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let values = [
        range.segment.into(),
        range.after.into(),
        range.before.into(),
        (range.limit as i64).into(),
    ];
    tx.each(BETWEEN, &values, |row| each(row.bytes(0)?))
}

/// Blocks of terms of a segment by their numbers, in order.
pub fn term_blocks<T>(
    tx: &Tx<'_>,
    id: i64,
    blocks: Range<i64>,
    each: impl Fn(TermRow<'_>) -> T,
) -> Result<Vec<T>> {
    let base = id * BLOCKS_PER_SEGMENT;
    let limit = blocks.end - blocks.start;
    let values = [(base + blocks.start).into(), (base + BLOCKS_PER_SEGMENT).into(), limit.into()];
    tx.all(TERMS, &values, |row| {
        Ok(each(TermRow { first_term: row.bytes(0)?, part: row.int(1)?, data: row.bytes(2)? }))
    })
}

/// Calls `each` with the blocks of documents of a segment, in order.
pub fn docs(tx: &Tx<'_>, id: i64, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let range = [(id * BLOCKS_PER_SEGMENT).into(), ((id + 1) * BLOCKS_PER_SEGMENT).into()];
    tx.each(DOCS, &range, |row| each(row.bytes(0)?))
}

/// Calls `each` with the blocks of vectors of a segment, in order.
pub fn vectors(tx: &Tx<'_>, id: i64, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let range = [(id * BLOCKS_PER_SEGMENT).into(), ((id + 1) * BLOCKS_PER_SEGMENT).into()];
    tx.each(VECTORS, &range, |row| each(row.bytes(0)?))
}

/// A chunk of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkRef {
    /// The number of the text.
    pub seq: i64,
    /// The number of the chunk in the text.
    pub chunk: i64,
}

/// Stores the exact vector of a chunk.
pub fn put_embedding(tx: &Tx<'_>, chunk: ChunkRef, model: &str, data: &[u8]) -> Result<()> {
    let values = [chunk.seq.into(), chunk.chunk.into(), model.into(), data.into()];
    tx.execute(PUT_EMBEDDING, &values).map(|_| ())
}

/// Removes the exact vectors of the messages of a session.
pub fn remove_embeddings_of_session(tx: &Tx<'_>, session_key: i64) -> Result<()> {
    tx.execute(REMOVE_EMBEDDINGS_OF_SESSION, &[session_key.into()]).map(|_| ())
}

/// Removes the exact vectors of texts that no longer exist.
pub fn remove_orphan_embeddings(tx: &Tx<'_>) -> Result<()> {
    tx.execute(REMOVE_ORPHAN_EMBEDDINGS, &[]).map(|_| ())
}

/// Calls `each` with the exact vectors of the chunks of a range of messages.
pub fn embeddings(
    tx: &Tx<'_>,
    seqs: RangeInclusive<i64>,
    model: &str,
    mut each: impl FnMut(ChunkRef, &[u8]) -> Result<()>,
) -> Result<()> {
    let values = [(*seqs.start()).into(), (*seqs.end()).into(), model.into()];
    tx.each(EMBEDDINGS, &values, |row| {
        each(ChunkRef { seq: row.int(0)?, chunk: row.int(1)? }, row.bytes(2)?)
    })
}

fn read(row: &dyn Row) -> Result<Segment> {
    Ok(Segment {
        id: row.int(0)?,
        build: row.int(1)?,
        stage: Stage::from_number(row.int(2)?),
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
