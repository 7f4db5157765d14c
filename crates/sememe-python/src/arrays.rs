//! Conversion between numpy arrays and rows of the library.
//!
//! The library reads rows without the interpreter's lock. Rows are therefore borrowed only if nothing can change or free
//! them meanwhile: memory that nothing can write to ([`unchanging_owner`]), or that is locked for a call
//! ([`lend`](crate::lending::lend)). Everything else is copied first.

use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use numpy::ndarray::{Array2, ArrayView2};
use numpy::npyffi::NPY_ARRAY_WRITEABLE;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use rayon::prelude::*;
use sememe::linalg::Mat;
use sememe::vectors::{MAX_DIMENSION, Matrix};

use crate::arrow::ArrowRows;
use crate::embeddings::Embeddings;
use crate::errors::refused;
use crate::lending::Lent;
use crate::retrieve::Index;
use crate::work::briefly;

/// So many numbers are checked sooner than another thread wakes up.
const FEW_NUMBERS: usize = 1 << 14;

/// Rows in memory that `owner` keeps alive and unchanged.
struct Borrowed<T> {
    _owner: T,
    start: *const f32,
    len: usize,
}

// SAFETY: the memory is only read, and its owner can be dropped from any thread.
unsafe impl<T: Send> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T> AsRef<[f32]> for Borrowed<T> {
    fn as_ref(&self) -> &[f32] {
        // SAFETY: `borrowed_rows` was told that the owner keeps so many contiguous and aligned numbers from here unchanged.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// An array as the engine takes it. `what` names it in errors.
pub fn as_array<'py>(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let array = array
        .cast::<PyArray2<f32>>()
        .map_err(|_| PyTypeError::new_err(format!("{what} must be a two-dimensional array of float32")))?;
    let cols = array.shape()[1];
    if !(1..=MAX_DIMENSION).contains(&cols) {
        return Err(refused(format!("{what} has {cols} columns; there must be 1 to {MAX_DIMENSION}")));
    }
    if !array.is_c_contiguous() || !array.data().is_aligned() {
        return Err(refused(format!("{what} must be contiguous, row after row")));
    }
    Ok(array.clone())
}

/// The rows of an array: borrowed if they cannot change, copied otherwise. `what` names it in errors.
fn rows_of(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
    match array.cast::<Lent>() {
        Ok(lent) => Ok(lent.get().0.clone()),
        Err(_) => unchanging_or_copied(&as_array(array, what)?),
    }
}

/// Rows, borrowed if they cannot change, copied otherwise.
pub fn unchanging_or_copied(array: &Bound<'_, PyArray2<f32>>) -> PyResult<Matrix> {
    match unchanging_owner(array)? {
        // SAFETY: nothing can write to the memory that the owner keeps.
        Some(owner) if !array.is_empty() => Ok(unsafe { borrowed_rows(array, owner.unbind()) }),
        _ => copied_rows(array),
    }
}

/// Rows without a copy.
///
/// # Safety
/// The memory of the array must be neither written to nor freed until `owner` is dropped.
pub unsafe fn borrowed_rows<T: Send + Sync + 'static>(array: &Bound<'_, PyArray2<f32>>, owner: T) -> Matrix {
    let borrowed = Borrowed { start: array.data().cast_const(), len: array.len(), _owner: owner };
    Matrix::borrowed(Arc::new(borrowed), array.shape()[1])
}

fn copied_rows(array: &Bound<'_, PyArray2<f32>>) -> PyResult<Matrix> {
    let mut values = Vec::new();
    values.try_reserve_exact(array.len()).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    // SAFETY: the array is contiguous, and Python cannot free it while this thread holds the interpreter's lock. Bytes are
    // copied without a reference to them: if other code writes without the lock, old and new numbers mix, as in numpy's
    // copies.
    unsafe {
        ptr::copy_nonoverlapping(array.data().cast_const(), values.as_mut_ptr(), array.len());
        values.set_len(array.len());
    }
    Ok(Matrix::new(values, array.shape()[1]))
}

