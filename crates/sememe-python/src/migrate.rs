//! Maps between two embedding models.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use numpy::PyArray2;
use pyo3::prelude::*;
use sememe::evaluate::Bootstrap;
use sememe::files;
use sememe::migrate::{
    self, Adapted, MapMethod, MigrateOptions, Pairs, PlanOptions, Precision, Question, Side, StreamOptions,
};

use crate::arrays::{array_of, finite_rows};
use crate::errors::{exception, refused};
use crate::work::{briefly, run};

/// Names of the arrays in error messages.
const OLD: &str = "the array of old vectors";
const NEW: &str = "the array of new vectors";
const INDEX: &str = "the array of the index";
const QUERIES: &str = "the array of queries";

/// So many queries are mapped on the calling thread, before another one would have woken up.
const FEW_QUERIES: usize = 8;

/// A fitted map.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct MigrationMap(Arc<migrate::MigrationMap>);

#[pymethods]
impl MigrationMap {
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the Python side names them")]
    fn fit(
        py: Python<'_>,
        old: &Bound<'_, PyAny>,
        new: &Bound<'_, PyAny>,
        index: Option<&Bound<'_, PyAny>>,
        old_model: Option<String>,
        new_model: Option<String>,
        method: Option<&str>,
        is_unsupervised: bool,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let method = method.map(MapMethod::from_str).transpose().map_err(exception)?;
        let options = MigrateOptions::default()
            .with_old_model(old_model)
            .with_new_model(new_model)
            .with_method(method)
            .with_seed(seed);
        let rows = (finite_rows(old, OLD)?, finite_rows(new, NEW)?);
        let index = index.map(|index| finite_rows(index, INDEX)).transpose()?;
        let map = run(py, progress, move |monitor| {
            let pairs = match is_unsupervised {
                true => migrate::learn_pairs(&rows.0, &rows.1, options.seed, &**monitor)?,
                false => Pairs::new(rows.0, rows.1)?,
            };
            migrate::fit(&pairs, index.as_ref(), &options, &**monitor)
        })?;
        Ok(MigrationMap(Arc::new(map)))
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let map = briefly(py, || migrate::MigrationMap::open(&path))?.map_err(exception)?;
        Ok(MigrationMap(Arc::new(map)))
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        briefly(py, || self.0.write(&path))?.map_err(exception)
    }

    /// What is known of the map, as JSON.
    fn description(&self) -> String {
        let model = |card: &migrate::ModelCard| serde_json::json!({"name": card.name, "dim": card.dim(), "fingerprint": card.fingerprint});
        serde_json::json!({
            "old": model(&self.0.old),
            "new": model(&self.0.new),
            "latent": self.0.latent_dim(),
            "pairs": self.0.pairs,
            "queries": self.0.queries.method,
            "index": self.0.index.method,
            "held_out": self.0.held_out,
            "fingerprint": self.0.fingerprint,
            "adapted": self.0.is_adapted(),
            "warning": self.0.warning(),
        })
        .to_string()
    }

