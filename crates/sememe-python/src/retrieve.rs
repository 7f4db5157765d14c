//! Exact nearest neighbours.

use std::str::FromStr;

use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use sememe::retrieve::{Criterion, Export, Hit, Retriever, hits_arrays};
use sememe::translate::Confidence;

use crate::arrays::{array_of, finite_rows, some_rows, table, view_of};
use crate::errors::{exception, refused};
use crate::work::run;

/// Target rows and their scores, one row per query.
pub type Found<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f32>>);

/// Names of the arrays in error messages.
const QUERIES: &str = "the array of queries";
const TARGETS: &str = "the array of targets";

/// The exact `k` nearest rows, and the number of zero targets, which are skipped.
#[pyfunction]
pub fn neighbors<'py>(
    py: Python<'py>,
    queries: &Bound<'py, PyAny>,
    targets: &Bound<'py, PyAny>,
    k: usize,
    criterion: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Found<'py>, usize)> {
    let criterion = Criterion::from_str(criterion).map_err(exception)?;
    // The engine itself checks that all numbers are finite.
    let rows = (some_rows(queries, QUERIES)?, some_rows(targets, TARGETS)?);
    check_count(k, rows.1.rows())?;
    let hits = run(py, progress, move |monitor| {
        let retriever = Retriever::new(rows.0.clone(), rows.1, criterion, &**monitor)?;
        Ok((retriever.nearest(&rows.0, k, &**monitor)?, retriever.zero_targets()))
    });
    if hits.is_err() {
        // Reports an error about a row with the number that Python uses, counted from 0.
        finite_rows(queries, QUERIES)?;
        finite_rows(targets, TARGETS)?;
    }
    let (hits, zeros) = hits?;
    Ok((found(py, &hits, k), zeros))
}

/// The confidence of retrieved rows.
#[pyfunction]
pub fn confidence<'py>(
    py: Python<'py>,
    queries: &Bound<'py, PyAny>,
    targets: &Bound<'py, PyAny>,
    ids: PyReadonlyArray2<'py, i64>,
    temperature: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (queries, targets) = (finite_rows(queries, QUERIES)?, finite_rows(targets, TARGETS)?);
    if !(temperature > 0.0 && temperature.is_finite()) {
        return Err(refused(format!("temperature is {temperature}: it must be a positive number")));
    }
    let ids = ids.as_array();
    if queries.cols() != targets.cols() || ids.nrows() != queries.rows() {
        return Err(refused("queries and targets must have the same columns, and ids a row for each query"));
    }
    let hit = |&id: &i64| match usize::try_from(id) {
        Ok(index) if index < targets.rows() => Ok(Hit { index, score: 0.0 }),
        _ => Err(refused(format!("there is no row {id} among {} targets", targets.rows()))),
    };
    let hits = ids.rows().into_iter().map(|row| row.iter().map(hit).collect::<PyResult<Vec<_>>>());
    let hits = hits.collect::<PyResult<Vec<Vec<Hit>>>>()?;
    let sure = run(py, None, move |_| Ok(Confidence::new(targets, temperature)?.of_hits(&queries, &hits)))?;
    Ok(table(py, sure.into_iter().flatten().collect(), ids.dim()))
}

/// Returns an error unless there are at least `k` targets.
pub fn check_count(k: usize, targets: usize) -> PyResult<()> {
    match k {
        0 => Err(refused("k is 0: at least one neighbour must be asked for")),
        _ if k > targets => Err(refused(format!("there are only {targets} targets to be the {k} nearest"))),
        _ => Ok(()),
    }
}

pub fn found<'py>(py: Python<'py>, hits: &[Vec<Hit>], k: usize) -> Found<'py> {
    let shape = (hits.len(), k);
    let (ids, scores) = hits_arrays(hits, k);
    (table(py, ids, shape), table(py, scores, shape))
}

/// Vectors for an external index, which then ranks by a criterion.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Index(pub Export);

#[pymethods]
impl Index {
    /// The vectors that the index holds.
    fn targets<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray2<f32>> {
        view_of(this.get().0.targets(), this.clone().into_any())
    }

    /// The query vectors.
    fn queries<'py>(this: &Bound<'py, Self>, latent: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (py, latent) = (this.py(), finite_rows(latent, QUERIES)?);
        let index = this.clone().unbind();
        Ok(array_of(py, run(py, None, move |_| index.get().0.queries(&latent))?))
    }
}
