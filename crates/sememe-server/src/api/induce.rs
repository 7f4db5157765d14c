//! An induced dictionary: the best translation of every word, most confident first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sememe::translate::{InduceOptions, Induced, Induction};
use serde::Deserialize;
use serde_json::{Value, json};

use super::retriever;
use crate::app::{App, Effort};
use crate::http::{Body, Problem};
use crate::options::MOST_LISTED;

/// Pairs where the request does not say how many.
const PAIRS: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Induce {
    space: Option<String>,
    from: String,
    to: String,
    limit: Option<usize>,
    #[serde(default)]
    skip_training: bool,
    /// Only words that are each other's best translation.
    #[serde(default)]
    mutual: bool,
}

pub(crate) async fn induce(State(app): State<Arc<App>>, Body(asked): Body<Induce>) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let (from, to) = (opened.view_with_words(&asked.from)?, opened.view_with_words(&asked.to)?);
    let limit = asked.limit.unwrap_or(PAIRS).min(MOST_LISTED);
    let options = InduceOptions::default().with_mutual(asked.mutual);
    retriever(&app, &opened, from, to, options.criterion).await?;
    if asked.mutual {
        retriever(&app, &opened, to, from, options.criterion).await?;
    }
    let found = app.compute(Effort::Slow, move |observer| {
        let induce = || {
            let names = [from, to].map(|view| opened.views[view].name.as_str());
            let induced = Induction::open(&opened.space, names[0], names[1], &options, observer)
                .and_then(|induction| induction.run(observer));
            let mut induced = induced.map_err(|error| Problem::of(&error))?;
            let sureness = |pair: &Induced| pair.confidence.unwrap_or(f64::from(pair.score));
            induced.sort_by(|a, b| sureness(b).total_cmp(&sureness(a)).then(a.from.cmp(&b.from)));
            Ok(induced)
        };
        let induced = opened.induced((from, to, options.mutual), induce)?;
        let (source, target) = (opened.views[from].embeddings()?, opened.views[to].embeddings()?);
        let described = induced.iter().map(|pair| {
            let [word, translation] = [source.word(pair.from), target.word(pair.to)];
            (pair, word, translation, opened.is_trained([from, to], [word, translation]))
        });
        let wanted = described.filter(|(.., training)| !asked.skip_training || *training != Some(true));
        let pairs = wanted.take(limit).map(|(pair, word, translation, training)| {
            json!({
                "source": word,
                "target": translation,
                "row": pair.from,
                "target_row": pair.to,
                "score": pair.score,
                "confidence": pair.confidence,
                "training": training,
            })
        });
        let pairs: Vec<Value> = pairs.collect();
        Ok(json!({ "from": asked.from, "to": asked.to, "words": source.len(), "pairs": pairs }))
    });
    Ok(Json(found.await?))
}
