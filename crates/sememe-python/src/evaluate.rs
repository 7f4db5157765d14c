//! How good a space is. Results are JSON objects, as the command prints them.

use std::path::PathBuf;
use std::str::FromStr;

use pyo3::prelude::*;
use sememe::evaluate::{
    self, Analogies, Bootstrap, Corpus, Neighbours, Oov, Overlap, Probabilities, ScoredPairs, SentenceOptions,
    SentencePairs, Weighting, Words,
};
use sememe::retrieve::Criterion;
use serde_json::{Value, json};

use crate::errors::{exception, refused};
use crate::lexicon::Lexicon;
use crate::space::Space;
use crate::work::run;

/// Precision of word translation.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn evaluate_translation(
    py: Python<'_>,
    space: &Bound<'_, Space>,
    from: String,
    to: String,
    gold: &Bound<'_, Lexicon>,
    criterion: &str,
    oov: &str,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let criterion = Criterion::from_str(criterion).map_err(exception)?;
    let oov = match oov {
        "skip" => Oov::Skip,
        "wrong" => Oov::Wrong,
        other => return Err(refused(format!("oov is {other:?}: it must be \"skip\" or \"wrong\""))),
    };
    let (source, target) = space.get().open_views(py, &from, &to)?;
    let (space, gold) = (space.get().shared(), gold.get().0.clone());
    let result = run(py, progress, move |monitor| {
        let alignment = space.alignment();
        let gold = alignment.preparation.casing.of_lexicon(gold);
        let retriever = space.retriever(&from, &to, criterion, &**monitor)?;
        let found = evaluate::translation(&source, &target, &gold, &retriever, &**monitor)?.under(oov);
        let trained = alignment.trained.as_ref();
        let overlap = trained.map(|trained| Overlap::of(trained, &gold, &source, &target));
        let mut result = json!(found);
        result["intervals"] = json!(found.intervals(&Bootstrap { seed, ..Default::default() }));
        result["coverage"] = json!(100.0 * found.queries as f64 / found.gold_words as f64);
        result["unseen"] = json!(overlap.as_ref().and_then(|overlap| found.unseen(overlap)));
        result["overlap"] = json!(overlap);
        Ok(result)
    })?;
    Ok(result.to_string())
}

/// How well cosines agree with how similar people find words, of one view or of two.
#[pyfunction]
pub fn evaluate_similarity(
    py: Python<'_>,
    space: &Bound<'_, Space>,
    first: &str,
    second: &str,
    set: PathBuf,
) -> PyResult<String> {
    let (source, target) = space.get().open_views(py, first, second)?;
    let casing = space.get().shared().alignment().preparation.casing;
    let result = run(py, None, move |_| {
        let words = [Words { embeddings: &source, casing }, Words { embeddings: &target, casing }];
        evaluate::similarity(words, &ScoredPairs::read(&set)?)
    })?;
    Ok(json!(result).to_string())
}

/// How well `a : b = c : ?` is answered.
#[pyfunction]
pub fn evaluate_analogy(
    py: Python<'_>,
    space: &Bound<'_, Space>,
    view: &str,
    questions: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (embeddings, _) = space.get().open_views(py, view, view)?;
    let casing = space.get().shared().alignment().preparation.casing;
    let result = run(py, progress, move |monitor| {
        evaluate::analogy(Words { embeddings: &embeddings, casing }, &Analogies::read(&questions)?, &**monitor)
    })?;
    Ok(json!(result).to_string())
}

/// How well cosines of sentences agree with how similar people find them.
#[pyfunction]
pub fn evaluate_sts(
    py: Python<'_>,
    space: &Bound<'_, Space>,
    view: &str,
    sets: Vec<PathBuf>,
    weighting: String,
    a: f64,
    frequencies: Option<PathBuf>,
) -> PyResult<String> {
    if !matches!(weighting.as_str(), "sif" | "tfidf") {
        return Err(refused(format!("weighting is {weighting:?}: it must be \"sif\" or \"tfidf\"")));
    }
    if !(a > 0.0 && a.is_finite()) {
        return Err(refused(format!("a is {a}: it must be a positive number")));
    }
    let (embeddings, _) = space.get().open_views(py, view, view)?;
    let casing = space.get().shared().alignment().preparation.casing;
    let (sets, years) = run(py, None, move |_| {
        let words = Words { embeddings: &embeddings, casing };
        let weighting = match (weighting.as_str(), &frequencies) {
            ("tfidf", _) => Weighting::TfIdf,
            (_, Some(file)) => Weighting::Sif { a, probabilities: Probabilities::read(file, words)? },
            (_, None) => Weighting::Sif { a, probabilities: Probabilities::of_ranks(words) },
        };
        let of_set = |set: &PathBuf| evaluate::sts(words, &SentencePairs::read(set)?, &weighting);
        let sets = sets.iter().map(of_set).collect::<sememe::Result<Vec<_>>>()?;
        let years = evaluate::sts_years(&sets);
        Ok((sets, years))
    })?;
    Ok(json!({ "sets": sets, "years": years }).to_string())
}

/// Precision of sentence retrieval between two files, line by line translations of each other.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn evaluate_sentences(
    py: Python<'_>,
    space: &Bound<'_, Space>,
    views: (String, String),
    files: (PathBuf, PathBuf),
    criterion: &str,
    queries: usize,
    max_sentences: usize,
    among_all: bool,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let criterion = Criterion::from_str(criterion).map_err(exception)?;
    if criterion.is_generative() {
        return Err(refused(format!("{criterion} is for words: the model says nothing of sentences")));
    }
    let (source, target) = space.get().open_views(py, &views.0, &views.1)?;
    let casing = space.get().shared().alignment().preparation.casing;
    let neighbours = if among_all { Neighbours::All } else { Neighbours::Queries };
    let result = run(py, progress, move |monitor| -> sememe::Result<Value> {
        let words = [Words { embeddings: &source, casing }, Words { embeddings: &target, casing }];
        let corpus = Corpus::read([&files.0, &files.1], words, max_sentences, &**monitor)?;
        let options = SentenceOptions::default()
            .with_queries(queries)
            .with_seed(seed)
            .with_criterion(criterion)
            .with_neighbours(neighbours);
        let found = evaluate::sentences(&corpus, 0, &options, &**monitor)?;
        let mut result = json!(found);
        result["intervals"] = json!(found.intervals(&Bootstrap { seed, ..Default::default() }));
        Ok(result)
    })?;
    Ok(result.to_string())
}
