//! Inter-battery factor analysis: the maximum-likelihood model of two views in closed form (Browne 1979). Also
//! canonical correlation analysis, which has the same directions.
//!
//! Whiten each view with a Cholesky factor, `S_ii = L_i L_iᵀ`, and decompose the whitened cross-covariance,
//! `L_x⁻¹ S_xy L_y⁻ᵀ = V_x P V_yᵀ`. With `U_i = L_i⁻ᵀ V_i`:
//!
//! `W_i = S_ii U_i P^½`,  `Psi_i = S_ii - W_i W_iᵀ`,  `E[z|x_i] = P^½ U_iᵀ (x_i - mu_i)`.
//!
//! With few pairs the covariances are [shrunk](super::Shrinkage) first. The exponent of `P` in the projection is an
//! option: 0 gives canonical variates, 1/2 the posterior mean, more weights the strong directions more. De-whitening
//! multiplies the result by `V_iᵀ S_ii^½ V_i` with symmetric roots (Artetxe et al. 2018).

use super::noise::floored;
use super::shrinkage::Shrunk;
use super::{Emission, FitOptions, FitWarning, LatentSize, Method, Model, ViewModel, not_two};
use crate::error::{Error, Result};
use crate::linalg::{
    self, Cholesky, Eigen, Mat, Svd, block, scale_columns, symmetric, symmetric_product, times, times_transpose,
    transpose_times,
};
use crate::moments::{Moments, PatternMoments, Shape, spans};

/// Upper bound of canonical correlations. At 1 the noise of a direction would vanish, and with it the density.
const LARGEST_RHO: f64 = 1.0 - 1e-6;
use super::exponent::POSTERIOR_MEAN;

/// Two whitened views and their canonical directions.
struct Canonical<'a> {
    shapes: &'a [Shape],
    pairs: PatternMoments,
    shrunk: Vec<Shrunk>,
    /// `V_x` and `V_y`, cut to the latent size.
    v: [Mat; 2],
    rho: Vec<f64>,
    warnings: Vec<FitWarning>,
}

/// Fits the model to the tuples that have both views.
///
/// ```
/// use sememe::{lexicon::Tuples, model::{self, ibfa}, moments::Moments, vectors::{Matrix, View}};
///
/// let x = View::new("x", Matrix::new(vec![1.0, 2.0, 3.0, 5.0], 1));
/// let y = View::new("y", Matrix::new(vec![2.0, 3.0, 7.0, 9.0], 1));
/// let mut tuples = Tuples::new(2);
/// for i in 0..4 {
///     tuples.add(&[Some(i), Some(i)]);
/// }
/// let moments = Moments::of(&[x, y], &tuples)?;
/// let options = model::FitOptions::default().with_shrinkage(model::Shrinkage::None);
/// let (model, _warnings) = ibfa::fit(&moments, &options)?;
/// assert!((model.rho[0] - 0.959_939_1).abs() < 1e-6); // Pearson's correlation of the two columns
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn fit(moments: &Moments, options: &FitOptions) -> Result<(Model, Vec<FitWarning>)> {
    let (canonical, mut model) = with_projections(moments, options)?;
    for (i, view) in model.views.iter_mut().enumerate() {
        view.emission = Some(canonical.emission(i)?);
    }
    model.log_likelihood = Some(model.density(&[0, 1])?.log_of_moments(&canonical.pairs));
    Ok((model, canonical.warnings))
}

/// The same model without its noise and its likelihood.
pub(super) fn fit_projections(moments: &Moments, options: &FitOptions) -> Result<Model> {
    // Directions without correlation have no weight then, so that they need not be exact.
    let is_weighted = options.exponent.of_latent_vectors() >= POSTERIOR_MEAN && !options.dewhiten;
    let decompose = if is_weighted { by_eigenvectors } else { Svd::new };
    Ok(with_projections_by(decompose, moments, options)?.1)
}

fn with_projections<'a>(moments: &'a Moments, options: &FitOptions) -> Result<(Canonical<'a>, Model)> {
    with_projections_by(Svd::new, moments, options)
}

type Decompose = fn(&Mat, &str) -> linalg::Result<Svd>;

fn with_projections_by<'a>(
    decompose: Decompose,
    moments: &'a Moments,
    options: &FitOptions,
) -> Result<(Canonical<'a>, Model)> {
    let canonical = Canonical::by(decompose, moments, options)?;
    let exponent = options.exponent.of_latent_vectors();
    let model = canonical.model(Method::Ibfa, exponent, options.dewhiten)?;
    Ok((canonical, model))
}

/// Canonical correlation analysis: the same directions with equal weights, and no noise model.
pub(super) fn fit_cca(moments: &Moments, options: &FitOptions) -> Result<(Model, Vec<FitWarning>)> {
    let canonical = Canonical::new(moments, options)?;
    Ok((canonical.model(Method::Cca, 0.0, options.dewhiten)?, canonical.warnings))
}

