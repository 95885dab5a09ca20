//! Background work of a long-lived process: one thread per lane (index, remote embedding, jobs,
//! jobs that call a model, capture). Lanes are cancelled together, isolated from panics, and stopped within
//! a time limit. Used by `serve`, `mcp` and the Python package.

mod lane;
mod wake;

pub use lane::LaneStatus;
pub(crate) use wake::Wake;

use crate::capture::{CaptureSource, Watcher};
use crate::{Cancel, Oneiro};
use lane::{Lane, LaneSetup, LaneThread, Stats};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Default time limit of a stop. Work that cannot be interrupted, such as a VACUUM, is left
/// running: it is atomic, whenever the process ends.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// Lists the open spaces; called before each round.
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

    /// A monitor of the lanes, which also works after they stopped.
    pub fn monitor(&self) -> BackgroundMonitor {
        BackgroundMonitor(self.lanes.iter().map(LaneThread::stats).collect())
    }

    /// Cancels running work and waits for it, at most `limit`; returns false if something still
    /// runs. Interrupted jobs are queued for the next process.
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

/// Reports the status of the lanes.
#[derive(Clone)]
pub struct BackgroundMonitor(Vec<(Lane, Arc<Stats>)>);

impl BackgroundMonitor {
    /// The status of each lane.
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
