//! The steps of a fit on record batches, for engines that keep rows on many machines.

use std::str::FromStr;
use std::sync::Mutex;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{Array, RecordBatch, StructArray};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sememe::batches::{self, Found, PartialMoments as Sums, Projection};
use sememe::prepare::Step;
use sememe::retrieve::Criterion;

use crate::alignment::Alignment;
use crate::arrow::{batches as batches_of, stream};
use crate::errors::{exception, refused};
use crate::moments::Evidence;
use crate::work::{briefly, run};

/// Rows that go out through the Arrow C interfaces.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Batch(pub RecordBatch);

#[pymethods]
impl Batch {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _none_other_is_offered = requested_schema;
        stream(py, self.0.clone())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _none_other_is_offered = requested_schema;
        let data = StructArray::from(self.0.clone()).to_data();
        let schema = FFI_ArrowSchema::try_from(&*self.0.schema()).map_err(|error| refused(error.to_string()))?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), c"arrow_array")?,
        ))
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let names: Vec<String> = self.0.schema().fields().iter().map(|field| field.name().clone()).collect();
        format!("Batch({} rows of {})", self.0.num_rows(), names.join(", "))
    }
}

/// Sums up rows.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct PartialMoments {
    columns: Vec<String>,
    sums: Mutex<Option<Sums>>,
}

impl PartialMoments {
    /// Works on the sums without the interpreter's lock. They are gone after an error.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Sums) -> sememe::Result<(Option<Sums>, T)> + Send,
    ) -> PyResult<T> {
        let sums = self.sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let sums = sums.ok_or_else(|| refused("these moments are finished, or failed before"))?;
        let (sums, result) = briefly(py, || work(sums))?.map_err(exception)?;
        *self.sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = sums;
        Ok(result)
    }
}

#[pymethods]
impl PartialMoments {
    #[new]
    fn new(
        columns: Vec<String>,
        id: Option<&str>,
        normalize: Vec<String>,
        dims: Option<Vec<Option<usize>>>,
    ) -> PyResult<Self> {
        let steps = normalize.iter().map(|step| step.parse()).collect::<Result<Vec<Step>, _>>().map_err(exception)?;
        let mut sums = Sums::new(&columns, id, &steps).map_err(exception)?;
        if let Some(dims) = dims {
            sums = sums.with_dims(dims).map_err(exception)?;
        }
        Ok(PartialMoments { columns, sums: Mutex::new(Some(sums)) })
    }

    fn add(&self, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let batches = batches_of(batch)?;
        self.work(batch.py(), move |mut sums| {
            batches.into_iter().try_for_each(|batch| sums.add(batch))?;
            Ok((Some(sums), ()))
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Batch> {
        let evidence = self.work(py, |sums| Ok((None, sums.finish()?)))?;
        Ok(Batch(briefly(py, || batches::moments_batch(&self.columns, evidence.as_ref()))?))
    }
}

/// Merges rows of moments: to a row, and to moments. None for no rows.
#[pyfunction]
pub fn merge_moments(py: Python<'_>, parts: Vec<Bound<'_, PyAny>>) -> PyResult<Option<(Batch, Evidence)>> {
    let mut batches = Vec::new();
    for part in &parts {
        batches.extend(batches_of(part)?);
    }
    let merged = briefly(py, || batches::merge(&batches))?.map_err(exception)?;
    Ok(merged.map(|(columns, merged)| (Batch(batches::moments_batch(&columns, Some(&merged))), Evidence(merged))))
}

/// The latent vectors of columns of a batch: pairs of a view and a column, and the names of their latent vectors.
#[pyfunction]
pub fn project_batch(
    batch: &Bound<'_, PyAny>,
    alignment: &Bound<'_, Alignment>,
    columns: Vec<(usize, String, String)>,
    id: Option<String>,
) -> PyResult<Batch> {
    let (py, batches, alignment) = (batch.py(), batches_of(batch)?, alignment.get().0.clone());
    let [batch] = &batches[..] else { return Err(refused("one record batch is projected at a time")) };
    let projections: Vec<Projection> =
        columns.into_iter().map(|(view, column, output)| Projection { view, column, output }).collect();
    let projected = briefly(py, || batches::project(batch, &alignment, &projections, id.as_deref()))?;
    projected.map(Batch).map_err(exception)
}

/// Targets of a search.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Targets(std::sync::Arc<batches::Targets>);

#[pymethods]
impl Targets {
    /// Prepares targets; None if there are none.
    #[staticmethod]
    fn prepare(
        table: &Bound<'_, PyAny>,
        columns: [String; 2],
        criterion: &str,
        queries: Option<&Bound<'_, PyAny>>,
        terms: Option<Vec<f64>>,
    ) -> PyResult<Option<Self>> {
        let criterion = Criterion::from_str(criterion).map_err(exception)?;
        let (targets, queries) = (batches_of(table)?, queries.map(batches_of).transpose()?);
        let prepared = run(table.py(), None, move |monitor| {
            let columns = columns.each_ref().map(String::as_str);
            batches::Targets::new(&targets, columns, criterion, queries.as_deref(), terms, &**monitor)
        })?;
        Ok(prepared.map(|targets| Targets(std::sync::Arc::new(targets))))
    }

    #[getter]
    fn zeros(&self) -> usize {
        self.0.zero_targets()
    }

    fn top_k(&self, batch: &Bound<'_, PyAny>, k: usize, part: bool) -> PyResult<Option<Batch>> {
        let (queries, targets) = (batches_of(batch)?, self.0.clone());
        let found = if part { Found::OfPart } else { Found::OfAll };
        let found = run(batch.py(), None, move |monitor| targets.top_k(&queries, k, found, &**monitor))?;
        Ok(found.map(Batch))
    }
}

/// The largest cosines of rows with other rows.
#[pyfunction]
pub fn largest_cosines(
    batch: &Bound<'_, PyAny>,
    among: &Bound<'_, PyAny>,
    columns: [String; 2],
    n: usize,
) -> PyResult<Option<Batch>> {
    let (rows, among) = (batches_of(batch)?, batches_of(among)?);
    let found = run(batch.py(), None, move |monitor| {
        batches::largest_cosines(&rows, &among, columns.each_ref().map(String::as_str), n, &**monitor)
    })?;
    Ok(found.map(Batch))
}

/// Found rows as a table: `query`, `rank`, `target` and `score`.
#[pyfunction]
pub fn neighbors_batch(
    ids: PyReadonlyArray2<'_, i64>,
    scores: PyReadonlyArray2<'_, f32>,
    criterion: &str,
) -> PyResult<Batch> {
    let k = ids.as_array().ncols();
    let flat = |_| refused("row numbers and scores must be contiguous");
    let (ids, scores) = (ids.as_slice().map_err(flat)?, scores.as_slice().map_err(flat)?);
    Ok(Batch(sememe::tables::neighbors_batch(ids, scores, k, criterion)))
}
