//! Accepting connections: bounded in number, slow ones cut off, and on a signal what has begun is
//! finished.

use crate::patience::{Patience, Patient};
use crate::peer::Peer;
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use oneiro::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::{Service, ServiceExt, service_fn};

/// Connections at once.
const CONNECTIONS: usize = 1_024;

/// Headers of a request.
const HEADERS: usize = 64;

/// Bytes of a request's head.
const HEAD_BYTES: usize = 64 << 10;

/// How long requests that have begun may take to finish.
const GRACE: Duration = Duration::from_secs(20);

/// Serves `router` until `stop`.
pub(crate) async fn listen(
    listener: TcpListener,
    (router, patience): (Router, Patience),
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    tokio::pin!(stop);
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut stop => break,
        };
        let place = place.map_err(|error| Error::internal("the server stopped").because(error))?;
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Too many open files, or a client that is gone already: others come.
                    tracing::info!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        // Answers are small and complete: waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let stream = Patient::new(stream, patience.answer);
        let router = router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            let mut router = router.clone();
            async move { router.as_service().ready().await?.call(request).await }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience.head)
            .max_headers(HEADERS)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}