    fn apply<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        from: &str,
        to: &str,
        force: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (from, to) = sides(from, to)?;
        let rows = finite_rows(rows, &format!("the array of {from} vectors"))?;
        let (map, is_query) = (self.0.clone(), rows.rows() <= FEW_QUERIES);
        let work = move || {
            if !force {
                map.check_model(from, &rows)?;
            }
            map.apply(from, to, &rows)
        };
        let mapped = if is_query { py.detach(work).map_err(exception)? } else { run(py, progress, move |_| work())? };
        Ok(array_of(py, mapped))
    }

    /// Maps a file of any size to another one. What was written is returned as JSON.
    #[expect(clippy::too_many_arguments, reason = "the Python side names them")]
    fn apply_file(
        &self,
        py: Python<'_>,
        files: (PathBuf, PathBuf),
        from: &str,
        to: &str,
        precision: Option<&str>,
        columns: Option<Vec<String>>,
        force: bool,
        model: Option<String>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let (from, to) = sides(from, to)?;
        let precision = precision.map(Precision::from_str).transpose().map_err(exception)?;
        let options = StreamOptions::new(from, to)
            .with_precision(precision)
            .with_columns(columns)
            .with_force(force)
            .with_model(model);
        let map = self.0.clone();
        let written = run(py, progress, move |monitor| map.apply_file(&files.0, &files.1, &options, &**monitor))?;
        Ok(serde_json::to_string(&written).expect("plain data"))
    }

    /// Compares fresh vectors with those of the fit; the report is JSON.
    fn monitor(
        &self,
        py: Python<'_>,
        new: &Bound<'_, PyAny>,
        old: Option<&Bound<'_, PyAny>>,
        false_alarms: f64,
    ) -> PyResult<String> {
        let (new, map) = (finite_rows(new, NEW)?, self.0.clone());
        let old = old.map(|old| finite_rows(old, OLD)).transpose()?;
        let report = run(py, None, move |_| map.monitor(&new, old.as_ref(), false_alarms))?;
        Ok(serde_json::to_string(&report).expect("plain data"))
    }

    fn export_onnx(&self, py: Python<'_>, path: PathBuf, from: &str, to: &str) -> PyResult<()> {
        let (from, to) = sides(from, to)?;
        let route = self.0.route(from, to).map_err(exception)?;
        briefly(py, || files::write(&path, &route.to_onnx()?))?.map_err(exception)
    }

    fn adapt(
        &self,
        py: Python<'_>,
        index: &Bound<'_, PyAny>,
        queries: &Bound<'_, PyAny>,
        own: Option<Vec<usize>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<AdaptedIndex> {
        let (index, queries) = (finite_rows(index, INDEX)?, finite_rows(queries, QUERIES)?);
        if let Some(own) = &own {
            if own.len() != queries.rows() {
                return Err(refused(format!("{} own rows are given for {} queries", own.len(), queries.rows())));
            }
            if let Some(row) = own.iter().find(|&&row| row >= index.rows()) {
                return Err(refused(format!("a query's own row is {row}; the index has {} rows", index.rows())));
            }
        }
        let map = self.0.clone();
        let adapted = run(py, progress, move |monitor| map.adapt(&index, &queries, own.as_deref(), &**monitor))?;
        Ok(AdaptedIndex(Arc::new(adapted)))
    }

    /// The same map with an adapted latent space, and the number of pairs that were learned from.
    fn adapted(
        &self,
        py: Python<'_>,
        index: &Bound<'_, PyAny>,
        queries: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, usize)> {
        let (index, queries, map) = (finite_rows(index, INDEX)?, finite_rows(queries, QUERIES)?, self.0.clone());
        let (adapted, learned) = run(py, progress, move |monitor| map.adapted(&index, &queries, &**monitor))?;
        Ok((MigrationMap(Arc::new(adapted)), learned))
    }

    /// The rows that mapped queries find first, -1 for none, and the confidences in them.
    fn confidences(
        &self,
        py: Python<'_>,
        index: &Bound<'_, PyAny>,
        queries: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<i64>, Vec<f64>)> {
        let (index, queries, map) = (finite_rows(index, INDEX)?, finite_rows(queries, QUERIES)?, self.0.clone());
        let found = run(py, progress, move |monitor| map.confidences(&index, &queries, None, &**monitor))?;
        Ok(found.iter().map(|one| (one.row.map_or(-1, |row| row as i64), one.confidence)).unzip())
    }

    /// The confidence in the first of some rows, by their cosines with the mapped query.
    fn confidence_of(&self, cosines: Vec<f32>) -> f64 {
        self.0.confidence.of(&cosines)
    }

    /// What is asked in every way, as JSON. Without questions, `sample` rows are asked for what the new model finds.
    fn evaluate(
        &self,
        py: Python<'_>,
        old: &Bound<'_, PyAny>,
        new: &Bound<'_, PyAny>,
        questions: Option<Vec<(usize, usize)>>,
        sample: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let (old, new) = (finite_rows(old, OLD)?, finite_rows(new, NEW)?);
        let map = self.0.clone();
        let evaluation = run(py, progress, move |monitor| {
            let questions = match questions {
                Some(rows) => rows.into_iter().map(|(query, answer)| Question { query, answer }).collect(),
                None => migrate::MigrationMap::agreement_questions(&new, sample, &**monitor)?,
            };
            map.evaluate(&old, &new, &questions, &Bootstrap::default(), &**monitor)
        })?;
        Ok(serde_json::to_string(&evaluation).expect("plain data"))
    }
}

/// What to expect of a migration, as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python side names them")]
pub fn plan_migration(
    py: Python<'_>,
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    questions: Option<Vec<(usize, usize)>>,
    rows_to_migrate: Option<usize>,
    rows_per_second: Option<f64>,
    price_per_million: Option<f64>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (old, new) = (finite_rows(old, OLD)?, finite_rows(new, NEW)?);
    let options = PlanOptions::default()
        .with_rows_to_migrate(rows_to_migrate)
        .with_rows_per_second(rows_per_second)
        .with_price_per_million(price_per_million)
        .with_seed(seed);
    let question = |(query, answer): (usize, usize)| Question { query, answer };
    let questions: Option<Vec<Question>> = questions.map(|rows| rows.into_iter().map(question).collect());
    let plan = run(py, progress, move |monitor| migrate::plan(&old, &new, questions.as_deref(), &options, &**monitor))?;
    Ok(serde_json::to_string(&plan).expect("plain data"))
}

fn sides(from: &str, to: &str) -> PyResult<(Side, Side)> {
    Ok((Side::from_str(from).map_err(exception)?, Side::from_str(to).map_err(exception)?))
}

/// A latent space that was adapted to queries.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct AdaptedIndex(Arc<Adapted>);

#[pymethods]
impl AdaptedIndex {
    #[getter]
    fn learned(&self) -> usize {
        self.0.learned
    }

    fn index<'py>(&self, py: Python<'py>, old: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (rows, adapted) = (finite_rows(old, OLD)?, self.0.clone());
        Ok(array_of(py, run(py, None, move |_| adapted.index(&rows))?))
    }

    fn queries<'py>(&self, py: Python<'py>, new: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (rows, adapted) = (finite_rows(new, NEW)?, self.0.clone());
        Ok(array_of(py, run(py, None, move |_| adapted.queries(&rows))?))
    }
}
