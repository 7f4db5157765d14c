//! Vectors: those of words, and those of others, projected into the space.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use sememe::vectors::{Matrix, matrix_to_npy};
use serde::Deserialize;
use serde_json::json;

use super::check_words;
use crate::app::{App, Effort};
use crate::http::{Body, Params, Problem, body_of};
use crate::npy;

/// The media type of NumPy's arrays.
const NPY: &str = "application/x-npy";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vectors {
    space: Option<String>,
    view: String,
    words: Vec<String>,
}

pub(crate) async fn vectors(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Body(asked): Body<Vectors>,
) -> Result<Response, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let view = opened.view_with_words(&asked.view)?;
    check_words(&app, &asked.words)?;
    let words = opened.views[view].embeddings()?;
    let rows = asked.words.iter().map(|word| opened.row(view, word)).collect::<Result<Vec<_>, _>>()?;
    if accepts_npy(&headers) {
        let known: Vec<usize> = rows.into_iter().flatten().collect();
        return Ok(npy_response(&words.matrix().select(&known)));
    }
    let unknown = asked.words.iter().zip(&rows).filter(|(_, row)| row.is_none()).map(|(word, _)| word);
    let unknown: Vec<&String> = unknown.collect();
    let vectors: Vec<Option<&[f32]>> = rows.iter().map(|row| row.map(|row| words.vector(row))).collect();
    Ok(Json(json!({ "vectors": vectors, "unknown": unknown })).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Project {
    space: Option<String>,
    view: String,
    vectors: Vec<Vec<f32>>,
    compared_with: Option<String>,
}

/// What accompanies an array in the body.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectArray {
    space: Option<String>,
    view: Option<String>,
    compared_with: Option<String>,
}

pub(crate) async fn project(
    State(app): State<Arc<App>>,
    Params(params): Params<ProjectArray>,
    request: Request,
) -> Result<Response, Problem> {
    let is_npy = |value: &header::HeaderValue| value.to_str().is_ok_and(|value| value.starts_with(NPY));
    let gets_npy = request.headers().get(header::CONTENT_TYPE).is_some_and(is_npy);
    let wants_npy = accepts_npy(request.headers());
    let (params, given) = match gets_npy {
        true => (params, Err(body_of(request, &app).await?)),
        false => {
            let Body(asked) = <Body<Project> as axum::extract::FromRequest<_>>::from_request(request, &app).await?;
            let Project { space, view, vectors, compared_with } = asked;
            (ProjectArray { space, view: Some(view), compared_with }, Ok(vectors))
        }
    };
    let opened = app.space(params.space.as_deref())?;
    let missing = || Problem::bad("no_view", "name the view of the vectors: ?view=NAME");
    let view = opened.view(params.view.as_deref().ok_or_else(missing)?)?;
    let other = params.compared_with.as_deref().map(|name| opened.view(name)).transpose()?;
    let dim = opened.space.alignment().model.views[view].dim();
    let most = app.options.max_body / 4;
    let given = match given {
        Ok(vectors) => matrix(vectors, dim, most)?,
        Err(bytes) => npy::read(&bytes)?,
    };
    let projected = app.compute(Effort::Quick, move |_| {
        let alignment = opened.space.alignment();
        let project = || {
            let prepared = alignment.prepare(view, given)?;
            let latent = alignment.model.views[view].project(&prepared)?;
            match other {
                Some(other) if other != view => alignment.compared_with(view, other, latent),
                _ => Ok(latent),
            }
        };
        project().map_err(|error| Problem::of(&error))
    });
    let projected = projected.await?;
    if wants_npy {
        return Ok(npy_response(&projected));
    }
    let rows: Vec<&[f32]> = (0..projected.rows()).map(|row| projected.row(row)).collect();
    Ok(Json(json!({ "vectors": rows })).into_response())
}

fn accepts_npy(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accepted| accepted.contains(NPY))
}

fn npy_response(matrix: &Matrix) -> Response {
    ([(header::CONTENT_TYPE, NPY)], matrix_to_npy(matrix)).into_response()
}

/// Words or vectors, whichever a request has.
pub(super) fn one_of<A, B>(words: Option<A>, vectors: Option<B>) -> Result<Result<A, B>, Problem> {
    match (words, vectors) {
        (Some(words), None) => Ok(Ok(words)),
        (None, Some(vectors)) => Ok(Err(vectors)),
        _ => Err(Problem::bad("bad_request", "give either \"words\" or \"vectors\"")),
    }
}

/// Vectors of a request as a matrix: at most so many, all of this length, all numbers finite.
pub(super) fn matrix(vectors: Vec<Vec<f32>>, dim: usize, most: usize) -> Result<Matrix, Problem> {
    if vectors.len() > most {
        let message = format!("the request has {} vectors; at most {most} are answered at a time", vectors.len());
        return Err(Problem::bad("too_many_vectors", message));
    }
    for (row, vector) in vectors.iter().enumerate() {
        if vector.len() != dim {
            let message = format!("vector {} has {} numbers; it must have {dim}", row + 1, vector.len());
            return Err(Problem::bad("bad_vector", message));
        }
        if !vector.iter().all(|x| x.is_finite() && x.abs() < 1e30) {
            return Err(Problem::bad("bad_vector", format!("vector {} has a number that is too large", row + 1)));
        }
    }
    Ok(Matrix::new(vectors.concat(), dim))
}
