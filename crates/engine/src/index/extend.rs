//! Extends the index by a segment of the texts that no segment covers yet, and merges small
//! segments into larger ones. Everything is read and computed outside the write transaction, which
//! only verifies that no other process was faster, and writes.

use super::storage::{self, Segments};
use super::texts::texts;
use crate::Clock;
use oneiro_index::{
    Blocks, Merge, Reader, Segment, Source, Storage, Written, build_segments, due_for_merge,
    text_numbers,
};
use oneiro_model::{Result, Span, Timestamp};
use oneiro_store::segments::{self, IndexState, Stage};
use oneiro_store::{Store, Tx};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A segment whose writer added nothing for this long is abandoned. Writers touch it with every
/// batch of blocks, which takes well under a second.
const ABANDONED_AFTER: Span = Span::seconds(600);

/// Blocks removed in one transaction.
const REMOVE_BLOCKS: i64 = 2_048;

/// The result of one extension.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extended {
    /// Texts that were newly covered.
    pub(crate) texts: usize,
    /// The number of the last covered text.
    pub(crate) reach: i64,
    /// Whether more texts may be uncovered.
    pub(crate) more: bool,
}

/// Covers up to `limit` more texts. The readers analyse them in parallel.
pub(crate) fn extend(
    store: &Store,
    readers: &mut [Reader],
    limit: usize,
    now: Timestamp,
) -> Result<Extended> {
    let build = store.read(|tx| Ok(segments::state(tx)?.build))?;
    extend_build(store, readers, BuildStep { build, limit }, now)
}

/// A build of the index, and the maximum number of texts to add to it.
#[derive(Clone, Copy)]
pub(crate) struct BuildStep {
    pub(crate) build: i64,
    pub(crate) limit: usize,
}

/// The same for a given build, which need not be the current one.
pub(crate) fn extend_build(
    store: &Store,
    readers: &mut [Reader],
    step: BuildStep,
    now: Timestamp,
) -> Result<Extended> {
    let BuildStep { build, limit } = step;
    let (state, reach, read) = store.read(|tx| {
        let reach = segments::last_covered(tx, build)?;
        Ok((segments::state(tx)?, reach, texts(tx).after(reach, limit)?))
    })?;
    let Some(last) = read.last() else {
        return Ok(Extended { texts: 0, reach, more: false });
    };
    let made = build_segments(&read, readers)?;
    let extended = store.write_derived(|tx| {
        let is_first = segments::last_covered(tx, build)? == reach
            && segments::state(tx)?.generation == state.generation;
        if is_first {
            let storage = Segments::of(tx, build, now)?;
            for (segment, blocks) in &made {
                storage.write(storage.insert(segment)?, blocks, Written::default())?;
            }
        }
        Ok(is_first)
    })?;
    let more = read.len() == limit;
    Ok(if extended {
        Extended { texts: read.len(), reach: last.number, more }
    } else {
        Extended { texts: 0, reach, more: true }
    })
}

/// The inputs of a merge.
#[derive(Clone, Copy)]
pub(crate) struct Merger<'m> {
    pub(crate) store: &'m Store,
    pub(crate) clock: &'m dyn Clock,
    pub(crate) stopped: &'m dyn Fn() -> bool,
}

/// The outcome of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merged {
    /// There was nothing to merge.
    Nothing,
    /// The merged segment replaced its inputs.
    Done,
    /// Another process changed the inputs first, or the merge was stopped; nothing changed.
    Lost,
}

/// Merges segments if there are too many of one size.
pub(crate) fn merge(merger: Merger<'_>, build: i64) -> Result<Merged> {
    let now = merger.clock.now();
    let live = merger.store.read(|tx| Segments::of(tx, build, now)?.segments())?;
    merge_segments(merger, build, due_for_merge(&live))
}

/// Rewrites one segment that covers deleted texts without them. Deleted texts are never found, but
/// their words must not remain.
pub(crate) fn purge(merger: Merger<'_>) -> Result<Merged> {
    let (build, found) = merger.store.read(|tx| {
        let storage = Segments::answering(tx)?;
        for segment in storage.segments()? {
            if texts(tx).count(segment.first, segment.last)? < segment.texts {
                return Ok((storage.state().0, Some(segment)));
            }
        }
        Ok((storage.state().0, None))
    })?;
    merge_segments(merger, build, found.as_slice())
}

