//! An aligned space on disk.

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use sememe::align;
use sememe::lexicon::find_word;
use sememe::retrieve::{Criterion, Export, Metric};
use sememe::space::{self, Views};
use sememe::translate::{Confidence, Induced, Induction, induce, write_induced};
use sememe::vectors::{self, View, Vocabulary};

use crate::alignment::Alignment;
use crate::arrays::{finite_rows, table, vector};
use crate::embeddings::Embeddings;
use crate::errors::exception;
use crate::lexicon::{Lexicon, gather};
use crate::options::Fitting;
use crate::retrieve::{Found, Index, check_count, found};
use crate::work::{briefly, run};

/// A space and the views of it that were looked at.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Space {
    space: Arc<space::Space>,
    alignment: Py<Alignment>,
    /// Clones share words and vectors.
    views: Arc<Mutex<HashMap<String, vectors::Embeddings>>>,
}

/// Rows of the words and of their translations, scores, and how sure they are.
type InducedRows<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f32>>,
    Option<Bound<'py, PyArray1<f64>>>,
);

#[pymethods]
impl Space {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let space = briefly(py, || space::Space::open(&path))?.map_err(exception)?;
        let alignment = Py::new(py, Alignment(space.shared_alignment()))?;
        Ok(Space { space: Arc::new(space), alignment, views: Arc::default() })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.space.path().to_owned()
    }

    #[getter]
    fn alignment(&self, py: Python<'_>) -> Py<Alignment> {
        self.alignment.clone_ref(py)
    }

    /// How many words each view has.
    #[getter]
    fn words(&self) -> Vec<usize> {
        self.space.alignment().words.clone()
    }

    fn view(&self, py: Python<'_>, name: &str) -> PyResult<Embeddings> {
        briefly(py, || self.open_view(name))?.map(Embeddings).map_err(exception)
    }

    /// Where words that somebody wrote are, under the casing of the space.
    fn find(&self, py: Python<'_>, view: &str, words: Vec<String>) -> PyResult<Vec<Option<usize>>> {
        let embeddings = briefly(py, || self.open_view(view))?.map_err(exception)?;
        let casing = self.space.alignment().preparation.casing;
        Ok(words.iter().map(|word| find_word(embeddings.vocabulary(), &casing.of_word(word))).collect())
    }

    /// The nearest words of `to` to latent vectors of `from`, and how sure they are where that is asked for and known.
    #[allow(clippy::too_many_arguments)]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        from: String,
        to: String,
        queries: &Bound<'py, PyAny>,
        k: usize,
        criterion: &str,
        confidence: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Found<'py>, Option<Bound<'py, PyArray2<f64>>>)> {
        let queries = finite_rows(queries, "the array of queries")?;
        let criterion = Criterion::from_str(criterion).map_err(exception)?;
        let (source, target) = self.open_views(py, &from, &to)?;
        check_count(k, target.len())?;
        let temperature = if confidence { self.temperature(&from, &to)? } else { None };
        let space = self.space.clone();
        let (hits, sure) = run(py, progress, move |monitor| {
            let views = Views::of(&space, (&from, source), (&to, target))?;
            let hits = views.retriever(criterion, &**monitor)?.nearest(&queries, k)?;
            let sure = temperature.map(|t| Confidence::new(views.target.matrix(), t).of_hits(&queries, &hits));
            Ok((hits, sure))
        })?;
        let sure = sure.map(|sure| table(py, sure.into_iter().flatten().collect(), (hits.len(), k)));
        Ok((found(py, &hits, k), sure))
    }

    /// The best translation of every word; also written to a file, if one is named.
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
        progress: Option<Py<PyAny>>,
    ) -> PyResult<InducedRows<'py>> {
        let criterion = Criterion::from_str(criterion).map_err(exception)?;
        let (source, target) = self.open_views(py, &from, &to)?;
        let temperature = self.temperature(&from, &to)?;
        let space = self.space.clone();
        let induced = run(py, progress, move |monitor| {
            let views = Views::of(&space, (&from, source.clone()), (&to, target.clone()))?;
            let forth = views.retriever(criterion, &**monitor)?;
            let reversed = Views::of(&space, (&to, target), (&from, source))?;
            let back = mutual.then(|| reversed.retriever(criterion, &**monitor)).transpose()?;
            let confidence = temperature.map(|t| Confidence::new(views.target.matrix(), t));
            let induction = Induction {
                source: views.source.matrix(),
                words: max_words.unwrap_or(usize::MAX),
                forth: &forth,
                back: back.as_ref().map(|back| (views.target.matrix(), back)),
                confidence: confidence.as_ref(),
                min_confidence,
            };
            let induced = induce(&induction, &**monitor)?;
            if let Some(output) = output {
                write_induced(&induced, (&from, &views.source), (&to, &views.target), &output)?;
            }
            Ok(induced)
        })?;
        let rows = |row: fn(&Induced) -> usize| vector(py, induced.iter().map(|pair| row(pair) as i64).collect());
        let sure: Option<Vec<f64>> = induced.iter().map(|pair| pair.confidence).collect();
        let scores = vector(py, induced.iter().map(|pair| pair.score).collect());
        let sure = sure.filter(|_| temperature.is_some()).map(|sure| vector(py, sure));
        Ok((rows(|pair| pair.from), rows(|pair| pair.to), scores, sure))
    }

    /// Adds a view, in place or in a copy; says what should be known about the fit.
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
    ) -> PyResult<Vec<String>> {
        let options = fitting.options()?;
        let space = self.space.clone();
        if output.is_none() {
            space.check_extendable(&name).map_err(exception)?;
        }
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
            space.extend(&extended.alignment, &extended.latent, output.as_deref())?;
            Ok(extended.warnings.iter().map(ToString::to_string).collect())
        })
    }

    /// Vectors with which any index of a metric ranks words of `to` for those of `from` as a criterion does.
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
        let (source, target) = self.open_views(py, &from, &to)?;
        let space = self.space.clone();
        let export = run(py, progress, move |monitor| {
            let views = Views::of(&space, (&from, source), (&to, target))?;
            Export::new(&views.retriever(criterion, &**monitor)?, metric)
        })?;
        Ok(Index(export))
    }
}

impl Space {
    pub fn shared(&self) -> Arc<space::Space> {
        self.space.clone()
    }

    fn open_view(&self, name: &str) -> sememe::Result<vectors::Embeddings> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = views.get(name) {
            return Ok(known.clone());
        }
        let opened = self.space.view(name)?;
        views.insert(name.to_owned(), opened.clone());
        Ok(opened)
    }

    /// Two views, which may be the same.
    pub fn open_views(
        &self,
        py: Python<'_>,
        from: &str,
        to: &str,
    ) -> PyResult<(vectors::Embeddings, vectors::Embeddings)> {
        briefly(py, || Ok((self.open_view(from)?, self.open_view(to)?)))?.map_err(exception)
    }

    fn temperature(&self, from: &str, to: &str) -> PyResult<Option<f64>> {
        let alignment = self.space.alignment();
        let place = |name: &str| alignment.model.view_index(name).map_err(exception);
        Ok(alignment.temperature(place(from)?, place(to)?))
    }
}
