//! Where large searches run.

use pyo3::prelude::*;
use sememe::device;

use crate::errors::exception;

/// Chooses where large searches run: auto, cpu, cuda, or cuda:N.
#[pyfunction]
pub fn set_device(device: &str) -> PyResult<()> {
    device.parse().and_then(device::choose).map_err(exception)
}

/// Where large searches run.
#[pyfunction]
pub fn device_name() -> PyResult<String> {
    Ok(device::current().map_err(exception)?.to_string())
}

/// The GPUs of this machine as JSON, and why there are none.
#[pyfunction]
pub fn devices() -> PyResult<(String, Option<String>)> {
    let (gpus, missing) = device::gpus().map_or_else(|reason| (Vec::new(), Some(reason)), |gpus| (gpus, None));
    Ok((serde_json::to_string(&gpus).expect("plain data"), missing))
}
