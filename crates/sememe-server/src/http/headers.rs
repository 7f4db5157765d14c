//! What every answer says to browsers: nothing of the page comes from elsewhere, and nothing goes there.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;

/// No inline script, no plugins, no other servers.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
                      font-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors ";
/// Who may show the page in a frame: nobody, or the notebooks of this machine.
const NOBODY: &str = "'none'";
const NOTEBOOKS: &str = "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*";

pub(super) async fn headers(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy = format!("{POLICY}{}", if app.options.framed { NOTEBOOKS } else { NOBODY });
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let fixed: [(HeaderName, &'static str); 4] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    response
}
