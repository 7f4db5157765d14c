//! The nearest words of words or of latent vectors.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sememe::retrieve::{Criterion, Hit};
use sememe::vectors::Matrix;
use serde::Deserialize;
use serde_json::{Value, json};

use super::vectors::{matrix, one_of};
use super::{candidates, check_words, criterion, retriever};
use crate::app::{App, Effort};
use crate::http::{Body, Problem};
use crate::options::{MOST_CANDIDATES, MOST_SUGGESTED};
use crate::passes::{Found, Kind, Work};

/// Neighbours where the request does not say how many.
const NEIGHBOURS: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Neighbors {
    space: Option<String>,
    from: String,
    to: Option<String>,
    words: Option<Vec<String>>,
    vectors: Option<Vec<Vec<f32>>>,
    k: Option<usize>,
    criterion: Option<String>,
}

pub(crate) async fn neighbors(
    State(app): State<Arc<App>>,
    Body(asked): Body<Neighbors>,
) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let from = opened.view_with_words(&asked.from)?;
    let to = asked.to.as_deref().map_or(Ok(from), |name| opened.view_with_words(name))?;
    let is_own = from == to;
    // Within a language there are no two sides whose hubs would have to be told apart.
    let default = if is_own { Criterion::Nn } else { opened.space.alignment().usual_criterion() };
    let criterion = criterion(&opened, asked.criterion.as_deref(), default)?;
    let k = candidates(asked.k, NEIGHBOURS)?;
    let (source, target) = (opened.views[from].embeddings()?.clone(), opened.views[to].embeddings()?.clone());
    let (mut rows, mut unknown) = (Vec::new(), Vec::new());
    let queries = match one_of(asked.words, asked.vectors)? {
        Ok(words) => {
            check_words(&app, &words)?;
            for word in words {
                match opened.row(from, &word)? {
                    Some(row) => rows.push((word, row)),
                    None => unknown.push(word),
                }
            }
            source.matrix().select(&rows.iter().map(|(_, row)| *row).collect::<Vec<_>>())
        }
        Err(vectors) => matrix(vectors, opened.latent(), app.options.max_batch)?,
    };
    let deadline = app.deadline();
    let retriever = retriever(&app, &opened, from, to, criterion).await?;
    // A word is its own nearest neighbour, and is left out.
    let searched = if is_own { (k + 1).min(MOST_CANDIDATES + 1) } else { k };
    let hits = search(&app, opened.number, [from, to], criterion, (retriever, queries, searched), deadline).await?;
    let names: Vec<Option<&(String, usize)>> = match rows.is_empty() {
        true => vec![None; hits.len()],
        false => rows.iter().map(Some).collect(),
    };
    let neighbors = names.into_iter().zip(&hits).map(|(word, hits)| {
        let itself = word.filter(|_| is_own).map(|(_, row)| *row);
        let others = hits.iter().filter(|hit| Some(hit.index) != itself).take(k);
        let hits = others.map(|hit| json!({ "word": target.word(hit.index), "row": hit.index, "score": hit.score }));
        json!({ "word": word.map(|(word, _)| word), "hits": hits.collect::<Vec<_>>() })
    });
    let neighbors: Vec<Value> = neighbors.collect();
    let suggestions = match unknown.is_empty() {
        true => BTreeMap::new(),
        false => {
            let (opened, unknown) = (opened.clone(), unknown.clone());
            let suggest = move |word: &String| (word.clone(), opened.spellings(from, word));
            let suggested = move || unknown.iter().take(MOST_SUGGESTED).map(suggest).collect();
            app.compute(Effort::Quick, move |_| Ok(suggested())).await?
        }
    };
    Ok(Json(json!({
        "from": opened.views[from].name,
        "to": opened.views[to].name,
        "criterion": criterion,
        "neighbors": neighbors,
        "unknown": unknown,
        "suggestions": suggestions,
    })))
}

/// Searches together with others who ask for the same.
async fn search(
    app: &App,
    space: u64,
    [from, to]: [usize; 2],
    criterion: Criterion,
    (retriever, queries, k): (sememe::retrieve::Retriever, Matrix, usize),
    deadline: std::time::Instant,
) -> Result<Vec<Vec<Hit>>, Problem> {
    if queries.rows() == 0 {
        return Ok(Vec::new());
    }
    // Corrected retrieval ranks queries against each other, which is not to depend on who else asks.
    if matches!(criterion, Criterion::Corrected { .. }) {
        let found = move |observer: &dyn sememe::observe::Observer| {
            retriever.nearest(&queries, k, observer).map_err(|error| Problem::of(&error))
        };
        return app.compute(Effort::Slow, found).await;
    }
    let kind = Kind { space, from, to: vec![to], criterion: criterion.to_string(), k };
    match app.passes.answer(kind, Work::Nearest { retriever, queries, k }, deadline).await? {
        Found::Hits(hits) => Ok(hits),
        Found::Translations(_) => Err(Problem::bug()),
    }
}
