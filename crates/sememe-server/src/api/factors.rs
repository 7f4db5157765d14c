//! What latent dimensions mean: how strongly each joins the views, and the words at both ends of it or of another axis.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::explain::best;
use crate::app::{App, Effort};
use crate::http::{Body, Params, Problem};
use crate::opened::{Opened, check_word};

/// Factors and words of each end where the request does not say how many, and the most of them.
const FACTORS: usize = 20;
const MOST_FACTORS: usize = 64;
const TOP: usize = 8;
const MOST_TOP: usize = 100;
/// Words that define an axis.
const MOST_WORDS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Factors {
    space: Option<String>,
    from: Option<usize>,
    count: Option<usize>,
    top: Option<usize>,
    /// Only the first words of each view, which are the most frequent ones.
    among: Option<usize>,
}

pub(crate) async fn factors(
    State(app): State<Arc<App>>,
    Params(asked): Params<Factors>,
) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let (latent, count) = (opened.latent(), opened.space.alignment().model.factors());
    let first = asked.from.unwrap_or(0).min(count);
    let last = count.min(first + asked.count.unwrap_or(FACTORS).min(MOST_FACTORS));
    let top = asked.top.unwrap_or(TOP).min(MOST_TOP);
    let among = asked.among.unwrap_or(usize::MAX);
    let found = app.compute(Effort::Quick, move |_| {
        let factors = opened.factors()?;
        let strengths = factors.strengths.as_ref();
        let describe = |&column: &usize| {
            let axis: Vec<f32> = (0..latent).map(|at| f32::from(u8::from(at == column))).collect();
            let share = |view: usize| strengths.and_then(|found| found.shares.get(view)).map(|shares| shares[column]);
            let views = ends(&opened, &axis, top, among)?.into_iter().map(|(view, mut ends)| {
                ends["share"] = json!(share(view));
                ends
            });
            let views: Vec<Value> = views.collect();
            let correlation = strengths.map(|found| found.correlations[column]);
            Ok(json!({ "index": column, "correlation": correlation, "views": views }))
        };
        let described = factors.order[first..last].iter().map(describe).collect::<Result<Vec<_>, Problem>>()?;
        Ok(json!({ "latent": count, "correlations": factors.correlations(), "factors": described }))
    });
    Ok(Json(found.await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    space: Option<String>,
    positive: Vec<Named>,
    #[serde(default)]
    negative: Vec<Named>,
    top: Option<usize>,
    among: Option<usize>,
}

/// A word of a view.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    view: String,
    word: String,
}

pub(crate) async fn axis(State(app): State<Arc<App>>, Body(asked): Body<Axis>) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    if asked.positive.len() + asked.negative.len() > MOST_WORDS {
        return Err(Problem::bad("too_many_words", format!("an axis is made of at most {MOST_WORDS} words")));
    }
    let top = asked.top.unwrap_or(FACTORS).min(MOST_TOP);
    let among = asked.among.unwrap_or(usize::MAX);
    let mut unknown = Vec::new();
    let mut axis = vec![0.0; opened.latent()];
    for (sign, words) in [(1.0, &asked.positive), (-1.0, &asked.negative)] {
        let mean = mean_direction(&opened, words, &mut unknown)?;
        axis.iter_mut().zip(mean).for_each(|(axis, mean)| *axis += sign * mean);
    }
    let length = axis.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length < 1e-6 {
        let message = "the words of both ends are unknown, or cancel each other out; name others";
        return Err(Problem::bad("no_axis", message));
    }
    axis.iter_mut().for_each(|x| *x /= length);
    let found = app.compute(Effort::Quick, move |_| ends(&opened, &axis, top, among));
    let views: Vec<Value> = found.await?.into_iter().map(|(_, ends)| ends).collect();
    Ok(Json(json!({ "views": views, "unknown": unknown })))
}

/// The mean direction of some words; unknown ones are listed and left out.
fn mean_direction(opened: &Opened, words: &[Named], unknown: &mut Vec<Value>) -> Result<Vec<f32>, Problem> {
    let (mut sum, mut known) = (vec![0.0; opened.latent()], 0.0);
    for Named { view, word } in words {
        let place = opened.view_with_words(view)?;
        check_word(word)?;
        let Some(row) = opened.row(place, word)? else {
            unknown.push(json!({ "view": view, "word": word }));
            continue;
        };
        let length = opened.views[place].lengths()?[row];
        if length > 0.0 {
            let vector = opened.views[place].embeddings()?.vector(row);
            sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x / length);
            known += 1.0;
        }
    }
    sum.iter_mut().for_each(|sum| *sum /= f32::max(known, 1.0));
    Ok(sum)
}

/// For each view the words at both ends of an axis of length 1, by the cosine with it.
fn ends(opened: &Opened, axis: &[f32], top: usize, among: usize) -> Result<Vec<(usize, Value)>, Problem> {
    let only: Option<usize> = match axis.iter().filter(|x| **x != 0.0).count() {
        1 => axis.iter().position(|x| *x == 1.0),
        _ => None,
    };
    let mut views = Vec::new();
    for (place, view) in opened.views.iter().enumerate().filter(|(_, view)| view.len() > 0) {
        let (words, lengths) = (view.embeddings()?, view.lengths()?);
        let cosine = |row: usize| {
            let vector = words.vector(row);
            let product = match only {
                Some(index) => vector[index],
                None => vector.iter().zip(axis).map(|(a, b)| a * b).sum::<f32>(),
            };
            f64::from(if lengths[row] > 0.0 { product / lengths[row] } else { 0.0 })
        };
        let cosines: Vec<f64> = (0..words.len().min(among)).into_par_iter().with_min_len(1024).map(cosine).collect();
        let negated: Vec<f64> = cosines.iter().map(|cosine| -cosine).collect();
        let listed = |rows: Vec<usize>| -> Vec<Value> {
            let word = |row: usize| json!({ "word": words.word(row), "row": row, "value": cosines[row] as f32 });
            rows.into_iter().map(word).collect()
        };
        let (positive, negative) = (listed(best(&cosines, top)), listed(best(&negated, top)));
        views.push((place, json!({ "view": view.name, "positive": positive, "negative": negative })));
    }
    Ok(views)
}
