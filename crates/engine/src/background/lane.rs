//! A lane: one thread that runs one kind of background work in rounds for every open space.

use super::{OpenSpaces, Wake};
use crate::capture::Watcher;
use crate::{Cancel, Oneiro};
use oneiro_model::{Error, JobNeed, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two rounds of an idle lane.
const ROUND_INTERVAL: Duration = Duration::from_millis(500);

/// Time after which the jobs of one space yield to the next space; a started job is finished.
const JOBS_PER_ROUND: Duration = Duration::from_millis(500);

/// Time after which the index or the vectors of one space yield to the next space.
const SPACE_SLICE: Duration = Duration::from_secs(2);

/// Pause of a lane after its embedder failed.
const EMBEDDER_RETRY: Duration = Duration::from_secs(30);

/// The kinds of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Extends the text index.
    Index,
    /// Requests vectors from a remote embedder.
    Embed,
    /// Runs jobs that need no model, and brings mounted files and notes into sync.
    Jobs,
    /// Runs jobs that call a model, so that a slow model delays no other job.
    ModelJobs,
    /// Captures what agents write.
    Capture,
}

impl Lane {
    pub(super) const ALL: [Lane; 5] =
        [Lane::Index, Lane::Embed, Lane::Jobs, Lane::ModelJobs, Lane::Capture];

    fn name(self) -> &'static str {
        match self {
            Lane::Index => "index",
            Lane::Embed => "embed",
            Lane::Jobs => "jobs",
            Lane::ModelJobs => "model_jobs",
            Lane::Capture => "capture",
        }
    }

    /// The pause of the lane after a failed round.
    fn pause_after_error(self) -> Duration {
        match self {
            Lane::Index | Lane::Jobs | Lane::ModelJobs | Lane::Capture => ROUND_INTERVAL,
            Lane::Embed => EMBEDDER_RETRY,
        }
    }

    fn run_round(self, oneiro: &Oneiro, rounds: &Rounds) -> Result<()> {
        let started = Instant::now();
        let is_enough = || oneiro.cancel.is_cancelled() || started.elapsed() > SPACE_SLICE;
        let wake = &rounds.wake;
        let done = self.run_slice(oneiro, rounds, &is_enough);
        if is_enough() {
            // Continue after the other spaces had their turn.
            wake.wake();
        }
        done
    }

    fn run_slice(
        self,
        oneiro: &Oneiro,
        rounds: &Rounds,
        is_enough: &dyn Fn() -> bool,
    ) -> Result<()> {
        match self {
            Lane::Capture => rounds.setup.watcher.run(oneiro, is_enough),
            Lane::Index => oneiro.index.run_index_round(&rounds.wake, is_enough, &oneiro.cancel),
            Lane::Embed => oneiro.embed_until(is_enough),
            Lane::Jobs => {
                oneiro.queue_idle_compactions();
                oneiro.end_idle_transcripts();
                oneiro.sync_mounts_in_background();
                oneiro.run_claimable(&[], JOBS_PER_ROUND)?;
                oneiro.dream_each_minute()
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

/// The status of a lane since the background started.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LaneStatus {
    /// `index`, `embed`, `jobs`, `model_jobs` or `capture`.
    pub lane: &'static str,
    /// Whether its thread runs.
    pub is_alive: bool,
    /// Rounds finished.
    pub rounds: u64,
    /// Rounds that failed.
    pub errors: u64,
    /// Rounds that panicked.
    pub panics: u64,
    /// The error of the last failed round.
    pub last_error: Option<String>,
}

/// Counters of a lane.
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
        // An unavailable server fails every round: log the first error, then at powers of two.
        if count.is_power_of_two() {
            tracing::warn!(lane = lane.name(), count, %error, "background work failed");
        }
        let mut last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(error.to_string());
    }
}

/// Marks the lane as not alive when its thread ends, also after a panic.
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
    /// Owned by the thread, so that it is gone when the thread is.
    wake: Weak<Wake>,
    thread: Option<JoinHandle<()>>,
    /// Closed when the thread ends.
    ended: Receiver<()>,
}

impl LaneThread {
    pub(super) fn start(lane: Lane, setup: LaneSetup) -> LaneThread {
        let (stats, wake) = (Arc::<Stats>::default(), Arc::<Wake>::default());
        let (running, ended) = channel();
        let weak_wake = Arc::downgrade(&wake);
        let work = {
            let stats = Arc::clone(&stats);
            let guard = (running, AliveGuard(Arc::clone(&stats)));
            move || {
                let _guard = guard;
                run(lane, &Rounds { setup, stats, wake });
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
        LaneThread { lane, stats, wake: weak_wake, thread, ended }
    }

    pub(super) fn stats(&self) -> (Lane, Arc<Stats>) {
        (self.lane, Arc::clone(&self.stats))
    }

    pub(super) fn wake(&self) {
        if let Some(wake) = self.wake.upgrade() {
            wake.wake();
        }
    }

    /// Waits for the thread until `deadline`; returns false if it still runs.
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

/// What all lanes of a background share.
#[derive(Clone)]
pub(super) struct LaneSetup {
    pub(super) spaces: OpenSpaces,
    pub(super) cancel: Cancel,
    pub(super) watcher: Arc<Watcher>,
}

/// What the rounds of a lane share.
struct Rounds {
    setup: LaneSetup,
    stats: Arc<Stats>,
    wake: Arc<Wake>,
}

fn run(lane: Lane, rounds: &Rounds) {
    let Rounds { setup: LaneSetup { spaces, cancel, .. }, stats, wake } = rounds;
    while !cancel.is_cancelled() {
        // Wait first: the process that opened the space has work of its own.
        wake.sleep(ROUND_INTERVAL);
        let mut pause = Duration::ZERO;
        let mut fail = |error: Error| {
            stats.failed(lane, &error);
            pause = lane.pause_after_error();
        };
        // Everything in a round is caught, including the close of a space with its last handle.
        let open = catch_unwind(AssertUnwindSafe(|| spaces())).unwrap_or_default();
        for oneiro in open {
            let round = catch_unwind(AssertUnwindSafe(move || {
                let oneiro = oneiro.with_cancel(cancel.clone());
                if cancel.is_cancelled() { Ok(()) } else { lane.run_round(&oneiro, rounds) }
            }));
            match round {
                Ok(Err(error)) if !cancel.is_cancelled() => fail(error),
                Ok(_) => {}
                Err(_) => {
                    stats.panics.fetch_add(1, Ordering::Relaxed);
                    fail(Error::internal("background work panicked"));
                }
            }
        }
        stats.rounds.fetch_add(1, Ordering::Relaxed);
        cancel.sleep(pause);
    }
}
