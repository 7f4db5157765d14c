//! The negative log-likelihood and its gradient as a function of unconstrained parameters.
//!
//! Two choices make it easy for a quasi-Newton method:
//!
//! - The noise is `Psi = C Cᵀ + floor I`. Where the optimal noise is zero, `Psi` would converge slowly, while `C` goes
//!   straight to zero. The floor, far below all noise of interest, keeps `Psi` invertible.
//! - Each view has coordinates in which its conditional covariance given the other views is the identity at the start.
//!   The Hessian by the loadings of a view is then of the order of the identity.
//!
//! With `S` the second moment about `mu`, the derivative by `Sigma` is `D = (Sigma⁻¹ - Sigma⁻¹ S Sigma⁻¹) / 2`. The
//! gradient is `2 D W` by `W`, `2 D_ii C_i` by `C_i` and `-Sigma⁻¹ (mean - mu)` by `mu`, summed over patterns.

use rayon::prelude::*;

use super::em::Parameters;
use super::posterior::{Noise, OfPattern, OfView, PATTERNS_AT_A_TIME, Posterior, precision};
use super::problem::{Pattern, Problem};
use crate::error::Result;
use crate::linalg::{
    Cholesky, Mat, MatMut, MatRef, add_product, add_scaled, symmetric, symmetric_product, times, times_transpose,
    times_vector, transpose_times,
};

/// Noise floor, as a fraction of the conditional variance of a view given the others.
const FLOOR: f64 = 1e-5;

pub(super) struct Objective {
    problem: Problem,
    /// `R`, the factor of each view's conditional precision: coordinates are `Rᵀ x` here.
    factors: Vec<Cholesky>,
    floors: Vec<f64>,
    latent: usize,
}

/// The parts of a point, or of a gradient, that belong to one view.
struct Parts<T> {
    w: T,
    c: T,
    mu: T,
}

impl Objective {
    /// The objective in coordinates chosen at `at`. Also returns the point of these parameters.
    pub(super) fn new(problem: &Problem, at: &Parameters) -> Result<(Self, Vec<f64>)> {
        let factors = conditional_precisions(problem, at)?;
        let rescaled = problem.rescaled(&factors);
        let mut objective = Objective { problem: rescaled, factors, floors: Vec::new(), latent: at.w[0].ncols() };
        let mut point = Vec::new();
        for (view, factor) in objective.factors.iter().enumerate() {
            let r = factor.l();
            let noise = symmetric(&transpose_times(r, &times(&at.psi[view], r)));
            let (floor, c) = root(&noise, &problem.names[view])?;
            for matrix in [transpose_times(r, &at.w[view]), c] {
                point.extend(matrix.col_iter().flat_map(|column| column.iter()));
            }
            point.extend(times_vector(&r.transpose(), &at.mu[view]));
            objective.floors.push(floor);
        }
        Ok((objective, point))
    }

    /// The parameters at a point, in the coordinates of the original problem.
    pub(super) fn parameters(&self, point: &[f64]) -> Parameters {
        let mut parameters = Parameters { w: Vec::new(), psi: Vec::new(), mu: Vec::new() };
        let views = self.views(point).into_iter().zip(self.noise(point)).zip(&self.factors);
        for ((parts, psi), factor) in views {
            parameters.w.push(factor.solve_upper(&self.loadings(&parts).to_owned()));
            let half = factor.solve_upper(&psi).transpose().to_owned();
            parameters.psi.push(symmetric(&factor.solve_upper(&half)));
            let mu = factor.solve_upper(&Mat::from_fn(parts.mu.len(), 1, |i, _| parts.mu[i]));
            parameters.mu.push(mu.col_as_slice(0).to_vec());
        }
        parameters
    }

