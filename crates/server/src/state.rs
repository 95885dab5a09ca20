//! What every request shares: the spaces, the gate, the figures and the bounds.

use crate::figures::Figures;
use crate::gate::Gate;
use crate::spaces::Spaces;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// Streams of changes at once.
const STREAMS: usize = 512;

/// Exports at once: each holds a thread and a snapshot.
const EXPORTS: usize = 4;

/// Bytes of bodies that are in memory at once.
const BODIES: usize = 256 << 20;

/// How long the whole body of a request may take.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);

/// What every request shares.
pub(crate) struct State {
    pub(crate) spaces: Spaces,
    pub(crate) gate: Gate,
    pub(crate) figures: Figures,
    pub(crate) started: Instant,
    /// The most bytes of a body.
    pub(crate) max_body: usize,
    /// Where copies go that are asked for over HTTP.
    pub(crate) backups: PathBuf,
    pub(crate) streams: Semaphore,
    pub(crate) exports: Semaphore,
    /// A permit is a KiB of a body.
    pub(crate) bodies: Semaphore,
    /// Turns true when the server stops, so that what lasts ends.
    pub(crate) stopping: watch::Sender<bool>,
}

impl State {
    pub(crate) fn new(spaces: Spaces, gate: Gate, max_body: usize, backups: PathBuf) -> State {
        State {
            spaces,
            gate,
            figures: Figures::default(),
            started: Instant::now(),
            max_body,
            backups,
            streams: Semaphore::new(STREAMS),
            exports: Semaphore::new(EXPORTS),
            bodies: Semaphore::new(BODIES.max(max_body) / 1_024),
            stopping: watch::Sender::new(false),
        }
    }
}
