//! Exact nearest neighbours.

use std::str::FromStr;

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use sememe::retrieve::{Calibration, Criterion, Export, Hit, Retriever, hits_arrays};

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

/// The confidences of found targets, from their scores. Scores after the first NaN are of no target.
#[pyfunction]
pub fn confidence<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f32>,
    calibration: &str,
    rows: Option<PyReadonlyArray1<'py, i64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let calibration: Calibration = serde_json::from_str(calibration).map_err(|e| refused(e.to_string()))?;
    if !calibration.is_valid() {
        return Err(refused("no such calibration: temperature and slope must be positive, all else finite"));
    }
    let scores = scores.as_array();
    let rows = rows.as_ref().map(|rows| rows.as_array());
    let mut confidences = vec![f64::NAN; scores.len()];
    for ((query, scores), out) in
        scores.rows().into_iter().enumerate().zip(confidences.chunks_exact_mut(scores.ncols().max(1)))
    {
        let found: Vec<f32> = scores.iter().copied().take_while(|score| !score.is_nan()).collect();
        let row = rows.and_then(|rows| usize::try_from(rows[query]).ok());
        out.iter_mut().zip(calibration.confidences(&found, row)).for_each(|(out, confidence)| *out = confidence);
    }
    Ok(table(py, confidences, scores.dim()))
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
