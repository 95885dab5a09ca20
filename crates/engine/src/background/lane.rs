//! A lane: one thread that does one kind of background work, round after round, for every open
//! space.

use super::{OpenSpaces, Wake};
use crate::{Cancel, Oneiro};
use oneiro_model::{Error, JobNeed, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often an idle lane looks for work.
const ROUND_INTERVAL: Duration = Duration::from_millis(500);

/// How long the jobs of one space may keep a lane from the next one; a job that has begun is
/// finished.
const JOBS_PER_ROUND: Duration = Duration::from_millis(500);

/// How long a lane leaves a model alone that failed it.
const MODEL_RETRY: Duration = Duration::from_secs(30);

/// The kinds of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Extends the text index.
    Fold,
    /// Asks a model elsewhere for vectors.
    Embed,
    /// Runs jobs that need no model.
    Jobs,
    /// Runs jobs that need one, so that a silent model keeps no other job waiting.
    ModelJobs,
}

impl Lane {
    pub(super) const ALL: [Lane; 4] = [Lane::Fold, Lane::Embed, Lane::Jobs, Lane::ModelJobs];

    fn name(self) -> &'static str {
        match self {
            Lane::Fold => "fold",
            Lane::Embed => "embed",
            Lane::Jobs => "jobs",
            Lane::ModelJobs => "model_jobs",
        }
    }

    /// How long the lane pauses after a round that failed.
    fn pause_after_error(self) -> Duration {
        match self {
            Lane::Fold | Lane::Jobs => ROUND_INTERVAL,
            Lane::Embed | Lane::ModelJobs => MODEL_RETRY,
        }
    }

    fn run_round(self, oneiro: &Oneiro, wake: &Arc<Wake>) -> Result<()> {
        match self {
            Lane::Fold => oneiro.index.fold_round(wake, &oneiro.cancel),
            Lane::Embed => oneiro.embed_until(&|| oneiro.cancel.is_cancelled()),
            Lane::Jobs => {
                oneiro.queue_idle_compactions();
                oneiro.run_claimable(&[], JOBS_PER_ROUND).map(|_| ())
            }
            Lane::ModelJobs => {
                let can_meet = oneiro.models();
                if can_meet.contains(&JobNeed::Model) {
                    oneiro.run_claimable(&can_meet, JOBS_PER_ROUND)?;
                }
                Ok(())
            }
        }
    }
}

/// How a lane is doing, since the background started.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LaneStatus {
    /// `fold`, `embed`, `jobs` or `model_jobs`.
    pub lane: &'static str,
    /// Whether its thread runs.
    pub is_alive: bool,
    /// Rounds finished.
    pub rounds: u64,
    /// Rounds that failed.
    pub errors: u64,
    /// Rounds that panicked.
    pub panics: u64,
    /// How the last failed round failed.
    pub last_error: Option<String>,
}

/// What a lane counts.
#[derive(Default)]
pub(super) struct Stats {
    is_alive: AtomicBool,
    rounds: AtomicU64,
    errors: AtomicU64,
    panics: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Stats {
    pub(super) fn status(&self, lane: Lane) -> LaneStatus {
        LaneStatus {
            lane: lane.name(),
            is_alive: self.is_alive.load(Ordering::Relaxed),
            rounds: self.rounds.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            panics: self.panics.load(Ordering::Relaxed),
            last_error: self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn failed(&self, lane: Lane, error: &Error) {
        let count = self.errors.fetch_add(1, Ordering::Relaxed) + 1;
        // A server that is away fails every round: the first of them, then each power of two.
        if count.is_power_of_two() {
            tracing::warn!(lane = lane.name(), count, %error, "background work failed");
        }
        let mut last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(error.to_string());
    }
}

/// Says that the thread of a lane ended, however it did.
struct AliveGuard(Arc<Stats>);

impl Drop for AliveGuard {
    fn drop(&mut self) {
        self.0.is_alive.store(false, Ordering::Relaxed);
    }
}

/// The thread of a lane.
pub(super) struct LaneThread {
    lane: Lane,
    stats: Arc<Stats>,
    wake: Arc<Wake>,
    thread: Option<JoinHandle<()>>,
    /// Closed when the thread ends.
    ended: Receiver<()>,
}

impl LaneThread {
    pub(super) fn start(lane: Lane, spaces: OpenSpaces, cancel: Cancel) -> LaneThread {
        let (stats, wake) = (Arc::<Stats>::default(), Arc::<Wake>::default());
        let (running, ended) = channel();
        let work = {
            let (stats, wake) = (Arc::clone(&stats), Arc::clone(&wake));
            let guard = (running, AliveGuard(Arc::clone(&stats)));
            move || {
                let _guard = guard;
                run(lane, &Rounds { spaces, cancel, stats, wake });
            }
        };
        let thread = std::thread::Builder::new().name(format!("oneiro-{}", lane.name()));
        stats.is_alive.store(true, Ordering::Relaxed);
        let thread = match thread.spawn(work) {
            Ok(thread) => Some(thread),
            // The work was dropped with its guard, so the lane counts as not alive.
            Err(error) => {
                let error = Error::internal("no thread could be started").because(error);
                stats.failed(lane, &error);
                None
            }
        };
        LaneThread { lane, stats, wake, thread, ended }
    }

    pub(super) fn stats(&self) -> (Lane, Arc<Stats>) {
        (self.lane, Arc::clone(&self.stats))
    }

    pub(super) fn wake(&self) {
        self.wake.wake();
    }

    /// Waits for the thread until `deadline`; false when it still runs.
    pub(super) fn join(self, deadline: Instant) -> bool {
        let Some(thread) = self.thread else { return true };
        let left = deadline.saturating_duration_since(Instant::now());
        let has_ended = self.ended.recv_timeout(left) == Err(RecvTimeoutError::Disconnected);
        if has_ended {
            // The channel closes while the thread unwinds its last frame: this join is immediate.
            let _ = thread.join();
        }
        has_ended
    }
}

/// What the rounds of a lane share.
struct Rounds {
    spaces: OpenSpaces,
    cancel: Cancel,
    stats: Arc<Stats>,
    wake: Arc<Wake>,
}

fn run(lane: Lane, rounds: &Rounds) {
    let Rounds { spaces, cancel, stats, wake } = rounds;
    while !cancel.is_cancelled() {
        // Whoever opened the space has something to do first.
        wake.sleep(ROUND_INTERVAL);
        let mut pause = Duration::ZERO;
        for oneiro in spaces() {
            if cancel.is_cancelled() {
                return;
            }
            let oneiro = oneiro.with_cancel(cancel.clone());
            let round = catch_unwind(AssertUnwindSafe(|| lane.run_round(&oneiro, wake)));
            let failure = match round {
                Ok(Ok(())) => continue,
                Ok(Err(_)) if cancel.is_cancelled() => return,
                Ok(Err(error)) => error,
                Err(_) => {
                    stats.panics.fetch_add(1, Ordering::Relaxed);
                    Error::internal("background work panicked")
                }
            };
            stats.failed(lane, &failure);
            pause = lane.pause_after_error();
        }
        stats.rounds.fetch_add(1, Ordering::Relaxed);
        cancel.sleep(pause);
    }
}
