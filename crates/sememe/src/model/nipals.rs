//! Canonical correlation analysis as scikit-learn's `CCA` computes it (NIPALS). Components come one after another from
//! a power iteration with early stopping, and both views are deflated in between (Wegelin 2000). The paper compares
//! with it because it does not give the exact canonical directions.
//!
//! Everything is computed on covariances. After a component with weights `w`, scores `t = X w` and loadings `p`, the
//! view is `X (I - w pᵀ)`. Its null space is spanned by the weights so far. The pseudo-inverse that the iteration needs
//! is therefore the inverse of the original covariance, followed by a projection off these weights.

use super::ibfa::two_views;
use super::{FitOptions, FitWarning, LatentSize, Method, Model, Shrinkage, ViewModel};
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, Mat, add_outer, block, dot, times_vector};
use crate::moments::{Moments, spans};

/// scikit-learn's defaults: the iteration stops when the squared change of the weights is below this, or after this
/// many rounds.
const TOLERANCE: f64 = 1e-6;
const ROUNDS: usize = 500;

/// One view during deflation.
struct Deflated {
    /// Covariance of the deflated view.
    covariance: Mat,
    /// `C⁻¹` of the original view times its cross-covariance with the deflated other view, projected off the weights so
    /// far.
    regression: Mat,
    /// Weights so far, and an orthonormal basis of their span.
    weights: Vec<Vec<f64>>,
    basis: Vec<Vec<f64>>,
    loadings: Vec<Vec<f64>>,
}

impl Deflated {
    fn new(covariance: Mat, factor: &Cholesky, cross: &Mat) -> Self {
        let regression = factor.solve(cross);
        Deflated { covariance, regression, weights: Vec::new(), basis: Vec::new(), loadings: Vec::new() }
    }

    /// The unit weights of this view that best predict the scores of the other view's weights.
    fn fit_to(&self, weights_of_other: &[f64]) -> Vec<f64> {
        let mut weights = times_vector(&self.regression, weights_of_other);
        normalize(&mut weights);
        weights
    }

    fn deflate(&mut self, weights: Vec<f64>) {
        let image = times_vector(&self.covariance, &weights);
        let variance = dot(&weights, &image).max(f64::MIN_POSITIVE);
        let loadings: Vec<f64> = image.iter().map(|x| x / variance).collect();
        add_outer(&mut self.covariance, -variance, &loadings, &loadings);
        let mut direction = weights.clone();
        remove(&mut direction, &self.basis);
        normalize(&mut direction);
        for column in 0..self.regression.ncols() {
            remove(self.regression.col_as_slice_mut(column), std::slice::from_ref(&direction));
        }
        self.basis.push(direction);
        self.weights.push(weights);
        self.loadings.push(loadings);
    }

    /// Updates the regression after the other view became `Y (I - w pᵀ)`.
    fn other_deflated(&mut self, other: &Deflated) {
        let (Some(weights), Some(loadings)) = (other.weights.last(), other.loadings.last()) else { return };
        let image = times_vector(&self.regression, weights);
        add_outer(&mut self.regression, -1.0, &image, loadings);
    }

    /// `(Wᵀ P)⁻ᵀ Wᵀ`: latent x dimension. `Pᵀ W` is upper triangular with ones on its diagonal.
    fn rotations(&self) -> Mat {
        let (k, d) = (self.weights.len(), self.weights[0].len());
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(k);
        for j in 0..k {
            let mut row = self.weights[j].clone();
            for (i, earlier) in rows.iter().enumerate() {
                let factor = dot(&self.loadings[i], &self.weights[j]);
                row.iter_mut().zip(earlier).for_each(|(x, earlier)| *x -= factor * earlier);
            }
            rows.push(row);
        }
        Mat::from_fn(k, d, |i, j| rows[i][j])
    }
}

fn remove(vector: &mut [f64], basis: &[Vec<f64>]) {
    for direction in basis {
        let along = dot(vector, direction);
        vector.iter_mut().zip(direction).for_each(|(x, direction)| *x -= along * direction);
    }
}

fn normalize(vector: &mut [f64]) {
    let length = dot(vector, vector).sqrt() + f64::EPSILON;
    vector.iter_mut().for_each(|x| *x /= length);
}