    /// Negative log-likelihood per tuple, and its gradient.
    pub(super) fn evaluate(&self, point: &[f64]) -> Result<(f64, Vec<f64>)> {
        let noise = self.noise(point);
        let views = self.views(point);
        let now: Vec<OfView<'_>> = views
            .iter()
            .zip(&noise)
            .map(|(parts, psi)| OfView { w: self.loadings(parts), psi, mu: parts.mu })
            .collect();
        let posterior = Posterior::new(&self.problem, &now)?;
        let mut gradient = vec![0.0; point.len()];
        let mut parts = self.views_mut(&mut gradient);
        let mut by_sigma: Vec<Mat> =
            (0..now.len()).into_par_iter().map(|view| self.by_sigma_of_view(&posterior, view)).collect();
        let value = posterior.for_patterns(|patterns| {
            let of_views = parts.par_iter_mut().zip(&mut by_sigma).enumerate();
            of_views.for_each(|(view, (gradient, by_sigma))| {
                self.add_patterns(patterns, (view, &posterior.noise[view].inverse), by_sigma, gradient);
            });
        })?;
        parts.into_par_iter().zip(by_sigma).zip(&views).for_each(|((gradient, by_sigma), at)| {
            let dim = at.mu.len();
            let by_c = MatMut::from_column_major_slice_mut(gradient.c, dim, dim);
            add_product(by_c, -1.0, by_sigma.as_ref(), MatRef::from_column_major_slice(at.c, dim, dim));
        });
        Ok((value, gradient))
    }

    /// What the derivative by `Sigma_ii` has without the patterns:
    /// `-2 D_ii = Psi⁻¹ S_ii Psi⁻¹ - Psi⁻¹ + sym((F (I + G) - 2 Psi⁻¹ Y) Fᵀ)` over the patterns.
    fn by_sigma_of_view(&self, posterior: &Posterior, view: usize) -> Mat {
        let (weight, inverse) = (self.problem.pooled[view].weight, &posterior.noise[view].inverse);
        let mut by_sigma = symmetric_product(&times(inverse, &posterior.seconds[view]), inverse);
        add_scaled(by_sigma.as_mut(), -weight, inverse.as_ref());
        by_sigma
    }

    /// Adds what these patterns contribute for one view, whose noise has this inverse.
    fn add_patterns(
        &self,
        patterns: &[(&Pattern, OfPattern)],
        (view, inverse): (usize, &Mat),
        by_sigma: &mut Mat,
        gradient: &mut Parts<&mut [f64]>,
    ) {
        let mut by_w = MatMut::from_column_major_slice_mut(gradient.w, gradient.mu.len(), self.latent);
        for (pattern, of) in patterns.iter().filter(|(pattern, _)| pattern.views.contains(&view)) {
            let (start, len) = pattern.span_of(view);
            let f = of.f.subrows(start, len);
            let (mut f_g, p_y) = rayon::join(|| times(&f, &of.g), || times(inverse, &of.y.subrows(start, len)));
            add_scaled(f_g.as_mut(), 1.0, f);
            let mut half = f_g.clone();
            add_scaled(half.as_mut(), -2.0, p_y.as_ref());
            add_scaled(by_sigma.as_mut(), pattern.weight, symmetric(&times_transpose(&half, &f)).as_ref());
            // 2 D W = (F (I + G) - Psi⁻¹ Y) L⁻¹
            add_scaled(f_g.as_mut(), -1.0, p_y.as_ref());
            add_scaled(by_w.as_mut(), pattern.weight, of.precision.after_solve_lower(f_g).as_ref());
            let explained = times_vector(&f, &of.f_offset);
            let direct = times_vector(inverse, &of.offset[start..start + len]);
            let by_mu = gradient.mu.iter_mut().zip(explained.iter().zip(direct));
            by_mu.for_each(|(by_mu, (explained, direct))| *by_mu += pattern.weight * (explained - direct));
        }
    }

    fn loadings<'a>(&self, parts: &Parts<&'a [f64]>) -> MatRef<'a> {
        MatRef::from_column_major_slice(parts.w, parts.mu.len(), self.latent)
    }

    fn noise(&self, point: &[f64]) -> Vec<Mat> {
        let of_view = |(parts, &floor): (Parts<&[f64]>, &f64)| {
            let dim = parts.mu.len();
            let c = MatRef::from_column_major_slice(parts.c, dim, dim);
            let mut psi = symmetric_product(&c, &c.transpose());
            (0..dim).for_each(|i| psi[(i, i)] += floor);
            psi
        };
        self.views(point).into_par_iter().zip(&self.floors).map(of_view).collect()
    }

    fn views<'a>(&self, mut rest: &'a [f64]) -> Vec<Parts<&'a [f64]>> {
        let mut take = |len: usize| {
            let (part, others) = rest.split_at(len);
            rest = others;
            part
        };
        let of_view = |&dim: &usize| Parts { w: take(dim * self.latent), c: take(dim * dim), mu: take(dim) };
        self.problem.dims.iter().map(of_view).collect()
    }

    fn views_mut<'a>(&self, mut rest: &'a mut [f64]) -> Vec<Parts<&'a mut [f64]>> {
        let mut take = |len: usize| {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(len);
            rest = others;
            part
        };
        let of_view = |&dim: &usize| Parts { w: take(dim * self.latent), c: take(dim * dim), mu: take(dim) };
        self.problem.dims.iter().map(of_view).collect()
    }
}

