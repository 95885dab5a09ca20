//! What every request shares: the spaces, the checks of callers, the figures and the bounds.

use crate::auth::Auth;
use crate::body::{FORMS, Room};
use crate::figures::Figures;
use crate::patience::Patience;
use crate::readiness::Readiness;
use crate::spaces::Spaces;
use oneiro::BackgroundMonitor;
use oneiro_mcp::{ModelLimits, ModelPermits};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// Streams of changes at once.
const STREAMS: usize = 512;

/// Exports at once: each holds a thread and a snapshot.
const EXPORTS: usize = 4;

/// Requests that may call a model: each that runs holds a thread, of which many more are left for
/// requests that need none.
const MODEL_CALLS: ModelLimits =
    ModelLimits { running: 4, waiting: 64, timeout: Duration::from_secs(60) };

/// Bytes of bodies that are in memory at once.
const BODIES: usize = 256 << 20;

/// The same for bodies of those who may only read, which are small.
const READER_BODIES: usize = 16 << 20;

/// How far clients may go.
pub(crate) struct Bounds {
    /// The most bytes of a body.
    pub(crate) max_body: usize,
    pub(crate) patience: Patience,
    /// Where copies go that are asked for over HTTP.
    pub(crate) backups: PathBuf,
}

/// What every request shares.
pub(crate) struct State {
    pub(crate) spaces: Spaces,
    pub(crate) auth: Auth,
    pub(crate) figures: Figures,
    pub(crate) readiness: Readiness,
    pub(crate) started: Instant,
    /// The most bytes of a body.
    pub(crate) max_body: usize,
    pub(crate) patience: Patience,
    /// Where copies go that are asked for over HTTP.
    pub(crate) backups: PathBuf,
    /// How background work is doing; unset before it starts.
    pub(crate) background: OnceLock<BackgroundMonitor>,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) exports: Arc<Semaphore>,
    /// For requests that may call a model.
    pub(crate) models: ModelPermits,
    /// Forms of strangers that are received now.
    pub(crate) forms: Semaphore,
    /// For bodies of those who may write.
    pub(crate) bodies: Room,
    /// For bodies of those who may only read.
    pub(crate) reader_bodies: Room,
    /// Turns true when the server stops, so that what lasts ends.
    pub(crate) stopping: watch::Sender<bool>,
}

impl State {
    pub(crate) fn new(spaces: Spaces, auth: Auth, bounds: Bounds) -> State {
        let Bounds { max_body, patience, backups } = bounds;
        State {
            spaces,
            auth,
            figures: Figures::default(),
            readiness: Readiness::default(),
            started: Instant::now(),
            max_body,
            patience,
            backups,
            background: OnceLock::new(),
            streams: Arc::new(Semaphore::new(STREAMS)),
            exports: Arc::new(Semaphore::new(EXPORTS)),
            models: ModelPermits::new(MODEL_CALLS),
            forms: Semaphore::new(FORMS),
            bodies: Room::new(BODIES.max(max_body)),
            reader_bodies: Room::new(READER_BODIES),
            stopping: watch::Sender::new(false),
        }
    }
}
