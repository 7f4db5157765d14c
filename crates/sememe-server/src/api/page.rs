//! The page and its files.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::http::Problem;
use crate::page;

pub(crate) async fn index(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    file(&app, "index.html")
}

pub(crate) async fn asset(State(app): State<Arc<App>>, Path(name): Path<String>) -> Result<Response, Problem> {
    file(&app, &name)
}

fn file(app: &App, name: &str) -> Result<Response, Problem> {
    let found = page::find(name, app.options.page.as_deref());
    let content = found.ok_or_else(|| Problem::not_found("unknown_path", "the page has no such file"))?;
    Ok(([(header::CONTENT_TYPE, page::media_type(name))], content.into_owned()).into_response())
}
