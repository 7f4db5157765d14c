//! Evaluations of a space. Results are JSON objects, as the command prints them.

use std::path::PathBuf;
use std::str::FromStr;

use pyo3::prelude::*;
use sememe::evaluate::{
    self, Analogies, AnalogyEvaluation, Bootstrap, Corpus, Neighbours, Oov, ScoredPairs, SentenceEvaluation,
    SentenceOptions, SentencePairs, StsSets, TranslationEvaluation, TranslationTask, Weighting, Words,
};
use sememe::retrieve::Criterion;
use serde_json::json;

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
    let criterion = space.get().shared().alignment().criterion_called(criterion).map_err(exception)?;
    let oov = match oov {
        "skip" => Oov::Skip,
        "wrong" => Oov::Wrong,
        other => return Err(refused(format!("oov is {other:?}: it must be \"skip\" or \"wrong\""))),
    };
    let (space, gold) = (space.get().shared(), gold.get().0.clone());
    let result = run(py, progress, move |monitor| {
        let mut task = TranslationTask::new(&from, &to, &gold);
        task.criterion = criterion;
        task.oov = oov;
        task.bootstrap = Bootstrap { seed, ..Default::default() };
        TranslationEvaluation::in_space(&space, &task, &**monitor)
    })?;
    Ok(json!(result).to_string())
}

/// Correlation of cosines with human ratings of word similarity, within one view or across two.
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

/// Accuracy on analogies, `a : b = c : ?`.
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
    let name = view.to_owned();
    let result = run(py, progress, move |monitor| {
        let words = Words { embeddings: &embeddings, casing };
        AnalogyEvaluation::new(Some(&name), words, &Analogies::read(&questions)?, &**monitor)
    })?;
    Ok(json!(result).to_string())
}

/// Correlation of cosines with human ratings of sentence similarity (STS).
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
    let (embeddings, _) = space.get().open_views(py, view, view)?;
    let casing = space.get().shared().alignment().preparation.casing;
    let result = run(py, None, move |_| {
        let words = Words { embeddings: &embeddings, casing };
        let weighting = match weighting.as_str() {
            "tfidf" => Weighting::TfIdf,
            _ => Weighting::sif(words, a, frequencies.as_deref())?,
        };
        let sets = sets.iter().map(|set| SentencePairs::read(set)).collect::<sememe::Result<Vec<_>>>()?;
        StsSets::new(words, &sets, &weighting)
    })?;
    Ok(json!(result).to_string())
}

/// Precision of sentence retrieval between two files whose lines are translations of each other.
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
    let neighbours = if among_all { Neighbours::All } else { Neighbours::Queries };
    let options = SentenceOptions::default()
        .with_queries(queries)
        .with_seed(seed)
        .with_criterion(criterion)
        .with_neighbours(neighbours);
    options.check().map_err(exception)?;
    let (source, target) = space.get().open_views(py, &views.0, &views.1)?;
    let casing = space.get().shared().alignment().preparation.casing;
    let result = run(py, progress, move |monitor| {
        let words = [Words { embeddings: &source, casing }, Words { embeddings: &target, casing }];
        let corpus = Corpus::read([&files.0, &files.1], words, max_sentences, &**monitor)?;
        SentenceEvaluation::new(&corpus, [&views.0, &views.1], 0, &options, &**monitor)
    })?;
    Ok(json!(result).to_string())
}
