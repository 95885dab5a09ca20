//! How long the server waits for a client, and a stream that gives up on one who takes nothing. It
//! must not know what is said.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long the server waits for a client.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For the first head of a new connection: a client connects because it has something to ask.
    pub first_head: Duration,
    /// For the head of a request, the wait for the next one included.
    pub head: Duration,
    /// For the whole body of a request.
    pub body: Duration,
    /// For a form of somebody who is not let in yet: it fits into the packets that follow its head.
    pub form: Duration,
    /// For somebody to take what is being answered, before anything of it is taken.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            first_head: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            form: Duration::from_secs(5),
            answer: Duration::from_secs(60),
        }
    }
}

/// A stream whose writes fail when nothing is taken for too long: who asks and does not read would
/// otherwise hold a connection, and what answers it, for ever.
pub(crate) struct Patient<S, F> {
    stream: S,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    /// Called when everything that was written has been flushed.
    on_flush: F,
}

impl<S, F> Patient<S, F> {
    pub(crate) fn new(stream: S, patience: Duration, on_flush: F) -> Patient<S, F> {
        Patient { stream, patience, waiting: None, on_flush }
    }

    fn timed<T>(&mut self, poll: Poll<Result<T>>, context: &mut Context<'_>) -> Poll<Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(Error::from(ErrorKind::TimedOut))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin, F: Unpin> AsyncRead for Patient<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin, F: Fn() + Unpin> AsyncWrite for Patient<S, F> {
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