/// Writes the merged segment in batches that no reader sees, then replaces its inputs.
fn merge_segments(merger: Merger<'_>, build: i64, from: &[Segment]) -> Result<Merged> {
    let Merger { store, clock, stopped } = merger;
    if from.is_empty() {
        return Ok(Merged::Nothing);
    }
    store.read(|tx| {
        let state = segments::state(tx)?;
        let storage = Segments::of(tx, build, clock.now())?;
        // Finding deleted texts costs as much as merging, so it is done only if the merge is a
        // purge.
        let deleted = match from {
            [only] => deleted(tx, &storage, only)?,
            _ => BTreeSet::new(),
        };
        let merge = Merge::begin(&storage, from, |number| !deleted.contains(&number))?;
        let segment = merge.segment();
        let id = store.write_derived(|tx| {
            segments::insert(tx, &storage::new_row(&segment, build, Stage::Written, clock.now()))
        })?;
        let mut target = Target { store, id, state, written: Written::default() };
        let written = merge.write(&storage, |blocks| {
            let goes_on = !stopped() && target.add(blocks, clock.now())?;
            Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        let swapped = match written {
            Ok(ControlFlow::Continue(())) => store.write_derived(|tx| {
                let mut are_live = target.is_mine(tx)?;
                for input in from {
                    are_live &= segments::stage(tx, input.id)? == Some(Stage::Live);
                }
                if are_live {
                    from.iter().try_for_each(|s| segments::set_stage(tx, s.id, Stage::Dead))?;
                    segments::set_stage(tx, id, Stage::Live)?;
                }
                Ok(are_live)
            }),
            Ok(ControlFlow::Break(())) => Ok(false),
            Err(error) => Err(error),
        };
        if swapped.as_ref().is_ok_and(|swapped| *swapped) {
            return Ok(Merged::Done);
        }
        store.write_derived(|tx| segments::set_stage(tx, id, Stage::Dead))?;
        swapped.map(|_| Merged::Lost)
    })
}

/// The deleted texts that a segment still covers.
fn deleted(tx: &Tx<'_>, storage: &Segments<'_, '_>, segment: &Segment) -> Result<BTreeSet<i64>> {
    let there: BTreeSet<i64> =
        texts(tx).numbers(segment.first, segment.last)?.into_iter().collect();
    let indexed = text_numbers(storage, segment)?;
    Ok(indexed.into_iter().filter(|number| !there.contains(number)).collect())
}

/// A segment being written.
struct Target<'s> {
    store: &'s Store,
    id: i64,
    state: IndexState,
    written: Written,
}

impl Target<'_> {
    /// Adds blocks; returns false if an erasure happened meanwhile, so that what was read must not
    /// be written.
    fn add(&mut self, blocks: &Blocks, now: Timestamp) -> Result<bool> {
        let added = self.store.write_derived(|tx| {
            if !self.is_mine(tx)? {
                return Ok(None);
            }
            segments::touch(tx, self.id, now)?;
            storage::write(tx, self.id, blocks, self.written).map(Some)
        })?;
        if let Some(written) = added {
            self.written = written;
        }
        Ok(added.is_some())
    }

    fn is_mine(&self, tx: &Tx<'_>) -> Result<bool> {
        Ok(segments::state(tx)?.generation == self.state.generation
            && segments::stage(tx, self.id)? == Some(Stage::Written))
    }
}