/// A floor, and `C` so that `C Cᵀ + floor I` is the noise. If the noise is below the usual floor, the floor is lowered,
/// so that no direction of `C` is zero: a zero could not grow again.
fn root(noise: &Mat, name: &str) -> Result<(f64, Mat)> {
    let mut floor = FLOOR;
    loop {
        let mut above = noise.clone();
        (0..above.nrows()).for_each(|i| above[(i, i)] -= floor);
        match Cholesky::unchecked(&above, &format!("the noise of view {name:?}")) {
            Ok(factor) => return Ok((floor, factor.l().clone())),
            Err(error) if floor < f64::EPSILON => return Err(error.into()),
            Err(_) => floor *= 0.25,
        }
    }
}

/// The factor of `Σ n_O (Sigma_O⁻¹)_ii / n` for each view.
fn conditional_precisions(problem: &Problem, at: &Parameters) -> Result<Vec<Cholesky>> {
    let noise: Vec<Noise> = at
        .views()
        .into_par_iter()
        .enumerate()
        .map(|(view, now)| Noise::new(problem, view, now))
        .collect::<Result<_>>()?;
    let latent = at.w[0].ncols();
    let mut covariances = vec![Mat::zeros(latent, latent); noise.len()];
    for patterns in problem.patterns.chunks(PATTERNS_AT_A_TIME) {
        let inverses = patterns.par_iter().map(|pattern| Ok(precision(pattern, &noise)?.inverse()));
        for (pattern, m) in patterns.iter().zip(inverses.collect::<Result<Vec<_>>>()?) {
            pattern.views.iter().for_each(|&view| add_scaled(covariances[view].as_mut(), pattern.weight, m.as_ref()));
        }
    }
    let of_view = |(view, noise): (usize, &Noise)| {
        let explained = symmetric_product(&times(&noise.q, &covariances[view]), &noise.q.transpose());
        let mut precision = Mat::zeros(explained.nrows(), explained.ncols());
        add_scaled(precision.as_mut(), problem.pooled[view].weight, noise.inverse.as_ref());
        add_scaled(precision.as_mut(), -1.0, explained.as_ref());
        Ok(Cholesky::new(&precision, &format!("the precision of view {:?} given the others", problem.names[view]))?)
    };
    noise.par_iter().enumerate().map(of_view).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Tuples;
    use crate::model::Shrinkage;
    use crate::model::mbfa::{em::step, start};
    use crate::moments::Moments;
    use crate::random::Random;
    use crate::vectors::{Matrix, View};

    #[test]
    fn gradient_is_what_the_likelihood_changes_by() {
        let mut random = Random::new(5);
        let views = [("a", 3), ("b", 4), ("c", 2)].map(|(name, dim)| {
            View::new(name, Matrix::new((0..60 * dim).map(|_| random.normal() as f32).collect(), dim))
        });
        let mut tuples = Tuples::new(3);
        for row in 0..60 {
            tuples.add(&[0, 1, 2].map(|view| (row % 4 != view).then_some(row)));
        }
        let moments = Moments::of(&views, &tuples).unwrap();
        let problem = Problem::new(&moments, Shrinkage::None, &mut Vec::new()).unwrap();
        let start = start::random(&problem, 2, 1).unwrap();
        let (objective, point) = Objective::new(&problem, &start).unwrap();
        let point: Vec<f64> = point.iter().map(|value| value + 0.1 * random.normal()).collect();
        let (_, gradient) = objective.evaluate(&point).unwrap();
        for i in 0..point.len() {
            let at = |by: f64| {
                let mut moved = point.clone();
                moved[i] += by;
                objective.evaluate(&moved).unwrap().0
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((gradient[i] - expected).abs() < 1e-6, "{i}: {} instead of {expected}", gradient[i]);
        }
        // The value does not depend on the coordinates.
        let value = step(&problem, &objective.parameters(&point)).unwrap().1;
        assert!((value - objective.evaluate(&point).unwrap().0).abs() < 1e-10);
    }
}