/// The object that keeps the memory of an array unchanged, if there is one. A read-only flag is not enough: numpy lets the
/// owner become writeable again, and resizes it. Memory of our own classes, of `bytes` and of files mapped for reading
/// never changes.
fn unchanging_owner<'py>(array: &Bound<'py, PyArray2<f32>>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut owner = array.as_any().clone();
    while let Some(array) = owner.cast::<PyUntypedArray>().ok().cloned() {
        let (base, flags) = base_and_flags(&array);
        if flags & NPY_ARRAY_WRITEABLE != 0 || base.is_null() {
            return Ok(None);
        }
        // SAFETY: an array keeps its base.
        owner = unsafe { Bound::from_borrowed_ptr(array.py(), base) };
    }
    if owner.is_instance_of::<Embeddings>()
        || owner.is_instance_of::<Index>()
        || owner.is_instance_of::<ArrowRows>()
        || owner.is_exact_instance_of::<PyBytes>()
    {
        return Ok(Some(owner));
    }
    if owner.get_type().fully_qualified_name()? == "mmap.mmap" {
        // A mapped file cannot be unmapped while a buffer of it is exported. numpy itself does not hold one.
        let memory = PyMemoryView::from(&owner)?.into_any();
        return Ok(memory.getattr("readonly")?.is_truthy()?.then_some(memory));
    }
    Ok(None)
}

/// The base of an array, null if it owns its memory, and numpy's flags.
pub fn base_and_flags(array: &Bound<'_, PyUntypedArray>) -> (*mut PyObject, c_int) {
    // SAFETY: it is an array, alive, and read with the interpreter's lock.
    let fields = unsafe { &(*array.as_array_ptr()).fields };
    (fields.base, fields.flags)
}

/// [`rows_of`], but an array without rows is an error.
pub fn some_rows(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
    let matrix = rows_of(array, what)?;
    match matrix.rows() {
        0 => Err(refused(format!("{what} has no rows"))),
        _ => Ok(matrix),
    }
}

/// [`some_rows`], but numbers that are not finite are an error.
pub fn finite_rows(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
    let matrix = some_rows(array, what)?;
    let is_wrong = |row: &[f32]| !row.iter().all(|x| x.is_finite());
    let wrong = if matrix.as_slice().len() <= FEW_NUMBERS {
        matrix.as_slice().chunks(matrix.cols()).position(is_wrong)
    } else {
        briefly(array.py(), || matrix.as_slice().par_chunks(matrix.cols()).position_first(is_wrong))?
    };
    match wrong {
        None => Ok(matrix),
        Some(row) => Err(refused(format!("{what} is not finite in row {row}; remove the row, or repair it"))),
    }
}

/// Which rows are present: rows of NaN alone are holes.
pub fn observed_rows(array: &Bound<'_, PyAny>, what: &str) -> PyResult<(Matrix, Vec<bool>)> {
    let matrix = rows_of(array, what)?;
    let is_hole = |row: &[f32]| row.iter().all(|x| x.is_nan());
    let is_sound = |row: &[f32]| row.iter().all(|x| x.is_finite()) || is_hole(row);
    let rows = || matrix.as_slice().par_chunks(matrix.cols());
    if let Some(row) = briefly(array.py(), || rows().position_first(|row| !is_sound(row)))? {
        let problem = "has NaN or infinity beside numbers; a row of NaN alone says that the view is missing there";
        return Err(refused(format!("row {row} of {what} {problem}")));
    }
    let is_observed = briefly(array.py(), || rows().map(|row| !is_hole(row)).collect())?;
    Ok((matrix, is_observed))
}

/// A matrix as a new array.
pub fn array_of(py: Python<'_>, matrix: Matrix) -> Bound<'_, PyArray2<f32>> {
    let shape = (matrix.rows(), matrix.cols());
    table(py, matrix.into_vec(), shape)
}

/// A read-only array over a matrix that `owner` keeps alive.
pub fn view_of<'py>(matrix: &Matrix, owner: Bound<'py, PyAny>) -> Bound<'py, PyArray2<f32>> {
    let view = ArrayView2::from_shape((matrix.rows(), matrix.cols()), matrix.as_slice());
    let view = view.expect("a matrix is rows times columns");
    // SAFETY: the owner keeps the matrix, which never changes.
    let array = unsafe { PyArray2::borrow_from_array(&view, owner) };
    array.readwrite().make_nonwriteable();
    array
}

/// A new two-dimensional array.
pub fn table<T: Element>(py: Python<'_>, values: Vec<T>, shape: (usize, usize)) -> Bound<'_, PyArray2<T>> {
    PyArray2::from_owned_array(py, Array2::from_shape_vec(shape, values).expect("values for all places"))
}

/// A matrix of f64 as an array.
pub fn array_of_f64<'py>(py: Python<'py>, matrix: &Mat) -> Bound<'py, PyArray2<f64>> {
    let (rows, cols) = (matrix.nrows(), matrix.ncols());
    table(py, (0..rows).flat_map(|i| (0..cols).map(move |j| matrix[(i, j)])).collect(), (rows, cols))
}

/// Numbers as an array.
pub fn vector<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}
