//! The exact nearest rows.

use std::str::FromStr;

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use sememe::retrieve::{Calibration, Criterion, Export, Hit, Retriever, hits_arrays};

use crate::arrays::{array_of, finite_rows, some_rows, table, view_of};
use crate::errors::{exception, refused};
use crate::work::run;

/// Rows of the targets and their scores, a row for each query.
pub type Found<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f32>>);

/// What arrays are called in errors.
const QUERIES: &str = "the array of queries";
const TARGETS: &str = "the array of targets";

/// The exact `k` nearest rows, and how many targets are skipped as they are zero.
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
    // The engine looks at every number itself.
    let rows = (some_rows(queries, QUERIES)?, some_rows(targets, TARGETS)?);
    check_count(k, rows.1.rows())?;
    let hits = run(py, progress, move |monitor| {
        let retriever = Retriever::new(rows.0.clone(), rows.1, criterion, &**monitor)?;
        Ok((retriever.nearest(&rows.0, k, &**monitor)?, retriever.zero_targets()))
    });
    if hits.is_err() {
        // Rows are counted from 0 here, if it is for one of them.
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

/// As many are asked for as there are.
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

/// Vectors with which any index ranks as a criterion does.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Index(pub Export);

#[pymethods]
impl Index {
    /// What goes into the index.
    fn targets<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray2<f32>> {
        view_of(this.get().0.targets(), this.clone().into_any())
    }

    /// What the index is asked.
    fn queries<'py>(this: &Bound<'py, Self>, latent: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (py, latent) = (this.py(), finite_rows(latent, QUERIES)?);
        let index = this.clone().unbind();
        Ok(array_of(py, run(py, None, move |_| index.get().0.queries(&latent))?))
    }
}
