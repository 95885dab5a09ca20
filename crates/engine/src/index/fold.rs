//! The fold: rows that no segment covers yet become one, and small segments become larger ones.
//! Everything is read and computed outside the write transaction; inside, it is only checked that
//! nobody was faster, and written.

use super::build::Building;
use super::merge::{Merge, load};
use super::read::Reader;
use crate::Clock;
use oneiro_model::{Error, Result, Span, Timestamp};
use oneiro_store::Store;
use oneiro_store::said::{self, Said};
use oneiro_store::segments::{self, Blocks, IndexState, Segment, Stage, Written};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

/// Adjacent segments of about one size that become one.
const FAN: usize = 6;

/// Documents of the smallest size.
const SMALLEST: i64 = 256;

/// Segments that are tolerated before unequal ones are merged as well.
const MANY: usize = 48;

/// A segment whose writer added nothing for this long was abandoned. Writers stamp it with each batch
/// of blocks, which takes well under a second.
const ABANDONED_AFTER: Span = Span::seconds(600);

/// Blocks removed in one transaction.
const REMOVED: i64 = 2_048;

/// What one fold did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Messages that are covered now and were not before.
    pub(crate) messages: usize,
    /// The last message that is covered.
    pub(crate) reach: i64,
    /// Whether rows may be left.
    pub(crate) more: bool,
}

/// Covers up to `limit` messages more. Each reader takes its share of them, beside the others.
pub(crate) fn fold(
    store: &Store,
    readers: &mut [Reader],
    limit: usize,
    now: Timestamp,
) -> Result<Folded> {
    let build = store.read(|tx| Ok(segments::state(tx)?.build))?;
    fold_build(store, readers, (build, limit), now)
}

/// The same for one build, which need not be the one that answers.
pub(crate) fn fold_build(
    store: &Store,
    readers: &mut [Reader],
    (build, limit): (i64, usize),
    now: Timestamp,
) -> Result<Folded> {
    let (state, reach, rows) = store.read(|tx| {
        let reach = segments::reach(tx, build)?;
        Ok((segments::state(tx)?, reach, said::said_after(tx, reach, limit)?))
    })?;
    let Some(last) = rows.last() else {
        return Ok(Folded { messages: 0, reach, more: false });
    };
    let made = make_all(&rows, readers, (build, now))?;
    let folded = store.write_derived(|tx| {
        let is_first = segments::reach(tx, build)? == reach
            && segments::state(tx)?.generation == state.generation;
        if is_first {
            for (segment, blocks) in &made {
                let id = segments::insert(tx, segment)?;
                segments::insert_blocks(tx, id, blocks, Written::default())?;
            }
        }
        Ok(is_first)
    })?;
    let more = rows.len() == limit;
    Ok(match folded {
        true => Folded { messages: rows.len(), reach: last.seq, more },
        // Somebody else covered them.
        false => Folded { messages: 0, reach, more: true },
    })
}

/// Makes a segment of each reader's share of the rows, in order. The first share is read on this
/// thread, and so is any other for which no thread can be started.
fn make_all(
    rows: &[Said],
    readers: &mut [Reader],
    made_as: (i64, Timestamp),
) -> Result<Vec<(Segment, Blocks)>> {
    if readers.is_empty() {
        return Err(Error::internal("messages cannot be folded without a reader"));
    }
    let share_rows = rows.len().div_ceil(readers.len()).max(1);
    let shares: Vec<_> =
        rows.chunks(share_rows).zip(readers).map(|share| Mutex::new(Some(share))).collect();
    let read = |share: &Mutex<Option<(&[Said], &mut Reader)>>| match share
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
    {
        Some((rows, reader)) => make(rows, reader, made_as),
        None => Err(Error::internal("a share of messages was read twice")),
    };
    std::thread::scope(|scope| {
        let start = |share| {
            let thread = std::thread::Builder::new().name("oneiro-read".to_owned());
            thread.spawn_scoped(scope, move || read(share)).ok()
        };
        let others = shares.iter().skip(1).map(start);
        let threads: Vec<_> = std::iter::once(None).chain(others).collect();
        let finish = |(share, thread): (_, Option<ScopedJoinHandle<'_, _>>)| match thread {
            Some(thread) => thread
                .join()
                .unwrap_or_else(|_| Err(Error::internal("a reader of messages panicked"))),
            None => read(share),
        };
        shares.iter().zip(threads).map(finish).collect()
    })
}

/// Makes a segment of messages that follow each other.
fn make(
    rows: &[Said],
    reader: &mut Reader,
    (build, now): (i64, Timestamp),
) -> Result<(Segment, Blocks)> {
    let mut building = Building::default();
    for row in rows {
        reader.read(row, &mut building)?;
    }
    let segment = Segment {
        id: 0,
        build,
        stage: Stage::Live,
        first_seq: rows.first().map_or(0, |row| row.seq),
        last_seq: rows.last().map_or(0, |row| row.seq),
        messages: rows.len() as i64,
        docs: building.docs().len() as i64,
        words: building.docs().total_words(),
        blocks: 0,
        analyzer: i64::from(oneiro_text::VERSION),
        embedder: reader.model().map(str::to_owned),
        created_at: now,
    };
    let blocks = building.finish(segment.embedder.is_some());
    Ok((segment, blocks))
}

