//! Who may ask: the Host and the Origin of a request, and its token.

use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Problem;
use crate::app::App;

/// Passes a request on if it may be answered.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match check(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(app: &App, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let host = one(headers, header::HOST)?;
    let refused = |code, message| Err(Problem::new(StatusCode::FORBIDDEN, code, message));
    // A page elsewhere may resolve its own name to this machine (DNS rebinding), and then read what it gets.
    if app.options.is_local() && !host.is_some_and(names_this_machine) {
        return refused("wrong_host", "this server answers on localhost only, and the request names another host");
    }
    // A page elsewhere may send requests without reading the answers.
    let origin = one(headers, header::ORIGIN)?;
    let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, from)| Some(from) == host);
    if !origin.is_none_or(is_own) {
        return refused("wrong_origin", "requests of pages of other servers are not answered");
    }
    let path = request.uri().path();
    let is_open = path == "/" || path == "/healthz" || path.starts_with("/assets/");
    match &app.options.token {
        Some(token) if !is_open && !has_token(headers, token) => {
            let message = "this server needs its token: send the header Authorization: Bearer TOKEN";
            Err(Problem::new(StatusCode::UNAUTHORIZED, "token", message))
        }
        _ => Ok(()),
    }
}

/// A header that may be there once.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(&name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(Problem::bad("bad_header", format!("the header {name} is not text"))),
        },
        _ => Err(Problem::bad("bad_header", format!("the header {name} is there twice"))),
    }
}

/// Whether a Host header names this machine, with any port.
fn names_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => return address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    let scheme = given.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "));
    scheme && is_same(&given[7..], token.as_bytes())
}

/// Whether two strings are the same, in a time that does not depend on where they differ.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let differences = given.iter().zip(expected).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
    black_box(differences) == 0 && given.len() == expected.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in ["localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:80", "127.1.2.3:1", "[::1]", "[::1]:8080"] {
            assert!(names_this_machine(host), "{host}");
        }
        for host in [
            "",
            ":80",
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "128.0.0.1",
            "[::2]:80",
            "[",
            "127.0.0.1@evil",
            "0.0.0.0",
            "evil#localhost",
            "localhost:80:80",
        ] {
            assert!(!names_this_machine(host), "{host}");
        }
    }

    #[test]
    fn tokens_are_compared_as_a_whole() {
        assert!(is_same(b"secret12", b"secret12"));
        for given in ["", "secret1", "secret123", "Secret12", "secret13"] {
            assert!(!is_same(given.as_bytes(), b"secret12"), "{given}");
        }
    }
}
