//! The optimiser: a few EM steps, then limited-memory BFGS; or EM alone.
//!
//! Every accepted step raises the likelihood: EM always does, and BFGS uses a backtracking line search. The fit has
//! converged when the likelihood hardly rises any more and the point is stationary.

use serde::{Deserialize, Serialize};

use super::em::{Parameters, step};
use super::objective::Objective;
use super::problem::Problem;
use super::quasi_newton::History;
use super::{MbfaOptions, Solver};
use crate::error::Result;
use crate::observe::{Event, Observer};

/// EM steps before BFGS. EM is good far from a maximum, and BFGS needs a sensible start.
const WARM_UP: usize = 5;
/// Patience: this many small rises in a row are checked for convergence, as one may be an accident.
const PATIENCE: usize = 3;
/// Tolerance of the stationarity conditions: the largest entry in whitened coordinates.
const STATIONARY: f64 = 1e-4;
/// Armijo condition: a step must achieve this fraction of the decrease that the initial slope predicts.
const SUFFICIENT: f64 = 1e-4;
/// Maximum number of backtracking steps.
const SHORTER_STEPS: usize = 10;

/// The convergence of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trace {
    /// Negative log-likelihood per tuple of the shrunk moments, in nats, of every accepted point.
    pub negative_log_likelihoods: Vec<f64>,
    /// Likelihood evaluations in total.
    pub evaluations: usize,
    /// Whether the fit converged, rather than reaching the limit or being stopped.
    pub converged: bool,
    /// The fraction by which the last step raised the likelihood, if there was one.
    pub rise: Option<f64>,
    /// `max |Sigma_ii - S_ii|` in whitened coordinates, which is zero at the maximum; for complete data only.
    pub certificate: Option<f64>,
    /// The largest change of any entry of the noise `Psi_i` by one more EM step, in whitened coordinates. It is zero at
    /// the maximum, also with missing views.
    pub residual: f64,
}

impl Trace {
    /// Prepends the trace of the earlier fit that this one resumed.
    pub(super) fn continue_from(&mut self, before: Option<&Trace>) {
        if let Some(before) = before {
            self.negative_log_likelihoods.splice(..1, before.negative_log_likelihoods.iter().copied());
            self.evaluations += before.evaluations;
        }
    }
}

/// The result of the optimiser.
pub(super) struct Maximum {
    pub(super) parameters: Parameters,
    pub(super) trace: Trace,
    /// The observer has stopped the fit.
    pub(super) is_stopped: bool,
}

pub(super) fn maximize(
    problem: &Problem,
    start: Parameters,
    options: &MbfaOptions,
    observer: &dyn Observer,
) -> Result<Maximum> {
    let mut watch = Watch::new(problem, options, observer);
    let em_steps = match options.solver {
        Solver::Accelerated => WARM_UP,
        Solver::Em => usize::MAX,
    };
    let mut found = expectation_maximization(problem, start, em_steps, &mut watch)?;
    if !watch.ended {
        found = quasi_newton(problem, found, &mut watch)?;
    }
    if !watch.trace.converged {
        watch.measure(&found)?;
    }
    Ok(Maximum { parameters: found, trace: watch.trace, is_stopped: watch.is_stopped })
}

/// The trace so far, and whether the fit has ended.
struct Watch<'a> {
    problem: &'a Problem,
    options: &'a MbfaOptions,
    observer: &'a dyn Observer,
    trace: Trace,
    quiet: usize,
    ended: bool,
    is_stopped: bool,
}

impl<'a> Watch<'a> {
    fn new(problem: &'a Problem, options: &'a MbfaOptions, observer: &'a dyn Observer) -> Self {
        let trace = Trace {
            negative_log_likelihoods: Vec::new(),
            evaluations: 0,
            converged: false,
            rise: None,
            certificate: None,
            residual: f64::INFINITY,
        };
        Watch { problem, options, observer, trace, quiet: 0, ended: false, is_stopped: false }
    }

    fn may_evaluate(&self) -> bool {
        self.trace.evaluations < self.options.evaluations
    }

