//! From a start to a maximum: EM steps, accelerated by Anderson's method (Walker & Ni 2011; Henderson & Varadhan 2019).
//!
//! EM is a map `g` whose fixed points are sought. Anderson's method takes the combination of the last few points whose
//! residuals `g(x) - x` cancel best, and goes to the same combination of their images. The result is kept only if it is a
//! model and its likelihood is not lower; otherwise the plain EM step is taken, which never lowers it.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::em::{Parameters, step};
use super::problem::Problem;
use super::{Options, Solver};
use crate::error::Result;
use crate::linalg::{Cholesky, Mat, dot};

/// How many former steps are combined.
const MEMORY: usize = 10;
/// Keeps the combination bounded when residuals are almost dependent.
const REGULARIZATION: f64 = 1e-10;
/// Coordinates that one thread handles at a time.
const CHUNK: usize = 1 << 14;
/// Likelihoods are the same within rounding.
const ROUNDING: f64 = 1e-12;

/// How the fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Negative log-likelihood per tuple, in nats, of every accepted point.
    pub negative_log_likelihoods: Vec<f64>,
    /// How many likelihoods were computed in all.
    pub evaluations: usize,
    /// Whether the fit stopped by itself rather than at the limit or by interruption.
    pub converged: bool,
    /// `max |Sigma_ii - S_ii|` in whitened coordinates, which vanishes at the maximum; for complete data only.
    pub certificate: Option<f64>,
}

impl Trace {
    /// Puts what an earlier fit did before this one, which began where that ended.
    pub(super) fn continue_from(&mut self, before: Option<&Trace>) {
        if let Some(before) = before {
            self.negative_log_likelihoods.splice(..1, before.negative_log_likelihoods.iter().copied());
            self.evaluations += before.evaluations;
        }
    }
}

/// Told of every accepted step; can stop the fit, which then returns the best point so far.
pub trait Observer: Send + Sync {
    /// `evaluations` likelihoods were computed; the latest negative log-likelihood per tuple is given.
    fn accepted(&self, evaluations: usize, negative_log_likelihood: f64) -> ControlFlow<()>;
}

