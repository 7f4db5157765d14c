//! Initial parameters of the iteration.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::em::Parameters;
use super::problem::Problem;
use crate::error::Result;
use crate::linalg::{Eigen, Mat, Svd, block, scale_columns, times, times_transpose};
use crate::random::Random;

/// Upper bound of the singular values of a view's initial loadings, so that some noise is left in every direction.
const LARGEST_LOADING: f64 = 0.99;
/// Scale of the loadings of the first view of a chain.
const FIRST_LOADING: f64 = 0.95;

/// Browne's (1980, equation 3.25) start for complete data: `W = sqrt(v / (v - 1)) U (D - I)^½` from the leading
/// eigenvectors of the whitened covariance.
pub(super) fn browne(problem: &Problem, latent: usize) -> Result<Parameters> {
    let views = problem.dims.len() as f64;
    let pattern = &problem.patterns[0];
    let eigen = Eigen::new(&pattern.covariance, "the whitened covariance")?;
    let dim = eigen.values.len();
    let factors: Vec<f64> =
        (0..latent).map(|j| (views / (views - 1.0) * (eigen.values[dim - 1 - j] - 1.0).max(0.0)).sqrt()).collect();
    let leading = Mat::from_fn(dim, latent, |i, j| eigen.vectors[(i, dim - 1 - j)]);
    let stacked = scale_columns(&leading, &factors);
    let w = pattern.spans.iter().map(|&span| block(&stacked, span, (0, latent))).collect();
    with_noise(problem, w)
}

/// A start for missing views: a chain from the view with the most pairs. Its loadings are the directions that it shares
/// most with the others. Every other view takes the loadings of the view before it in the chain, mapped by their
/// whitened cross-covariance.
pub(super) fn chain(problem: &Problem, latent: usize) -> Result<Parameters> {
    let views = problem.dims.len();
    let mut weights: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for pattern in &problem.patterns {
        for &a in &pattern.views {
            for &b in pattern.views.iter().filter(|&&b| b != a) {
                *weights.entry((a, b)).or_default() += pattern.n;
            }
        }
    }
    let weight = |a: usize, b: usize| weights.get(&(a, b)).copied().unwrap_or(0.0);
    let total = |view: usize| (0..views).map(|other| weight(view, other)).sum::<f64>();
    let first = (0..views).fold(0, |best, view| if total(view) > total(best) { view } else { best });

    let mut shared = Mat::zeros(problem.dims[first], problem.dims[first]);
    for other in (0..views).filter(|&other| weight(first, other) > 0.0) {
        let cross = cross_covariance(problem, first, other);
        let n = weight(first, other);
        shared += times_transpose(&scale_columns(&cross, &vec![n; cross.ncols()]), &cross);
    }
    let eigen = Eigen::new(&shared, "what the first view shares")?;
    let dim = problem.dims[first];
    let mut w: Vec<Option<Mat>> = vec![None; views];
    w[first] = Some(Mat::from_fn(dim, latent, |i, j| FIRST_LOADING * eigen.vectors[(i, dim - 1 - j)]));
    // The chain grows by the strongest link between a view in it and another one.
    for _ in 1..views {
        let open = weights.iter().filter(|((a, b), _)| w[*a].is_some() && w[*b].is_none());
        let Some((&(from, to), _)) = open.max_by(|(_, one), (_, other)| one.total_cmp(other)) else { break };
        let Some(loadings) = &w[from] else { continue };
        w[to] = Some(times(&cross_covariance(problem, to, from), loadings));
    }
    with_noise(problem, w.into_iter().flatten().collect())
}

/// Random loadings, for checking that the optimum does not depend on the start.
pub(super) fn random(problem: &Problem, latent: usize, seed: u64) -> Result<Parameters> {
    let mut random = Random::new(seed);
    let mut loadings = |dim: usize| {
        let scale = 0.5 / (dim as f64).sqrt();
        Mat::from_fn(dim, latent, |_, _| scale * random.normal())
    };
    let w = problem.dims.iter().map(|&dim| loadings(dim)).collect();
    with_noise(problem, w)
}

/// The leading dimensions of a model in its canonical rotation; the variance that the others explained becomes noise.
pub(super) fn leading(problem: &Problem, parameters: &Parameters, latent: usize) -> Result<Parameters> {
    let w = parameters.w.iter().map(|w| block(w, (0, w.nrows()), (0, latent))).collect();
    let mut shortened = with_noise(problem, w)?;
    shortened.mu.clone_from(&parameters.mu);
    Ok(shortened)
}

/// The cross-covariance of two views over all patterns that have both, in whitened coordinates.
fn cross_covariance(problem: &Problem, a: usize, b: usize) -> Mat {
    let mut cross = Mat::zeros(problem.dims[a], problem.dims[b]);
    let mut count = 0.0;
    for pattern in problem.patterns.iter().filter(|p| p.views.contains(&a) && p.views.contains(&b)) {
        let of_pattern = block(&pattern.covariance, pattern.span_of(a), pattern.span_of(b));
        cross += scale_columns(&of_pattern, &vec![pattern.n; of_pattern.ncols()]);
        count += pattern.n;
    }
    let scale = 1.0 / f64::max(count, 1.0);
    scale_columns(&cross, &vec![scale; cross.ncols()])
}

/// Bounds the loadings. The rest of each view's unit covariance becomes noise.
fn with_noise(problem: &Problem, loadings: Vec<Mat>) -> Result<Parameters> {
    let of_view = |w: Mat| -> Result<(Mat, Mat)> {
        let svd = Svd::new(&w, "the loadings at the start")?;
        let bounded: Vec<f64> = svd.s.iter().map(|s| s.min(LARGEST_LOADING)).collect();
        let w = times_transpose(&scale_columns(&svd.u, &bounded), &svd.v);
        let psi = Mat::identity(w.nrows(), w.nrows()) - times_transpose(&w, &w);
        Ok((w, psi))
    };
    let (w, psi) = loadings.into_par_iter().map(of_view).collect::<Result<Vec<_>>>()?.into_iter().unzip();
    Ok(Parameters { w, psi, mu: problem.dims.iter().map(|&dim| vec![0.0; dim]).collect() })
}
