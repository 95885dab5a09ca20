//! Decides when and where the index is extended: on the index lane of the process's background if
//! it has one, otherwise on a thread that starts when the unindexed tail is long and ends when it
//! is short. Writers do not wait for it, unless the tail exceeds what a search can read.

use super::extend::{Merged, Merger, extend, merge, sweep};
use super::remote::embed_all;
use super::texts::texts;
use crate::background::Wake;
use crate::settings::{self, EmbedderChoice};
use crate::{Clock, Embedder, WordModel};
use oneiro_index::{Reader, Source};
use oneiro_model::{NewJob, Result};
use oneiro_store::{Store, jobs, segments};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Unindexed messages that are worth a segment.
pub(super) const TAIL_TEXTS_MIN: i64 = 512;

/// Unindexed messages up to which writers go first. A search analyses this many in about half a
/// second, once: the analysed tail is cached.
const TAIL_TEXTS_YIELD: i64 = 8_192;

/// Unindexed messages at which writers wait.
const TAIL_TEXTS_MAX: i64 = 32_768;

/// A search that analysed more unindexed messages than this makes the next run urgent.
const SEARCHED_TAIL_TEXTS_MAX: i64 = 2_048;

/// Writers that committed nothing for this long have paused. Several times longer than a durable
/// append takes, and shorter than a person or a model needs to answer.
const WRITERS_PAUSE: Duration = Duration::from_millis(5);

/// Longest wait of a writer.
const WRITER_WAIT: Duration = Duration::from_secs(2);

/// Messages per segment that one reader analyses.
const EXTEND_BATCH_TEXTS: usize = 2_048;

/// A tail of this length is analysed by two readers.
const TWO_READERS_TAIL_TEXTS: i64 = 16_384;

/// What extending the index needs.
#[derive(Clone)]
pub(crate) struct Indexer {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) words: Option<Arc<dyn WordModel>>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) struct StopWhen<'f> {
    /// Stop when the tail is shorter than this.
    pub(crate) leave: i64,
    /// Yield to other spaces. Checked between segments and never inside a merge, which would have
    /// to start over.
    pub(crate) is_enough: &'f dyn Fn() -> bool,
    /// Stop at the next step.
    pub(crate) stopped: &'f dyn Fn() -> bool,
    pub(crate) priority: Priority<'f>,
}

impl<'f> StopWhen<'f> {
    /// Stops when the tail is shorter than `leave`, or when `stopped` returns true.
    pub(crate) fn tail_below(leave: i64, stopped: &'f dyn Fn() -> bool) -> StopWhen<'f> {
        StopWhen { leave, is_enough: &|| false, stopped, priority: Priority::Index }
    }
}

/// Who goes first if writers and the index compete for the processor and the disk.
#[derive(Clone, Copy)]
pub(crate) enum Priority<'f> {
    /// The index, because somebody waits for it.
    Index,
    /// Writers, while the tail is no longer than `tail_max`. The function waits a moment and
    /// returns whether writers were at work.
    Writers { tail_max: i64, are_writing: &'f dyn Fn() -> bool },
}

impl Indexer {
    /// Extends the index; `on_reach` receives the last covered message.
    pub(crate) fn run(&self, until: StopWhen<'_>, on_reach: &mut dyn FnMut(i64)) -> Result<()> {
        let StopWhen { leave, is_enough, stopped, priority } = until;
        let choice = self.store.read(settings::embedder_in)?;
        let mut readers = [(); 2].map(|()| Reader::new(self.words.clone()));
        readers.iter_mut().for_each(|reader| reader.use_vectors(choice == EmbedderChoice::Static));
        while !stopped() {
            let (reach, last) = self.tail()?;
            on_reach(reach);
            if last - reach < leave.max(1) {
                break;
            }
            if let Priority::Writers { tail_max, are_writing } = priority
                && last - reach <= tail_max
                && are_writing()
            {
                if is_enough() {
                    return Ok(());
                }
                continue;
            }
            // A second reader only for a long backlog: otherwise the writers need the other core.
            let share = if last - reach > TWO_READERS_TAIL_TEXTS { 2 } else { 1 };
            let some = readers.get_mut(..share).unwrap_or_default();
            let extended = extend(&self.store, some, share * EXTEND_BATCH_TEXTS, self.clock.now())?;
            on_reach(extended.reach);
            self.merge_and_sweep(stopped)?;
            if !extended.more || is_enough() {
                break;
            }
        }
        self.merge_and_sweep(stopped)
    }

