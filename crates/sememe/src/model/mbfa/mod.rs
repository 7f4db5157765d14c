//! Multiple-battery factor analysis: any number of views of any dimensions, fitted to tuples that may have missing
//! views.

mod em;
mod gauge;
mod objective;
mod posterior;
mod problem;
mod quasi_newton;
mod solver;
mod start;

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::em::Parameters;
use self::problem::Problem;
use self::solver::Maximum;
pub use self::solver::Trace;
use super::latent_size::free_loadings;
use super::{FitWarning, LatentSize, Method, Model};
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Mat};
use crate::moments::Moments;
use crate::names::setters;
use crate::observe::Observer;

/// Noise below this fraction of a direction's variance counts as a Heywood case.
const HEYWOOD: f64 = 1e-4;

/// The latent size is first reduced by its maximum divided by this.
const SHORTENING: usize = 8;

/// Options of the MBFA iteration.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MbfaOptions {
    /// The initial parameters.
    pub start: Start,
    /// The optimiser.
    pub solver: Solver,
    /// Maximum number of likelihood evaluations.
    pub evaluations: usize,
    /// Convergence: the fit ends when the likelihood rises by less than this fraction three times in a row and the
    /// point is stationary ([`Trace::certificate`], or with missing views [`Trace::residual`], is below 1e-4).
    pub tolerance: f64,
}

impl Default for MbfaOptions {
    fn default() -> Self {
        MbfaOptions { start: Start::Informed, solver: Solver::Accelerated, evaluations: 1000, tolerance: 1e-8 }
    }
}

/// The initial parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Start {
    /// Browne's start for complete tuples, a chain of cross-covariances otherwise.
    Informed,
    /// Random loadings from a seed.
    Random(u64),
    /// Warm start from an earlier fit to the same views. Not serialised: it is data, not a setting.
    #[serde(skip)]
    Model(Arc<Model>),
}

/// The optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Solver {
    /// A few EM steps, then a quasi-Newton method.
    Accelerated,
    /// Plain EM.
    Em,
}

/// Fits the model to all tuples; any of their views may be missing.
pub fn fit(
    moments: &Moments,
    options: &super::FitOptions,
    observer: &dyn Observer,
) -> Result<(Model, Vec<FitWarning>)> {
    if moments.views().len() < 2 {
        return Err(Error::argument("number of views", moments.views().len(), "at least two are needed"));
    }
    check_connected(moments)?;
    let latent = options.latent.at_most(moments.views())?;
    let mut warnings = Vec::new();
    let problem = Problem::new(moments, options.shrinkage, &mut warnings)?;
    let start = match &options.mbfa.start {
        Start::Model(model) => problem.parameters_of(model, latent)?,
        Start::Random(seed) => start::random(&problem, latent, *seed)?,
        Start::Informed if problem.is_complete() => start::browne(&problem, latent)?,
        Start::Informed => start::chain(&problem, latent)?,
    };
    let Maximum { mut parameters, mut trace, is_stopped } = solver::maximize(&problem, start, &options.mbfa, observer)?;
    gauge::fix(&problem, &mut parameters)?;
    if let Start::Model(before) = &options.mbfa.start {
        trace.continue_from(before.trace.as_ref());
    }
    if options.latent == LatentSize::Auto && !is_stopped {
        (parameters, trace) = shorten(&problem, parameters, trace, &options.mbfa, observer)?;
    }
    warnings.extend(heywood_cases(&problem, &parameters)?);
    if problem.dims.len() >= 3 && problem.dims.contains(&parameters.w[0].ncols()) {
        warnings.push(FitWarning::FullLatent { latent: parameters.w[0].ncols() });
    }
    if !trace.converged {
        warnings.push(FitWarning::NotConverged { evaluations: trace.evaluations });
    }
    let mut model = model(&problem, &parameters, trace)?;
    // The likelihood of the unshrunk moments; the trace is that of the shrunk ones.
    model.log_likelihood = Some(model.log_likelihood_of(moments)?);
    Ok((model, warnings))
}

