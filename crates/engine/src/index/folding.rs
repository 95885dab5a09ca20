//! Who folds, and when: the fold lane of the process's background if it has one, otherwise a thread
//! that is started when the tail has grown long and ends when it is short. Nobody waits for it,
//! unless the tail outgrows what a search can read.

use super::fold::{Merged, Merger, fold, merge, sweep};
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

/// Messages of the tail that are worth a fold.
pub(super) const LONG: i64 = 512;

/// Messages of the tail at which writers wait for the fold.
const TOO_LONG: i64 = 32_768;

/// The longest that a writer waits for it.
const WRITER_WAIT: Duration = Duration::from_secs(2);

/// Messages of one fold.
const FOLD_ROWS: usize = 2_048;

/// A tail that is worth two threads.
const TWO_READERS_FROM: i64 = 16_384;

/// What folding needs.
#[derive(Clone)]
pub(crate) struct Folder {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) words: Option<Arc<dyn WordModel>>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

/// How far to fold.
#[derive(Clone, Copy)]
pub(crate) struct FoldUntil<'f> {
    /// Until the tail is shorter than this.
    pub(crate) leave: i64,
    /// Whether others should have their turn; asked between folds and never inside a merge, which
    /// would have to begin again.
    pub(crate) is_enough: &'f dyn Fn() -> bool,
    /// Whether to stop at the next step.
    pub(crate) stopped: &'f dyn Fn() -> bool,
}

impl Folder {
    /// Folds; `on_reach` is called with the last message that is covered.
    pub(crate) fn run(&self, until: FoldUntil<'_>, on_reach: &mut dyn FnMut(i64)) -> Result<()> {
        let FoldUntil { leave, is_enough, stopped } = until;
        let choice = self.store.read(settings::embedder_in)?;
        let mut readers = [(); 2].map(|()| Reader::new(self.words.clone()));
        readers.iter_mut().for_each(|reader| reader.use_vectors(choice == EmbedderChoice::Static));
        while !stopped() {
            let (reach, last) = self.tail()?;
            on_reach(reach);
            if last - reach < leave.max(1) {
                break;
            }
            // What is far behind is read by two; else the writers need the other core.
            let share = if last - reach > TWO_READERS_FROM { 2 } else { 1 };
            let some = readers.get_mut(..share).unwrap_or_default();
            let folded = fold(&self.store, some, share * FOLD_ROWS, self.clock.now())?;
            on_reach(folded.reach);
            self.tidy(stopped)?;
            if !folded.more || is_enough() {
                break;
            }
        }
        self.tidy(stopped)
    }

    /// The last message that segments cover, and the newest there is.
    fn tail(&self) -> Result<(i64, i64)> {
        self.store.read(|tx| {
            Ok((segments::last_covered(tx, segments::state(tx)?.build)?, texts(tx).last()?))
        })
    }

    /// Gives segments the vectors of the model elsewhere, if the space asks for one. It is never part
    /// of a fold: a slow model must not keep the tail long.
    pub(crate) fn embed(&self, embedder: &dyn Embedder, stopped: &dyn Fn() -> bool) -> Result<()> {
        if self.store.read(settings::embedder_in)? != EmbedderChoice::OpenAi {
            return Ok(());
        }
        embed_all(&self.store, embedder, stopped)
    }

    /// Merges and removes what is due.
    fn tidy(&self, stopped: &dyn Fn() -> bool) -> Result<()> {
        let build = self.store.read(|tx| Ok(segments::state(tx)?.build))?;
        while !stopped() && merge(self.merger(stopped), build)? == Merged::Done {}
        while !stopped() && sweep(&self.store, self.clock.now())? {}
        Ok(())
    }

    pub(super) fn merger<'m>(&'m self, stopped: &'m dyn Fn() -> bool) -> Merger<'m> {
        Merger { store: &self.store, clock: self.clock.as_ref(), stopped }
    }
}

