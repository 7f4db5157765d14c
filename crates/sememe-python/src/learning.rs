//! Fits with self-learning: pairs are induced from the vectors.

use pyo3::prelude::*;
use sememe::learn::{LearnOptions, Learned};

use crate::alignment::{Alignment, FitWarnings, new_fit};
use crate::data::Data;
use crate::errors::exception;
use crate::options::{Fitting, Gathering};
use crate::work::run;

/// Options of self-learning, from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Learning {
    unsupervised: bool,
    trust: String,
    seed: u64,
}

/// Runs self-learning and fits; also returns a report as JSON.
#[pyfunction]
pub fn learn(
    py: Python<'_>,
    data: Data<'_>,
    gathering: Gathering,
    fitting: Fitting,
    learning: Learning,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Alignment, FitWarnings, String)> {
    let align = fitting.align_options()?.with_evidence(gathering.options()?);
    let (trust, is_unsupervised, seed) =
        (learning.trust.parse().map_err(exception)?, learning.unsupervised, learning.seed);
    let (views, tuples) = data.views(py)?;
    let Learned { fitted, report, .. } = run(py, progress, move |monitor| {
        sememe::learn::learn(
            views,
            &tuples,
            &LearnOptions::default()
                .with_align(align)
                .with_unsupervised(is_unsupervised)
                .with_trust(trust)
                .with_seed(seed),
            &**monitor,
        )
    })?;
    let report = serde_json::to_string(&report.named(&fitted.prepared)).expect("a report is plain data");
    let (alignment, warnings) = new_fit(fitted.alignment, &fitted.warnings);
    Ok((alignment, warnings, report))
}
