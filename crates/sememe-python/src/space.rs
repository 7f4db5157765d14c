//! An aligned space on disk.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use sememe::align;
use sememe::lexicon::find_word;
use sememe::retrieve::{Criterion, Export, Metric};
use sememe::space;
use sememe::translate::{Candidate, InduceOptions, Induced, Induction, TranslateOptions, Translator, WordTranslation};
use sememe::vectors::{self, View, Vocabulary};

use crate::alignment::{Alignment, FitWarnings, told};
use crate::arrays::{finite_rows, vector};
use crate::batches::Batch;
use crate::embeddings::Embeddings;
use crate::errors::exception;
use crate::lexicon::{Lexicon, gather};
use crate::options::Fitting;
use crate::retrieve::{Found, Index, check_count, found};
use crate::work::{briefly, run};

/// A space, which caches the views that it opened.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Space {
    space: Arc<space::Space>,
    alignment: Py<Alignment>,
    /// Whether its views are mapped instead of read.
    #[pyo3(get)]
    mmap: bool,
}

/// Candidates for every word: the candidate, its score, and its confidence if the space is calibrated.
type Candidates = Vec<Vec<(String, f32, Option<f64>)>>;
/// Out-of-vocabulary words, each with the closest spellings.
type Unknown = Vec<(String, Vec<String>)>;

/// Rows of the words and of their translations, scores, confidences, and the number of target words that are skipped
/// because their vectors are zero.
type InducedRows<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f32>>,
    Option<Bound<'py, PyArray1<f64>>>,
    usize,
);

