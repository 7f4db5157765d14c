//! Errors of the library as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyArithmeticError, PyOSError, PyValueError};
use pyo3::import_exception;
use sememe::Error;

import_exception!(sememe, NoBetterThanChanceError);

/// The exception for an error of the library, with its message.
pub fn exception(error: Error) -> PyErr {
    match &error {
        // Python chooses the kind of OSError, such as FileNotFoundError, by the number.
        Error::Read { path, source } | Error::Write { path, source } => {
            let message = format!("{error}: {source}");
            match source.raw_os_error() {
                Some(number) => PyOSError::new_err((number, message, path.clone().into_os_string())),
                None => PyOSError::new_err(message),
            }
        }
        Error::Within { place, source } => PyValueError::new_err(format!("{place}: {source}")),
        Error::NoBetterThanChance { .. } => NoBetterThanChanceError::new_err(error.to_string()),
        Error::Numerical { .. } => PyArithmeticError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The exception for an invalid argument.
pub fn refused(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