    /// Records an accepted point. `parameters` is called only if it may be the last one.
    fn accept(&mut self, value: f64, parameters: impl FnOnce() -> Parameters) -> Result<()> {
        if let Some(last) = self.trace.negative_log_likelihoods.last() {
            let rise = (last - value) / last.abs().max(1.0);
            self.trace.rise = Some(rise);
            self.quiet = if rise < self.options.tolerance { self.quiet + 1 } else { 0 };
        }
        self.trace.negative_log_likelihoods.push(value);
        let (evaluations, most) = (self.trace.evaluations, self.options.evaluations);
        let step = Event::Step { evaluations, most, negative_log_likelihood: value };
        self.is_stopped = self.observer.observe(step).is_break();
        if self.is_stopped || !self.may_evaluate() {
            self.ended = true;
        } else if self.quiet >= PATIENCE {
            self.quiet = 0;
            self.settle(&parameters())?;
        }
        Ok(())
    }

    /// Ends the fit if the point is stationary.
    fn settle(&mut self, parameters: &Parameters) -> Result<()> {
        self.measure(parameters)?;
        self.trace.converged = self.trace.certificate.unwrap_or(self.trace.residual) < STATIONARY;
        self.ended = self.trace.converged;
        Ok(())
    }

    /// Measures how far the point is from stationary.
    fn measure(&mut self, at: &Parameters) -> Result<()> {
        self.trace.certificate = self.problem.is_complete().then(|| at.distance_from_white());
        self.trace.residual = at.noise_change(&step(self.problem, at)?.0);
        Ok(())
    }
}

/// Takes at most `steps` EM steps.
fn expectation_maximization(
    problem: &Problem,
    start: Parameters,
    steps: usize,
    watch: &mut Watch<'_>,
) -> Result<Parameters> {
    let mut now = start;
    for _ in 0..steps {
        let (next, value) = step(problem, &now)?;
        watch.trace.evaluations += 1;
        watch.accept(value, || now.clone())?;
        if watch.ended {
            break;
        }
        now = next;
    }
    Ok(now)
}

fn quasi_newton(problem: &Problem, start: Parameters, watch: &mut Watch<'_>) -> Result<Parameters> {
    let (objective, mut point) = Objective::new(problem, &start)?;
    let (mut value, gradient) = objective.evaluate(&point)?;
    watch.trace.evaluations += 1;
    // Of very many views, what is not needed any more takes gigabytes.
    watch.accept(value, || start)?;
    let mut history = History::new(&gradient);
    drop(gradient);
    while !watch.ended {
        let mut direction = history.direction();
        if direction.slope >= 0.0 {
            // Rounding made it an ascent direction; steepest descent is not affected.
            history.forget();
            direction = history.direction();
        }
        let mut length = 1.0;
        let mut found = None;
        for _ in 0..SHORTER_STEPS {
            if !watch.may_evaluate() {
                break;
            }
            let at = direction.point_at(&point, length);
            watch.trace.evaluations += 1;
            // Noise that overflows counts as infinitely unlikely.
            let evaluated = objective.evaluate(&at).ok().filter(|(value, _)| value.is_finite());
            let (next, gradient) = evaluated.unwrap_or((f64::INFINITY, Vec::new()));
            if next <= value + SUFFICIENT * length * direction.slope {
                found = Some((at, next, gradient));
                break;
            }
            // Quadratic interpolation: the minimum of the parabola through both values and the slope.
            let excess = next - value - length * direction.slope;
            length *= (-0.5 * length * direction.slope / excess).clamp(0.1, 0.5);
        }
        match found {
            Some((at, next, gradient)) => {
                history.remember(&direction.by, length, &gradient);
                (point, value) = (at, next);
                watch.accept(value, || objective.parameters(&point))?;
            }
            None if !watch.may_evaluate() => break,
            None if !history.is_empty() => history.forget(),
            None => {
                // Not even steepest descent makes progress: only rounding error is left.
                watch.settle(&objective.parameters(&point))?;
                break;
            }
        }
    }
    Ok(objective.parameters(&point))
}
