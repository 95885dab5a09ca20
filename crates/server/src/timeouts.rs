//! Timeouts for slow clients, and a stream that fails when its client stops reading.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Timeouts for clients.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For the first request head of a new connection: clients send it right after connecting.
    pub first_head: Duration,
    /// For a request head, including the idle time before it.
    pub head: Duration,
    /// For a whole request body.
    pub body: Duration,
    /// For a form before authentication, which fits into the packets after its head.
    pub form: Duration,
    /// For the client to read the next part of an answer.
    pub answer: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            first_head: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            form: Duration::from_secs(5),
            answer: Duration::from_secs(60),
        }
    }
}

/// A stream whose writes fail if nothing is read for too long. Otherwise a client that does not
/// read would hold its connection and the resources of its answer forever.
pub(crate) struct WriteTimeout<S, F> {
    stream: S,
    timeouts: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    /// Called when everything written has been flushed.
    on_flush: F,
}

impl<S, F> WriteTimeout<S, F> {
    pub(crate) fn new(stream: S, timeouts: Duration, on_flush: F) -> WriteTimeout<S, F> {
        WriteTimeout { stream, timeouts, waiting: None, on_flush }
    }

    fn timed<T>(&mut self, poll: Poll<Result<T>>, context: &mut Context<'_>) -> Poll<Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let timeouts = self.timeouts;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(timeouts)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(Error::from(ErrorKind::TimedOut))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin, F: Unpin> AsyncRead for WriteTimeout<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin, F: Fn() + Unpin> AsyncWrite for WriteTimeout<S, F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(poll, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.timed(poll, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(context);
        if matches!(poll, Poll::Ready(Ok(()))) {
            (self.on_flush)();
        }
        self.timed(poll, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_shutdown(context);
        self.timed(poll, context)
    }
}
