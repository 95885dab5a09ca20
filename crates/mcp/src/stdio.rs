//! MCP over standard input and output, for one client: serve until it hangs up or a signal comes,
//! and drain background work meanwhile. It must not know what the tools do.

use crate::lines::Lines;
use crate::{Caller, Mcp};
use oneiro::{Error, Oneiro, Result};
use rmcp::service::ServerInitializeError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often an idle server looks for background work.
const DRAIN_EVERY: Duration = Duration::from_millis(500);

/// Calls that run at once; a client that makes more waits.
const CALLS: usize = 8;

/// How long calls may take to end after the client has gone.
const LAST_CALLS: Duration = Duration::from_secs(2);

/// Serves the tools on standard input and output until the input ends, nobody reads the output, or
/// SIGINT or SIGTERM comes. Nothing but the protocol is written to standard output.
pub fn serve_stdio(caller: Caller) -> Result<()> {
    // One thread is enough: engine calls run beside it, and it starts the fastest.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(CALLS)
        .enable_all()
        .build()
        .map_err(|error| Error::internal("the server cannot start").because(error))?;
    let stopping = Arc::new(AtomicBool::new(false));
    let drain = drain_jobs(caller.oneiro.clone(), Arc::clone(&stopping))?;
    let served = runtime.block_on(run(caller.clone()));
    stopping.store(true, Ordering::SeqCst);
    drain.thread().unpark();
    // A job that has begun is finished; a panic in it was logged by its thread.
    let _ = drain.join();
    // The space is dropped here, outside the runtime: the PostgreSQL client may not be dropped on
    // an async thread.
    runtime.shutdown_timeout(LAST_CALLS);
    drop(caller);
    served
}

async fn run(caller: Caller) -> Result<()> {
    let stop = stop_signal()?;
    let lines = Lines::new(std::io::stdin(), std::io::stdout()).map_err(|error| {
        Error::internal("no threads for standard input and output").because(error)
    })?;
    let serve = async {
        let served = match rmcp::serve_server(Mcp::new(caller), lines).await {
            Ok(serving) => serving.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            // The client hung up before it asked for anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        served.map_err(|what| Error::internal(format!("the conversation broke off: {what}")))
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

fn drain_jobs(oneiro: Oneiro, stopping: Arc<AtomicBool>) -> Result<std::thread::JoinHandle<()>> {
    let drain = move || {
        while !stopping.load(Ordering::SeqCst) {
            // The client waits for its first answer; what waits here has waited already.
            std::thread::park_timeout(DRAIN_EVERY);
            if stopping.load(Ordering::SeqCst) {
                break;
            }
            if let Err(error) = oneiro.run_jobs(DRAIN_EVERY) {
                tracing::warn!(error = %error, "background work waits");
            }
        }
    };
    std::thread::Builder::new()
        .name("oneiro-jobs".to_owned())
        .spawn(drain)
        .map_err(|error| Error::internal("no thread for background work").because(error))
}
