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

/// Unindexed messages at which writers wait.
const TAIL_TEXTS_MAX: i64 = 32_768;

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
}

impl Indexer {
    /// Extends the index; `on_reach` receives the last covered message.
    pub(crate) fn run(&self, until: StopWhen<'_>, on_reach: &mut dyn FnMut(i64)) -> Result<()> {
        let StopWhen { leave, is_enough, stopped } = until;
        let choice = self.store.read(settings::embedder_in)?;
        let mut readers = [(); 2].map(|()| Reader::new(self.words.clone()));
        readers.iter_mut().for_each(|reader| reader.use_vectors(choice == EmbedderChoice::Static));
        while !stopped() {
            let (reach, last) = self.tail()?;
            on_reach(reach);
            if last - reach < leave.max(1) {
                break;
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
        folder.run(until, &mut |reach| {
            let mut state = self.lock();
            state.reach = state.reach.max(reach);
            self.changed.notify_all();
        })
    }
}

/// Marks the run as ended when dropped, also after a panic, so that the next append can start
/// another.
struct RunGuard<'s>(&'s Shared);

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().is_running = false;
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
        self.shared.extend(folder, StopWhen { leave: TAIL_TEXTS_MIN / 2, is_enough, stopped })
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
            let until =
                StopWhen { leave: TAIL_TEXTS_MIN / 2, is_enough: &|| false, stopped: &stopped };
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
        let until = StopWhen { leave: TAIL_TEXTS_MIN / 2, is_enough: &|| false, stopped: &stopped };
        if let Err(error) = self.shared.extend(folder, until) {
            tracing::warn!(%error, "the text index could not be extended");
        }
    }

    /// Waits until no run is in progress.
    pub(crate) fn wait(&self) {
        let state = self.shared.lock();
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
