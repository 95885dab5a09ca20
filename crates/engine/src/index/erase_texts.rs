//! Removes erased texts from every segment, and prevents segments that are being written from
//! bringing them back.

use super::storage::{Segments, segment};
use super::texts::texts;
use oneiro_index::Source as _;
use oneiro_model::{Result, Timestamp};
use oneiro_store::segments::{self, IndexState, Segment, Stage};
use oneiro_store::{Tx, is_unreadable};
use std::collections::BTreeSet;

/// Rewrites every segment that covers one of these texts without them.
pub(crate) fn erase_texts(tx: &Tx<'_>, seqs: &BTreeSet<i64>, now: Timestamp) -> Result<()> {
    let state = segments::state(tx)?;
    segments::put_state(tx, IndexState { generation: state.generation + 1, ..state })?;
    segments::remove_orphans(tx)?;
    for segment in segments::all(tx)? {
        if segment.stage != Stage::Live {
            // Its writer notices that it is gone and starts again with the remaining texts.
            segments::remove(tx, segment.id)?;
        } else if seqs.range(segment.first_seq..=segment.last_seq).next().is_some() {
            rewrite(tx, &segment, seqs, now)?;
        }
    }
    Ok(())
}

/// Rewrites every segment that covers texts which no longer exist: erased memories, and what they said
/// before they were edited.
pub(crate) fn erase_missing_texts(tx: &Tx<'_>, now: Timestamp) -> Result<()> {
    let mut missing = BTreeSet::new();
    for row in segments::all(tx)?.iter().filter(|row| row.stage == Stage::Live) {
        let (first, last) = (row.first_seq, row.last_seq);
        if texts(tx).count(first, last)? < row.messages {
            let present: BTreeSet<i64> = texts(tx).numbers(first, last)?.into_iter().collect();
            missing.extend((first..=last).filter(|number| !present.contains(number)));
        }
    }
    if !missing.is_empty() {
        erase_texts(tx, &missing, now)?;
    }
    segments::remove_orphan_embeddings(tx)
}

fn rewrite(tx: &Tx<'_>, row: &Segment, seqs: &BTreeSet<i64>, now: Timestamp) -> Result<()> {
    let storage = Segments::of(tx, row.build, now)?;
    match oneiro_index::rewrite(&storage, &segment(row), seqs) {
        // A damaged segment may still contain erased words: remove all of it, and index its texts
        // again.
        Err(error) if is_damaged(&error) => remove_from(tx, row),
        done => done,
    }
}

/// Whether the bytes of a segment are invalid. A missing table is not handled here, because the
/// transaction cannot continue after it.
fn is_damaged(error: &oneiro_model::Error) -> bool {
    oneiro_index::is_damaged(error) || is_unreadable(error)
}

/// Removes a segment and all later ones, so that the watermark falls back before it.
fn remove_from(tx: &Tx<'_>, damaged: &Segment) -> Result<()> {
    for segment in segments::all(tx)? {
        if segment.build == damaged.build && segment.first_seq >= damaged.first_seq {
            segments::remove(tx, segment.id)?;
        }
    }
    Ok(())
}
