//! Options of gathering and fitting, from one Python dictionary each. Missing keys mean the library's defaults.

use std::collections::HashMap;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use sememe::align::AlignOptions;
use sememe::evaluate::{DEPTH, MAX_SENTENCES, SIF_A, SentenceOptions};
use sememe::model::FitOptions;
use sememe::model::mbfa::{Solver, Start};
use sememe::moments;
use sememe::prepare::Casing;

use crate::errors::{exception, refused};

/// The preparation of words and vectors.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Gathering {
    lower: bool,
    normalize: Vec<String>,
    monolingual: Option<f64>,
}

impl Gathering {
    pub fn options(&self) -> PyResult<moments::EvidenceOptions> {
        let steps = self.normalize.iter().map(|step| step.parse());
        Ok(moments::EvidenceOptions::default()
            .with_casing(if self.lower { Casing::Lower } else { Casing::Kept })
            .with_normalize(steps.collect::<Result<_, _>>().map_err(exception)?)
            .with_monolingual(self.monolingual))
    }
}

/// How a model is fitted.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Fitting {
    method: Option<String>,
    #[pyo3(default)]
    latent: Option<String>,
    #[pyo3(default)]
    shrinkage: Option<String>,
    #[pyo3(default)]
    finish: Option<String>,
    #[pyo3(default)]
    spelling: Option<String>,
    #[pyo3(default)]
    exponent: Option<String>,
    /// The criterion whose parameter is chosen.
    #[pyo3(default)]
    criterion: Option<String>,
    #[pyo3(default)]
    dewhiten: Option<bool>,
    #[pyo3(default)]
    ridge: Option<f64>,
    #[pyo3(default)]
    pivot: Option<String>,
    /// Start from random loadings with this seed.
    #[pyo3(default)]
    random: Option<u64>,
    #[pyo3(default)]
    solver: Option<String>,
    #[pyo3(default)]
    iterations: Option<usize>,
    #[pyo3(default)]
    tolerance: Option<f64>,
}

impl Fitting {
    /// Options of an alignment with these of its fit.
    pub fn align_options(&self) -> PyResult<AlignOptions> {
        let criterion = self.criterion.as_deref().map(str::parse).transpose().map_err(exception)?;
        Ok(AlignOptions::default().with_fit(self.options()?).with_criterion(criterion))
    }

    /// The options of the library.
    pub fn options(&self) -> PyResult<FitOptions> {
        let mut options = FitOptions::default()
            .with_method(self.method.as_deref().map(str::parse).transpose().map_err(exception)?)
            .with_pivot(self.pivot.clone());
        if let Some(latent) = &self.latent {
            options.latent = latent.parse().map_err(exception)?;
        }
        if let Some(shrinkage) = &self.shrinkage {
            options.shrinkage = shrinkage.parse().map_err(exception)?;
        }
        if let Some(finish) = &self.finish {
            options.finish = finish.parse().map_err(exception)?;
        }
        if let Some(spelling) = &self.spelling {
            options.spelling = spelling.parse().map_err(exception)?;
        }
        if let Some(exponent) = &self.exponent {
            options.exponent = exponent.parse().map_err(exception)?;
        }
        options.dewhiten = self.dewhiten.unwrap_or(options.dewhiten);
        options.ridge = self.ridge.unwrap_or(options.ridge);
        if let Some(seed) = self.random {
            options.mbfa.start = Start::Random(seed);
        }
        if let Some(solver) = &self.solver {
            options.mbfa.solver = match SOLVERS.iter().find(|(name, _)| name == solver) {
                Some((_, solver)) => *solver,
                None => {
                    return Err(refused(format!("solver is {solver:?}: it must be \"accelerated\" or \"em\"")));
                }
            };
        }
        options.mbfa.evaluations = self.iterations.unwrap_or(options.mbfa.evaluations);
        if let Some(tolerance) = self.tolerance {
            if !(0.0..1.0).contains(&tolerance) {
                return Err(refused(format!("tol is {tolerance}: it must be a number from 0 to 1")));
            }
            options.mbfa.tolerance = tolerance;
        }
        Ok(options)
    }
}

const SOLVERS: [(&str, Solver); 2] = [("accelerated", Solver::Accelerated), ("em", Solver::Em)];

/// The library's defaults for arguments of Python: of preparation, of a fit, of adding a view (`extend_`), of evaluations.
#[pyfunction]
pub fn defaults(py: Python<'_>) -> PyResult<HashMap<&'static str, Py<PyAny>>> {
    let fit = FitOptions::default();
    let extend = FitOptions::for_new_view();
    let steps = moments::EvidenceOptions::usual().normalize;
    let normalize = (!steps.is_empty()).then(|| steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    let solver = SOLVERS.iter().find(|(_, solver)| *solver == fit.mbfa.solver).map_or("", |(name, _)| name);
    Ok(HashMap::from([
        ("normalize", normalize.into_py_any(py)?),
        ("shrinkage", fit.shrinkage.to_string().into_py_any(py)?),
        ("finish", fit.finish.to_string().into_py_any(py)?),
        ("spelling", fit.spelling.to_string().into_py_any(py)?),
        ("dewhiten", fit.dewhiten.into_py_any(py)?),
        ("ridge", fit.ridge.into_py_any(py)?),
        ("solver", solver.into_py_any(py)?),
        ("max_iter", fit.mbfa.evaluations.into_py_any(py)?),
        ("tol", fit.mbfa.tolerance.into_py_any(py)?),
        ("extend_shrinkage", extend.shrinkage.to_string().into_py_any(py)?),
        ("extend_finish", extend.finish.to_string().into_py_any(py)?),
        ("extend_max_iter", extend.mbfa.evaluations.into_py_any(py)?),
        ("extend_tol", extend.mbfa.tolerance.into_py_any(py)?),
        ("sif_a", SIF_A.into_py_any(py)?),
        ("ranks", DEPTH.into_py_any(py)?),
        ("queries", SentenceOptions::default().queries.into_py_any(py)?),
        ("max_sentences", MAX_SENTENCES.into_py_any(py)?),
    ]))
}
