//! The map: places of all words in the plane.

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
    })))
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
