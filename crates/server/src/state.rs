//! What all requests share: spaces, authentication, metrics and limits.

use crate::auth::Auth;
use crate::body::{BodyMemory, CONCURRENT_FORMS_MAX};
use crate::metrics::Metrics;
use crate::page::FormTokens;
use crate::readiness::Readiness;
use crate::spaces::Spaces;
use crate::timeouts::Timeouts;
use oneiro::BackgroundMonitor;
use oneiro_mcp::{ModelLimits, ModelPermits};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// Maximum number of event streams.
const EVENT_STREAMS_MAX: usize = 512;

/// Maximum number of exports: each holds a thread and a snapshot.
const EXPORTS_MAX: usize = 4;

/// Limits on requests that may call a model: each holds a thread, and most threads must remain for
/// other requests.
const MODEL_CALLS: ModelLimits =
    ModelLimits { running: 4, waiting: 64, timeout: Duration::from_secs(60) };

/// Maximum memory of request bodies.
const BODY_MEMORY_BYTES: usize = 256 << 20;

/// Maximum memory of bodies from callers that may only read.
const READER_BODY_MEMORY_BYTES: usize = 16 << 20;

/// Limits on clients.
pub(crate) struct Bounds {
    /// Maximum body size in bytes.
    pub(crate) max_body: usize,
    pub(crate) timeouts: Timeouts,
    /// The folder for backups requested over HTTP.
    pub(crate) backups: PathBuf,
}

pub(crate) struct State {
    pub(crate) spaces: Spaces,
    pub(crate) auth: Auth,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    pub(crate) started: Instant,
    /// Maximum body size in bytes.
    pub(crate) max_body: usize,
    pub(crate) timeouts: Timeouts,
    /// The folder for backups requested over HTTP.
    pub(crate) backups: PathBuf,
    /// The status of the background work; unset before it starts.
    pub(crate) background: OnceLock<BackgroundMonitor>,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) exports: Arc<Semaphore>,
    /// Permits for requests that may call a model.
    pub(crate) models: ModelPermits,
    /// Permits for forms before authentication.
    pub(crate) forms: Semaphore,
    /// For forms of the page.
    pub(crate) form_tokens: FormTokens,
    /// For bodies of callers that may write.
    pub(crate) bodies: BodyMemory,
    /// For bodies of callers that may only read.
    pub(crate) reader_bodies: BodyMemory,
    /// Becomes true when the server stops, so that streams end.
    pub(crate) stopping: watch::Sender<bool>,
}

impl State {
    pub(crate) fn new(spaces: Spaces, auth: Auth, bounds: Bounds) -> State {
        let Bounds { max_body, timeouts, backups } = bounds;
        State {
            spaces,
            auth,
            metrics: Metrics::default(),
            readiness: Readiness::default(),
            started: Instant::now(),
            max_body,
            timeouts,
            backups,
            background: OnceLock::new(),
            streams: Arc::new(Semaphore::new(EVENT_STREAMS_MAX)),
            exports: Arc::new(Semaphore::new(EXPORTS_MAX)),
            models: ModelPermits::new(MODEL_CALLS),
            forms: Semaphore::new(CONCURRENT_FORMS_MAX),
            form_tokens: FormTokens::default(),
            bodies: BodyMemory::new(BODY_MEMORY_BYTES.max(max_body)),
            reader_bodies: BodyMemory::new(READER_BODY_MEMORY_BYTES),
            stopping: watch::Sender::new(false),
        }
    }
}