/// Who merges: for how long, and by which clock.
#[derive(Clone, Copy)]
pub(crate) struct Merger<'m> {
    pub(crate) store: &'m Store,
    pub(crate) clock: &'m dyn Clock,
    pub(crate) stopped: &'m dyn Fn() -> bool,
}

/// What became of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merged {
    /// There was nothing to merge.
    Nothing,
    /// One segment stands in the place of its inputs.
    Done,
    /// Another process changed the inputs first, or the work was told to stop; nothing changed.
    Lost,
}

/// Merges segments where there are too many of one size.
pub(crate) fn merge(merger: Merger<'_>, build: i64) -> Result<Merged> {
    let from = merger.store.read(|tx| segments::live(tx, build).map(|live| choose(&live)))?;
    merge_these(merger, &from)
}

/// Rewrites one segment that covers deleted messages without them. They are never found, but their
/// words must not stay.
pub(crate) fn purge(merger: Merger<'_>) -> Result<Merged> {
    let covers_deleted = |tx: &oneiro_store::Tx<'_>, segment: &Segment| {
        let there = said::count_between(tx, segment.first_seq, segment.last_seq)?;
        Ok::<bool, oneiro_model::Error>(there < segment.messages)
    };
    let found = merger.store.read(|tx| {
        for segment in segments::live(tx, segments::state(tx)?.build)? {
            if covers_deleted(tx, &segment)? {
                return Ok(Some(segment));
            }
        }
        Ok(None)
    })?;
    merge_these(merger, found.as_slice())
}

/// Which adjacent segments to merge next: none when they are few.
fn choose(live: &[Segment]) -> Vec<Segment> {
    let mut best: Option<(i64, &[Segment])> = None;
    let mut from = 0;
    for (at, segment) in live.iter().enumerate() {
        let level_of = |at: usize| live.get(at).map(|segment| level(segment.docs));
        if level_of(from) != Some(level(segment.docs)) {
            from = at;
        }
        let run = live.get(from..=at).unwrap_or_default();
        if run.len() >= FAN && best.as_ref().is_none_or(|(lowest, _)| level(segment.docs) < *lowest)
        {
            best = Some((level(segment.docs), run));
        }
    }
    if best.is_none() && live.len() > MANY {
        let smallest = live.windows(FAN).min_by_key(|run| run.iter().map(|s| s.docs).sum::<i64>());
        best = smallest.map(|run| (0, run));
    }
    best.map(|(_, run)| run.to_vec()).unwrap_or_default()
}

fn level(docs: i64) -> i64 {
    let mut level = 0;
    let mut size = SMALLEST * FAN as i64;
    while docs >= size {
        level += 1;
        size = size.saturating_mul(FAN as i64);
    }
    level
}

