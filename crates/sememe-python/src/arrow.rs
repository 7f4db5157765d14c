//! The Arrow C stream interface (`__arrow_c_stream__`), by which tables of other packages come in and go out.
//!
//! Nothing but the interface is needed of the other package. Arrow's arrays are immutable by agreement, so vectors are
//! borrowed where their layout allows.

use std::ffi::CStr;
use std::path::Path;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ArrowError;
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sememe::vectors::{self, Matrix, ReadOptions};

use crate::arrays::view_of;
use crate::errors::refused;
use crate::work::run;

const STREAM: &CStr = c"arrow_array_stream";
/// What a table is called in errors.
const TABLE: &str = "the table";

/// Rows of an Arrow table, kept alive for arrays over them.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct ArrowRows(Matrix);

/// All record batches of an object with `__arrow_c_stream__`.
pub fn batches(table: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream, from which it is taken.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
    let failed = |error: ArrowError| refused(format!("{TABLE} cannot be read: {error}"));
    reader.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
}

/// A capsule with one record batch.
pub fn stream(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// The words and vectors of a table.
pub fn read(py: Python<'_>, table: &Bound<'_, PyAny>, options: ReadOptions) -> PyResult<vectors::Read> {
    let batches = batches(table)?;
    run(py, None, move |_| vectors::read_batches(Path::new(TABLE), &batches, &options))
}

/// The vectors of a table as an array; None if no column has any, as in a table of numbers. If nulls are holes, they are
/// rows of NaN.
#[pyfunction]
pub fn arrow_rows<'py>(table: &Bound<'py, PyAny>, holes: bool) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
    let (py, batches) = (table.py(), batches(table)?);
    if !batches.iter().take(1).any(vectors::has_vectors) {
        return Ok(None);
    }
    let read = move || vectors::read_batch_rows(Path::new(TABLE), &batches, &ReadOptions::default(), holes);
    let rows = run(py, None, move |_| read())?;
    let owner = Bound::new(py, ArrowRows(rows))?;
    Ok(Some(view_of(&owner.get().0, owner.clone().into_any())))
}
