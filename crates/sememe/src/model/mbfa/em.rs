//! One step of expectation maximisation on patterns of observed views, and the likelihood of the point it starts from.
//!
//! For a pattern `O` with `n` tuples, `C` their second moment about `mu`, `Q = Psi⁻¹ W` and `A = I + Σ_{i∈O} W_iᵀ Q_i`:
//!
//! `M = A⁻¹`,  `B = M Qᵀ`,  `Σ x E[z]ᵀ = n C Bᵀ`,  `Σ E[z zᵀ] = n (M + B C Bᵀ)`,  `Σ E[z] = n B (mean - mu)`.
//!
//! Every view is then regressed on `[z; 1]` over the patterns that have it. The work depends on dimensions and patterns,
//! not on the number of tuples, and no matrix larger than one pattern is formed, let alone inverted.

use std::collections::HashMap;

use rayon::prelude::*;

use super::problem::{Pattern, Problem};
use crate::error::Result;
use crate::linalg::{
    Cholesky, Mat, add_outer, block, inner, symmetric, times, times_transpose, times_vector, transpose_times,
};

/// What is estimated, in the whitened coordinates of the problem.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub(super) w: Vec<Mat>,
    pub(super) psi: Vec<Mat>,
    pub(super) mu: Vec<Vec<f64>>,
}

/// A view's noise, factored, and what the E-step needs of it.
struct Noise {
    log_det: f64,
    inverse: Mat,
    /// `Psi⁻¹ W`
    q: Mat,
    /// `Wᵀ Psi⁻¹ W`
    information: Mat,
}

/// What one pattern contributes to the M-step.
struct Expectation {
    negative_log_likelihood: f64,
    /// `C Bᵀ`, stacked over the views of the pattern.
    x_z: Mat,
    z_z: Mat,
    z: Vec<f64>,
}

/// The next parameters, and the negative log-likelihood of the present ones in nats (whitening not undone).
pub(super) fn step(problem: &Problem, now: &Parameters) -> Result<(Parameters, f64)> {
    let noise: Vec<Noise> =
        (0..problem.dims.len()).into_par_iter().map(|view| Noise::new(problem, now, view)).collect::<Result<_>>()?;
    let expectations: Vec<Expectation> =
        problem.patterns.par_iter().map(|pattern| expectation(pattern, now, &noise)).collect::<Result<_>>()?;
    let negative_log_likelihood = expectations.iter().map(|e| e.negative_log_likelihood).sum();
    Ok((maximization(problem, now, &expectations)?, negative_log_likelihood))
}

impl Noise {
    fn new(problem: &Problem, now: &Parameters, view: usize) -> Result<Self> {
        let factor = Cholesky::unchecked(&now.psi[view], &format!("the noise of view {:?}", problem.names[view]))?;
        let inverse = factor.inverse();
        let q = times(&inverse, &now.w[view]);
        let information = symmetric(&transpose_times(&now.w[view], &q));
        Ok(Noise { log_det: factor.log_det(), inverse, q, information })
    }
}

fn expectation(pattern: &Pattern, now: &Parameters, noise: &[Noise]) -> Result<Expectation> {
    let latent = now.w[0].ncols();
    let dim = pattern.covariance.nrows();
    let mut precision = Mat::identity(latent, latent);
    let mut q = Mat::zeros(dim, latent);
    let mut offset = Vec::with_capacity(dim);
    let mut log_det = 0.0;
    for (&view, &(start, len)) in pattern.views.iter().zip(&pattern.spans) {
        precision += &noise[view].information;
        q.submatrix_mut(start, 0, len, latent).copy_from(&noise[view].q);
        offset.extend(pattern.mean[start..start + len].iter().zip(&now.mu[view]).map(|(mean, mu)| mean - mu));
        log_det += noise[view].log_det;
    }
    let factor = Cholesky::unchecked(&precision, "the posterior precision")?;
    log_det += factor.log_det();
    let m = factor.inverse();

    let mut second = pattern.covariance.clone();
    add_outer(&mut second, 1.0, &offset, &offset);
    let y = times(&second, &q);
    let explained = symmetric(&transpose_times(&q, &y));
    let mut trace = -inner(&m, &explained);
    for (&view, &span) in pattern.views.iter().zip(&pattern.spans) {
        trace += inner(&noise[view].inverse, &block(&second, span, span));
    }
    let constant = dim as f64 * (2.0 * std::f64::consts::PI).ln();
    let z_z = symmetric(&(&m + times(&m, &times(&explained, &m))));
    let z = times_vector(&m, &times_vector(&q.transpose().to_owned(), &offset));
    Ok(Expectation {
        negative_log_likelihood: 0.5 * pattern.n * (constant + log_det + trace),
        x_z: times(&y, &m),
        z_z,
        z,
    })
}

