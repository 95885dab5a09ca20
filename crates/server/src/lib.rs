//! The server: decodes HTTP requests, calls the engine, encodes answers, and runs the background
//! work of its open spaces.
//!
//! - `api` is the table of endpoints under `/v1` with their handlers; `openapi` describes it.
//! - `auth` accepts or refuses callers, `spaces` opens their space.
//! - `listen` accepts connections, `router` wraps every request, `dispatch` every endpoint.
//! - `page` is the web page.

mod api;
mod auth;
mod body;
mod call;
mod connections;
mod decode;
mod dispatch;
mod listen;
mod listen_address;
mod mcp;
mod metrics;
mod open_files;
mod openapi;
mod page;
mod peer;
mod problem;
mod rate_limit;
mod readiness;
mod recent_tokens;
mod router;
mod spaces;
mod state;
mod timeouts;
mod watch;

pub use auth::AuthRules;
pub use listen_address::check_listen_address;
pub use openapi::text as openapi;
pub use spaces::{ListSpaces, OpenSpace};
pub use timeouts::Timeouts;

use auth::Auth;
use connections::Connections;
use listen_address::Listen;
use oneiro::{Background, CaptureSource, Error, ErrorKind, Remedy, Result, SpaceName, SpaceUse};
use spaces::Spaces;
use state::{Bounds, State};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Time limit of background work after a signal. Together with the limits for requests
/// (`listen::REQUEST_GRACE`), threads and spaces, a stop takes at most 5 seconds.
const STOP_BACKGROUND: Duration = Duration::from_millis(1_500);

/// Time limit of request threads after that.
const STOP_THREADS: Duration = Duration::from_millis(500);

/// Time limit for closing the spaces: a hanging database does not answer a close.
const CLOSE_SPACES: Duration = Duration::from_millis(500);

/// Maximum number of threads that wait for the store.
const BLOCKING_THREADS_MAX: usize = 64;

/// What to serve.
pub struct ServeRequest {
    /// Opens a space by name.
    pub open: OpenSpace,
    /// Lists the spaces of the store.
    pub list: ListSpaces,
    /// The space of requests that name none.
    pub space: SpaceName,
    /// The listen address.
    pub listen: String,
    /// Authentication rules.
    pub rules: AuthRules,
    /// Maximum body size in bytes.
    pub max_body: usize,
    /// Client timeouts.
    pub timeouts: Timeouts,
    /// The folder for backups requested over HTTP.
    pub backups: PathBuf,
    /// Where agents write what may be captured.
    pub capture: Vec<CaptureSource>,
}

/// Serves until SIGINT or SIGTERM; calls `ready` with the bound address.
pub fn serve(serving: ServeRequest, ready: impl FnOnce(SocketAddr) -> Result<()>) -> Result<()> {
    let listen = Listen::parse(&serving.listen)?;
    let address = listen.address;
    let spaces = Spaces::new(serving.open, serving.list, serving.space);
    // Both before a space is created, so that a server that cannot start leaves none behind.
    require_token_beyond_loopback(&spaces, &listen)?;
    let listener = bind(address)?;
    spaces.create_first()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .enable_all()
        .build()
        .map_err(|error| Error::internal("the server cannot start").because(error))?;
    let auth = Auth::new(serving.rules, &listen);
    let bounds =
        Bounds { max_body: serving.max_body, timeouts: serving.timeouts, backups: serving.backups };
    let state = Arc::new(State::new(spaces, auth, bounds));
    let background = background(&state, serving.capture);
    // Set once, before the first request.
    let _ = state.background.set(background.monitor());
    let served = runtime.block_on(run(Arc::clone(&state), listener, ready));
    state.stopping.send_replace(true);
    let has_ended = background.stop(STOP_BACKGROUND);
    // Running requests may hold the store, whose PostgreSQL client must not be dropped on an async
    // thread, so the runtime ends first.
    runtime.shutdown_timeout(STOP_THREADS);
    if !close(state, CLOSE_SPACES) || !has_ended {
        tracing::warn!("some work did not stop in time; the next process goes on with it");
    }
    served
}

/// Starts the background of all open spaces.
fn background(state: &Arc<State>, capture: Vec<CaptureSource>) -> Background {
    let state = Arc::downgrade(state);
    let open_spaces = move || {
        let spaces = state.upgrade().map(|state| state.spaces.all()).unwrap_or_default();
        spaces.iter().filter_map(|(_, space)| space.oneiro().ok().cloned()).collect()
    };
    Background::start(Arc::new(open_spaces), capture)
}

/// Closes the spaces on another thread; returns false if that takes longer than `limit`.
fn close(state: Arc<State>, limit: Duration) -> bool {
    let (closing, closed) = std::sync::mpsc::channel::<()>();
    let close = move || {
        drop(state);
        drop(closing);
    };
    match std::thread::Builder::new().name("oneiro-close".to_owned()).spawn(close) {
        Ok(_) => closed.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected),
        Err(_) => true,
    }
}

/// Beyond loopback, a token is required.
fn require_token_beyond_loopback(spaces: &Spaces, listen: &Listen) -> Result<()> {
    if listen.is_loopback() {
        return Ok(());
    }
    let name = spaces.first();
    let has_token = match spaces.space(name, SpaceUse::MustExist) {
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        space => space?.oneiro()?.tokens().any()?,
    };
    if has_token {
        return Ok(());
    }
    let address = listen.address;
    Err(Error::new(
        ErrorKind::Forbidden,
        format!("{address} is reachable from other machines, and space {name} has no token"),
    )
    .remedy(Remedy::TokenBeforeListening { space: name.to_string() }))
}

fn bind(address: SocketAddr) -> Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address);
    // Tokio requires it.
    let listener = listener.and_then(|it| it.set_nonblocking(true).map(|()| it));
    listener.map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("cannot listen on {address}: {error}"))
            .remedy(Remedy::OtherPort)
            .because(error)
    })
}

async fn run(
    state: Arc<State>,
    listener: std::net::TcpListener,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let cannot = |error: std::io::Error| Error::internal("cannot listen").because(error);
    // Install signal handlers before reporting readiness.
    let stop = stop_signal(Arc::clone(&state))?;
    let connections = Connections::new(open_files::limits_within_open_files());
    let listener = tokio::net::TcpListener::from_std(listener).map_err(cannot)?;
    ready(listener.local_addr().map_err(cannot)?)?;
    let timeouts = state.timeouts;
    listen::listen((listener, connections), (router::router(state), timeouts), stop).await
}

fn stop_signal(state: Arc<State>) -> Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let cannot = |error: std::io::Error| Error::internal("signals cannot be caught").because(error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        state.stopping.send_replace(true);
    })
}
