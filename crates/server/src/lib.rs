//! The server: HTTP in, engine calls, HTTP out, and a thread that drains background work. It must
//! not know how anything is stored.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use oneiro::{Error, ErrorKind, Oneiro, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often an idle server looks for background work.
const DRAIN_EVERY: Duration = Duration::from_millis(500);

/// Serves `oneiro` at `listen` until SIGINT or SIGTERM; calls `ready` with the address.
pub fn serve(
    oneiro: Oneiro,
    listen: &str,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let address = address(listen)?;
    if !address.ip().is_loopback() {
        return Err(Error::new(
            ErrorKind::Forbidden,
            format!("{address} is reachable from other machines, and nothing asks who comes in"),
        )
        .remedy("listen on 127.0.0.1 and forward to it"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Error::internal("the server cannot start").because(error))?;
    let stopping = Arc::new(AtomicBool::new(false));
    let drain = drain_jobs(oneiro.clone(), Arc::clone(&stopping))?;
    let served = runtime.block_on(run(oneiro.clone(), address, ready));
    stopping.store(true, Ordering::SeqCst);
    drain.thread().unpark();
    // A job that has begun is finished; a panic in it was logged by its thread.
    let _ = drain.join();
    // The store is dropped here, outside the runtime: the PostgreSQL client may not be dropped on
    // an async thread.
    runtime.shutdown_timeout(Duration::from_secs(5));
    drop(oneiro);
    served
}

/// Reads where to listen; `localhost` is this machine's own address.
pub fn address(listen: &str) -> Result<SocketAddr> {
    let numeric = match listen.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => listen.to_owned(),
    };
    numeric.parse().map_err(|_| {
        Error::field("listen", format!("{listen:?} is not an address and port"))
            .remedy("write 127.0.0.1:4747")
    })
}

async fn run(
    oneiro: Oneiro,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let cannot = |error: std::io::Error| {
        Error::new(ErrorKind::Unavailable, format!("cannot listen on {address}: {error}"))
            .remedy("is another oneiro running? choose another port with --listen")
            .because(error)
    };
    // Signals are caught before anyone is told that we are ready.
    let stop = stop_signal()?;
    let listener = tokio::net::TcpListener::bind(address).await.map_err(cannot)?;
    ready(listener.local_addr().map_err(cannot)?)?;
    let router = Router::new().route("/healthz", get(healthz)).with_state(oneiro);
    axum::serve(listener, router)
        .with_graceful_shutdown(stop)
        .await
        .map_err(|error| Error::internal("the server stopped").because(error))
}

/// Answers whether the store can be read.
async fn healthz(State(oneiro): State<Oneiro>) -> Response {
    match blocking(move || oneiro.settings()).await {
        Ok(_) => Json(serde_json::json!({"status": "ok"})).into_response(),
        Err(error) => {
            let status = StatusCode::from_u16(error.http_status());
            let body =
                serde_json::json!({"status": error.kind().name(), "detail": error.message()});
            (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Json(body)).into_response()
        }
    }
}

/// Runs a call of the engine where blocking is allowed; what it captured is dropped there too.
async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(call)
        .await
        .unwrap_or_else(|error| Err(Error::internal("a call panicked").because(error)))
}

fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let cannot = |error: std::io::Error| Error::internal("signals cannot be caught").because(error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

fn drain_jobs(oneiro: Oneiro, stopping: Arc<AtomicBool>) -> Result<std::thread::JoinHandle<()>> {
    let drain = move || {
        while !stopping.load(Ordering::SeqCst) {
            if let Err(error) = oneiro.run_jobs(DRAIN_EVERY) {
                tracing::warn!(error = %error, "background work waits");
            }
            std::thread::park_timeout(DRAIN_EVERY);
        }
    };
    std::thread::Builder::new()
        .name("oneiro-jobs".to_owned())
        .spawn(drain)
        .map_err(|error| Error::internal("no thread for background work").because(error))
}
