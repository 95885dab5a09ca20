//! The background of a long-lived process: one thread per lane (folding, remote embedding, jobs,
//! jobs that call a model, capture), each cancelled together, isolated from panics and stopped in
//! bounded time. `serve`, `mcp` and the Python package use it.

mod lane;
mod wake;

pub use lane::LaneStatus;
pub(crate) use wake::Wake;

use crate::capture::{CaptureSource, Watcher};
use crate::{Cancel, Oneiro};
use lane::{Lane, LaneSetup, LaneThread, Stats};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a stop waits by default for what is under way. Work that cannot be interrupted (a VACUUM)
/// is left behind: it is whole or absent whenever the process ends.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// The spaces that are open, asked for before each round.
pub type OpenSpaces = Arc<dyn Fn() -> Vec<Oneiro> + Send + Sync>;

/// The background of one process. Dropping it stops it.
pub struct Background {
    cancel: Cancel,
    lanes: Vec<LaneThread>,
}

impl Background {
    /// Starts the lanes. A lane whose thread cannot be started is reported by
    /// [`BackgroundMonitor::status`]; the others run. What agents write is captured from `sources`,
    /// if there are any, into each space as people chose there.
    pub fn start(spaces: OpenSpaces, sources: Vec<CaptureSource>) -> Background {
        let cancel = Cancel::new();
        let watcher = Arc::new(Watcher::new(sources));
        let has_work = |lane: &Lane| *lane != Lane::Capture || watcher.has_sources();
        let setup = LaneSetup { spaces, cancel: cancel.clone(), watcher: Arc::clone(&watcher) };
        let lanes = Lane::ALL.into_iter().filter(has_work);
        let lanes = lanes.map(|lane| LaneThread::start(lane, setup.clone())).collect();
        Background { cancel, lanes }
    }

    /// Starts the lanes for one space.
    pub fn of(oneiro: Oneiro, sources: Vec<CaptureSource>) -> Background {
        Background::start(Arc::new(move || vec![oneiro.clone()]), sources)
    }

    /// What tells how the lanes are doing, also after they stopped.
    pub fn monitor(&self) -> BackgroundMonitor {
        BackgroundMonitor(self.lanes.iter().map(LaneThread::stats).collect())
    }

    /// Cancels what is under way and waits for it, `limit` at most; false when something is still
    /// running and was left behind. Jobs that were interrupted are queued for the next process.
    pub fn stop(mut self, limit: Duration) -> bool {
        self.stop_within(limit)
    }

    fn stop_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        self.cancel.cancel();
        self.lanes.iter().for_each(LaneThread::wake);
        let mut all_ended = true;
        for lane in self.lanes.drain(..) {
            all_ended &= lane.join(deadline);
        }
        all_ended
    }
}

/// Tells how the lanes of a background are doing.
#[derive(Clone)]
pub struct BackgroundMonitor(Vec<(Lane, Arc<Stats>)>);

impl BackgroundMonitor {
    /// How each lane is doing.
    pub fn status(&self) -> Vec<LaneStatus> {
        self.0.iter().map(|(lane, stats)| stats.status(*lane)).collect()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if !self.stop_within(STOP_LIMIT) {
            tracing::warn!("background work did not stop in time and was left behind");
        }
    }
}
