//! Builds segments from texts, and chooses which segments to merge. The caller decides when, and stores
//! the result.

use crate::build::SegmentBuilder;
use crate::read::Reader;
use crate::source::Text;
use crate::storage::{Blocks, Segment};
use oneiro_model::{Error, Result};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

/// How many adjacent segments of similar size are merged into one.
pub const MERGE_FAN_IN: usize = 6;

/// Segments with fewer than this times the fan-in documents are of level 0.
const LEVEL_BASE_DOCS: i64 = 256;

/// With more segments than this, segments of different levels are merged too.
const MAX_SEGMENTS: usize = 48;

/// Builds one segment per reader, each from a consecutive share of the texts. The first share is read on
/// this thread, and so is any other if its thread cannot be started.
pub fn build_segments(texts: &[Text], readers: &mut [Reader]) -> Result<Vec<(Segment, Blocks)>> {
    if readers.is_empty() {
        return Err(Error::internal("texts cannot be indexed without a reader"));
    }
    let share_texts = texts.len().div_ceil(readers.len()).max(1);
    let shares: Vec<_> =
        texts.chunks(share_texts).zip(readers).map(|share| Mutex::new(Some(share))).collect();
    let read = |share: &Mutex<Option<(&[Text], &mut Reader)>>| match share
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
    {
        Some((texts, reader)) => build_segment(texts, reader),
        None => Err(Error::internal("a share of texts was read twice")),
    };
    std::thread::scope(|scope| {
        let start = |share| {
            let thread = std::thread::Builder::new().name("oneiro-read".to_owned());
            thread.spawn_scoped(scope, move || read(share)).ok()
        };
        let others = shares.iter().skip(1).map(start);
        let threads: Vec<_> = std::iter::once(None).chain(others).collect();
        let finish = |(share, thread): (_, Option<ScopedJoinHandle<'_, _>>)| match thread {
            Some(thread) => {
                thread.join().unwrap_or_else(|_| Err(Error::internal("a reader of texts panicked")))
            }
            None => read(share),
        };
        shares.iter().zip(threads).map(finish).collect()
    })
}

/// Builds a segment from consecutive texts.
fn build_segment(texts: &[Text], reader: &mut Reader) -> Result<(Segment, Blocks)> {
    let mut builder = SegmentBuilder::default();
    for text in texts {
        reader.read(text, &mut builder)?;
    }
    let segment = Segment {
        id: 0,
        first: texts.first().map_or(0, |text| text.number),
        last: texts.last().map_or(0, |text| text.number),
        texts: texts.len() as i64,
        docs: builder.docs().len() as i64,
        words: builder.docs().total_words(),
        blocks: 0,
        version: crate::VERSION,
        embedder: reader.model().map(str::to_owned),
    };
    let blocks = builder.finish(segment.embedder.is_some());
    Ok((segment, blocks))
}

/// The adjacent segments to merge next: a run of one level, the lowest first; empty if none is due.
pub fn due_for_merge(live: &[Segment]) -> &[Segment] {
    let mut best: Option<(i64, &[Segment])> = None;
    let mut from = 0;
    for (at, segment) in live.iter().enumerate() {
        let level_of = |at: usize| live.get(at).map(|segment| level(segment.docs));
        if level_of(from) != Some(level(segment.docs)) {
            from = at;
        }
        let run = live.get(from..=at).unwrap_or_default();
        if run.len() >= MERGE_FAN_IN
            && best.as_ref().is_none_or(|(lowest, _)| level(segment.docs) < *lowest)
        {
            best = Some((level(segment.docs), run));
        }
    }
    if best.is_none() && live.len() > MAX_SEGMENTS {
        let smallest =
            live.windows(MERGE_FAN_IN).min_by_key(|run| run.iter().map(|s| s.docs).sum::<i64>());
        best = smallest.map(|run| (0, run));
    }
    best.map(|(_, run)| run).unwrap_or_default()
}

/// The size class of a segment: a logarithm of its documents to the base of the fan-in.
fn level(docs: i64) -> i64 {
    let mut level = 0;
    let mut size = LEVEL_BASE_DOCS * MERGE_FAN_IN as i64;
    while docs >= size {
        level += 1;
        size = size.saturating_mul(MERGE_FAN_IN as i64);
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments_with_docs(docs: &[i64]) -> Vec<Segment> {
        let segment = |(id, docs): (usize, &i64)| Segment {
            id: id as i64,
            docs: *docs,
            ..Segment::default()
        };
        docs.iter().enumerate().map(segment).collect()
    }

    #[test]
    fn a_run_of_segments_of_one_level_is_due_for_merge() {
        let chosen = |docs: &[i64]| {
            due_for_merge(&segments_with_docs(docs)).iter().map(|s| s.id).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[256; 5]), [0; 0]);
        assert_eq!(chosen(&[256; 6]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(chosen(&[90_000, 9_000, 256, 1, 256, 2, 256, 256]), [2, 3, 4, 5, 6, 7]);
        assert_eq!(chosen(&[256, 9_000, 256, 256, 256, 256, 256]), [0; 0]);
    }

    #[test]
    fn the_number_of_segments_stays_small() {
        let mut sizes: Vec<i64> = Vec::new();
        for folded in std::iter::repeat_n(256, 8_000) {
            sizes.push(folded);
            loop {
                let all = segments_with_docs(&sizes);
                let run = due_for_merge(&all);
                let (Some(first), Some(last)) = (run.first(), run.last()) else { break };
                let merged: i64 = run.iter().map(|segment| segment.docs).sum();
                sizes.splice(first.id as usize..=last.id as usize, [merged]);
            }
        }
        assert_eq!(sizes.iter().sum::<i64>(), 8_000 * 256);
        assert!(sizes.len() <= 30, "{sizes:?}");
    }
}
