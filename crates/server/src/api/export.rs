//! The stream of an export: one thread reads one snapshot at the pace of the receiver.

use crate::call::Call;
use crate::problem::Problem;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use oneiro::{Cancel, Error, ErrorKind, ExportRequest, Result};
use oneiro_mcp::CancelOnDrop;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::Stream;

/// Size of a chunk.
const CHUNK_BYTES: usize = 64 << 10;

/// Chunks queued for the receiver.
const QUEUED_CHUNKS_MAX: usize = 4;

/// How long an export waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an export waits for its receiver before it releases its snapshot.
const RECEIVER_TIMEOUT: Duration = Duration::from_secs(60);

/// Starts an export.
pub(crate) async fn export(call: Call) -> Result<Response, Problem> {
    let request: ExportRequest = call.query_as()?;
    let permit = Arc::clone(&call.state.exports).acquire_owned();
    let Ok(Ok(permit)) = tokio::time::timeout(PERMIT_TIMEOUT, permit).await else {
        return Err(Error::new(ErrorKind::Busy, "other exports are running")
            .remedy("try again when they are done")
            .into());
    };
    let receiving = start(permit, move |cancel, out| {
        let call = call.cancelled_by(cancel)?;
        call.oneiro()?.transfer().export(&request, out, &mut |_| {}).map(|_| ())
    });
    let kind = HeaderValue::from_static("application/x-ndjson");
    let body = Body::from_stream(receiving.await?);
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

/// Runs an export on a blocking thread, which holds the permit until it ends. An error before the
/// first byte is returned; a later one ends the stream.
async fn start(
    permit: OwnedSemaphorePermit,
    export: impl FnOnce(&Cancel, &mut ChunkWriter) -> Result<()> + Send + 'static,
) -> Result<ExportStream> {
    let (sender, receiver) = mpsc::channel::<std::io::Result<Bytes>>(QUEUED_CHUNKS_MAX);
    let is_complete = Arc::new(AtomicBool::new(false));
    let guard = CancelOnDrop::default();
    let (cancel, completed) = (guard.cancel(), Arc::clone(&is_complete));
    let receiving = ExportStream { receiver, is_complete: Arc::clone(&is_complete), _guard: guard };
    let (begun, mut first) = mpsc::channel::<Result<()>>(1);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut out = ChunkWriter { sender, begun: Some(begun.clone()), held: Vec::new() };
        match export(&cancel, &mut out) {
            Ok(()) => completed.store(true, Ordering::Release),
            Err(error) => {
                tracing::info!(%error, "an export ended early");
                // The receiver may be stalled: do not wait for it.
                let _ = begun.try_send(Err(error));
            }
        }
    });
    match first.recv().await {
        Some(Err(error)) => Err(error),
        None if !is_complete.load(Ordering::Acquire) => Err(Error::internal("an export panicked")),
        Some(Ok(())) | None => Ok(receiving),
    }
}

/// The chunks of an export, followed by an error if it is incomplete. Dropping it cancels the export.
struct ExportStream {
    receiver: mpsc::Receiver<std::io::Result<Bytes>>,
    /// Set when the export succeeded; an error or a panic leaves it unset.
    is_complete: Arc<AtomicBool>,
    _guard: CancelOnDrop,
}

impl Stream for ExportStream {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.receiver.poll_recv(context);
        match next {
            // An error, so that a partial export is not taken for a complete one.
            Poll::Ready(None) if !self.is_complete.swap(true, Ordering::AcqRel) => {
                Poll::Ready(Some(Err(std::io::Error::other("the export ended early"))))
            }
            next => next,
        }
    }
}

/// Writes into a channel, chunk by chunk.
struct ChunkWriter {
    sender: mpsc::Sender<std::io::Result<Bytes>>,
    begun: Option<mpsc::Sender<Result<()>>>,
    held: Vec<u8>,
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= CHUNK_BYTES {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.send()
    }
}

impl ChunkWriter {
    fn send(&mut self) -> std::io::Result<()> {
        if let Some(begun) = self.begun.take() {
            let _ = begun.blocking_send(Ok(()));
        }
        let chunk = Bytes::from(std::mem::take(&mut self.held));
        if chunk.is_empty() {
            return Ok(());
        }
        let sending = tokio::runtime::Handle::current().block_on(async {
            tokio::time::timeout(RECEIVER_TIMEOUT, self.sender.send(Ok(chunk))).await
        });
        match sending {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(std::io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Semaphore;
    use tokio_stream::StreamExt;

    /// Runs an export with the only permit there is and waits until the permit is back; answers what
    /// arrived and how it ended.
    fn run(
        export: impl FnOnce(&Cancel, &mut ChunkWriter) -> Result<()> + Send + 'static,
    ) -> Result<(usize, bool)> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let permits = Arc::new(Semaphore::new(1));
            let permit = Arc::clone(&permits).acquire_owned().await.unwrap();
            let outcome = match start(permit, export).await {
                Ok(mut receiving) => {
                    let (mut bytes, mut is_cut_off) = (0, false);
                    while let Some(next) = receiving.next().await {
                        match next {
                            Ok(chunk) => bytes += chunk.len(),
                            Err(_) => is_cut_off = true,
                        }
                    }
                    Ok((bytes, is_cut_off))
                }
                Err(error) => Err(error),
            };
            drop(permits.acquire().await.unwrap());
            outcome
        })
    }

    #[test]
    fn an_export_that_panics_gives_its_permit_back_and_is_cut_off() {
        let fill = |out: &mut ChunkWriter| out.write_all(&vec![b'x'; 2 * CHUNK_BYTES]).unwrap();
        let whole = run(move |_, out| {
            fill(out);
            out.flush().map_err(|error| Error::internal("no flush").because(error))
        });
        assert_eq!(whole.unwrap(), (2 * CHUNK_BYTES, false));
        let panicked = run(move |_, out| {
            fill(out);
            panic!("in the middle")
        });
        assert_eq!(panicked.unwrap(), (2 * CHUNK_BYTES, true));
        assert_eq!(run(|_, _| panic!("first")).unwrap_err().kind(), ErrorKind::Internal);
        let failed = run(|_, _| Err(Error::not_found("nothing")));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::NotFound);
        let failed_later = run(move |_, out| {
            fill(out);
            Err(Error::not_found("nothing"))
        });
        assert_eq!(failed_later.unwrap(), (2 * CHUNK_BYTES, true));
    }

    #[test]
    fn an_export_that_nobody_receives_is_cancelled() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        let (ended, has_ended) = std::sync::mpsc::channel();
        runtime.block_on(async {
            let permits = Arc::new(Semaphore::new(1));
            let permit = Arc::clone(&permits).acquire_owned().await.unwrap();
            let receiving = start(permit, move |cancel, out| {
                // It fails if the receiver was dropped.
                let _ = out.write_all(&vec![b'x'; CHUNK_BYTES]);
                cancel.sleep(Duration::from_secs(3_600));
                ended.send(cancel.is_cancelled()).unwrap();
                Ok(())
            });
            drop(receiving.await.unwrap());
            drop(permits.acquire().await.unwrap());
        });
        assert!(has_ended.recv().unwrap());
    }
}