/// Watches nothing.
impl Observer for () {
    fn accepted(&self, _evaluations: usize, _negative_log_likelihood: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A point, its image under EM, and its negative log-likelihood.
struct Point {
    at: Vec<f64>,
    image: Vec<f64>,
    value: f64,
}

pub(super) fn maximize(problem: &Problem, start: Parameters, options: &Options) -> Result<(Parameters, Trace)> {
    let template = start.clone();
    let evaluate = |at: Vec<f64>| -> Result<Point> {
        let (image, value) = step(problem, &unpack(&template, &at))?;
        Ok(Point { image: pack(&image), at, value })
    };
    let per_tuple = |value: f64| (value + problem.log_determinant()) / problem.tuples;

    let mut now = evaluate(pack(&start))?;
    let mut trace = Trace {
        negative_log_likelihoods: vec![per_tuple(now.value)],
        evaluations: 1,
        converged: false,
        certificate: None,
    };
    let mut history = History::default();
    let mut quiet = 0;
    while trace.evaluations < options.evaluations {
        let extrapolated = match options.solver {
            Solver::Accelerated => history.extrapolate(&now),
            Solver::Em => None,
        };
        // What is no model (a noise covariance that is not positive definite) fails its factorisation.
        let improved = extrapolated.and_then(|at| {
            trace.evaluations += 1;
            evaluate(at).ok().filter(|next| next.value <= now.value + ROUNDING * now.value.abs())
        });
        let next = match improved {
            Some(next) => next,
            None => {
                history.forget();
                trace.evaluations += 1;
                evaluate(now.image.clone())?
            }
        };
        let gain = (now.value - next.value) / now.value.abs().max(1.0);
        now = next;
        trace.negative_log_likelihoods.push(per_tuple(now.value));
        if options.observer.accepted(trace.evaluations, per_tuple(now.value)).is_break() {
            break;
        }
        // One small step may be an accident, several in a row are not.
        quiet = if gain < options.tolerance { quiet + 1 } else { 0 };
        if quiet >= 3 {
            trace.converged = true;
            break;
        }
    }
    let found = unpack(&template, &now.at);
    trace.certificate = problem.is_complete().then(|| found.distance_from_white());
    Ok((found, trace))
}

/// Differences of the residuals and images of the last points, and the inner products of the former.
#[derive(Default)]
struct History {
    last: Option<(Vec<f64>, Vec<f64>)>,
    residuals: Vec<Vec<f64>>,
    images: Vec<Vec<f64>>,
    /// Row `i` holds the products of residual `i` with itself and those before it.
    products: Vec<Vec<f64>>,
}

impl History {
    /// Takes the point in and returns where to go from it; nothing while there is only one point.
    fn extrapolate(&mut self, now: &Point) -> Option<Vec<f64>> {
        let residual = difference(&now.image, &now.at);
        if let Some((last_residual, last_image)) = self.last.take() {
            if self.residuals.len() == MEMORY {
                self.residuals.remove(0);
                self.images.remove(0);
                self.products.remove(0);
                for row in &mut self.products {
                    row.remove(0);
                }
            }
            self.residuals.push(difference(&residual, &last_residual));
            self.images.push(difference(&now.image, &last_image));
            self.products.push(products(&self.residuals, self.residuals.last()?));
        }
        let weights = self.weights(&residual);
        self.last = Some((residual, now.image.clone()));
        let weights = weights?;
        let mut at = now.image.clone();
        at.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, at)| {
            for (image, weight) in self.images.iter().zip(&weights) {
                at.iter_mut().zip(&image[chunk * CHUNK..]).for_each(|(at, image)| *at -= weight * image);
            }
        });
        Some(at)
    }

    /// The combination of former differences that cancels the residual best.
    fn weights(&self, residual: &[f64]) -> Option<Vec<f64>> {
        let m = self.residuals.len();
        let scale: f64 = (0..m).map(|i| self.products[i][i]).sum();
        let gram = Mat::from_fn(m, m, |i, j| {
            self.products[i.max(j)][i.min(j)] + if i == j { REGULARIZATION * scale } else { 0.0 }
        });
        let right = products(&self.residuals, residual);
        let right = Mat::from_fn(m, 1, |i, _| right[i]);
        let weights = (m > 0).then(|| Cholesky::new(&gram, "the residuals"))?.ok()?.solve(&right);
        Some((0..m).map(|i| weights[(i, 0)]).collect())
    }

    fn forget(&mut self) {
        self.residuals.clear();
        self.images.clear();
        self.products.clear();
    }
}

fn products(vectors: &[Vec<f64>], other: &[f64]) -> Vec<f64> {
    vectors.par_iter().map(|vector| dot(vector, other)).collect()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// All parameters in one vector.
fn pack(parameters: &Parameters) -> Vec<f64> {
    let matrices = parameters.w.iter().chain(&parameters.psi);
    let mut packed: Vec<f64> = matrices.flat_map(|m| m.col_iter()).flat_map(|col| col.iter().copied()).collect();
    packed.extend(parameters.mu.iter().flatten());
    packed
}

fn unpack(template: &Parameters, packed: &[f64]) -> Parameters {
    let mut rest = packed.iter().copied();
    let mut matrix = |like: &Mat| {
        let mut matrix = Mat::zeros(like.nrows(), like.ncols());
        for j in 0..like.ncols() {
            matrix.col_mut(j).iter_mut().zip(&mut rest).for_each(|(entry, value)| *entry = value);
        }
        matrix
    };
    let w = template.w.iter().map(&mut matrix).collect();
    let psi = template.psi.iter().map(&mut matrix).collect();
    let mu = template.mu.iter().map(|mu| rest.by_ref().take(mu.len()).collect()).collect();
    Parameters { w, psi, mu }
}
