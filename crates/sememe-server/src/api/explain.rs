//! Why a word is translated as it is: all criteria side by side, hubs, the way back, and the training data.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sememe::observe::Observer;
use sememe::retrieve::{Calibration, Criterion, Retriever};
use serde::Deserialize;
use serde_json::{Value, json};

use super::translate::targets;
use super::{Names, candidates, retriever};
use crate::app::{App, Effort};
use crate::http::{Body, Problem};
use crate::opened::Opened;

/// Candidates where the request does not say how many.
const CANDIDATES: usize = 8;
/// The most candidates.
const MOST: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explain {
    space: Option<String>,
    from: String,
    word: String,
    to: Option<Names>,
    k: Option<usize>,
}

pub(crate) async fn explain(State(app): State<Arc<App>>, Body(asked): Body<Explain>) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let from = opened.view_with_words(&asked.from)?;
    let to = targets(&opened, from, asked.to.as_ref())?;
    let k = candidates(asked.k, CANDIDATES)?.min(MOST);
    let (space, word) = (opened.clone(), asked.word.clone());
    let row = app.compute(Effort::Quick, move |_| space.known_row(from, &word)).await?;
    for &view in &to {
        retriever(&app, &opened, from, view, Criterion::CSLS).await?;
        retriever(&app, &opened, view, from, Criterion::CSLS).await?;
    }
    let explained = app.compute(Effort::Quick, move |observer| {
        let explain = |&view: &usize| Target::open(&opened, from, view, observer)?.explain(row, k, observer);
        let explained = to.iter().map(explain).collect::<Result<Vec<Value>, Problem>>()?;
        Ok(json!({
            "from": opened.views[from].name,
            "word": opened.views[from].embeddings()?.word(row),
            "row": row,
            "training": opened.trained().map(|trained| trained.has(opened.point(from, row))),
            "to": explained,
        }))
    });
    Ok(Json(explained.await?))
}

/// A view that words are translated to, by several criteria.
struct Target<'a> {
    opened: &'a Opened,
    from: usize,
    to: usize,
    csls: Retriever,
    nn: Retriever,
    pmi: Option<Retriever>,
    back: Retriever,
}

impl<'a> Target<'a> {
    fn open(opened: &'a Opened, from: usize, to: usize, observer: &dyn Observer) -> Result<Self, Problem> {
        let is_generative = opened.space.alignment().model.views.iter().all(|view| view.emission.is_some());
        let by = |criterion| opened.retriever(from, to, criterion, observer);
        Ok(Target {
            opened,
            from,
            to,
            csls: by(Criterion::CSLS)?,
            nn: by(Criterion::Nn)?,
            pmi: is_generative.then(|| by(Criterion::Pmi)).transpose()?,
            back: opened.retriever(to, from, Criterion::CSLS, observer)?,
        })
    }

    fn explain(&self, row: usize, k: usize, observer: &dyn Observer) -> Result<Value, Problem> {
        let [source, target] = [self.from, self.to].map(|view| self.opened.views[view].embeddings());
        let (source, target) = (source?, target?);
        let query = source.matrix().select(&[row]);
        let scores = |retriever: &Retriever| -> Result<Vec<f64>, Problem> {
            let scores = retriever.scores(&query, observer).map_err(|error| Problem::of(&error))?;
            Ok(scores.into_iter().next().unwrap_or_default())
        };
        let (csls, nn) = (scores(&self.csls)?, scores(&self.nn)?);
        let pmi = self.pmi.as_ref().map(scores).transpose()?;
        // A zero vector has no neighbours.
        let best = best(&csls, k.max(Calibration::CANDIDATES));
        let alignment = self.opened.space.alignment();
        let calibration = alignment.calibration(self.from, self.to, Criterion::CSLS);
        let rounded: Vec<f32> = best.iter().map(|&target| csls[target] as f32).collect();
        let confidences = calibration.map(|calibration| calibration.confidences(&rounded, Some(row)));
        let shown = &best[..k.min(best.len())];
        let back = self.back.nearest(&target.matrix().select(shown), 1, observer);
        let back = back.map_err(|error| Problem::of(&error))?;
        let hubs = self.opened.hubs(self.from, self.to, &self.csls);
        let candidates = shown.iter().enumerate().map(|(at, &candidate)| {
            let word = target.word(candidate);
            let mean = -self.csls.terms()[candidate];
            let back = back[at].first();
            json!({
                "word": word,
                "row": candidate,
                "confidence": confidences.as_ref().map(|confidences| confidences[at]),
                "scores": {
                    "nn": nn[candidate] as f32,
                    "csls": csls[candidate] as f32,
                    "pmi": pmi.as_ref().map(|pmi| pmi[candidate] as f32),
                },
                "ranks": {
                    "nn": rank(&nn, candidate),
                    "csls": at + 1,
                    "pmi": pmi.as_ref().map(|pmi| rank(pmi, candidate)),
                },
                "mutual": at == 0 && back.is_some_and(|back| back.index == row),
                "induced": at == 0,
                "training": self.opened.is_trained([self.from, self.to], [source.word(row), word]),
                "hub": { "mean_cosine": mean, "percentile": hubs.percentile(mean) },
                "back": back.map(|back| json!({
                    "word": source.word(back.index),
                    "row": back.index,
                    "score": back.score,
                })),
            })
        });
        Ok(json!({ "view": self.opened.views[self.to].name, "candidates": candidates.collect::<Vec<_>>() }))
    }
}

/// The best targets, ties by lower row. Those that are never found are left out.
pub(super) fn best(scores: &[f64], count: usize) -> Vec<usize> {
    let order = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    let mut rows: Vec<usize> = (0..scores.len()).filter(|&row| scores[row] > f64::NEG_INFINITY).collect();
    if count < rows.len() {
        rows.select_nth_unstable_by(count, order);
        rows.truncate(count);
    }
    rows.sort_unstable_by(order);
    rows
}

/// The rank of a target, counted from 1.
pub(super) fn rank(scores: &[f64], target: usize) -> usize {
    let is_before = |(row, score): (usize, &f64)| *score > scores[target] || (*score == scores[target] && row < target);
    1 + scores.iter().enumerate().filter(|&(row, score)| is_before((row, score))).count()
}