    /// The last covered message, and the newest one.
    fn tail(&self) -> Result<(i64, i64)> {
        self.store.read(|tx| {
            Ok((segments::last_covered(tx, segments::state(tx)?.build)?, texts(tx).last()?))
        })
    }

    /// Adds vectors of the remote embedder to segments, if the space is configured for it. Separate
    /// from extending, so that a slow embedder does not leave the tail long.
    pub(crate) fn embed(&self, embedder: &dyn Embedder, stopped: &dyn Fn() -> bool) -> Result<()> {
        if self.store.read(settings::embedder_in)? != EmbedderChoice::OpenAi {
            return Ok(());
        }
        embed_all(&self.store, embedder, stopped)
    }

    /// Runs all due merges and removals.
    fn merge_and_sweep(&self, stopped: &dyn Fn() -> bool) -> Result<()> {
        let build = self.store.read(|tx| Ok(segments::state(tx)?.build))?;
        while !stopped() && merge(self.merger(stopped), build)? == Merged::Done {}
        while !stopped() && sweep(&self.store, self.clock.now())? {}
        Ok(())
    }

    pub(super) fn merger<'m>(&'m self, stopped: &'m dyn Fn() -> bool) -> Merger<'m> {
        Merger { store: &self.store, clock: self.clock.as_ref(), stopped }
    }
}

/// The scheduler of one handle.
#[derive(Default)]
pub(crate) struct IndexScheduler {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The lane of the background that runs for this handle.
    lane: Mutex<Weak<Wake>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stopped: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Whether the index is being extended.
    is_running: bool,
    /// When the lane was asked.
    asked_at: Option<Instant>,
    /// The last covered message, as far as known.
    reach: i64,
    /// The reach at which a writer waited in vain. Writers do not wait again until it moves.
    stalled_at: Option<i64>,
    /// A job to be queued first.
    job: Option<NewJob>,
    /// Whether the run goes before writers, because somebody waits for it or a search had to
    /// analyse a long tail.
    is_urgent: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the pending job, then extends the index.
    fn extend(&self, folder: &Indexer, until: StopWhen<'_>) -> Result<()> {
        let _ended = RunGuard(self);
        let mut state = self.lock();
        state.is_running = true;
        state.asked_at = None;
        let job = state.job.take();
        drop(state);
        if let Some(job) = job {
            let (now, kept) = (folder.clock.now(), job.clone());
            let queued = folder.store.write(move |tx| jobs::add_unless_running(tx, &job, now));
            if let Err(error) = queued {
                // Queued with the next run.
                self.lock().job.get_or_insert(kept);
                tracing::info!(%error, "a rebuild of the text index could not be queued");
            }
        }
        let are_writing = || self.are_writing(&folder.store);
        let priority = Priority::Writers { tail_max: TAIL_TEXTS_YIELD, are_writing: &are_writing };
        let until = StopWhen { priority, ..until };
        folder.run(until, &mut |reach| {
            let mut state = self.lock();
            state.reach = state.reach.max(reach);
            self.changed.notify_all();
        })
    }

    /// Lets the run, or the next one, go before writers.
    fn make_urgent(&self, state: &mut State) {
        state.is_urgent = true;
        self.changed.notify_all();
    }

    /// Waits a moment and returns whether writers were at work, unless the run is urgent.
    fn are_writing(&self, store: &Store) -> bool {
        let writes = store.commit_stats().writes;
        let is_patient =
            |state: &mut State| !state.is_urgent && !self.stopped.load(Ordering::Relaxed);
        let waited = self.changed.wait_timeout_while(self.lock(), WRITERS_PAUSE, is_patient);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(state);
        waited.timed_out() && (store.pending_writes() > 0 || store.commit_stats().writes != writes)
    }
}

/// Marks the run as ended when dropped, also after a panic, so that the next append can start
/// another.
struct RunGuard<'s>(&'s Shared);

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_running = false;
        state.is_urgent = false;
        drop(state);
        self.0.changed.notify_all();
    }
}

impl IndexScheduler {
    /// Requests a run if the tail that ends with `last` is long; waits if it is too long.
    pub(crate) fn request_if_long(&self, folder: &Indexer, last: i64) {
        let state = self.shared.lock();
        if last - state.reach <= TAIL_TEXTS_MIN {
            return;
        }
        self.begin(state, folder, last);
        let state = self.shared.lock();
        let reach = state.reach;
        if last - reach <= TAIL_TEXTS_MAX || state.stalled_at == Some(reach) {
            return;
        }
        let is_long = |state: &mut State| {
            (state.is_running || state.asked_at.is_some()) && last - state.reach > TAIL_TEXTS_MAX
        };
        let waited = self.shared.changed.wait_timeout_while(state, WRITER_WAIT, is_long);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && state.reach == reach {
            state.stalled_at = Some(reach);
        }
    }

