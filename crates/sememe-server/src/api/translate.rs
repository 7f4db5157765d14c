//! Translation of words, as `sememe translate --json` prints it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sememe::retrieve::{Calibration, Criterion};
use sememe::translate::{Question, TranslateOptions, Translator};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Names, candidates, check_words, criterion};
use crate::app::{App, Effort};
use crate::http::{Body, Problem};
use crate::opened::Opened;
use crate::options::MOST_SUGGESTED;
use crate::passes::{Found, Kind, Work};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Translate {
    space: Option<String>,
    from: String,
    to: Option<Names>,
    words: Vec<String>,
    k: Option<usize>,
    criterion: Option<String>,
    min_confidence: Option<f64>,
}

pub(crate) async fn translate(
    State(app): State<Arc<App>>,
    Body(asked): Body<Translate>,
) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let from = opened.view_with_words(&asked.from)?;
    let to = targets(&opened, from, asked.to.as_ref())?;
    let defaults = TranslateOptions::default();
    let criterion = criterion(&opened, asked.criterion.as_deref(), opened.space.alignment().usual_criterion())?;
    let k = candidates(asked.k, defaults.candidates)?;
    let min_confidence = asked.min_confidence.unwrap_or(defaults.min_confidence);
    if !(0.0..=1.0).contains(&min_confidence) {
        return Err(Problem::bad("bad_confidence", "min_confidence must be a number from 0 to 1"));
    }
    check_words(&app, &asked.words)?;
    let deadline = app.deadline();
    let translator = translator(&app, &opened, from, &to, criterion).await?;
    let question = question(&app, &translator, asked.words).await?.asking_for(k, min_confidence);
    if question.is_empty() {
        let answer = translator.answer(&[question], &()).map_err(|error| Problem::of(&error))?;
        return Ok(Json(json!(answer[0])));
    }
    let k = k.max(Calibration::CANDIDATES);
    let kind = Kind { space: opened.number, from, to, criterion: criterion.to_string(), k };
    match app.passes.answer(kind, Work::Translate { translator, question }, deadline).await? {
        Found::Translations(answer) => Ok(Json(json!(answer))),
        Found::Hits(_) => Err(Problem::bug()),
    }
}

/// The views to translate to: all others, if none is named.
pub(super) fn targets(opened: &Opened, from: usize, to: Option<&Names>) -> Result<Vec<usize>, Problem> {
    let named: &[String] = match to {
        None => return Ok(opened.others(from)),
        Some(Names::One(name)) => std::slice::from_ref(name),
        Some(Names::Several(names)) => names,
    };
    if named.is_empty() || named.len() > opened.views.len() {
        let message = format!("\"to\" has {} views; it must name 1 to {}", named.len(), opened.views.len());
        return Err(Problem::bad("bad_views", message));
    }
    named.iter().map(|name| opened.view_with_words(name)).collect()
}

async fn translator(
    app: &Arc<App>,
    opened: &Arc<Opened>,
    from: usize,
    to: &[usize],
    criterion: Criterion,
) -> Result<Arc<Translator>, Problem> {
    if let Some(known) = opened.known_translator(from, to, criterion) {
        return Ok(known);
    }
    for &view in to {
        super::retriever(app, opened, from, view, criterion).await?;
    }
    let (opened, to) = (opened.clone(), to.to_vec());
    app.compute(Effort::Quick, move |observer| opened.translator(from, &to, criterion, observer)).await
}

/// Looks words up. Suggestions for unknown ones take time, and are made elsewhere.
async fn question(app: &App, translator: &Arc<Translator>, words: Vec<String>) -> Result<Question, Problem> {
    let question = translator.question(&words, 0).map_err(|error| Problem::of(&error))?;
    if question.unknown() == 0 {
        return Ok(question);
    }
    let translator = translator.clone();
    let work = move || translator.question(&words, MOST_SUGGESTED).map_err(|error| Problem::of(&error));
    app.compute(Effort::Quick, move |_| work()).await
}
