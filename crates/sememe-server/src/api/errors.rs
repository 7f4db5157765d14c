//! Wrong translations of a gold dictionary, by how sure they are, and why they may be wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sememe::evaluate::{Overlap, translation};
use sememe::lexicon::{Lexicon, find_word};
use sememe::observe::Observer;
use sememe::retrieve::{Calibration, Criterion, Hit, Retriever};
use serde::Deserialize;
use serde_json::{Value, json};

use super::explain::rank;
use super::reasons::Reasons;
use super::{criterion, retriever};
use crate::app::{App, Effort};
use crate::http::{Body, Problem};
use crate::opened::{Opened, check_word};
use crate::options::{MOST_ENTRIES, MOST_LISTED};

/// Candidates among which a gold translation is looked for first.
const CANDIDATES: usize = 50;
/// Queries whose scores with all words are computed at a time.
const AT_A_TIME: usize = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Errors {
    space: Option<String>,
    from: String,
    to: String,
    criterion: Option<String>,
    entries: Vec<[String; 2]>,
}

pub(crate) async fn errors(State(app): State<Arc<App>>, Body(asked): Body<Errors>) -> Result<Json<Value>, Problem> {
    let opened = app.space(asked.space.as_deref())?;
    let (from, to) = (opened.view_with_words(&asked.from)?, opened.view_with_words(&asked.to)?);
    let criterion = criterion(&opened, asked.criterion.as_deref(), opened.space.alignment().usual_criterion())?;
    if matches!(criterion, Criterion::Corrected { .. }) {
        return Err(Problem::bad("bad_criterion", "corrected has no score of single pairs; use another criterion"));
    }
    if asked.entries.len() > MOST_ENTRIES {
        let message = format!("there are {} entries; at most {MOST_ENTRIES} are evaluated", asked.entries.len());
        return Err(Problem::bad("too_many_entries", message));
    }
    asked.entries.iter().flatten().try_for_each(|word| check_word(word))?;
    let by = retriever(&app, &opened, from, to, criterion).await?;
    for [a, b] in [[from, to], [to, from]] {
        retriever(&app, &opened, a, b, Criterion::CSLS).await?;
    }
    let found = app
        .compute(Effort::Slow, move |observer| Gold::new(&opened, [from, to], &asked.entries)?.evaluate(&by, observer));
    Ok(Json(found.await?))
}

/// A gold dictionary in a space.
struct Gold<'a> {
    opened: &'a Opened,
    views: [usize; 2],
    lexicon: Lexicon,
    /// The words that have a vector and a translation with one: their row, and the rows of their translations.
    words: BTreeMap<usize, BTreeSet<usize>>,
}

/// A word that was translated by none of its gold translations.
struct Wrong {
    row: usize,
    /// The best gold translation.
    gold: usize,
    score: f32,
    rank: usize,
    hits: Vec<Hit>,
}

impl<'a> Gold<'a> {
    fn new(opened: &'a Opened, views: [usize; 2], entries: &[[String; 2]]) -> Result<Self, Problem> {
        let names = views.map(|view| opened.views[view].name.clone());
        // Two columns of one view have to be told apart by a name.
        let names = if views[0] == views[1] { [names[0].clone(), format!("{}, translated", names[1])] } else { names };
        let mut lexicon = Lexicon::new(names.to_vec());
        let casing = opened.space.alignment().preparation.casing;
        for entry in entries {
            let [word, gold] = [0, 1].map(|side| casing.of_word(entry[side].trim()));
            lexicon.add([(0, word.as_str()), (1, gold.as_str())].into_iter().collect());
        }
        let [source, target] = views.map(|view| opened.views[view].embeddings());
        let (source, target) = (source?.vocabulary(), target?.vocabulary());
        let mut words: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for entry in lexicon.entries() {
            let row = entry.word(0).and_then(|word| find_word(source, word));
            let gold = entry.word(1).and_then(|word| find_word(target, word));
            if let (Some(row), Some(gold)) = (row, gold) {
                words.entry(row).or_default().insert(gold);
            }
        }
        Ok(Gold { opened, views, lexicon, words })
    }