    /// The same after a search, which had to analyse the tail.
    pub(crate) fn request_after_search(&self, folder: &Indexer, last: i64) {
        let mut state = self.shared.lock();
        if last - state.reach > SEARCHED_TAIL_TEXTS_MAX {
            self.shared.make_urgent(&mut state);
        }
        drop(state);
        self.request_if_long(folder, last);
    }

    /// Queues a job without blocking the caller.
    pub(crate) fn request_with_job(&self, folder: &Indexer, job: NewJob) {
        let mut state = self.shared.lock();
        state.job = Some(job);
        let reach = state.reach;
        self.begin(state, folder, reach);
    }

    /// Uses the lane of the background while it exists.
    pub(crate) fn attach(&self, lane: &Arc<Wake>) {
        *self.lane.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(lane);
    }

    /// One round of the lane: extends the index if the tail is long or a run was requested.
    pub(crate) fn run_round(
        &self,
        folder: &Indexer,
        is_enough: &dyn Fn() -> bool,
        stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let state = self.shared.lock();
        let is_asked = state.asked_at.is_some() || state.job.is_some();
        drop(state);
        // Without a request the length of the tail decides. If an index table is missing, the tail
        // cannot be read; the pending job then repairs it.
        if !is_asked {
            let (reach, last) = folder.tail()?;
            if last - reach < TAIL_TEXTS_MIN {
                return Ok(());
            }
        }
        let until = StopWhen { is_enough, ..StopWhen::tail_below(TAIL_TEXTS_MIN / 2, stopped) };
        self.shared.extend(folder, until)
    }

    /// Wakes the lane, or starts a thread if there is no lane or the lane has not responded for
    /// long: its thread may have ended, or it may have closed the space.
    fn begin(&self, mut state: MutexGuard<'_, State>, folder: &Indexer, last: i64) {
        if state.is_running {
            return;
        }
        let lane = self.lane.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let is_late = state.asked_at.is_some_and(|at| at.elapsed() > WRITER_WAIT);
        if let Some(lane) = lane.filter(|_| !is_late) {
            state.asked_at.get_or_insert_with(Instant::now);
            drop(state);
            lane.wake();
            return;
        }
        state.is_running = true;
        drop(state);
        let (shared, thread_folder) = (Arc::clone(&self.shared), folder.clone());
        let work = move || {
            let stopped = || shared.stopped.load(Ordering::Relaxed);
            let until = StopWhen::tail_below(TAIL_TEXTS_MIN / 2, &stopped);
            if let Err(error) = shared.extend(&thread_folder, until) {
                // Searches read the unindexed tail, and the next append tries again.
                tracing::warn!(%error, "the text index could not be extended");
            }
        };
        match std::thread::Builder::new().name("oneiro-fold".to_owned()).spawn(work) {
            Ok(thread) => {
                *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
            }
            Err(error) => self.extend_without_thread(folder, last, &error),
        }
    }

    /// Extends the index once on the caller's thread if the tail is too long. A shorter tail is
    /// searched unindexed, and covered by another process or once a thread can be started.
    fn extend_without_thread(&self, folder: &Indexer, last: i64, error: &std::io::Error) {
        tracing::warn!(%error, "no thread could be started to extend the text index");
        let is_too_long = last - self.shared.lock().reach > TAIL_TEXTS_MAX;
        let has_run = Cell::new(!is_too_long);
        let stopped = || has_run.replace(true);
        let until = StopWhen::tail_below(TAIL_TEXTS_MIN / 2, &stopped);
        if let Err(error) = self.shared.extend(folder, until) {
            tracing::warn!(%error, "the text index could not be extended");
        }
    }

    /// Waits until no run is in progress.
    pub(crate) fn wait(&self) {
        let mut state = self.shared.lock();
        if state.is_running {
            self.shared.make_urgent(&mut state);
        }
        drop(self.shared.changed.wait_while(state, |state| state.is_running));
    }
}

