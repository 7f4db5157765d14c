//! What requests ask for: JSON in their body, or parameters in their address.

use std::sync::Arc;

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::Problem;
use crate::app::{App, shortened};

/// The JSON object in the body of a request. Unknown fields are mistakes: a misspelled one would silently not count.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let bytes = bytes(request, app).await?;
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Body).map_err(|error| {
            let message = format!("the body is not the JSON that is expected: {}", shortened(&error.to_string()));
            Problem::bad("bad_json", message)
        })
    }
}

/// The whole body of a request.
pub(crate) async fn bytes(request: Request, app: &Arc<App>) -> Result<Bytes, Problem> {
    let too_large = || {
        let message = "the body is larger than the server allows; ask for less at a time";
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    };
    // What is announced need not be waited for.
    if request.body().size_hint().lower() > app.options.max_body as u64 {
        return Err(too_large());
    }
    Bytes::from_request(request, app).await.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => Problem::bad("bad_body", "the body could not be read"),
    })
}

/// The parameters after the question mark.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let parsed = Query::<T>::from_request_parts(parts, state).await;
        parsed.map(|Query(params)| Params(params)).map_err(|rejection| {
            let message = format!("the parameters of the address are wrong: {}", shortened(&rejection.body_text()));
            Problem::bad("bad_parameters", message)
        })
    }
}