impl<'a> Canonical<'a> {
    fn new(moments: &'a Moments, options: &FitOptions) -> Result<Self> {
        Self::by(Svd::new, moments, options)
    }

    fn by(decompose: Decompose, moments: &'a Moments, options: &FitOptions) -> Result<Self> {
        let (shapes, pairs, mut warnings) = two_views(moments)?;
        let [x, y] = shapes else { unreachable!("two_views has checked") };
        let latent = options.latent.at_most(shapes)?;

        let covariance = pairs.covariance();
        let at = spans(shapes, &[0, 1]);
        let of_view = |view: usize| {
            let (shape, span) = (&shapes[view], at[view]);
            options.shrinkage.apply(&block(&covariance, span, span), pairs.n, (&shape.name, shape.outside))
        };
        let (of_x, of_y) = rayon::join(|| of_view(0), || of_view(1));
        let shrunk = vec![of_x?, of_y?];
        shapes.iter().zip(&shrunk).for_each(|(shape, shrunk)| warnings.extend(shrunk.warning(&shape.name)));
        warnings.extend(FitWarning::few_tuples(pairs.n, shapes, &[shrunk[0].by, shrunk[1].by]));
        // A common factor does not rotate the latent space, and without it correlations could exceed 1.
        let kept = shrunk[0].kept * shrunk[1].kept;
        let cross = Mat::from_fn(x.dim, y.dim, |i, j| kept * covariance[(i, at[1].0 + j)]);
        let half = shrunk[0].factor.solve_lower(&cross);
        let whitened = shrunk[1].factor.solve_lower(&half.transpose().to_owned()).transpose().to_owned();
        let mut svd = decompose(&whitened, "the whitened cross-covariance")?;
        fix_signs(&mut svd);

        let capped = svd.s.iter().filter(|&&rho| rho > LARGEST_RHO).count();
        if capped > 0 {
            warnings.push(FitWarning::CappedCorrelations { count: capped });
        }
        let latent = match options.latent {
            LatentSize::Auto => best_size(&svd.s, pairs.n, x.dim, y.dim),
            _ => latent,
        };
        let rho = svd.s.iter().take(latent).map(|rho| rho.clamp(0.0, LARGEST_RHO)).collect();
        let v = [svd.u, svd.v].map(|v| block(&v, (0, v.nrows()), (0, latent)));
        Ok(Canonical { shapes, pairs, shrunk, v, rho, warnings })
    }

    /// `V P^exponent`.
    fn weighted_directions(&self, view: usize, exponent: f64) -> Mat {
        let weights: Vec<f64> = self.rho.iter().map(|rho| rho.powf(exponent)).collect();
        scale_columns(&self.v[view], &weights)
    }

    /// `W = L V P^½` and `Psi = S - W Wᵀ`.
    fn emission(&self, view: usize) -> Result<Emission> {
        let Shrunk { factor, covariance, .. } = &self.shrunk[view];
        let weighted = self.weighted_directions(view, POSTERIOR_MEAN);
        let w = times(factor.l(), &weighted);
        let psi = covariance - times_transpose(&w, &w);
        if Cholesky::new(&psi, "noise").is_ok() {
            return Ok(Emission { w, psi });
        }
        // Rounding of a nearly singular covariance made the difference indefinite. `L (I - V P Vᵀ) Lᵀ` is not.
        let noise = Mat::identity(weighted.nrows(), weighted.nrows()) - times_transpose(&weighted, &weighted);
        let psi = symmetric(&times_transpose(&times(factor.l(), &floored(noise)?), factor.l()));
        Ok(Emission { w, psi })
    }

    /// The projection `P^exponent Vᵀ L⁻¹`, optionally de-whitened.
    fn projection(&self, view: usize, exponent: f64, dewhiten: bool) -> Result<Mat> {
        let Shrunk { factor, covariance, .. } = &self.shrunk[view];
        let whitening = factor.solve_upper(&self.weighted_directions(view, exponent));
        if !dewhiten {
            return Ok(whitening.transpose().to_owned());
        }
        // The Cholesky directions V give S^-½ (S^½ L⁻ᵀ V): the symmetric ones are S^½ L⁻ᵀ V.
        let root = Eigen::new(covariance, "a covariance")?.map(|variance| variance.max(0.0).sqrt());
        let directions = times(&root, &factor.solve_upper(&self.v[view]));
        let back = transpose_times(&directions, &times(&root, &directions));
        Ok(times_transpose(&back, &whitening))
    }

