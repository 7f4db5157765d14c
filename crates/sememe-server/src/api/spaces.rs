//! Which spaces there are.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sememe::retrieve::Criterion;
use serde_json::{Value, json};

use crate::app::App;
use crate::opened::Opened;

pub(crate) async fn spaces(State(app): State<Arc<App>>) -> Json<Value> {
    let spaces: Vec<Value> = app.spaces.iter().map(|served| describe(&served.current())).collect();
    Json(json!({ "spaces": spaces }))
}

fn describe(opened: &Opened) -> Value {
    let alignment = opened.space.alignment();
    let model = &alignment.model;
    let views = opened.views.iter().map(|view| json!({ "name": view.name, "words": view.len() }));
    let is_generative = model.views.iter().all(|view| view.emission.is_some());
    let has_density = |view: &str| opened.space.log_density(view).is_ok_and(|density| density.is_some());
    let has_densities = is_generative && opened.views.iter().all(|view| view.len() == 0 || has_density(&view.name));
    let criteria = [
        (Criterion::CSLS, true),
        (Criterion::Nn, true),
        (Criterion::ISF, true),
        (Criterion::Pmi, is_generative),
        (Criterion::Logp, has_densities),
    ];
    json!({
        "name": opened.name,
        "method": model.method,
        "latent": opened.latent(),
        "factors": model.factors(),
        "views": views.collect::<Vec<_>>(),
        "criteria": criteria.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect::<Vec<_>>(),
        "correlations": (!model.rho.is_empty()).then_some(&model.rho),
        "confidences": opened.has_confidences(),
        "casing": alignment.preparation.casing,
        "fingerprint": opened.space.fingerprint(),
    })
}