/// Reduces the latent size as long as the Bayesian information criterion falls. Each fit starts from the leading
/// directions of the one before.
fn shorten(
    problem: &Problem,
    longest: Parameters,
    trace: Trace,
    options: &MbfaOptions,
    observer: &dyn Observer,
) -> Result<(Parameters, Trace)> {
    let criterion = |latent: usize, trace: &Trace| {
        let value = trace.negative_log_likelihoods.last().copied().unwrap_or(f64::INFINITY);
        2.0 * value * problem.tuples + free_loadings(problem.dims.iter().copied(), latent) * problem.tuples.ln()
    };
    let mut latent = longest.w[0].ncols();
    let mut best = (criterion(latent, &trace), longest, trace);
    let mut step = latent.div_ceil(SHORTENING);
    while step > 0 {
        // A rejected step is halved.
        if latent <= step {
            step /= 2;
            continue;
        }
        let start = start::leading(problem, &best.1, latent - step)?;
        let Maximum { mut parameters, trace, is_stopped } = solver::maximize(problem, start, options, observer)?;
        if is_stopped {
            // The likelihood of an interrupted fit is not comparable.
            break;
        }
        let value = criterion(latent - step, &trace);
        if value < best.0 {
            gauge::fix(problem, &mut parameters)?;
            latent -= step;
            best = (value, parameters, trace);
        } else {
            step /= 2;
        }
    }
    Ok((best.1, best.2))
}

fn model(problem: &Problem, parameters: &Parameters, trace: Trace) -> Result<Model> {
    Ok(Model {
        method: Method::Mbfa,
        views: (0..problem.dims.len())
            .into_par_iter()
            .map(|view| problem.unwhiten(parameters, view))
            .collect::<Result<_>>()?,
        tuples: problem.tuples,
        log_likelihood: None,
        rho: Vec::new(),
        shrinkage: problem.shrinkage.clone(),
        trace: Some(trace),
        finishes: Vec::new(),
        spelling: None,
    })
}

fn heywood_cases(problem: &Problem, parameters: &Parameters) -> Result<Vec<FitWarning>> {
    let small = |psi: &Mat| Ok(Eigen::new(psi, "the noise")?.values.iter().filter(|&&value| value < HEYWOOD).count());
    let counts: Vec<usize> = parameters.psi.par_iter().map(small).collect::<Result<_>>()?;
    let cases = problem.names.iter().zip(counts).filter(|(_, count)| *count > 0);
    Ok(cases.map(|(view, count)| FitWarning::Heywood { view: view.clone(), count }).collect())
}

/// Checks that tuples connect every view with every other, directly or through other views.
fn check_connected(moments: &Moments) -> Result<()> {
    let views = moments.views();
    let mut component: Vec<usize> = (0..views.len()).collect();
    for pattern in moments.patterns().keys() {
        for &view in &pattern[1..] {
            let (from, to) = (component[view], component[pattern[0]]);
            component.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
        }
    }
    let mut groups: std::collections::BTreeMap<usize, Vec<&str>> = std::collections::BTreeMap::new();
    for (view, group) in component.iter().enumerate() {
        groups.entry(*group).or_default().push(&views[view].name);
    }
    if groups.len() > 1 {
        let groups: Vec<String> = groups.values().map(|names| format!("{{{}}}", names.join(", "))).collect();
        return Err(Error::NotEnoughData(format!("no lexicon connects the views {}", groups.join(" and "))));
    }
    Ok(())
}

setters!(MbfaOptions {
    /// Sets [`MbfaOptions::start`].
    with_start: start = Start,
    /// Sets [`MbfaOptions::solver`].
    with_solver: solver = Solver,
    /// Sets [`MbfaOptions::evaluations`].
    with_evaluations: evaluations = usize,
    /// Sets [`MbfaOptions::tolerance`].
    with_tolerance: tolerance = f64,
});
