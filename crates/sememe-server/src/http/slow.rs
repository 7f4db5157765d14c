//! Cuts off clients that do not read what they asked for, but not those that are still sending when they are answered.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// How long a connection that is closed waits for more of what nobody reads any more, and how long at most.
const QUIET: Duration = Duration::from_millis(250);
const LINGER: Duration = Duration::from_secs(10);

/// A connection on which no write waits longer than a given time.
pub(super) struct Impatient {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    lingering: Option<Lingering>,
}

/// A connection on which the answer is written and closed, while the rest of the request may still arrive.
struct Lingering {
    until: Pin<Box<Sleep>>,
    end: Instant,
}

impl Impatient {
    pub(super) fn new(stream: TcpStream, patience: Duration) -> Self {
        Impatient { stream, patience, waiting: None, lingering: None }
    }

    /// Passes on what a write says, unless it has waited too long.
    fn wait<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Reads what a client still sends, and forgets it. The system would answer it by a reset, on which clients drop what
    /// they were told, such as that a body is too large.
    fn linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Lingering { until, end } = self.lingering.get_or_insert_with(|| {
            let now = Instant::now();
            Lingering { until: Box::pin(sleep_until(now + QUIET)), end: now + LINGER }
        });
        let mut scrap = [0; 16 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut scrap);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    until.as_mut().reset((Instant::now() + QUIET).min(*end));
                    if Instant::now() >= *end {
                        return Poll::Ready(());
                    }
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return until.as_mut().poll(context),
            }
        }
    }
}

impl AsyncRead for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wait(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.wait(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            let shut = Pin::new(&mut self.stream).poll_shutdown(context);
            match self.wait(context, shut) {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
        }
        self.linger(context).map(Ok)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wait(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
