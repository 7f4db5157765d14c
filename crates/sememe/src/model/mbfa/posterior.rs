//! The E-step: posterior moments of the latent vectors at given parameters, and the likelihood of the data.
//!
//! For a pattern `O` let `C` be the second moment of its tuples about `mu`. With `Q = Psi⁻¹ W` and
//! `I + Σ_{i∈O} W_iᵀ Q_i = L Lᵀ`:
//!
//! `F = Q L⁻ᵀ`,  `Y = C F`,  `G = Fᵀ Y`,  `Sigma⁻¹ = Psi⁻¹ - F Fᵀ`,
//! `E[x zᵀ] = Y L⁻¹`,  `E[z zᵀ] = L⁻ᵀ (I + G) L⁻¹`,  `E[z] = L⁻ᵀ Fᵀ (mean - mu)`.
//!
//! `F` stays moderate where noise vanishes and `Q` explodes. The cost depends on dimensions and patterns, not on the
//! number of tuples. No matrix larger than one pattern is formed, and few patterns are in memory at a time.

use rayon::prelude::*;

use super::problem::{Pattern, Problem};
use crate::error::Result;
use crate::linalg::{Cholesky, Mat, MatRef, add_outer, inner, symmetric_product, times, times_vector, trace};

/// Patterns whose posterior moments are in memory at a time.
pub(super) const PATTERNS_AT_A_TIME: usize = 16;

/// The parameters of a view.
#[derive(Clone, Copy)]
pub(super) struct OfView<'a> {
    pub(super) w: MatRef<'a>,
    pub(super) psi: &'a Mat,
    pub(super) mu: &'a [f64],
}

/// The factored noise of a view, and its products with the loadings.
pub(super) struct Noise {
    log_det: f64,
    pub(super) inverse: Mat,
    /// `Psi⁻¹ W`
    pub(super) q: Mat,
    /// `Wᵀ Psi⁻¹ W`
    pub(super) information: Mat,
}

/// Posterior moments of one pattern, per tuple.
pub(super) struct OfPattern {
    /// Cholesky factor of the posterior precision of `z`.
    pub(super) precision: Cholesky,
    pub(super) f: Mat,
    pub(super) y: Mat,
    pub(super) g: Mat,
    /// `mean - mu`
    pub(super) offset: Vec<f64>,
    /// `Fᵀ (mean - mu)`
    pub(super) f_offset: Vec<f64>,
}

/// What posterior moments are computed from at given parameters.
pub(super) struct Posterior<'a> {
    problem: &'a Problem,
    now: &'a [OfView<'a>],
    pub(super) noise: Vec<Noise>,
    /// `Σ (x - mu)(x - mu)ᵀ` of each view, divided by the number of all tuples.
    pub(super) seconds: Vec<Mat>,
}

impl Noise {
    pub(super) fn new(problem: &Problem, view: usize, now: OfView<'_>) -> Result<Self> {
        let factor = Cholesky::unchecked(now.psi, &format!("the noise of view {:?}", problem.names[view]))?;
        let inverse = factor.inverse();
        let q = times(&inverse, &now.w);
        let information = symmetric_product(&now.w.transpose(), &q);
        Ok(Noise { log_det: factor.log_det(), inverse, q, information })
    }
}

/// The posterior precision of `z` for a tuple of the pattern.
pub(super) fn precision(pattern: &Pattern, noise: &[Noise]) -> Result<Cholesky> {
    let latent = noise[0].q.ncols();
    let mut precision = Mat::identity(latent, latent);
    pattern.views.iter().for_each(|&view| precision += &noise[view].information);
    Ok(Cholesky::unchecked(&precision, "the posterior precision")?)
}

impl<'a> Posterior<'a> {
    pub(super) fn new(problem: &'a Problem, now: &'a [OfView<'a>]) -> Result<Self> {
        let noise: Vec<Noise> =
            now.par_iter().enumerate().map(|(view, &now)| Noise::new(problem, view, now)).collect::<Result<_>>()?;
        let seconds: Vec<Mat> =
            problem.pooled.par_iter().zip(now).map(|(pooled, now)| pooled.second_about(now.mu)).collect();
        Ok(Posterior { problem, now, noise, seconds })
    }

    /// Calls `visit` with all patterns and their posterior moments, some at a time: those of very many patterns take more
    /// memory than what they are computed from. Returns the negative log-likelihood per tuple, in nats.
    pub(super) fn for_patterns(&self, mut visit: impl FnMut(&[(&Pattern, OfPattern)])) -> Result<f64> {
        let Posterior { problem, now, noise, seconds } = self;
        let mut sum = 0.0;
        for some in problem.patterns.chunks(PATTERNS_AT_A_TIME) {
            let of_pattern = |pattern| Ok((pattern, OfPattern::new(pattern, now, noise)?));
            let some: Vec<(&Pattern, OfPattern)> = some.par_iter().map(of_pattern).collect::<Result<_>>()?;
            for (pattern, of) in &some {
                sum += pattern.weight * (of.precision.log_det() - trace(&of.g));
            }
            visit(&some);
        }
        let of_views = problem.pooled.iter().zip(noise).zip(seconds).map(|((pooled, noise), second)| {
            let constant = second.nrows() as f64 * (2.0 * std::f64::consts::PI).ln();
            pooled.weight * (constant + noise.log_det) + inner(&noise.inverse, second)
        });
        Ok(0.5 * (sum + of_views.sum::<f64>()) + problem.log_determinant)
    }
}

impl OfPattern {
    fn new(pattern: &Pattern, now: &[OfView<'_>], noise: &[Noise]) -> Result<Self> {
        let dim = pattern.covariance.nrows();
        let mut q = Mat::zeros(dim, noise[0].q.ncols());
        let mut offset = Vec::with_capacity(dim);
        for (&view, &(start, len)) in pattern.views.iter().zip(&pattern.spans) {
            q.subrows_mut(start, len).copy_from(&noise[view].q);
            offset.extend(pattern.mean[start..start + len].iter().zip(now[view].mu).map(|(mean, mu)| mean - mu));
        }
        let precision = precision(pattern, noise)?;
        let f = precision.after_solve_upper(q);
        let f_offset = times_vector(&f.transpose(), &offset);
        let mut y = times(&pattern.covariance, &f);
        add_outer(&mut y, 1.0, &offset, &f_offset);
        let g = symmetric_product(&f.transpose(), &y);
        Ok(OfPattern { precision, f, y, g, offset, f_offset })
    }
}
