//! What requests can ask for: a file for each subject. `openapi.json` describes them.

pub(crate) mod compare;
pub(crate) mod errors;
pub(crate) mod explain;
pub(crate) mod factors;
pub(crate) mod health;
pub(crate) mod induce;
pub(crate) mod map;
pub(crate) mod neighbors;
pub(crate) mod page;
mod reasons;
pub(crate) mod spaces;
pub(crate) mod translate;
pub(crate) mod vectors;
pub(crate) mod words;

use std::sync::Arc;

use sememe::retrieve::{Criterion, Retriever};
use serde::Deserialize;

use crate::app::{App, Effort, shortened};
use crate::http::Problem;
use crate::opened::{Opened, check_word};
use crate::options::MOST_CANDIDATES;
use crate::upkeep::{is_usual, prepare_pair};

/// One name or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a name, or a list of names")]
pub(crate) enum Names {
    One(String),
    Several(Vec<String>),
}

/// The criterion of a request: any spelling that the command takes; `auto` is that of the space.
fn criterion(opened: &Opened, spelled: Option<&str>, default: Criterion) -> Result<Criterion, Problem> {
    match spelled {
        None => Ok(default),
        Some(spelled) if spelled.len() > 100 => {
            Err(Problem::bad("bad_criterion", format!("the criterion {:?} is too long", shortened(spelled))))
        }
        Some(spelled) => {
            let called = opened.space.alignment().criterion_called(spelled);
            called.map_err(|error| Problem::bad("bad_criterion", error.to_string()))
        }
    }
}

/// The number of candidates of a request.
fn candidates(k: Option<usize>, default: usize) -> Result<usize, Problem> {
    match k.unwrap_or(default) {
        k @ 1..=MOST_CANDIDATES => Ok(k),
        k => Err(Problem::bad("bad_k", format!("k is {k}: it must be from 1 to {MOST_CANDIDATES}"))),
    }
}

/// Checks the number of words in a request, and their length.
fn check_words(app: &App, words: &[String]) -> Result<(), Problem> {
    let most = app.options.max_batch;
    if words.len() > most {
        let message =
            format!("the request has {} words; at most {most} are answered at a time (--max-batch)", words.len());
        return Err(Problem::bad("too_many_words", message));
    }
    words.iter().try_for_each(|word| check_word(word))
}

/// A retriever, prepared if need be. Those who need the same one wait for each other.
async fn retriever(
    app: &Arc<App>,
    opened: &Arc<Opened>,
    from: usize,
    to: usize,
    criterion: Criterion,
) -> Result<Retriever, Problem> {
    if is_usual(from, to, criterion) && !opened.is_prepared(from, to, criterion) {
        prepare_pair(app, opened, from, to).await?;
    }
    let effort = match opened.is_prepared(from, to, criterion) {
        true => Effort::Quick,
        false => Effort::Slow,
    };
    let _turn = match effort {
        Effort::Quick => None,
        Effort::Slow => Some(opened.turn(from, to).await),
    };
    let opened = opened.clone();
    app.compute(effort, move |observer| opened.retriever(from, to, criterion, observer)).await
}
