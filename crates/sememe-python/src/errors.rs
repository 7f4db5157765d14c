//! Errors of the library as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyArithmeticError, PyOSError, PyValueError};
use pyo3::import_exception;
use sememe::Error;

import_exception!(sememe, NoBetterThanChanceError);

/// Parameters whose names in Python are not those of the library.
const PARAMETERS: [(&str, &str); 6] = [
    ("latent", "n_components"),
    ("max-words", "max_words"),
    ("monolingual weight", "monolingual"),
    ("normalize step", "normalize"),
    ("number of samples", "n_samples"),
    ("the least confidence", "min_confidence"),
];

/// The exception for an error of the library, with its message.
pub fn exception(error: Error) -> PyErr {
    let message = message(&error);
    match error {
        // Python chooses the kind of OSError, such as FileNotFoundError, by the number.
        Error::Read { path, source } | Error::Write { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, message, path.into_os_string())),
            None => PyOSError::new_err(message),
        },
        Error::NoBetterThanChance { .. } => NoBetterThanChanceError::new_err(message),
        Error::Numerical { .. } => PyArithmeticError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The message of an error with all its sources, in which parameters have their names in Python.
fn message(error: &Error) -> String {
    match error {
        Error::Read { source, .. } | Error::Write { source, .. } => format!("{error}: {source}"),
        Error::Within { place, source } => format!("{place}: {}", message(source)),
        Error::Argument { name, given, expected } => {
            let name = PARAMETERS.iter().find(|(known, _)| known == name).map_or(*name, |(_, python)| python);
            format!("{name} is {given}: {expected}")
        }
        // How a mapping names the views of a file of pairs.
        Error::Malformed { .. } => error.to_string().replace("(A-B=FILE)", "({('A', 'B'): FILE})"),
        Error::TooFewViews => "one view cannot be aligned with itself: give at least two".to_owned(),
        _ => error.to_string(),
    }
}

/// The exception for an invalid argument.
pub fn refused(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
