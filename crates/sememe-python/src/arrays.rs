//! Numbers between numpy and the library, without copies where there is a choice.

use std::sync::Arc;

use numpy::ndarray::{Array2, ArrayView2};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rayon::prelude::*;
use sememe::linalg::Mat;
use sememe::vectors::{MAX_DIMENSION, Matrix};

use crate::errors::refused;
use crate::work::briefly;

/// The memory of an array that Python keeps.
struct Borrowed {
    _array: Py<PyArray2<f32>>,
    start: *const f32,
    len: usize,
}

// SAFETY: the memory belongs to the array, which is kept alive and can be dropped from any thread; it is only read here.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl AsRef<[f32]> for Borrowed {
    fn as_ref(&self) -> &[f32] {
        // SAFETY: an array that others refer to cannot be resized, and it was found contiguous and aligned. As with numpy's
        // own functions, whoever writes to it from another thread meanwhile gets numbers of both kinds.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// Rows of an array, without a copy. `what` names it in errors.
fn borrow_rows(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
    let array = array
        .cast::<PyArray2<f32>>()
        .map_err(|_| PyTypeError::new_err(format!("{what} must be a two-dimensional array of float32")))?;
    let [rows, cols] = [array.shape()[0], array.shape()[1]];
    if !(1..=MAX_DIMENSION).contains(&cols) {
        return Err(refused(format!("{what} has {cols} columns; there must be 1 to {MAX_DIMENSION}")));
    }
    if !array.is_c_contiguous() || !array.data().is_aligned() {
        return Err(refused(format!("{what} must be contiguous, row after row")));
    }
    if rows == 0 {
        // The memory of an empty array may be anywhere.
        return Ok(Matrix::new(Vec::new(), cols));
    }
    let borrowed = Borrowed { start: array.data().cast_const(), len: rows * cols, _array: array.clone().unbind() };
    Ok(Matrix::borrowed(Arc::new(borrowed), cols))
}

/// [`borrow_rows`] of which there must be at least one.
pub fn some_rows(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
    let matrix = borrow_rows(array, what)?;
    match matrix.rows() {
        0 => Err(refused(format!("{what} has no rows"))),
        _ => Ok(matrix),
    }
}

/// [`some_rows`] that are all finite.
pub fn finite_rows(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
    let matrix = some_rows(array, what)?;
    let is_finite = |row: &[f32]| row.iter().all(|x| x.is_finite());
    match briefly(array.py(), || matrix.as_slice().par_chunks(matrix.cols()).position_first(|row| !is_finite(row)))? {
        None => Ok(matrix),
        Some(row) => Err(refused(format!("{what} is not finite in row {row}; remove the row, or repair it"))),
    }
}

/// Which rows there are: those of NaN alone are holes.
pub fn observed_rows(array: &Bound<'_, PyAny>, what: &str) -> PyResult<(Matrix, Vec<bool>)> {
    let matrix = borrow_rows(array, what)?;
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

/// Rows as an array of their own.
pub fn array_of(py: Python<'_>, matrix: Matrix) -> Bound<'_, PyArray2<f32>> {
    let shape = (matrix.rows(), matrix.cols());
    table(py, matrix.into_vec(), shape)
}

/// Rows where they lie, in memory that `owner` keeps; they cannot be written to.
pub fn view_of<'py>(matrix: &Matrix, owner: Bound<'py, PyAny>) -> Bound<'py, PyArray2<f32>> {
    let view = ArrayView2::from_shape((matrix.rows(), matrix.cols()), matrix.as_slice());
    let view = view.expect("a matrix is rows times columns");
    // SAFETY: the owner keeps the matrix, which never changes.
    let array = unsafe { PyArray2::borrow_from_array(&view, owner) };
    array.readwrite().make_nonwriteable();
    array
}

/// A table in memory of its own.
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