#[pymethods]
impl Space {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, mmap: bool) -> PyResult<Self> {
        let space = briefly(py, || space::Space::open_with(&path, mmap))?.map_err(exception)?;
        let alignment = Py::new(py, Alignment(space.shared_alignment()))?;
        Ok(Space { space: Arc::new(space), alignment, mmap })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.space.path().to_owned()
    }

    #[getter]
    fn alignment(&self, py: Python<'_>) -> Py<Alignment> {
        self.alignment.clone_ref(py)
    }

    /// Number of words of each view.
    #[getter]
    fn words(&self) -> Vec<usize> {
        self.space.alignment().words.clone()
    }

    fn view(&self, py: Python<'_>, name: &str) -> PyResult<Embeddings> {
        briefly(py, || self.space.view(name))?.map(Embeddings).map_err(exception)
    }

    /// Looks up words under the casing of the space.
    fn find(&self, py: Python<'_>, view: &str, words: Vec<String>) -> PyResult<Vec<Option<usize>>> {
        let embeddings = briefly(py, || self.space.view(view))?.map_err(exception)?;
        let casing = self.space.alignment().preparation.casing;
        Ok(words.iter().map(|word| find_word(embeddings.vocabulary(), &casing.of_word(word))).collect())
    }

    /// The nearest words of `to` to latent vectors of `from`, and the number of zero vectors that are skipped.
    #[allow(clippy::too_many_arguments)]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        from: String,
        to: String,
        queries: &Bound<'py, PyAny>,
        k: usize,
        criterion: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Found<'py>, usize)> {
        let queries = finite_rows(queries, "the array of queries")?;
        let criterion = self.space.alignment().criterion_called(criterion).map_err(exception)?;
        check_count(k, self.open_views(py, &from, &to)?.1.len())?;
        let space = self.space.clone();
        let (hits, zeros) = run(py, progress, move |monitor| {
            let retriever = space.retriever(&from, &to, criterion, &**monitor)?;
            Ok((retriever.nearest(&queries, k, &**monitor)?, retriever.zero_targets()))
        })?;
        Ok((found(py, &hits, k), zeros))
    }

    /// The best translations of words, the out-of-vocabulary words, the number of zero vectors that are skipped, and, if
    /// wanted, a table in place of the translations.
    #[allow(clippy::too_many_arguments)]
    fn translate(
        &self,
        py: Python<'_>,
        from: String,
        to: String,
        words: Vec<String>,
        k: usize,
        criterion: &str,
        vectors: Option<&Bound<'_, Embeddings>>,
        arrow: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Candidates, Unknown, usize, Option<Batch>)> {
        let options = TranslateOptions::default()
            .with_criterion(self.space.alignment().criterion_called(criterion).map_err(exception)?)
            .with_candidates(k);
        check_count(k, self.open_views(py, &from, &to)?.1.len())?;
        let (space, vectors) = (self.space.clone(), vectors.map(|vectors| vectors.get().0.clone()));
        let (mut found, zeros) = run(py, progress, move |monitor| {
            let mut translator = Translator::open(&space, &from, &[to], &options, &**monitor)?;
            if let Some(vectors) = vectors {
                translator = translator.with_vectors(vectors)?;
            }
            let zeros = translator.zero_targets().map(|(_, zeros)| zeros).sum();
            Ok((translator.translate(&words, &**monitor)?, zeros))
        })?;
        let batch = arrow.then(|| Batch(found.record_batch()));
        let suggestions = &mut found.suggestions;
        let with_suggestions = |word: String| (suggestions.remove(&word).unwrap_or_default(), word);
        let unknown = found.unknown.into_iter().map(with_suggestions).map(|(near, word)| (word, near)).collect();
        let candidate = |candidate: Candidate| (candidate.word, candidate.score, candidate.confidence);
        let of_word = |word: WordTranslation| word.candidates.into_iter().map(candidate).collect();
        let candidates = if arrow { Vec::new() } else { found.translations.into_iter().map(of_word).collect() };
        Ok((candidates, unknown, zeros, batch))
    }

    /// The best translation of every word; also writes them to a file, if one is named.
    #[allow(clippy::too_many_arguments)]
    fn induce<'py>(
        &self,
        py: Python<'py>,
        from: String,
        to: String,
        criterion: &str,
        mutual: bool,
        min_confidence: f64,
        max_words: Option<usize>,
        output: Option<PathBuf>,
        arrow: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(InducedRows<'py>, Option<Batch>)> {
        let options = InduceOptions::default()
            .with_criterion(self.space.alignment().criterion_called(criterion).map_err(exception)?)
            .with_mutual(mutual)
            .with_min_confidence((min_confidence > 0.0).then_some(min_confidence))
            .with_max_words(max_words);
        let space = self.space.clone();
        let (induced, has_confidences, zeros, batch) = run(py, progress, move |monitor| {
            let induction = Induction::open(&space, &from, &to, &options, &**monitor)?;
            let induced = induction.run(&**monitor)?;
            if let Some(output) = output {
                induction.write(&induced, &output)?;
            }
            let batch = arrow.then(|| induction.record_batch(&induced));
            Ok((induced, induction.has_confidences(), induction.zero_targets(), batch))
        })?;
        let rows = |row: fn(&Induced) -> usize| vector(py, induced.iter().map(|pair| row(pair) as i64).collect());
        let sure: Option<Vec<f64>> = induced.iter().map(|pair| pair.confidence).collect();
        let scores = vector(py, induced.iter().map(|pair| pair.score).collect());
        let sure = sure.filter(|_| has_confidences).map(|sure| vector(py, sure));
        Ok(((rows(|pair| pair.from), rows(|pair| pair.to), scores, sure, zeros), batch.map(Batch)))
    }

    /// Adds a view, in place or in a copy. Returns the warnings of the fit.
    #[allow(clippy::too_many_arguments)]
    fn extend(
        &self,
        py: Python<'_>,
        name: String,
        embeddings: &Bound<'_, Embeddings>,
        lexicons: Vec<PyRef<'_, Lexicon>>,
        identical: Option<&str>,
        fitting: Fitting,
        output: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<FitWarnings> {
        let options = fitting.options()?;
        let space = self.space.clone();
        let reservation = space.reserve(&name, output.as_deref()).map_err(exception)?;
        let latent = briefly(py, || space.latent_views())?.map_err(exception)?;
        let casing = space.alignment().preparation.casing;
        let embeddings = casing.of_embeddings(embeddings.get().0.clone());
        let names: Vec<&str> = space.alignment().model.views.iter().map(|view| view.name.as_str()).collect();
        let none = Vocabulary::new();
        let known = latent.iter().map(|view| view.as_ref().and_then(View::words).unwrap_or(&none));
        let mut vocabularies: Vec<(&str, &Vocabulary)> = names.into_iter().zip(known).collect();
        vocabularies.push((&name, embeddings.vocabulary()));
        let tuples = gather(&vocabularies, &lexicons, casing, identical)?;
        run(py, progress, move |monitor| {
            let view = View::from_embeddings(name, embeddings);
            let extended = align::extend(space.alignment(), &latent, view, &tuples, &options, &**monitor)?;
            space.extend(&extended.alignment, &extended.latent, reservation)?;
            Ok(told(&extended.warnings))
        })
    }

    /// Vectors for an index with this metric, which then ranks words of `to` for words of `from` by a criterion.
    fn index(
        &self,
        py: Python<'_>,
        from: String,
        to: String,
        criterion: &str,
        metric: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Index> {
        let criterion = Criterion::from_str(criterion).map_err(exception)?;
        let metric = Metric::from_str(metric).map_err(exception)?;
        let space = self.space.clone();
        let export = run(py, progress, move |monitor| {
            Export::new(&space.retriever(&from, &to, criterion, &**monitor)?, metric)
        })?;
        Ok(Index(export))
    }
}

impl Space {
    pub fn shared(&self) -> Arc<space::Space> {
        self.space.clone()
    }

    /// Two views, which may be the same.
    pub fn open_views(
        &self,
        py: Python<'_>,
        from: &str,
        to: &str,
    ) -> PyResult<(vectors::Embeddings, vectors::Embeddings)> {
        briefly(py, || Ok((self.space.view(from)?, self.space.view(to)?)))?.map_err(exception)
    }
}