impl Drop for IndexScheduler {
    /// The store must not be in use after its last handle was dropped.
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewMessage, NewSession, Oneiro, Options, Role, SessionId, SystemClock, Target};
    use std::cell::RefCell;
    use std::sync::mpsc;

    const TAIL_TEXTS: i64 = 200;

    /// A store with [`TAIL_TEXTS`] unindexed messages, and what extends its index.
    fn store_with_tail() -> (tempfile::TempDir, Oneiro, Indexer) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store.db");
        let target = Target::parse(&place.to_string_lossy(), None).unwrap();
        let oneiro = Oneiro::open(&target, Options::default()).unwrap();
        let id = SessionId::new("s").unwrap();
        oneiro.sessions().create(NewSession::with_id(id.clone())).unwrap();
        let message = |n| NewMessage::text(Role::User, format!("message {n}"));
        oneiro.messages().append(&id, (0..TAIL_TEXTS).map(message).collect()).unwrap();
        let clock = Arc::new(SystemClock);
        let indexer = Indexer { store: oneiro.store().clone(), clock, words: None, embedder: None };
        (folder, oneiro, indexer)
    }

    /// What was covered whenever the run waited for writers, and at its end. The writers pause when
    /// it has waited `pause_after` times.
    fn covered_at_waits(tail_max: i64, pause_after: usize) -> Vec<i64> {
        let (_folder, _oneiro, indexer) = store_with_tail();
        let covered = RefCell::new(Vec::new());
        let note_covered = || covered.borrow_mut().push(indexer.tail().unwrap().0);
        let are_writing = || {
            note_covered();
            covered.borrow().len() <= pause_after
        };
        let priority = Priority::Writers { tail_max, are_writing: &are_writing };
        let until = StopWhen { priority, ..StopWhen::tail_below(1, &|| false) };
        indexer.run(until, &mut |_| {}).unwrap();
        note_covered();
        covered.into_inner()
    }

    #[test]
    fn a_run_covers_nothing_while_writers_are_at_work_and_everything_when_they_pause() {
        assert_eq!(covered_at_waits(TAIL_TEXTS, 3), [0, 0, 0, 0, TAIL_TEXTS]);
    }

    #[test]
    fn a_run_does_not_wait_for_writers_when_the_tail_is_too_long() {
        assert_eq!(covered_at_waits(TAIL_TEXTS - 1, usize::MAX), [TAIL_TEXTS]);
    }

    #[test]
    fn a_run_on_a_lane_moves_on_to_other_spaces_while_writers_are_at_work() {
        let (_folder, _oneiro, indexer) = store_with_tail();
        let slices = Cell::new(0);
        let is_enough = || slices.replace(slices.get() + 1) == 2;
        let priority = Priority::Writers { tail_max: TAIL_TEXTS, are_writing: &|| true };
        let until =
            StopWhen { priority, is_enough: &is_enough, ..StopWhen::tail_below(1, &|| false) };
        indexer.run(until, &mut |_| {}).unwrap();
        assert_eq!((slices.get(), indexer.tail().unwrap().0), (3, 0));
    }

    #[test]
    fn writers_are_at_work_while_a_write_has_no_result_unless_the_run_is_urgent() {
        let (_folder, oneiro, indexer) = store_with_tail();
        let shared = Shared::default();
        assert!(!shared.are_writing(&indexer.store));
        let (started, is_started) = mpsc::channel();
        let (release, is_released) = mpsc::channel::<()>();
        let is_released = Mutex::new(is_released);
        let store = oneiro.store().clone();
        let writer = std::thread::spawn(move || {
            store.write(move |_| {
                started.send(()).unwrap();
                is_released.lock().unwrap().recv().unwrap();
                Ok(())
            })
        });
        is_started.recv().unwrap();
        assert!(shared.are_writing(&indexer.store));
        shared.make_urgent(&mut shared.lock());
        assert!(!shared.are_writing(&indexer.store));
        release.send(()).unwrap();
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_search_of_a_long_tail_makes_the_run_urgent_until_it_ends() {
        let (_folder, _oneiro, indexer) = store_with_tail();
        let scheduler = IndexScheduler::default();
        // A run that waits for writers is in progress.
        scheduler.shared.lock().is_running = true;
        scheduler.request_after_search(&indexer, SEARCHED_TAIL_TEXTS_MAX);
        assert!(!scheduler.shared.lock().is_urgent);
        scheduler.request_after_search(&indexer, SEARCHED_TAIL_TEXTS_MAX + 1);
        assert!(scheduler.shared.lock().is_urgent);
        drop(RunGuard(&scheduler.shared));
        assert!(!scheduler.shared.lock().is_urgent);
    }
}
