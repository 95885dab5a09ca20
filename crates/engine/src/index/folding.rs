//! Who folds, and when: a thread beside the writers, begun when the tail has grown long enough and
//! gone when it is short. Nobody waits for it, unless the tail outgrows what a search can read.

use super::fold::{fold, merge, sweep};
use super::read::Reader;
use super::remote::embed_all;
use crate::settings::{self, EmbedderChoice};
use crate::{Clock, Embedder, WordModel};
use oneiro_model::{NewJob, Result};
use oneiro_store::{Store, jobs, said, segments};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Messages of the tail that are worth a fold.
pub(super) const LONG: i64 = 512;

/// Messages of the tail at which writers wait for the fold.
const TOO_LONG: i64 = 32_768;

/// The longest that a writer waits for it.
const WAIT: Duration = Duration::from_secs(2);

/// Messages of one fold.
const ROWS: usize = 2_048;

/// A tail that is worth two threads.
const FAR: i64 = 16_384;

/// What folding needs.
#[derive(Clone)]
pub(crate) struct Folder {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) words: Option<Arc<dyn WordModel>>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

impl Folder {
    /// Folds until the tail is shorter than `leave`, or `stopped` says so; tells how far it is.
    pub(crate) fn run(
        &self,
        leave: i64,
        stopped: &dyn Fn() -> bool,
        told: &mut dyn FnMut(i64),
    ) -> Result<()> {
        let choice = self.store.read(settings::embedder_in)?;
        let mut readers = [(); 2].map(|()| Reader::new(self.words.clone()));
        readers.iter_mut().for_each(|reader| reader.use_vectors(choice == EmbedderChoice::Static));
        while !stopped() {
            let (reach, last) = self.store.read(|tx| {
                Ok((segments::reach(tx, segments::state(tx)?.build)?, said::last(tx)?))
            })?;
            told(reach);
            if last - reach < leave.max(1) {
                break;
            }
            // What is far behind is read by two; else the writers need the other core.
            let share = if last - reach > FAR { 2 } else { 1 };
            let some = readers.get_mut(..share).unwrap_or_default();
            let folded = fold(&self.store, some, share * ROWS, self.clock.now())?;
            told(folded.reach);
            self.tidy(stopped)?;
            if !folded.more {
                break;
            }
        }
        self.tidy(stopped)?;
        self.embed(choice, stopped)
    }

    /// Gives segments the vectors of the model elsewhere, if the space asks for one and it is known
    /// here. A model that does not answer is asked again another time.
    pub(crate) fn embed(&self, choice: EmbedderChoice, stopped: &dyn Fn() -> bool) -> Result<()> {
        let Some(embedder) = self.embedder.as_deref().filter(|_| choice == EmbedderChoice::OpenAi)
        else {
            return Ok(());
        };
        embed_all(&self.store, embedder, stopped)
    }

    /// Merges and removes what is due.
    fn tidy(&self, stopped: &dyn Fn() -> bool) -> Result<()> {
        let build = self.store.read(|tx| Ok(segments::state(tx)?.build))?;
        while !stopped() && merge(&self.store, build, self.clock.now(), stopped)? {}
        while !stopped() && sweep(&self.store, self.clock.now())? {}
        Ok(())
    }
}

/// The thread that folds, if it runs.
#[derive(Default)]
pub(crate) struct Folding {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stopped: AtomicBool,
}

#[derive(Default)]
struct State {
    runs: bool,
    /// The last message that is covered, as far as it is known.
    reach: i64,
    /// A job to be left.
    job: Option<NewJob>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folding {
    /// Begins to fold if the tail that ends with `last` is long; waits if it is far too long.
    pub(crate) fn soon(&self, folder: &Folder, last: i64) {
        let mut state = self.shared.lock();
        if last - state.reach <= LONG {
            return;
        }
        if !state.runs {
            state.runs = true;
            self.begin(folder.clone());
        }
        if last - state.reach > TOO_LONG {
            let is_long = |state: &mut State| state.runs && last - state.reach > TOO_LONG;
            drop(self.shared.changed.wait_timeout_while(state, WAIT, is_long));
        }
    }

    /// Leaves a job, beside the caller.
    pub(crate) fn with_job(&self, folder: &Folder, job: NewJob) {
        let mut state = self.shared.lock();
        state.job = Some(job);
        if !state.runs {
            state.runs = true;
            self.begin(folder.clone());
        }
    }

    fn begin(&self, folder: Folder) {
        let shared = Arc::clone(&self.shared);
        let work = move || {
            let stopped = || shared.stopped.load(Ordering::Relaxed);
            let job = shared.lock().job.take();
            if let Some(job) = job {
                let now = folder.clock.now();
                if let Err(error) = folder.store.write(move |tx| jobs::add(tx, &job, now)) {
                    tracing::info!(%error, "the text index waits to be built anew");
                }
            }
            let done = folder.run(LONG / 2, &stopped, &mut |reach| {
                let mut state = shared.lock();
                state.reach = state.reach.max(reach);
                shared.changed.notify_all();
            });
            if let Err(error) = done {
                // The tail is still searched as it is, and the next append tries again.
                tracing::warn!(%error, "the text index could not be extended");
            }
            shared.lock().runs = false;
            shared.changed.notify_all();
        };
        let begun = std::thread::Builder::new().name("oneiro-fold".to_owned()).spawn(work);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        match begun {
            Ok(begun) => *thread = Some(begun),
            Err(error) => {
                tracing::warn!(%error, "no thread to extend the text index");
                self.shared.lock().runs = false;
            }
        }
    }

    /// Waits until the thread is done.
    pub(crate) fn wait(&self) {
        let state = self.shared.lock();
        drop(self.shared.changed.wait_while(state, |state| state.runs));
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