/// Removes a bounded part of the replaced or abandoned segments; returns whether more is left.
pub(crate) fn sweep(store: &Store, now: Timestamp) -> Result<bool> {
    let is_garbage = |segment: &segments::Segment| match segment.stage {
        Stage::Live => false,
        Stage::Dead => true,
        Stage::Written => segment.created_at.plus(ABANDONED_AFTER) < now,
    };
    let found = store.read(|tx| {
        let build = segments::state(tx)?.build;
        let mut found = segments::all(tx)?.into_iter();
        Ok(found.find(|segment| segment.build < build || is_garbage(segment)))
    })?;
    let Some(segment) = found else { return Ok(false) };
    store.write_derived(|tx| segments::remove_some(tx, segment.id, REMOVE_BLOCKS)).map(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewMessage, NewSession, Oneiro, Options, Role, SearchRequest, SessionId, Target};
    use oneiro_index::{Kind, MERGE_FAN_IN, Text, role};
    use std::cell::Cell;
    use std::sync::atomic::{AtomicI64, Ordering};

    /// A clock that the test sets.
    struct TestClock(AtomicI64);

    impl Clock for TestClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(self.0.load(Ordering::SeqCst) * 1_000_000)
        }
    }

    /// A store with `count` messages, each in a segment of its own.
    fn store_with_segments(count: usize) -> (tempfile::TempDir, Oneiro) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store.db");
        let target = Target::parse(&place.to_string_lossy(), None).unwrap();
        let oneiro = Oneiro::open(&target, Options::default()).unwrap();
        let id = SessionId::new("s").unwrap();
        oneiro.sessions().create(NewSession::with_id(id.clone())).unwrap();
        for number in 0..count {
            let text = format!("message number {number}");
            oneiro.messages().append(&id, vec![NewMessage::text(Role::User, text)]).unwrap();
            let extended = extend(oneiro.store(), &mut [Reader::new(None)], 1, NOW).unwrap();
            assert_eq!(extended.texts, 1);
        }
        (folder, oneiro)
    }

    const NOW: Timestamp = Timestamp::from_micros(0);

    fn live_segments(oneiro: &Oneiro) -> usize {
        let live = |tx: &Tx<'_>| segments::live(tx, segments::state(tx)?.build);
        oneiro.store().read(live).unwrap().len()
    }

    fn build(oneiro: &Oneiro) -> i64 {
        oneiro.store().read(|tx| Ok(segments::state(tx)?.build)).unwrap()
    }

    #[test]
    fn a_fold_without_a_reader_fails_and_covers_nothing() {
        let (_folder, oneiro) = store_with_segments(1);
        let id = SessionId::new("s").unwrap();
        oneiro.messages().append(&id, vec![NewMessage::text(Role::User, "uncovered")]).unwrap();
        assert!(extend(oneiro.store(), &mut [], 10, NOW).is_err());
        assert_eq!(live_segments(&oneiro), 1);
    }

    #[test]
    fn a_merge_that_is_told_to_stop_writes_no_further_block() {
        let (_folder, oneiro) = store_with_segments(MERGE_FAN_IN);
        let (asked, clock) = (Cell::new(0), TestClock(AtomicI64::new(0)));
        let stopped = || {
            asked.set(asked.get() + 1);
            true
        };
        let merger = Merger { store: oneiro.store(), clock: &clock, stopped: &stopped };
        assert_eq!(merge(merger, build(&oneiro)).unwrap(), Merged::Lost);
        assert_eq!((asked.get(), live_segments(&oneiro)), (1, MERGE_FAN_IN));
    }

    #[test]
    fn a_segment_that_is_still_being_written_is_not_swept() {
        let (_folder, oneiro) = store_with_segments(MERGE_FAN_IN);
        let clock = TestClock(AtomicI64::new(0));
        // Each batch of blocks takes most of the time after which a segment counts as abandoned.
        let stopped = || {
            clock.0.fetch_add(500, Ordering::SeqCst);
            while sweep(oneiro.store(), clock.now()).unwrap() {}
            false
        };
        let merger = Merger { store: oneiro.store(), clock: &clock, stopped: &stopped };
        assert_eq!(merge(merger, build(&oneiro)).unwrap(), Merged::Done);
        assert!(clock.0.load(Ordering::SeqCst) > 600, "too few batches to tell");
        assert_eq!(live_segments(&oneiro), 1);
    }

    #[test]
    fn a_purge_that_loses_a_race_does_not_say_that_nothing_is_left() {
        let (_folder, oneiro) = store_with_segments(1);
        let id = SessionId::new("t").unwrap();
        oneiro.sessions().create(NewSession::with_id(id.clone())).unwrap();
        oneiro.messages().append(&id, vec![NewMessage::text(Role::User, "deleted later")]).unwrap();
        extend(oneiro.store(), &mut [Reader::new(None)], 10, NOW).unwrap();
        oneiro.sessions().delete(&id).unwrap();
        let clock = TestClock(AtomicI64::new(0));
        // While the first purge writes, another process finishes the same one.
        let has_raced = Cell::new(false);
        let quiet = || false;
        let race = || {
            if !has_raced.replace(true) {
                let other = Merger { store: oneiro.store(), clock: &clock, stopped: &quiet };
                assert_eq!(purge(other).unwrap(), Merged::Done);
            }
            false
        };
        let merger = Merger { store: oneiro.store(), clock: &clock, stopped: &race };
        assert_eq!(purge(merger).unwrap(), Merged::Lost);
        assert_eq!(purge(merger).unwrap(), Merged::Nothing);
    }

    #[test]
    fn texts_of_another_kind_do_not_crowd_out_messages() {
        let (_folder, oneiro) = store_with_segments(1);
        let memory = |number: i64| Text {
            number,
            kind: Kind::Memory,
            session: 1,
            at: NOW,
            role: role::USER,
            name: None,
            text: "message number".to_owned(),
        };
        // More than a search takes as candidates, and shorter than the message.
        let texts: Vec<Text> = (100..500).map(memory).collect();
        let made = build_segments(&texts, &mut [Reader::new(None)]).unwrap();
        let write = |tx: &Tx<'_>| {
            let storage = Segments::of(tx, segments::state(tx)?.build, NOW)?;
            made.iter().try_for_each(|(segment, blocks)| {
                storage.write(storage.insert(segment)?, blocks, Written::default()).map(|_| ())
            })
        };
        oneiro.store().write_derived(write).unwrap();
        let found = oneiro.search().run(&SearchRequest::new("message number")).unwrap();
        let hits: Vec<i64> = found.hits.iter().map(|hit| hit.id.0).collect();
        assert_eq!(hits, [1]);
    }
}
