//! MCP over standard input and output, for one client: serves until the client disconnects or a
//! signal arrives, and runs background work meanwhile.

use crate::lines::Lines;
use crate::{Caller, Mcp, ModelLimits, ModelPermits, Profile};
use oneiro::{Background, CaptureSource, Error, Result};
use rmcp::service::ServerInitializeError;
use std::time::Duration;

/// Maximum number of concurrent calls; further ones wait.
const CALLS: usize = 8;

/// Maximum number of concurrent calls that may call a model, so that others can run beside them.
const MODEL_CALLS: ModelLimits =
    ModelLimits { running: CALLS / 2, waiting: 64, timeout: Duration::from_secs(60) };

/// How long calls may take to finish after the client has disconnected.
const STOP_CALLS: Duration = Duration::from_secs(2);

/// How long background work may take to finish after that.
const STOP_BACKGROUND: Duration = Duration::from_secs(2);

/// Serves the tools on standard input and output until the input ends, the output is closed, or
/// SIGINT or SIGTERM arrives. Nothing but the protocol is written to standard output. Meanwhile the
/// background captures new lines of the transcripts in `capture`.
pub fn serve_stdio(caller: Caller, profile: Profile, capture: Vec<CaptureSource>) -> Result<()> {
    // One thread is enough: engine calls run beside it, and it starts the fastest.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(CALLS)
        .enable_all()
        .build()
        .map_err(|error| Error::internal("the server cannot start").because(error))?;
    let background = Background::of(caller.oneiro.clone(), capture);
    let served = runtime.block_on(run(caller.clone(), profile));
    if !background.stop(STOP_BACKGROUND) {
        tracing::warn!("background work did not stop in time; the next process continues it");
    }
    // The space is dropped here, outside the runtime: the PostgreSQL client may not be dropped on
    // an async thread.
    runtime.shutdown_timeout(STOP_CALLS);
    drop(caller);
    served
}

async fn run(caller: Caller, profile: Profile) -> Result<()> {
    let stop = stop_signal()?;
    let lines = Lines::new(std::io::stdin(), std::io::stdout()).map_err(|error| {
        Error::internal("no threads for standard input and output").because(error)
    })?;
    let serve = async {
        let mcp = Mcp::new(caller, ModelPermits::new(MODEL_CALLS)).with_profile(profile);
        let served = match rmcp::serve_server(mcp, lines).await {
            Ok(serving) => serving.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            // The client disconnected before its first request.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        served.map_err(|what| Error::internal(format!("the connection failed: {what}")))
    };
    tokio::select! {
        served = serve => served,
        () = stop => Ok(()),
    }
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
