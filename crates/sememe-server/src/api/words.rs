//! The words of a view, and those that complete what somebody types.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use sememe::translate::closest_spellings;
use sememe::vectors::Vocabulary;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::{App, Effort};
use crate::http::{Params, Problem};
use crate::opened::{Opened, check_word};

/// Completions of a prefix where the request does not say how many.
const COMPLETIONS: usize = 8;
/// The most completions.
const MOST_COMPLETIONS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Complete {
    space: Option<String>,
    view: Option<String>,
    prefix: String,
    limit: Option<usize>,
}

pub(crate) async fn complete(
    State(app): State<Arc<App>>,
    Params(asked): Params<Complete>,
) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    check_word(&asked.prefix)?;
    let views = match &asked.view {
        Some(name) => vec![opened.view_with_words(name)?],
        None => (0..opened.views.len()).filter(|&view| opened.views[view].len() > 0).collect(),
    };
    let limit = asked.limit.unwrap_or(COMPLETIONS).min(MOST_COMPLETIONS);
    let found = app.compute(Effort::Quick, move |_| {
        let mut found = Vec::new();
        for &view in &views {
            let words = opened.views[view].embeddings()?.vocabulary();
            let rows = opened.views[view].completions()?.rows(words, &asked.prefix, limit);
            found.extend(rows.into_iter().map(|row| (row, view)));
        }
        // Of several views, the most frequent first.
        found.sort_unstable();
        found.truncate(limit);
        let mut suggestions = Vec::new();
        if found.is_empty() && !asked.prefix.is_empty() {
            suggestions = spellings(&opened, &views, &asked.prefix)?;
            suggestions.truncate(limit);
        }
        let described = |(row, view): (usize, usize)| -> Result<Value, Problem> {
            let word = opened.views[view].embeddings()?.word(row);
            Ok(json!({ "view": opened.views[view].name, "word": word, "row": row }))
        };
        let completions = found.into_iter().map(described).collect::<Result<Vec<_>, _>>()?;
        let suggestions = suggestions.into_iter().map(described).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({ "completions": completions, "suggestions": suggestions }))
    });
    Ok(Json(found.await?))
}

/// The closest spellings in several views, each with its row and its view: the closest ones first, and of those the most frequent.
fn spellings(opened: &Opened, views: &[usize], word: &str) -> Result<Vec<(usize, usize)>, Problem> {
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for &view in views {
        let words = opened.views[view].embeddings()?.vocabulary();
        let near = opened.spellings(view, word).into_iter();
        found.extend(near.filter_map(|near| words.get(&near).map(|row| (row, view, near))));
    }
    found.sort_unstable();
    let together: Vocabulary = found.iter().map(|(_, _, near)| near.as_str()).collect();
    let order = closest_spellings(&together, word, together.len());
    let place = |near: &str| order.iter().position(|other| *other == near);
    let mut placed: Vec<_> = found.iter().map(|(row, view, near)| (place(near), *row, *view)).collect();
    placed.sort_unstable();
    Ok(placed.into_iter().map(|(_, row, view)| (row, view)).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordsOf {
    space: Option<String>,
    view: String,
}

pub(crate) async fn words(State(app): State<Arc<App>>, Params(asked): Params<WordsOf>) -> Result<Response, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let view = opened.view_with_words(&asked.view)?;
    let words = opened.views[view].embeddings()?.vocabulary();
    let mut text = String::new();
    for word in words.iter() {
        // The words of a space are lines of its file, so that none has a line break.
        text.push_str(word);
        text.push('\n');
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
