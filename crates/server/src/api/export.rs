//! The stream of an export: one thread reads in one snapshot and waits for whoever receives.

use crate::call::Call;
use crate::problem::Problem;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use oneiro::{Error, ErrorKind, ExportRequest, Result, SessionId};
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::Stream;

/// Bytes that are sent at once.
const CHUNK: usize = 64 << 10;

/// Chunks that wait to be received.
const AHEAD: usize = 4;

/// How long an export waits for whoever receives it, before its snapshot is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Begins an export.
pub(crate) async fn export(call: Call) -> Result<Response, Problem> {
    let sessions = call.query.texts("session").into_iter().map(SessionId::new);
    let request = ExportRequest {
        sessions: sessions.collect::<Result<_>>()?,
        source: call.query.text("source"),
    };
    let state = Arc::clone(&call.state);
    let waited = tokio::time::timeout(Duration::from_secs(5), state.exports.acquire()).await;
    let Ok(Ok(permit)) = waited else {
        return Err(Error::new(ErrorKind::Busy, "other exports are running")
            .remedy("try again when they are done")
            .into());
    };
    permit.forget();
    let (sender, receiver) = mpsc::channel::<std::io::Result<Bytes>>(AHEAD);
    let done = Arc::clone(&state);
    let cut_off = Arc::new(AtomicBool::new(false));
    let receiving = Receiving { receiver, cut_off: Arc::clone(&cut_off) };
    let (begun, mut first) = mpsc::channel::<Result<()>>(1);
    tokio::task::spawn_blocking(move || {
        let mut out = Sending { sender, begun: Some(begun.clone()), held: Vec::new() };
        let exported = call
            .oneiro()
            .and_then(|oneiro| oneiro.export(&request, &mut out, &mut |_| {}).map(|_| ()));
        done.exports.add_permits(1);
        if let Err(error) = exported {
            tracing::info!(%error, "an export ended early");
            // What has begun is cut off, so that it is not taken for whole. Whoever receives may be
            // asleep: nothing here waits for it.
            cut_off.store(true, Ordering::Release);
            let _ = begun.try_send(Err(error));
        }
    });
    // An error before the first byte is still an answer.
    if let Some(Err(error)) = first.recv().await {
        return Err(error.into());
    }
    let kind = HeaderValue::from_static("application/x-ndjson");
    let body = Body::from_stream(receiving);
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

/// What arrives, and at the end an error if it is not all.
struct Receiving {
    receiver: mpsc::Receiver<std::io::Result<Bytes>>,
    cut_off: Arc<AtomicBool>,
}

impl Stream for Receiving {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.receiver.poll_recv(context);
        match next {
            Poll::Ready(None) if self.cut_off.swap(false, Ordering::AcqRel) => {
                Poll::Ready(Some(Err(std::io::Error::other("the export ended early"))))
            }
            next => next,
        }
    }
}

/// Writes into a channel, chunk by chunk.
struct Sending {
    sender: mpsc::Sender<std::io::Result<Bytes>>,
    begun: Option<mpsc::Sender<Result<()>>>,
    held: Vec<u8>,
}

impl Write for Sending {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= CHUNK {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.send()
    }
}

impl Sending {
    fn send(&mut self) -> std::io::Result<()> {
        if let Some(begun) = self.begun.take() {
            let _ = begun.blocking_send(Ok(()));
        }
        let chunk = Bytes::from(std::mem::take(&mut self.held));
        if chunk.is_empty() {
            return Ok(());
        }
        let sending = tokio::runtime::Handle::current()
            .block_on(async { tokio::time::timeout(PATIENCE, self.sender.send(Ok(chunk))).await });
        match sending {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(std::io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
        }
    }
}
