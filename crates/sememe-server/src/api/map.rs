//! The map: places of all words in the plane, and the pairs of the dictionary.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::{App, Effort};
use crate::http::{Params, Problem};
use crate::map::{Layout, Places};
use crate::opened::Opened;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Map {
    space: Option<String>,
    layout: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lines {
    space: Option<String>,
}

pub(crate) async fn map(State(app): State<Arc<App>>, Params(asked): Params<Map>) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let (layout, places) = places(&app, &opened, asked.layout.as_deref()).await?;
    let mut offset = 0;
    let views = opened.views.iter().map(|view| {
        let first = offset;
        offset += view.len();
        json!({ "name": view.name, "words": view.len(), "offset": first })
    });
    let views: Vec<Value> = views.collect();
    let layouts = Layout::ALL.map(|layout| opened.layouts.describe(layout));
    Ok(Json(json!({
        "space": opened.name,
        "layout": layout,
        "layouts": layouts,
        "views": views,
        "points": places.len(),
        "bounds": places.bounds(),
        "lines": opened.trained().map(|trained| trained.pairs().len()),
    })))
}

/// The words of the dictionary that the space was fitted to, as pairs of points.
pub(crate) async fn lines(State(app): State<Arc<App>>, Params(asked): Params<Lines>) -> Result<Response, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let trained = opened.trained().ok_or_else(|| {
        let message =
            "this space does not know its dictionary: it was fitted from moments, or before dictionaries were kept";
        Problem::not_found("no_dictionary", message)
    })?;
    let bytes: Vec<u8> = trained.pairs().iter().flatten().flat_map(|point| point.to_le_bytes()).collect();
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

pub(crate) async fn points(State(app): State<Arc<App>>, Params(asked): Params<Map>) -> Result<Response, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let (_, places) = places(&app, &opened, asked.layout.as_deref()).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], places.bytes()).into_response())
}

/// The places of a layout: the best that is ready, if none is named.
async fn places(app: &App, opened: &Arc<Opened>, name: Option<&str>) -> Result<(Layout, Arc<Places>), Problem> {
    let layout = match name {
        None => opened.layouts.best(),
        Some(name) => Layout::named(name)?,
    };
    if let Some(ready) = opened.layouts.ready(layout) {
        return Ok((layout, ready));
    }
    match layout {
        Layout::Pca => {
            let opened = opened.clone();
            Ok((layout, app.compute(Effort::Quick, move |_| opened.layouts.principal(&opened)).await?))
        }
        Layout::Tsne => {
            let message = "this layout is still being computed; take layout=pca until it is ready";
            Err(Problem::not_found("not_ready", message))
        }
    }
}