pub(super) fn fit(moments: &Moments, options: &FitOptions) -> Result<(Model, Vec<FitWarning>)> {
    let (shapes, pairs, mut warnings) = two_views(moments)?;
    if options.latent == LatentSize::Auto {
        return Err(Error::argument("latent", "auto", "cca-nipals has no likelihood to choose by; use cca"));
    }
    let latent = options.latent.at_most(shapes)?;
    let at = spans(shapes, &[0, 1]);
    // Columns are standardised first, as in scikit-learn; constant ones are left alone.
    let covariance = pairs.covariance();
    let unbiased = pairs.n / (pairs.n - 1.0);
    let deviation = |i: usize| match (covariance[(i, i)] * unbiased).sqrt() {
        0.0 => 1.0,
        deviation => deviation,
    };
    let deviations: Vec<f64> = (0..covariance.nrows()).map(deviation).collect();
    let scaled =
        Mat::from_fn(covariance.nrows(), covariance.ncols(), |i, j| covariance[(i, j)] / deviations[i] / deviations[j]);

    let cross = block(&scaled, at[0], at[1]);
    let crosses = [cross.clone(), cross.transpose().to_owned()];
    let shrinkage = match options.shrinkage {
        // scikit-learn does not shrink; only explicit shrinkage differs from it.
        Shrinkage::Auto => Shrinkage::None,
        chosen => chosen,
    };
    let mut shrunk_by = Vec::new();
    let mut sides = Vec::new();
    for ((shape, &span), cross) in shapes.iter().zip(&at).zip(&crosses) {
        let shrunk = shrinkage.apply(&block(&scaled, span, span), pairs.n, (&shape.name, shape.outside))?;
        warnings.extend(shrunk.warning(&shape.name));
        shrunk_by.push(shrunk.by);
        sides.push(Deflated::new(shrunk.covariance, &shrunk.factor, cross));
    }
    warnings.extend(FitWarning::few_tuples(pairs.n, shapes, &shrunk_by));
    let [x, y] = &mut sides[..] else { unreachable!("two views") };
    for _ in 0..latent {
        let (x_weights, y_weights) = power_iteration(x, y);
        x.deflate(x_weights);
        y.deflate(y_weights);
        x.other_deflated(y);
        y.other_deflated(x);
    }

    let views = shapes.iter().zip(&at).zip(&sides).map(|((shape, &(start, len)), side)| {
        let rotations = side.rotations();
        ViewModel {
            name: shape.name.clone(),
            mu: pairs.mean[start..start + len].to_vec(),
            projection: Mat::from_fn(latent, len, |i, j| rotations[(i, j)] / deviations[start + j]),
            emission: None,
        }
    });
    let model = Model {
        method: Method::CcaNipals,
        views: views.collect(),
        tuples: pairs.n,
        log_likelihood: None,
        rho: Vec::new(),
        shrinkage: shrunk_by,
        trace: None,
        finishes: Vec::new(),
        spelling: None,
    };
    Ok((model, warnings))
}

/// Weights of the next component. The iteration starts from the first column of the second view with variance left.
fn power_iteration(x: &Deflated, y: &Deflated) -> (Vec<f64>, Vec<f64>) {
    let dim = y.covariance.nrows();
    let first = (0..dim).find(|&i| y.covariance[(i, i)] > f64::EPSILON).unwrap_or(0);
    let mut y_weights: Vec<f64> = (0..dim).map(|i| f64::from(u8::from(i == first))).collect();
    let mut x_weights = x.fit_to(&y_weights);
    for _ in 1..ROUNDS {
        y_weights = y.fit_to(&x_weights);
        let next = x.fit_to(&y_weights);
        let moved: f64 = next.iter().zip(&x_weights).map(|(a, b)| (a - b).powi(2)).sum();
        x_weights = next;
        if moved < TOLERANCE {
            break;
        }
    }
    y_weights = y.fit_to(&x_weights);
    let largest = x_weights.iter().fold(0.0_f64, |a, &b| if b.abs() > a.abs() { b } else { a });
    if largest < 0.0 {
        x_weights.iter_mut().chain(&mut y_weights).for_each(|weight| *weight = -*weight);
    }
    (x_weights, y_weights)
}
