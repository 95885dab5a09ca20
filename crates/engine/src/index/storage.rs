//! Stores the segments of the index as rows.

use oneiro_index::{
    Blocks, EachBlock, EachFound, ListParts, Segment, Storage, TermBlock, TermRange, Written,
};
use oneiro_model::{Result, Timestamp};
use oneiro_store::Tx;
use oneiro_store::segments::{self, IndexState, Stage, TermRow};

/// The segments of one build in one transaction.
pub(crate) struct Segments<'t, 'c> {
    tx: &'t Tx<'c>,
    state: IndexState,
    /// The creation time of added segments.
    now: Timestamp,
}

impl<'t, 'c> Segments<'t, 'c> {
    /// The segments of the current build, to be read.
    pub(crate) fn answering(tx: &'t Tx<'c>) -> Result<Segments<'t, 'c>> {
        Ok(Segments { tx, state: segments::state(tx)?, now: Timestamp::from_micros(0) })
    }

    /// The segments of a build, to which more may be added.
    pub(super) fn of(tx: &'t Tx<'c>, build: i64, now: Timestamp) -> Result<Segments<'t, 'c>> {
        let state = IndexState { build, ..segments::state(tx)? };
        Ok(Segments { tx, state, now })
    }
}

/// Converts a row.
pub(super) fn segment(row: &segments::Segment) -> Segment {
    Segment {
        id: row.id,
        first: row.first_seq,
        last: row.last_seq,
        texts: row.messages,
        docs: row.docs,
        words: row.words,
        blocks: row.blocks,
        version: row.analyzer,
        embedder: row.embedder.clone(),
    }
}

/// The row of a new segment.
pub(super) fn new_row(
    segment: &Segment,
    build: i64,
    stage: Stage,
    now: Timestamp,
) -> segments::Segment {
    segments::Segment {
        id: 0,
        build,
        stage,
        first_seq: segment.first,
        last_seq: segment.last,
        messages: segment.texts,
        docs: segment.docs,
        words: segment.words,
        blocks: 0,
        analyzer: segment.version,
        embedder: segment.embedder.clone(),
        created_at: now,
    }
}

/// Appends blocks to a segment.
pub(super) fn write(tx: &Tx<'_>, id: i64, blocks: &Blocks, after: Written) -> Result<Written> {
    let mut at = after;
    for TermBlock { first_term, part, data } in &blocks.terms {
        segments::insert_terms(tx, id, at.terms, TermRow { first_term, part: *part, data })?;
        at.terms += 1;
    }
    for block in &blocks.docs {
        segments::insert_docs(tx, id, at.docs, block)?;
        at.docs += 1;
    }
    for block in &blocks.vectors {
        segments::insert_vectors(tx, id, at.vectors, block)?;
        at.vectors += 1;
    }
    segments::set_block_count(tx, id, at.terms)?;
    Ok(at)
}

impl Storage for Segments<'_, '_> {
    fn state(&self) -> (i64, i64) {
        (self.state.build, self.state.generation)
    }

    fn segments(&self) -> Result<Vec<Segment>> {
        Ok(segments::live(self.tx, self.state.build)?.iter().map(segment).collect())
    }

    fn docs(&self, segment: i64, each: EachBlock<'_>) -> Result<()> {
        segments::docs(self.tx, segment, each)
    }

    fn vectors(&self, segment: i64, each: EachBlock<'_>) -> Result<()> {
        segments::vectors(self.tx, segment, each)
    }

    fn terms(&self, segment: i64, from: i64, limit: usize) -> Result<Vec<TermBlock>> {
        let blocks = from..from.saturating_add(limit as i64);
        segments::term_blocks(self.tx, segment, blocks, |row| TermBlock {
            first_term: row.first_term.to_owned(),
            part: row.part,
            data: row.data.to_owned(),
        })
    }

    fn lookup(&self, term: &[u8], each: EachFound<'_>) -> Result<()> {
        segments::lookup(self.tx, self.state.build, term, each)
    }

    fn parts(&self, list: ListParts<'_>, each: EachBlock<'_>) -> Result<()> {
        let ListParts { segment, term, before } = list;
        segments::parts(self.tx, segments::ListParts { segment, term, before }, each)
    }

    fn between(&self, range: TermRange<'_>, each: EachBlock<'_>) -> Result<()> {
        let TermRange { segment, after, before, limit } = range;
        segments::between(self.tx, segments::TermRange { segment, after, before, limit }, each)
    }

    fn insert(&self, segment: &Segment) -> Result<i64> {
        let row = new_row(segment, self.state.build, Stage::Live, self.now);
        segments::insert(self.tx, &row)
    }

    fn write(&self, segment: i64, blocks: &Blocks, after: Written) -> Result<Written> {
        write(self.tx, segment, blocks, after)
    }

    fn remove(&self, segment: i64) -> Result<()> {
        segments::remove(self.tx, segment)
    }
}