/// Writes the merged segment in pieces that nobody sees, then puts it in the place of its inputs.
fn merge_these(merger: Merger<'_>, from: &[Segment]) -> Result<Merged> {
    let Merger { store, clock, stopped } = merger;
    let (Some(first), Some(last)) = (from.first(), from.last()) else {
        return Ok(Merged::Nothing);
    };
    store.read(|tx| {
        let state = segments::state(tx)?;
        // Looking costs as much as merging, so only one alone is looked through.
        let gone = match from {
            [only] => gone(tx, only)?,
            _ => BTreeSet::new(),
        };
        let merge = Merge::begin(tx, from, |seq| !gone.contains(&seq))?;
        let segment = Segment {
            id: 0,
            stage: Stage::Written,
            last_seq: last.last_seq,
            messages: merge.docs().messages() as i64,
            docs: merge.docs().len() as i64,
            words: merge.docs().total_words(),
            embedder: merge.embedder().map(str::to_owned),
            created_at: clock.now(),
            ..first.clone()
        };
        let id = store.write_derived(|tx| segments::insert(tx, &segment))?;
        let mut target = Target { store, id, state, written: Written::default() };
        let written = merge.write(tx, |blocks| {
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

/// The messages of a segment that are no more.
fn gone(tx: &oneiro_store::Tx<'_>, segment: &Segment) -> Result<BTreeSet<i64>> {
    let docs = load(tx, segment, false)?.0;
    let there: BTreeSet<i64> =
        said::seqs_between(tx, segment.first_seq, segment.last_seq)?.into_iter().collect();
    let seqs = (0..docs.len()).filter_map(|at| docs.get(at)).map(|doc| doc.seq);
    Ok(seqs.filter(|seq| !there.contains(seq)).collect())
}

/// A segment that is being written.
struct Target<'s> {
    store: &'s Store,
    id: i64,
    state: IndexState,
    written: Written,
}

impl Target<'_> {
    /// Adds blocks; false when an erasure came between, and what was read may not be written.
    fn add(&mut self, blocks: &Blocks, now: Timestamp) -> Result<bool> {
        let added = self.store.write_derived(|tx| {
            if !self.is_mine(tx)? {
                return Ok(None);
            }
            segments::touch(tx, self.id, now)?;
            segments::insert_blocks(tx, self.id, blocks, self.written).map(Some)
        })?;
        if let Some(written) = added {
            self.written = written;
        }
        Ok(added.is_some())
    }

    fn is_mine(&self, tx: &oneiro_store::Tx<'_>) -> Result<bool> {
        Ok(segments::state(tx)?.generation == self.state.generation
            && segments::stage(tx, self.id)? == Some(Stage::Written))
    }
}

/// Removes a bounded part of what was replaced or abandoned; answers whether more is left.
pub(crate) fn sweep(store: &Store, now: Timestamp) -> Result<bool> {
    let useless = |segment: &Segment| match segment.stage {
        Stage::Live => false,
        Stage::Dead => true,
        Stage::Written => segment.created_at.plus(ABANDONED_AFTER) < now,
    };
    let found = store.read(|tx| {
        let build = segments::state(tx)?.build;
        let mut found = segments::all(tx)?.into_iter();
        Ok(found.find(|segment| segment.build < build || useless(segment)))
    })?;
    let Some(segment) = found else { return Ok(false) };
    store.write_derived(|tx| segments::remove_some(tx, segment.id, REMOVED)).map(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewMessage, NewSession, Oneiro, Options, Role, SessionId, Target};
    use std::cell::Cell;
    use std::sync::atomic::{AtomicI64, Ordering};

    fn live(docs: &[i64]) -> Vec<Segment> {
        let segment = |(id, docs): (usize, &i64)| Segment {
            id: id as i64,
            build: 1,
            stage: Stage::Live,
            first_seq: 0,
            last_seq: 0,
            messages: *docs,
            docs: *docs,
            words: 0,
            blocks: 0,
            analyzer: 1,
            embedder: None,
            created_at: Timestamp::from_micros(0),
        };
        docs.iter().enumerate().map(segment).collect()
    }

    #[test]
    fn enough_of_one_size_are_merged() {
        let chosen = |docs: &[i64]| choose(&live(docs)).iter().map(|s| s.id).collect::<Vec<_>>();
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
                let run = choose(&live(&sizes));
                let (Some(first), Some(last)) = (run.first(), run.last()) else { break };
                let merged: i64 = run.iter().map(|segment| segment.docs).sum();
                sizes.splice(first.id as usize..=last.id as usize, [merged]);
            }
        }
        assert_eq!(sizes.iter().sum::<i64>(), 8_000 * 256);
        assert!(sizes.len() <= 30, "{sizes:?}");
    }

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
        oneiro.create_session(NewSession::with_id(id.clone())).unwrap();
        for number in 0..count {
            let text = format!("message number {number}");
            oneiro.append(&id, vec![NewMessage::text(Role::User, text)]).unwrap();
            let folded = fold(oneiro.store(), &mut [Reader::new(None)], 1, NOW).unwrap();
            assert_eq!(folded.messages, 1);
        }
        (folder, oneiro)
    }

    const NOW: Timestamp = Timestamp::from_micros(0);

    fn live_segments(oneiro: &Oneiro) -> usize {
        let live = |tx: &oneiro_store::Tx<'_>| segments::live(tx, segments::state(tx)?.build);
        oneiro.store().read(live).unwrap().len()
    }

    fn build(oneiro: &Oneiro) -> i64 {
        oneiro.store().read(|tx| Ok(segments::state(tx)?.build)).unwrap()
    }

    #[test]
    fn a_fold_without_a_reader_fails_and_covers_nothing() {
        let (_folder, oneiro) = store_with_segments(1);
        let id = SessionId::new("s").unwrap();
        oneiro.append(&id, vec![NewMessage::text(Role::User, "uncovered")]).unwrap();
        assert!(fold(oneiro.store(), &mut [], 10, NOW).is_err());
        assert_eq!(live_segments(&oneiro), 1);
    }

    #[test]
    fn a_merge_that_is_told_to_stop_writes_no_further_block() {
        let (_folder, oneiro) = store_with_segments(FAN);
        let (asked, clock) = (Cell::new(0), TestClock(AtomicI64::new(0)));
        let stopped = || {
            asked.set(asked.get() + 1);
            true
        };
        let merger = Merger { store: oneiro.store(), clock: &clock, stopped: &stopped };
        assert_eq!(merge(merger, build(&oneiro)).unwrap(), Merged::Lost);
        assert_eq!((asked.get(), live_segments(&oneiro)), (1, FAN));
    }

    #[test]
    fn a_segment_that_is_still_being_written_is_not_swept() {
        let (_folder, oneiro) = store_with_segments(FAN);
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
        oneiro.create_session(NewSession::with_id(id.clone())).unwrap();
        oneiro.append(&id, vec![NewMessage::text(Role::User, "deleted later")]).unwrap();
        fold(oneiro.store(), &mut [Reader::new(None)], 10, NOW).unwrap();
        oneiro.delete_session(&id).unwrap();
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
}
