//! Moments, which models are fitted to and which can be merged.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sememe::files::Input;
use sememe::moments;

use crate::arrays::{array_of_f64, vector};
use crate::data::Data;
use crate::errors::exception;
use crate::options::Gathering;
use crate::work::{briefly, run};

/// Moments with the preparation of their vectors and their sources.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Evidence(pub moments::Evidence);

/// Indices of views; count, mean and scatter matrix of the tuples that have exactly these views.
type Pattern<'py> = (Vec<usize>, f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl Evidence {
    #[staticmethod]
    fn gather(py: Python<'_>, data: Data<'_>, gathering: Gathering) -> PyResult<Self> {
        let options = gathering.options()?;
        let (views, tuples) = data.views(py)?;
        run(py, None, move |_| moments::Evidence::gather(views, &tuples, &options))
            .map(|(evidence, _)| Evidence(evidence))
    }

    /// Merges moments.
    #[staticmethod]
    fn merged(py: Python<'_>, parts: Vec<PyRef<'_, Evidence>>) -> PyResult<Self> {
        let parts: Vec<moments::Evidence> = parts.iter().map(|part| part.0.clone()).collect();
        briefly(py, || moments::Evidence::merged(parts))?.map(Evidence).map_err(exception)
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        let read = || moments::Evidence::read_input(&Input::from_bytes("moments", bytes)?);
        briefly(py, read)?.map(Evidence).map_err(exception)
    }

    fn write(&self, path: PathBuf) -> PyResult<()> {
        self.0.write(&path).map_err(exception)
    }

    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        briefly(py, || moments::Evidence::read(&path))?.map(Evidence).map_err(exception)
    }

    #[getter]
    fn views(&self) -> Vec<(&str, usize)> {
        self.0.moments.views().iter().map(|view| (view.name.as_str(), view.dim)).collect()
    }

    #[getter]
    fn count(&self) -> f64 {
        self.0.moments.count()
    }

    #[getter]
    fn steps(&self) -> Vec<String> {
        self.0.preparation.steps.iter().map(ToString::to_string).collect()
    }

    fn patterns<'py>(&self, py: Python<'py>) -> Vec<Pattern<'py>> {
        let patterns = self.0.moments.patterns().iter();
        let pattern = |(views, moments): (&Vec<usize>, &sememe::moments::PatternMoments)| {
            (views.clone(), moments.n, vector(py, moments.mean.clone()), array_of_f64(py, &moments.scatter))
        };
        patterns.map(pattern).collect()
    }
}
