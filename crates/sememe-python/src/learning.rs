//! Fits to pairs that are learned from the vectors.

use pyo3::prelude::*;
use sememe::align;
use sememe::learn::{Learned, Options};

use crate::alignment::{Alignment, new_fit};
use crate::errors::exception;
use crate::lexicon::{NamedViews, Tuples};
use crate::options::{Fitting, Gathering};
use crate::work::run;

/// How to learn, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Learning {
    unsupervised: bool,
    trust: String,
    seed: u64,
}

/// Learns which words belong together, and fits; also how it went, as JSON.
#[pyfunction]
pub fn learn(
    py: Python<'_>,
    views: NamedViews<'_>,
    tuples: &Bound<'_, Tuples>,
    gathering: Gathering,
    fitting: Fitting,
    learning: Learning,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Alignment, Vec<String>, String)> {
    let (evidence, mut fit) = (gathering.options()?, fitting.options()?);
    let (trust, is_unsupervised, seed) =
        (learning.trust.parse().map_err(exception)?, learning.unsupervised, learning.seed);
    let views = views.into_iter().map(|(name, embeddings)| (name, embeddings.0.clone())).collect();
    let tuples = tuples.get().0.clone();
    let Learned { fitted, report } = run(py, progress, move |monitor| {
        fit.mbfa.observer = monitor.clone();
        let align = align::Options { evidence, fit, resume: None };
        sememe::learn::learn(views, &tuples, &Options { align, is_unsupervised, trust, seed }, &**monitor)
    })?;
    let report = report.describe(&fitted.prepared).to_string();
    let (alignment, warnings) = new_fit(fitted.alignment, &fitted.warnings);
    Ok((alignment, warnings, report))
}
