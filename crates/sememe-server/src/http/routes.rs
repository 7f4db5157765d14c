//! The routes, and what all of them go through.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use super::guard::guard;
use super::headers::headers;
use super::log::log;
use super::problem::Problem;
use crate::api;
use crate::app::App;

/// Answers of fewer bytes are not compressed.
const WORTH_COMPRESSING: u16 = 1024;

pub(crate) fn router(app: &Arc<App>) -> Router {
    // Numbers do not get smaller.
    let numbers = NotForContentType::const_new("application/octet-stream");
    let arrays = NotForContentType::const_new("application/x-npy");
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(SizeAbove::new(WORTH_COMPRESSING).and(numbers).and(arrays).and(NotForContentType::IMAGES));
    let panics = app.metrics.clone();
    let caught = move |_: Box<dyn Any + Send>| {
        panics.panicked();
        Problem::bug().into_response()
    };
    Router::new()
        .route("/", get(api::page::index))
        .route("/assets/{*name}", get(api::page::asset))
        .route("/healthz", get(api::health::healthz))
        .route("/metrics", get(api::health::metrics))
        .route("/openapi.json", get(api::health::openapi))
        .route("/v1/spaces", get(api::spaces::spaces))
        .route("/v1/complete", get(api::words::complete))
        .route("/v1/words", get(api::words::words))
        .route("/v1/translate", post(api::translate::translate))
        .route("/v1/neighbors", post(api::neighbors::neighbors))
        .route("/v1/explain", post(api::explain::explain))
        .route("/v1/project", post(api::vectors::project))
        .route("/v1/vectors", post(api::vectors::vectors))
        .route("/v1/factors", get(api::factors::factors))
        .route("/v1/axis", post(api::factors::axis))
        .route("/v1/map", get(api::map::map))
        .route("/v1/map/points", get(api::map::points))
        .route("/v1/map/lines", get(api::map::lines))
        .route("/v1/errors", post(api::errors::errors))
        .route("/v1/compare", post(api::compare::compare))
        .route("/v1/induce", post(api::induce::induce))
        .fallback(nothing_here)
        .method_not_allowed_fallback(other_method)
        .layer(DefaultBodyLimit::max(app.options.max_body))
        .layer(from_fn_with_state(app.clone(), in_time))
        .layer(CatchPanicLayer::custom(caught))
        .layer(from_fn_with_state(app.clone(), guard))
        .layer(compression)
        .layer(from_fn_with_state(app.clone(), headers))
        .layer(from_fn_with_state(app.clone(), log))
        .with_state(app.clone())
}

/// Gives up a request that takes too long, reading its body included.
async fn in_time(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let answer = tokio::time::timeout(app.options.timeout, next.run(request)).await;
    answer.unwrap_or_else(|_| app.out_of_time().into_response())
}

async fn nothing_here() -> Problem {
    Problem::not_found("unknown_path", "there is nothing here; /openapi.json says what there is")
}

async fn other_method() -> Problem {
    let message = "this path has another method; /openapi.json says which";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
}
