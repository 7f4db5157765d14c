//! The access log and the counters.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::{App, shortened};
use crate::event::{Access, Event};

/// The address of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) SocketAddr);

pub(super) async fn log(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.method().as_str().to_owned();
    let path = shortened(request.uri().path());
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let client = request.extensions().get::<Client>().map_or(String::new(), |Client(address)| address.to_string());
    let response = next.run(request).await;
    let (took, status) = (start.elapsed(), response.status().as_u16());
    app.metrics.answered(&route, status, took);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let milliseconds = (took.as_secs_f64() * 1e6).round() / 1e3;
    (app.log)(Event::Access(Access { time, client, method: shortened(&method), path, status, milliseconds }));
    response
}