    fn model(&self, method: Method, exponent: f64, dewhiten: bool) -> Result<Model> {
        let at = spans(self.shapes, &[0, 1]);
        let view = |i: usize| -> Result<ViewModel> {
            let (start, len) = at[i];
            Ok(ViewModel {
                name: self.shapes[i].name.clone(),
                mu: self.pairs.mean[start..start + len].to_vec(),
                projection: self.projection(i, exponent, dewhiten)?,
                emission: None,
            })
        };
        Ok(Model {
            method,
            views: vec![view(0)?, view(1)?],
            tuples: self.pairs.n,
            log_likelihood: None,
            rho: self.rho.clone(),
            shrinkage: self.shrunk.iter().map(|shrunk| shrunk.by).collect(),
            trace: None,
            finishes: Vec::new(),
            spelling: None,
        })
    }
}

/// The two views, the moments of the tuples that have both, and warnings.
pub(super) fn two_views(moments: &Moments) -> Result<(&[Shape], PatternMoments, Vec<FitWarning>)> {
    let shapes @ [x, y] = moments.views() else { return Err(not_two(moments.views().len())) };
    let pairs = moments.marginal(&[0, 1]).filter(|pairs| pairs.n >= 2.0).ok_or_else(|| {
        Error::NotEnoughData(format!("the lexicon gives fewer than two pairs between {:?} and {:?}", x.name, y.name))
    })?;
    let mut warnings = Vec::new();
    let unused = moments.count() - pairs.n;
    if unused > 0.0 {
        warnings.push(FitWarning::UnusedTuples { count: unused });
    }
    Ok((shapes, pairs, warnings))
}

/// The latent size that minimises the Bayesian information criterion. All likelihoods come from one decomposition: a
/// direction with correlation `rho` adds `-n/2 log (1 - rho²)`, and a cross-covariance of rank `k` has
/// `k (d_x + d_y - k)` parameters.
fn best_size(rho: &[f64], n: f64, x_dim: usize, y_dim: usize) -> usize {
    let mut gain = 0.0;
    let criterion = |(at, rho): (usize, &f64)| {
        let k = at + 1;
        gain -= 0.5 * n * (1.0 - rho.min(LARGEST_RHO).powi(2)).ln();
        (k, (k * (x_dim + y_dim - k)) as f64 * n.ln() - 2.0 * gain)
    };
    rho.iter().enumerate().map(criterion).min_by(|a, b| a.1.total_cmp(&b.1)).map_or(1, |(k, _)| k)
}

/// Singular values below this part of the largest one are taken for zero.
const NO_CORRELATION: f64 = 1e-7;

/// The singular value decomposition by the eigenvectors of `A Aᵀ`, which takes two thirds of the time. Small singular values have
/// few digits, and vectors of those that are taken for zero are zero.
fn by_eigenvectors(a: &Mat, what: &str) -> linalg::Result<Svd> {
    if a.nrows() > a.ncols() {
        return Svd::new(a, what);
    }
    let Eigen { values, vectors } = Eigen::new(&symmetric_product(a, &a.transpose()), what)?;
    let (n, largest) = (values.len(), values.last().copied().unwrap_or(0.0).max(0.0).sqrt());
    let s: Vec<f64> = values.iter().rev().map(|value| value.max(0.0).sqrt()).collect();
    let u = Mat::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)]);
    let inverse: Vec<f64> = s.iter().map(|&s| if s > NO_CORRELATION * largest { 1.0 / s } else { 0.0 }).collect();
    let v = scale_columns(&transpose_times(a, &u), &inverse);
    Ok(Svd { u, s, v })
}

/// Fixes the signs of singular vectors: the largest entry of each left one is positive.
fn fix_signs(svd: &mut Svd) {
    for j in 0..svd.s.len() {
        let largest =
            (0..svd.u.nrows()).map(|i| svd.u[(i, j)]).fold(0.0_f64, |a, b| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            (0..svd.u.nrows()).for_each(|i| svd.u[(i, j)] = -svd.u[(i, j)]);
            (0..svd.v.nrows()).for_each(|i| svd.v[(i, j)] = -svd.v[(i, j)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn eigenvectors_give_the_singular_values_and_vectors_that_have_weight() {
        let mut random = Random::new(9);
        let mut sample = |rows: usize, cols: usize| Mat::from_fn(rows, cols, |_, _| random.normal());
        let low_rank = times(&sample(40, 7), &sample(7, 50));
        for (a, rank) in [(sample(40, 50), 40), (sample(50, 40), 40), (low_rank, 7), (Mat::zeros(5, 5), 0)] {
            let (found, expected) = (by_eigenvectors(&a, "a sample").unwrap(), Svd::new(&a, "a sample").unwrap());
            let largest = expected.s[0].max(1.0);
            assert!(found.s.iter().zip(&expected.s).all(|(a, b)| (a - b).abs() < 1e-6 * largest));
            let product = times_transpose(&scale_columns(&found.u, &found.s), &found.v);
            assert!((product - &a).norm_max() < 1e-6 * largest);
            let products = transpose_times(&found.v, &found.v);
            assert!((0..rank).all(|i| (products[(i, i)] - 1.0).abs() < 1e-9), "{rank}");
        }
    }
}