/// Regresses every view on `[z; 1]`. Views that are in the same patterns share the factored second moment of `z`.
fn maximization(problem: &Problem, now: &Parameters, expectations: &[Expectation]) -> Result<Parameters> {
    let latent = now.w[0].ncols();
    let memberships: Vec<Vec<usize>> = (0..problem.dims.len()).map(|view| problem.patterns_with(view)).collect();
    let mut factors: HashMap<&[usize], Cholesky> = HashMap::new();
    for members in &memberships {
        if !factors.contains_key(&members[..]) {
            let mut moment = Mat::zeros(latent + 1, latent + 1);
            for &pattern in members {
                let (n, e) = (problem.patterns[pattern].n, &expectations[pattern]);
                for j in 0..latent {
                    (0..latent).for_each(|i| moment[(i, j)] += n * e.z_z[(i, j)]);
                    moment[(latent, j)] += n * e.z[j];
                    moment[(j, latent)] += n * e.z[j];
                }
                moment[(latent, latent)] += n;
            }
            factors.insert(members, Cholesky::unchecked(&moment, "the second moment of the latent vectors")?);
        }
    }
    let updated: Vec<(Mat, Mat, Vec<f64>)> = (0..problem.dims.len())
        .into_par_iter()
        .map(|view| {
            let members = &memberships[view];
            regress(problem, now, expectations, view, members, &factors[&members[..]])
        })
        .collect();
    let mut next = Parameters { w: Vec::new(), psi: Vec::new(), mu: Vec::new() };
    for (w, psi, mu) in updated {
        next.w.push(w);
        next.psi.push(psi);
        next.mu.push(mu);
    }
    Ok(next)
}

fn regress(
    problem: &Problem,
    now: &Parameters,
    expectations: &[Expectation],
    view: usize,
    members: &[usize],
    factor: &Cholesky,
) -> (Mat, Mat, Vec<f64>) {
    let (dim, latent) = (problem.dims[view], now.w[view].ncols());
    let mut cross = Mat::zeros(latent + 1, dim);
    let mut second = Mat::zeros(dim, dim);
    let mut count = 0.0;
    for &member in members {
        let (pattern, e) = (&problem.patterns[member], &expectations[member]);
        let span @ (start, _) = pattern.span_of(view);
        let offset: Vec<f64> = (0..dim).map(|i| pattern.mean[start + i] - now.mu[view][i]).collect();
        let n = pattern.n;
        for i in 0..dim {
            (0..latent).for_each(|j| cross[(j, i)] += n * e.x_z[(start + i, j)]);
            cross[(latent, i)] += n * offset[i];
        }
        let of_view = block(&pattern.covariance, span, span);
        for j in 0..dim {
            (0..dim).for_each(|i| second[(i, j)] += n * (of_view[(i, j)] + offset[i] * offset[j]));
        }
        count += n;
    }
    let coefficients = factor.solve(&cross);
    let explained = transpose_times(&coefficients, &cross);
    let psi = symmetric(&Mat::from_fn(dim, dim, |i, j| (second[(i, j)] - explained[(i, j)]) / count));
    let w = Mat::from_fn(dim, latent, |i, j| coefficients[(j, i)]);
    let mu = (0..dim).map(|i| now.mu[view][i] + coefficients[(latent, i)]).collect();
    (w, psi, mu)
}

impl Parameters {
    /// `Σ W_iᵀ Psi_i⁻¹ W_i` over all views: how much all of them together say about each latent direction.
    pub(super) fn information(&self, problem: &Problem) -> Result<Mat> {
        let latent = self.w[0].ncols();
        let mut total = Mat::zeros(latent, latent);
        for view in 0..self.w.len() {
            total += Noise::new(problem, self, view)?.information;
        }
        Ok(symmetric(&total))
    }

    /// The same model with the latent space turned: `W R`.
    pub(super) fn rotate(&mut self, rotation: &Mat) {
        self.w.iter_mut().for_each(|w| *w = times(w, rotation));
    }

    /// `max |W_i W_iᵀ + Psi_i - I|`: zero at a stationary point of complete data, where views are white.
    pub(super) fn distance_from_white(&self) -> f64 {
        let off = |(w, psi): (&Mat, &Mat)| {
            let identity: Mat = Mat::identity(psi.nrows(), psi.nrows());
            (times_transpose(w, w) + psi - identity).norm_max()
        };
        self.w.iter().zip(&self.psi).map(off).fold(0.0, f64::max)
    }
}
