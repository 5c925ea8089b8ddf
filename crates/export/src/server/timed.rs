//! A stream whose reader has to take what is written within a time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::limits::WRITE_TIME;

/// Runs from the first write that has to wait until everything is flushed.
pub(super) struct Timed<S> {
    stream: S,
    clock: Option<Pin<Box<Sleep>>>,
}

impl<S> Timed<S> {
    /// Nothing is waiting yet.
    pub(super) fn new(stream: S) -> Self {
        Self { stream, clock: None }
    }

    /// What to answer while a write waits.
    fn waiting<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let clock = self.clock.get_or_insert_with(|| Box::pin(sleep(WRITE_TIME)));
        ready!(clock.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => self.waiting(context),
            done => done,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(context) {
            Poll::Pending => self.waiting(context),
            done => {
                self.clock = None;
                done
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_shutdown(context) {
            Poll::Pending => self.waiting(context),
            done => done,
        }
    }
}
