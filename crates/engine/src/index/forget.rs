//! Forgetting: an erasure leaves nothing of its texts in any segment, and what others have read
//! of them before is never written.

use super::storage::{Segments, segment};
use oneiro_model::{Result, Timestamp};
use oneiro_store::segments::{self, IndexState, Segment, Stage};
use oneiro_store::{Tx, is_unreadable};
use std::collections::BTreeSet;

/// Writes every segment anew that covers one of these texts, without them.
pub(crate) fn forget(tx: &Tx<'_>, seqs: &BTreeSet<i64>, now: Timestamp) -> Result<()> {
    let state = segments::state(tx)?;
    segments::put_state(tx, IndexState { generation: state.generation + 1, ..state })?;
    segments::remove_orphans(tx)?;
    for segment in segments::all(tx)? {
        if segment.stage != Stage::Live {
            // Whoever writes it finds it gone, and begins again with what is left.
            segments::remove(tx, segment.id)?;
        } else if seqs.range(segment.first_seq..=segment.last_seq).next().is_some() {
            rewrite(tx, &segment, seqs, now)?;
        }
    }
    Ok(())
}

fn rewrite(tx: &Tx<'_>, row: &Segment, seqs: &BTreeSet<i64>, now: Timestamp) -> Result<()> {
    let storage = Segments::of(tx, row.build, now)?;
    match oneiro_index::rewrite(&storage, &segment(row), seqs) {
        // A damaged segment cannot be trusted to have forgotten anything: it goes as a whole, and
        // the fold reads its texts again.
        Err(error) if is_damaged(&error) => drop_from(tx, row),
        done => done,
    }
}

/// Whether the bytes of a segment make no sense. Where a table is gone nothing more can be done in
/// the transaction.
fn is_damaged(error: &oneiro_model::Error) -> bool {
    oneiro_index::is_damaged(error) || is_unreadable(error)
}

/// Removes a segment and all after it, so that the watermark falls back before it.
fn drop_from(tx: &Tx<'_>, damaged: &Segment) -> Result<()> {
    for segment in segments::all(tx)? {
        if segment.build == damaged.build && segment.first_seq >= damaged.first_seq {
            segments::remove(tx, segment.id)?;
        }
    }
    Ok(())
}
