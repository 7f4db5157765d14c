//! Connections: accepted up to a number, cut off when they are slow, and drained at the end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tower_service::Service;

use super::Client;
use super::malformed::Explaining;
use super::slow::Impatient;
use crate::app::App;

/// The most bytes of the head of a request.
const MOST_HEAD: usize = 64 << 10;
/// The most headers of a request.
const MOST_HEADERS: usize = 64;
/// How long nothing is accepted after accepting failed, as it does when there are no file descriptors left.
const PAUSE: Duration = Duration::from_millis(50);
/// How long answers may take at the end beyond the time that a request has.
const GRACE: Duration = Duration::from_secs(2);

/// Answers requests until `stopped` becomes true, and then those that were begun.
pub(crate) async fn serve(listener: TcpListener, router: Router, app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let connections = Arc::new(Semaphore::new(app.options.max_connections));
    let graceful = GracefulShutdown::new();
    loop {
        let permit = tokio::select! {
            permit = connections.clone().acquire_owned() => permit,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        let Ok((stream, address)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        // An answer is small, and the client waits for it.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Client(address));
            router.clone().call(request.map(Body::new))
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(app.options.header_timeout)
            .max_buf_size(MOST_HEAD)
            .max_headers(MOST_HEADERS);
        let stream = TokioIo::new(Explaining::new(Impatient::new(stream, app.options.timeout)));
        let connection = graceful.watch(builder.serve_connection(stream, service));
        let app = app.clone();
        tokio::spawn(async move {
            app.metrics.connected();
            // A client that goes away, or talks nonsense, is no concern of others.
            let _ = connection.await;
            app.metrics.disconnected();
            drop(permit);
        });
    }
    drop(listener);
    let _ = timeout(app.options.timeout + GRACE, graceful.shutdown()).await;
}
