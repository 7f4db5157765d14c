//! Gives a sentence to those who do not speak HTTP.
//!
//! What cannot be parsed reaches no route: hyper answers it by a status and an empty body, and has no hook for another
//! answer. So it is given its body on the way out.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Problem;

/// How the answers that hyper makes by itself say that they have no body. Those of routes name their type, too.
const EMPTY: &str = "content-length: 0\r\n";
const TYPED: &str = "content-type:";

/// A connection on which empty refusals get a sentence.
pub(super) struct Explaining<S> {
    stream: S,
    /// An answer that is being written in place of an empty one, and how much of it is written.
    instead: Option<(Vec<u8>, usize)>,
}

impl<S: AsyncWrite + Unpin> Explaining<S> {
    pub(super) fn new(stream: S) -> Self {
        Explaining { stream, instead: None }
    }

    /// Writes the answer in place of the empty one, which has so many bytes.
    fn write_instead(&mut self, context: &mut Context<'_>, len: usize) -> Poll<io::Result<usize>> {
        while let Some((answer, written)) = self.instead.as_mut().filter(|(answer, written)| *written < answer.len()) {
            match ready!(Pin::new(&mut self.stream).poll_write(context, &answer[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *written += more,
            }
        }
        self.instead = None;
        Poll::Ready(Ok(len))
    }
}

/// A refusal without a body, with a body.
fn explained(head: &[u8]) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(head).ok().filter(|head| head.ends_with("\r\n\r\n") && head.contains(EMPTY))?;
    let code = head.strip_prefix("HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(code.as_bytes()).ok().filter(StatusCode::is_client_error)?;
    if head.contains(TYPED) {
        return None;
    }
    let body = Problem::malformed(status).json().to_string();
    let described = format!(
        "content-type: application/json\r\nx-content-type-options: nosniff\r\ncontent-length: {}\r\n",
        body.len()
    );
    Some((head.replacen(EMPTY, &described, 1) + &body).into_bytes())
}

impl<S: AsyncRead + Unpin> AsyncRead for Explaining<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explaining<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.instead.is_none() {
            self.instead = explained(bytes).map(|answer| (answer, 0));
        }
        match self.instead {
            Some(_) => self.write_instead(context, bytes.len()),
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // An answer without a body is one slice.
        match slices {
            [only] => self.poll_write(context, only),
            slices => Pin::new(&mut self.stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_without_a_body_get_one_and_other_answers_stay() {
        let empty = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        let answer = String::from_utf8(explained(empty.as_bytes()).unwrap()).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
        assert!(body.contains("bad_http"), "{body}");
        for other in [
            empty.replace("400 Bad Request", "200 OK"),
            empty.replace("date: now", "content-type: application/json"),
            empty.replace("content-length: 0", "content-length: 9"),
            empty.trim_end().to_owned(),
        ] {
            assert_eq!(explained(other.as_bytes()), None, "{other}");
        }
    }
}