/// The fold of one handle: whether it runs, and how far it has come.
#[derive(Default)]
pub(crate) struct Folding {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The lane of the background that folds for this handle.
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
    /// Whether a fold runs.
    is_running: bool,
    /// Since when the background's lane has been asked for one.
    asked_at: Option<Instant>,
    /// The last message that is covered, as far as it is known.
    reach: i64,
    /// The reach at which a writer waited in vain: nobody waits again until it moves.
    stalled_at: Option<i64>,
    /// A job to be queued before the fold.
    job: Option<NewJob>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the job that waits, then folds.
    fn fold(&self, folder: &Folder, until: FoldUntil<'_>) -> Result<()> {
        let _ended = FoldGuard(self);
        let mut state = self.lock();
        state.is_running = true;
        state.asked_at = None;
        let job = state.job.take();
        drop(state);
        if let Some(job) = job {
            let (now, kept) = (folder.clock.now(), job.clone());
            let queued = folder.store.write(move |tx| jobs::add_unless_running(tx, &job, now));
            if let Err(error) = queued {
                // The next fold tries again.
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

/// Ends a fold when dropped, after a panic too, so that the next append can begin another.
struct FoldGuard<'s>(&'s Shared);

impl Drop for FoldGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().is_running = false;
        self.0.changed.notify_all();
    }
}

impl Folding {
    /// Begins to fold if the tail that ends with `last` is long; waits if it is far too long.
    pub(crate) fn soon(&self, folder: &Folder, last: i64) {
        let state = self.shared.lock();
        if last - state.reach <= LONG {
            return;
        }
        self.begin(state, folder, last);
        let state = self.shared.lock();
        let reach = state.reach;
        if last - reach <= TOO_LONG || state.stalled_at == Some(reach) {
            return;
        }
        let is_long = |state: &mut State| {
            (state.is_running || state.asked_at.is_some()) && last - state.reach > TOO_LONG
        };
        let waited = self.shared.changed.wait_timeout_while(state, WRITER_WAIT, is_long);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && state.reach == reach {
            state.stalled_at = Some(reach);
        }
    }

    /// Queues a job, beside the caller.
    pub(crate) fn with_job(&self, folder: &Folder, job: NewJob) {
        let mut state = self.shared.lock();
        state.job = Some(job);
        let reach = state.reach;
        self.begin(state, folder, reach);
    }

    /// Folds on the background's lane from now on, while it exists.
    pub(crate) fn attach(&self, lane: &Arc<Wake>) {
        *self.lane.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(lane);
    }

    /// One round of the background's lane: folds if the tail is long or a fold was asked for.
    pub(crate) fn run_round(
        &self,
        folder: &Folder,
        is_enough: &dyn Fn() -> bool,
        stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let state = self.shared.lock();
        let is_asked = state.asked_at.is_some() || state.job.is_some();
        drop(state);
        // Without being asked the tail decides. It cannot be read where a table of the index is gone,
        // which the job that waits then repairs.
        if !is_asked {
            let (reach, last) = folder.tail()?;
            if last - reach < LONG {
                return Ok(());
            }
        }
        self.shared.fold(folder, FoldUntil { leave: LONG / 2, is_enough, stopped })
    }

    /// Asks the lane of the background, or starts a thread where there is none, or where the lane has
    /// not come for long: its thread may be gone, or the space closed for it.
    fn begin(&self, mut state: MutexGuard<'_, State>, folder: &Folder, last: i64) {
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
            let until = FoldUntil { leave: LONG / 2, is_enough: &|| false, stopped: &stopped };
            if let Err(error) = shared.fold(&thread_folder, until) {
                // The tail is still searched as it is, and the next append tries again.
                tracing::warn!(%error, "the text index could not be extended");
            }
        };
        match std::thread::Builder::new().name("oneiro-fold".to_owned()).spawn(work) {
            Ok(thread) => {
                *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
            }
            Err(error) => self.fold_without_thread(folder, last, &error),
        }
    }

    /// Folds once on the caller's thread if the tail is far too long. A shorter one is searched as it
    /// is, and folded by another process or once a thread can be started again.
    fn fold_without_thread(&self, folder: &Folder, last: i64, error: &std::io::Error) {
        tracing::warn!(%error, "no thread could be started to extend the text index");
        let is_too_long = last - self.shared.lock().reach > TOO_LONG;
        let had_turn = Cell::new(!is_too_long);
        let stopped = || had_turn.replace(true);
        let until = FoldUntil { leave: LONG / 2, is_enough: &|| false, stopped: &stopped };
        if let Err(error) = self.shared.fold(folder, until) {
            tracing::warn!(%error, "the text index could not be extended");
        }
    }

    /// Waits until no fold runs.
    pub(crate) fn wait(&self) {
        let state = self.shared.lock();
        drop(self.shared.changed.wait_while(state, |state| state.is_running));
    }
}

impl Drop for Folding {
    /// The store must not be in use after its last handle is gone.
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            drop(thread.join());
        }
    }
}
