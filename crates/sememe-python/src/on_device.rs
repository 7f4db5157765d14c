//! Arrays that another library keeps on a GPU.

use std::ffi::c_void;
use std::str::FromStr;

use numpy::PyArray2;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_IsValid};
use pyo3::prelude::*;
use sememe::retrieve::{self, Criterion};

use crate::arrays::array_of;
use crate::errors::exception;
use crate::retrieve::{Found, check_count, found};
use crate::work::run;

/// The beginning of what a capsule of DLPack has: a tensor.
#[repr(C)]
struct Tensor {
    data: *const c_void,
    device_type: i32,
    device: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    offset: u64,
}

/// DLPack's code of floating-point numbers.
const FLOAT: u8 = 2;

/// The address of the tensor of a capsule, its shape, and whether it is of float32, row after row. The capsule keeps the memory
/// until it is dropped.
#[pyfunction]
pub fn dlpack_tensor(capsule: &Bound<'_, PyAny>) -> PyResult<(u64, Vec<i64>, bool)> {
    let name = c"dltensor".as_ptr();
    // SAFETY: the object is alive. A capsule of this name has a tensor at its beginning, as DLPack defines it.
    let tensor = unsafe {
        if PyCapsule_IsValid(capsule.as_ptr(), name) == 0 {
            return Err(PyTypeError::new_err("it is no capsule of DLPack that was not taken yet"));
        }
        &*PyCapsule_GetPointer(capsule.as_ptr(), name).cast::<Tensor>()
    };
    let count = usize::try_from(tensor.dimensions).unwrap_or(0);
    let numbers = |start: *const i64| match start.is_null() {
        true => None,
        // SAFETY: a tensor has so many numbers of each kind, if it has any.
        false => Some(unsafe { std::slice::from_raw_parts(start, count) }.to_vec()),
    };
    let shape = numbers(tensor.shape).unwrap_or_default();
    let mut dense = 1;
    let is_dense = numbers(tensor.strides).is_none_or(|strides| {
        shape.iter().zip(&strides).rev().all(|(&len, &stride)| {
            let is_dense = stride == dense || len <= 1;
            dense *= len;
            is_dense
        })
    });
    let is_float = (tensor.code, tensor.bits, tensor.lanes) == (FLOAT, 32, 1);
    Ok((tensor.data as u64 + tensor.offset, shape, is_float && is_dense))
}

/// Rows on a GPU, copied there.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct DeviceRows(retrieve::DeviceRows);

#[pymethods]
impl DeviceRows {
    /// Copies rows from an address of a GPU, whose number is looked up if it is not given.
    #[staticmethod]
    #[pyo3(signature = (address, shape, gpu))]
    fn copy_of(address: u64, shape: (usize, usize), gpu: Option<usize>) -> PyResult<Self> {
        // SAFETY: the Python side has this from an interface that promises so.
        Ok(DeviceRows(unsafe { retrieve::DeviceRows::copy_of(address, shape, gpu) }.map_err(exception)?))
    }

    /// The rows in the memory of the computer.
    fn to_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(array_of(py, self.0.to_matrix().map_err(exception)?))
    }

    /// The exact `k` nearest rows, and the number of zero targets; None where the GPU does not find all of them.
    #[staticmethod]
    fn neighbors<'py>(
        py: Python<'py>,
        queries: Py<DeviceRows>,
        targets: Py<DeviceRows>,
        k: usize,
        criterion: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<(Found<'py>, usize)>> {
        let criterion = Criterion::from_str(criterion).map_err(exception)?;
        check_count(k, targets.get().0.rows())?;
        let hits =
            run(py, progress, move |monitor| targets.get().0.nearest(&queries.get().0, k, criterion, &**monitor))?;
        Ok(hits.map(|(hits, zeros)| (found(py, &hits, k), zeros)))
    }
}
