//! What goes wrong with a request: a status, a code for programs and a sentence for people.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An answer that says what is wrong and what to do.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    suggestions: Option<Vec<String>>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Problem { status, code, message: message.into(), suggestions: None }
    }

    /// The request cannot be understood, or asks for something impossible.
    pub(crate) fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// The request names something that is not there.
    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// Too many requests wait.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "busy", "too many requests are waiting; try again in a moment")
    }

    /// What the request needs is not ready yet.
    pub(crate) fn preparing() -> Self {
        let message = "the server still compares the words of a space with each other, which it does once and keeps; ask again in a moment";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "preparing", message)
    }

    /// The request takes too long.
    pub(crate) fn too_long() -> Self {
        let message = "this takes longer than the server allows; ask for less, or start it with a longer --timeout";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "timeout", message)
    }

    /// Something that must not happen.
    pub(crate) fn bug() -> Self {
        let message = "the server failed to answer, which is a mistake of its own; its log may say more";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", message)
    }

    /// What an error of the library means to those who asked.
    pub(crate) fn of(error: &sememe::Error) -> Self {
        match error {
            sememe::Error::Stopped => Self::too_long(),
            // Their messages name files of this machine.
            sememe::Error::Read { .. } | sememe::Error::Malformed { .. } | sememe::Error::Within { .. } => Self::bug(),
            error if error.is_bad_input() => Self::bad("bad_request", error.to_string()),
            _ => Self::bug(),
        }
    }

    /// What a client is told that does not speak HTTP as it is understood here.
    pub(crate) fn malformed(status: StatusCode) -> Self {
        let message = match status {
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
                "the head of the request has more bytes or more headers than the server allows; send fewer"
            }
            StatusCode::URI_TOO_LONG => {
                "the address of the request is longer than the server allows; send what it says as a body"
            }
            _ => {
                "this is no HTTP request: it begins with a line such as GET / HTTP/1.1, then come headers and an empty line"
            }
        };
        Self::new(status, "bad_http", message)
    }

    pub(crate) fn suggesting(self, suggestions: Vec<String>) -> Self {
        Problem { suggestions: Some(suggestions), ..self }
    }

    /// What the answer says.
    pub(super) fn json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(suggestions) = &self.suggestions {
            error["suggestions"] = json!(suggestions);
        }
        json!({ "error": error })
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.json())).into_response();
        let headers = response.headers_mut();
        match self.status {
            StatusCode::TOO_MANY_REQUESTS => headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")),
            StatusCode::UNAUTHORIZED => headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => None,
        };
        response
    }
}
