//! The server: HTTP in, engine calls, HTTP out, and the background of the spaces it has open. It must
//! not know how anything is stored.
//!
//! - `api` is the table of endpoints under `/v1` and their handlers; `openapi` describes it.
//! - `auth` decides who may call, `spaces` opens the space that they use.
//! - `listen` accepts connections, `router` is what is around every request, `dispatch` what is
//!   around every endpoint.
//! - `page` is the web page.

mod api;
mod auth;
mod body;
mod call;
mod connections;
mod decode;
mod dispatch;
mod figures;
mod listen;
mod listen_address;
mod mcp;
mod open_files;
mod openapi;
mod page;
mod patience;
mod peer;
mod problem;
mod rate;
mod readiness;
mod recent;
mod router;
mod spaces;
mod state;
mod watch;

pub use auth::Rules;
pub use listen_address::check_listen_address;
pub use openapi::text as openapi;
pub use patience::Patience;
pub use spaces::{ListSpaces, OpenSpace};

use auth::Auth;
use connections::Connections;
use listen_address::Listen;
use oneiro::{Background, Error, ErrorKind, Result, SpaceName, SpaceUse};
use spaces::Spaces;
use state::{Bounds, State};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// How long background work may take to end after a signal. With the time for requests
/// (`listen::GRACE`), for threads and for closing the spaces a stop takes at most 5 seconds.
const STOP_BACKGROUND: Duration = Duration::from_millis(1_500);

/// How long threads that answer requests may take to end after that.
const STOP_THREADS: Duration = Duration::from_millis(500);

/// How long closing the spaces may take: a server that hangs does not say goodbye.
const CLOSE_SPACES: Duration = Duration::from_millis(500);

/// Threads that may wait for the store at once.
const BLOCKING: usize = 64;

/// What to serve, and how.
pub struct Serving {
    /// Opens a space by name.
    pub open: OpenSpace,
    /// Lists the spaces of the store.
    pub list: ListSpaces,
    /// The space that requests reach which name none.
    pub space: SpaceName,
    /// Where to listen.
    pub listen: String,
    /// How strict the checks of requests are.
    pub rules: Rules,
    /// The most bytes of a body.
    pub max_body: usize,
    /// How long clients are waited for.
    pub patience: Patience,
    /// Where copies go that are asked for over HTTP.
    pub backups: PathBuf,
}

/// Serves until SIGINT or SIGTERM; calls `ready` with the address.
pub fn serve(serving: Serving, ready: impl FnOnce(SocketAddr) -> Result<()>) -> Result<()> {
    let listen = Listen::parse(&serving.listen)?;
    let address = listen.address;
    let spaces = Spaces::new(serving.open, serving.list, serving.space)?;
    require_token_beyond_loopback(&spaces, &listen)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING)
        .enable_all()
        .build()
        .map_err(|error| Error::internal("the server cannot start").because(error))?;
    let auth = Auth::new(serving.rules, &listen);
    let bounds =
        Bounds { max_body: serving.max_body, patience: serving.patience, backups: serving.backups };
    let state = Arc::new(State::new(spaces, auth, bounds));
    let background = background(&state);
    // Set once, before the first request.
    let _ = state.background.set(background.monitor());
    let served = runtime.block_on(run(Arc::clone(&state), address, ready));
    state.stopping.send_replace(true);
    let has_ended = background.stop(STOP_BACKGROUND);
    // What still runs may hold the store, whose PostgreSQL client may not be dropped on an async
    // thread; so the runtime ends first.
    runtime.shutdown_timeout(STOP_THREADS);
    if !close(state, CLOSE_SPACES) || !has_ended {
        tracing::warn!("some work did not stop in time; the next process goes on with it");
    }
    served
}

/// The background of every space that is open.
fn background(state: &Arc<State>) -> Background {
    let state = Arc::downgrade(state);
    Background::start(Arc::new(move || {
        let spaces = state.upgrade().map(|state| state.spaces.all()).unwrap_or_default();
        spaces.iter().filter_map(|(_, space)| space.oneiro().ok().cloned()).collect()
    }))
}

/// Closes the spaces on a thread of its own; false when that takes longer than `limit`.
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

/// Refuses to serve other machines without a token.
fn require_token_beyond_loopback(spaces: &Spaces, listen: &Listen) -> Result<()> {
    if listen.is_loopback() {
        return Ok(());
    }
    let name = spaces.first();
    if spaces.space(name, SpaceUse::MustExist)?.oneiro()?.tokens().any()? {
        return Ok(());
    }
    let address = listen.address;
    Err(Error::new(
        ErrorKind::Forbidden,
        format!("{address} is reachable from other machines, and space {name} has no token"),
    )
    .remedy(format!(
        "create one first: oneiro token create --space {name} --role write; or listen on 127.0.0.1"
    )))
}

async fn run(
    state: Arc<State>,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let cannot = |error: std::io::Error| {
        Error::new(ErrorKind::Unavailable, format!("cannot listen on {address}: {error}"))
            .remedy("is another oneiro running? choose another port with --listen")
            .because(error)
    };
    // Signals are caught before anyone is told that we are ready.
    let stop = stop_signal(Arc::clone(&state))?;
    let connections = Connections::new(open_files::limits_within_open_files());
    let listener = tokio::net::TcpListener::bind(address).await.map_err(cannot)?;
    ready(listener.local_addr().map_err(cannot)?)?;
    let patience = state.patience;
    listen::listen((listener, connections), (router::router(state), patience), stop).await
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
