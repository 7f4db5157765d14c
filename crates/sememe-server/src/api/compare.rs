//! Two spaces compared: the words whose neighbours changed most.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sememe::observe::Observer;
use sememe::retrieve::Criterion;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{candidates, check_words, retriever};
use crate::app::{App, Effort};
use crate::http::{Body, Problem};
use crate::opened::Opened;
use crate::options::MOST_LISTED;

const NEIGHBOURS: usize = 10;
const MOST_NEIGHBOURS: usize = 100;
const CHANGED: usize = 200;
/// Words that are compared where the request names none: the most frequent ones.
const WORDS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compare {
    space: Option<String>,
    other: String,
    from: String,
    to: Option<String>,
    k: Option<usize>,
    limit: Option<usize>,
    words: Option<Vec<String>>,
}

pub(crate) async fn compare(State(app): State<Arc<App>>, Body(asked): Body<Compare>) -> Result<Json<Value>, Problem> {
    let spaces = [app.space(asked.space.as_deref())?, app.space(Some(&asked.other))?];
    let to = asked.to.as_deref().unwrap_or(&asked.from);
    let k = candidates(asked.k, NEIGHBOURS)?.min(MOST_NEIGHBOURS);
    let limit = asked.limit.unwrap_or(CHANGED).min(MOST_LISTED);
    check_words(&app, asked.words.as_deref().unwrap_or_default())?;
    let mut sides = Vec::new();
    for opened in spaces {
        let (from, to) = (opened.view_with_words(&asked.from)?, opened.view_with_words(to)?);
        let criterion = if from == to { Criterion::Nn } else { opened.space.alignment().usual_criterion() };
        retriever(&app, &opened, from, to, criterion).await?;
        sides.push(Side { opened, from, to, criterion });
    }
    let found = app.compute(Effort::Slow, move |observer| {
        let [before, after] = &sides[..] else { return Err(Problem::bug()) };
        let words = common_words(before, after, asked.words.as_deref())?;
        let rows = |side: usize| words.iter().map(|rows| rows[side]).collect::<Vec<_>>();
        let neighbours = [before.nearest(&rows(0), k, observer)?, after.nearest(&rows(1), k, observer)?];
        let mut changed: Vec<(f64, usize)> =
            (0..words.len()).map(|at| (overlap(&neighbours[0][at], &neighbours[1][at]), at)).collect();
        let mean = changed.iter().map(|(overlap, _)| overlap).sum::<f64>() / changed.len().max(1) as f64;
        let unchanged = changed.iter().filter(|(overlap, _)| *overlap == 1.0).count();
        changed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let listed = changed.iter().filter(|(overlap, _)| *overlap < 1.0).take(limit).map(|&(overlap, at)| {
            let word = before.word(words[at][0]);
            let [old, new] = [0, 1].map(|side| &neighbours[side][at]);
            json!({ "word": word, "row": words[at][0], "overlap": overlap, "before": old, "after": new })
        });
        let listed: Vec<Value> = listed.collect();
        Ok(json!({ "words": words.len(), "unchanged": unchanged, "mean_overlap": mean, "changed": listed }))
    });
    Ok(Json(found.await?))
}

struct Side {
    opened: Arc<Opened>,
    from: usize,
    to: usize,
    criterion: Criterion,
}

impl Side {
    fn word(&self, row: usize) -> String {
        self.opened.views[self.from].embeddings().map_or(String::new(), |words| words.word(row).to_owned())
    }

    /// The nearest words of some words, without themselves.
    fn nearest(&self, rows: &[usize], k: usize, observer: &dyn Observer) -> Result<Vec<Vec<String>>, Problem> {
        let (source, target) = (self.opened.views[self.from].embeddings()?, self.opened.views[self.to].embeddings()?);
        let is_own = self.from == self.to;
        let retriever = self.opened.retriever(self.from, self.to, self.criterion, observer)?;
        let hits = retriever.nearest(&source.matrix().select(rows), k + usize::from(is_own), observer);
        let hits = hits.map_err(|error| Problem::of(&error))?;
        let words = |(&row, hits): (&usize, Vec<sememe::retrieve::Hit>)| {
            let others = hits.into_iter().filter(|hit| !is_own || hit.index != row).take(k);
            others.map(|hit| target.word(hit.index).to_owned()).collect()
        };
        Ok(rows.iter().zip(hits).map(words).collect())
    }
}

/// The rows of words that both spaces have.
fn common_words(before: &Side, after: &Side, named: Option<&[String]>) -> Result<Vec<[usize; 2]>, Problem> {
    let (old, new) = (&before.opened, &after.opened);
    let words = old.views[before.from].embeddings()?;
    let mut common = Vec::new();
    match named {
        Some(named) => {
            for word in named {
                if let (Some(a), Some(b)) = (old.row(before.from, word)?, new.row(after.from, word)?) {
                    common.push([a, b]);
                }
            }
        }
        None => {
            let others = new.views[after.from].embeddings()?.vocabulary();
            let both = (0..words.len()).filter_map(|row| Some([row, others.get(words.word(row))?]));
            common.extend(both.take(WORDS));
        }
    }
    match common.is_empty() {
        true => Err(Problem::bad("nothing_in_common", "the two spaces have none of these words in common")),
        false => Ok(common),
    }
}

/// The share of neighbours that stayed (Jaccard).
fn overlap(before: &[String], after: &[String]) -> f64 {
    let old: HashSet<&String> = before.iter().collect();
    let new: HashSet<&String> = after.iter().collect();
    let all = old.union(&new).count();
    if all == 0 { 1.0 } else { old.intersection(&new).count() as f64 / all as f64 }
}