    fn evaluate(&self, by: &Retriever, observer: &dyn Observer) -> Result<Value, Problem> {
        let problem = |error: sememe::Error| Problem::of(&error);
        let [source, target] = self.views.map(|view| self.opened.views[view].embeddings());
        let (source, target) = (source?, target?);
        let result = translation(source, target, &self.lexicon, by, observer).map_err(problem)?;
        let trained = self.opened.space.alignment().trained.as_ref();
        let overlap = trained.map(|trained| Overlap::of(trained, &self.lexicon, source, target).trained_pairs);
        let rows: Vec<usize> = self.words.keys().copied().collect();
        let hits = by.nearest(&source.matrix().select(&rows), CANDIDATES, observer).map_err(problem)?;
        let mut wrong = self.wrong(&rows, hits, by, observer)?;
        let margin = |wrong: &Wrong| wrong.hits.first().map_or(0.0, |chosen| chosen.score - wrong.score);
        wrong.sort_by(|a, b| margin(b).total_cmp(&margin(a)).then(a.row.cmp(&b.row)));
        let count = wrong.len();
        wrong.truncate(MOST_LISTED);
        let reasons =
            Reasons::of(self.opened, self.views, &wrong.iter().map(Wrong::choice).collect::<Vec<_>>(), observer)?;
        let alignment = self.opened.space.alignment();
        let calibration = alignment.calibration(self.views[0], self.views[1], by.criterion());
        let describe = |(wrong, reason): (&Wrong, &'static str)| {
            let chosen = wrong.hits.first();
            let scores: Vec<f32> = wrong.hits.iter().map(|hit| hit.score).collect();
            let confidences = calibration.map(|calibration| calibration.confidences(&scores, Some(wrong.row)));
            let gold: Vec<&str> = self.words[&wrong.row].iter().map(|&row| target.word(row)).collect();
            json!({
                "word": source.word(wrong.row),
                "gold": gold,
                "chosen": chosen.map(|hit| target.word(hit.index)),
                "chosen_score": chosen.map(|hit| hit.score),
                "gold_word": target.word(wrong.gold),
                "gold_score": wrong.score,
                "gold_rank": wrong.rank,
                "margin": margin(wrong),
                "confidence": confidences.and_then(|confidences| confidences.first().copied()),
                "reason": reason,
            })
        };
        let listed: Vec<Value> = wrong.iter().zip(reasons).map(describe).collect();
        let precision: BTreeMap<String, f64> =
            result.precision.iter().map(|(at, precision)| (at.to_string(), *precision)).collect();
        Ok(json!({
            "from": self.opened.views[self.views[0]].name,
            "to": self.opened.views[self.views[1]].name,
            "criterion": by.criterion(),
            "precision": precision,
            "asked": result.queries,
            "skipped": result.gold_words - result.queries,
            "training": overlap,
            "wrong": count,
            "errors": listed,
        }))
    }

    /// The words whose first candidate is none of their gold translations.
    fn wrong(
        &self,
        rows: &[usize],
        hits: Vec<Vec<Hit>>,
        by: &Retriever,
        observer: &dyn Observer,
    ) -> Result<Vec<Wrong>, Problem> {
        let (mut wrong, mut far) = (Vec::new(), Vec::new());
        for (&row, hits) in rows.iter().zip(hits) {
            let gold = &self.words[&row];
            let found = hits.iter().position(|hit| gold.contains(&hit.index));
            match found {
                Some(0) => {}
                Some(at) => {
                    let Hit { index, score } = hits[at];
                    wrong.push(Wrong { row, gold: index, score, rank: at + 1, hits });
                }
                // A zero vector has no candidates.
                None if hits.is_empty() => {}
                None => far.push((row, hits)),
            }
        }
        let source = self.opened.views[self.views[0]].embeddings()?;
        let mut far = far.into_iter();
        loop {
            let some: Vec<(usize, Vec<Hit>)> = far.by_ref().take(AT_A_TIME).collect();
            if some.is_empty() {
                return Ok(wrong);
            }
            let queries = source.matrix().select(&some.iter().map(|(row, _)| *row).collect::<Vec<_>>());
            let scores = by.scores(&queries, observer).map_err(|error| Problem::of(&error))?;
            for ((row, hits), scores) in some.into_iter().zip(scores) {
                let best =
                    self.words[&row].iter().copied().max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)));
                if let Some(gold) = best.filter(|&gold| scores[gold] > f64::NEG_INFINITY) {
                    wrong.push(Wrong { row, gold, score: scores[gold] as f32, rank: rank(&scores, gold), hits });
                }
            }
        }
    }
}

impl Wrong {
    fn choice(&self) -> super::reasons::Choice {
        let chosen = self.hits.first().map_or(self.gold, |hit| hit.index);
        super::reasons::Choice { row: self.row, chosen, gold: self.gold, gold_rank: self.rank }
    }
}

// Confidences depend on as many candidates as are searched.
const _: () = assert!(CANDIDATES >= Calibration::CANDIDATES);
