//! One EM step: every view is regressed on `[z; 1]` over the tuples that have it.

use rayon::prelude::*;

use super::posterior::{Noise, OfPattern, OfView, Posterior};
use super::problem::Problem;
use crate::error::Result;
use crate::linalg::{Cholesky, Mat, add_scaled, symmetric, symmetric_product, times};
use crate::model::noise::floored;

/// The parameters, in the whitened coordinates of the problem.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub(super) w: Vec<Mat>,
    pub(super) psi: Vec<Mat>,
    pub(super) mu: Vec<Vec<f64>>,
}

/// One EM step: the next parameters, and the negative log-likelihood per tuple of the present ones.
pub(super) fn step(problem: &Problem, now: &Parameters) -> Result<(Parameters, f64)> {
    let views = now.views();
    let posterior = Posterior::new(problem, &views)?;
    let mut latent = Vec::new();
    let value =
        posterior.for_patterns(|patterns| latent.par_extend(patterns.par_iter().map(|(_, of)| Latent::new(of))))?;
    let updated: Vec<(Mat, Mat, Vec<f64>)> = (0..now.w.len())
        .into_par_iter()
        .map(|view| regress(problem, view, &posterior.seconds[view], &latent, &now.mu[view]))
        .collect::<Result<_>>()?;
    let mut next = Parameters { w: Vec::new(), psi: Vec::new(), mu: Vec::new() };
    for (w, psi, mu) in updated {
        next.w.push(w);
        next.psi.push(psi);
        next.mu.push(mu);
    }
    Ok((next, value))
}

/// Expected moments of the latent vectors of a pattern, and their cross-moments with its vectors.
struct Latent {
    x_z: Mat,
    z_z: Mat,
    z: Vec<f64>,
}

impl Latent {
    fn new(of: &OfPattern) -> Self {
        let identity: Mat = Mat::identity(of.g.nrows(), of.g.nrows());
        let half = of.precision.after_solve_lower(&of.g + identity);
        let z_z = symmetric(&of.precision.after_solve_lower(half.transpose().to_owned()));
        let z = of.precision.solve_upper(&Mat::from_fn(of.f_offset.len(), 1, |i, _| of.f_offset[i]));
        let z = z.col_as_slice(0).to_vec();
        Latent { x_z: of.precision.after_solve_lower(of.y.clone()), z_z, z }
    }
}

fn regress(
    problem: &Problem,
    view: usize,
    second: &Mat,
    latent: &[Latent],
    mu: &[f64],
) -> Result<(Mat, Mat, Vec<f64>)> {
    let (pooled, dim, size) = (&problem.pooled[view], mu.len(), latent[0].z.len());
    let mut x_z = Mat::zeros(dim, size);
    let mut z_z = Mat::zeros(size, size);
    let mut z = vec![0.0; size];
    for (pattern, of) in problem.patterns.iter().zip(latent).filter(|(pattern, _)| pattern.views.contains(&view)) {
        let (start, len) = pattern.span_of(view);
        add_scaled(x_z.as_mut(), pattern.weight, of.x_z.subrows(start, len));
        add_scaled(z_z.as_mut(), pattern.weight, of.z_z.as_ref());
        z.iter_mut().zip(&of.z).for_each(|(sum, z)| *sum += pattern.weight * z);
    }
    let x = pooled.sum_about(mu);
    let moment = Mat::from_fn(size + 1, size + 1, |i, j| match (i == size, j == size) {
        (false, false) => z_z[(i, j)],
        (true, false) => z[j],
        (false, true) => z[i],
        (true, true) => pooled.weight,
    });
    let cross = Mat::from_fn(size + 1, dim, |j, i| if j == size { x[i] } else { x_z[(i, j)] });
    let coefficients = Cholesky::unchecked(&moment, "the second moment of the latent vectors")?.solve(&cross);
    let explained = symmetric_product(&coefficients.transpose(), &cross);
    let psi = symmetric(&Mat::from_fn(dim, dim, |i, j| (second[(i, j)] - explained[(i, j)]) / pooled.weight));
    let psi = floored(psi)?;
    let w = Mat::from_fn(dim, size, |i, j| coefficients[(j, i)]);
    let mu = mu.iter().enumerate().map(|(i, mu)| mu + coefficients[(size, i)]).collect();
    Ok((w, psi, mu))
}

impl Parameters {
    pub(super) fn views(&self) -> Vec<OfView<'_>> {
        let views = self.w.iter().zip(&self.psi).zip(&self.mu);
        views.map(|((w, psi), mu)| OfView { w: w.as_ref(), psi, mu }).collect()
    }

    /// `Σ W_iᵀ Psi_i⁻¹ W_i` over all views: the information about each latent direction.
    pub(super) fn information(&self, problem: &Problem) -> Result<Mat> {
        let latent = self.w[0].ncols();
        let mut total = Mat::zeros(latent, latent);
        for (view, now) in self.views().into_iter().enumerate() {
            total += Noise::new(problem, view, now)?.information;
        }
        Ok(total)
    }

    /// The same model with a rotated latent space: `W R`.
    pub(super) fn rotate(&mut self, rotation: &Mat) {
        self.w.iter_mut().for_each(|w| *w = times(w, rotation));
    }

    /// `max |W_i W_iᵀ + Psi_i - I|`: zero at a stationary point of complete data, where views are white.
    pub(super) fn distance_from_white(&self) -> f64 {
        let off = |(w, psi): (&Mat, &Mat)| {
            let identity: Mat = Mat::identity(psi.nrows(), psi.nrows());
            (symmetric_product(w, &w.transpose()) + psi - identity).norm_max()
        };
        self.w.iter().zip(&self.psi).map(off).fold(0.0, f64::max)
    }

    /// The largest change of any entry of the noise.
    pub(super) fn noise_change(&self, other: &Self) -> f64 {
        self.psi.iter().zip(&other.psi).map(|(a, b)| (a - b).norm_max()).fold(0.0, f64::max)
    }
}
