//! Means and covariances of pairs, and the canonical projections that follow from them.

use super::Affine;
use crate::error::Result;
use crate::linalg::{Cholesky, Mat, Svd, block, scale_columns, symmetric, times, times_transpose};
use crate::model::Shrinkage;
use crate::moments::PatternMoments;
use crate::vectors::Matrix;

/// Means and covariances of pairs of old and new vectors.
#[derive(Debug, Clone)]
pub(super) struct PairMoments {
    /// Number of pairs.
    pub(super) n: f64,
    /// Of the old and of the new vectors.
    pub(super) means: [Vec<f64>; 2],
    pub(super) oo: Mat,
    pub(super) on: Mat,
    pub(super) nn: Mat,
}

/// A shrunk covariance and its factor.
pub(super) struct Shrunk {
    pub(super) factor: Cholesky,
}

impl Shrunk {
    /// Covariances that are still singular, as those of few rows, are shrunk by more.
    pub(super) fn of(covariance: &Mat, by: f64, whose: &str) -> Result<Self> {
        Ok(Shrunk { factor: Shrinkage::By(by).apply(covariance, 1.0, (whose, 0))?.factor })
    }
}

/// Few pairs are not shrunk by more.
const MAX_SHRINKAGE: f64 = 0.9;
/// The shrinkage of the old covariance in the regression of new vectors on old ones.
const REGRESSION_SHRINKAGE: f64 = 0.05;

/// The square of the length of a mean from which on [`is_mostly_mean`] holds. Means of word vectors have 0.67, sentence encoders 0.03
/// to 0.07, character n-grams 0.17.
const MOSTLY_MEAN: f64 = 0.25;

impl PairMoments {
    /// Moments of rows that belong together.
    pub(super) fn of(old: &Matrix, new: &Matrix) -> Self {
        let stacked = PatternMoments::of_rows(old, new, &vec![1.0; old.rows()]);
        Self::of_stacked(stacked.n, &stacked.mean, &stacked.covariance(), old.cols())
    }

    /// Moments of old vectors followed by new ones, of which the first `dim` coordinates are old.
    fn of_stacked(n: f64, mean: &[f64], covariance: &Mat, dim: usize) -> Self {
        let (old, new) = ((0, dim), (dim, mean.len() - dim));
        let (of_old, of_new) = mean.split_at(dim);
        PairMoments {
            n,
            means: [of_old.to_vec(), of_new.to_vec()],
            oo: block(covariance, old, old),
            on: block(covariance, old, new),
            nn: block(covariance, new, new),
        }
    }

    /// The shrinkage of the covariance of a side of this dimension: `sqrt(d / n)`.
    pub(super) fn shrinkage(&self, dim: usize) -> f64 {
        (dim as f64 / self.n).sqrt().min(MAX_SHRINKAGE)
    }

    /// The second moment of old and new vectors about zero.
    pub(super) fn second_on(&self) -> Mat {
        about_zero(&self.on, &self.means[0], &self.means[1])
    }

    /// The second moment of new vectors about zero.
    pub(super) fn second_nn(&self) -> Mat {
        about_zero(&self.nn, &self.means[1], &self.means[1])
    }

    /// The same pairs with the models in exchanged roles.
    pub(super) fn exchanged(&self) -> Self {
        let [old, new] = self.means.clone();
        let on = self.on.transpose().to_owned();
        PairMoments { n: self.n, means: [new, old], oo: self.nn.clone(), on, nn: self.oo.clone() }
    }

    /// The moments of two sets of pairs, each of which counts as one half.
    pub(super) fn pooled(&self, other: &Self) -> Self {
        let middle = |side: usize| -> Vec<f64> {
            self.means[side].iter().zip(&other.means[side]).map(|(a, b)| 0.5 * (a + b)).collect()
        };
        let apart = |side: usize| -> Vec<f64> {
            self.means[side].iter().zip(&other.means[side]).map(|(a, b)| 0.5 * (a - b)).collect()
        };
        let (old, new) = (apart(0), apart(1));
        let half = |a: &Mat, b: &Mat, x: &[f64], y: &[f64]| {
            let mean = Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + b[(i, j)]));
            about_zero(&mean, x, y)
        };
        PairMoments {
            n: self.n,
            means: [middle(0), middle(1)],
            oo: half(&self.oo, &other.oo, &old, &old),
            on: half(&self.on, &other.on, &old, &new),
            nn: half(&self.nn, &other.nn, &new, &new),
        }
    }

    /// The moments that pairs would have if old vectors had the covariance of the whole index. The regression of new
    /// vectors on old ones, `x = B y + e`, is stable between domains; the covariance of old vectors is not.
    pub(super) fn under(&self, index: &Mat) -> Result<Self> {
        let factor = Shrunk::of(&self.oo, REGRESSION_SHRINKAGE, "old")?.factor;
        let b = factor.solve(&self.on).transpose().to_owned();
        let explained = times(&b, &self.on);
        let noise = &self.nn - &explained - explained.transpose() + times_transpose(&times(&b, &self.oo), &b);
        let on = times_transpose(index, &b);
        let nn = symmetric(&(times(&b, &on) + noise));
        Ok(PairMoments { n: self.n, means: self.means.clone(), oo: index.clone(), on, nn })
    }

    /// Old and new vectors → the latent space: `P^½ Vᵀ L⁻¹ (x - mu)` with the canonical correlations `P`, as in IBFA.
    pub(super) fn latent(&self, shrinkage: f64) -> Result<[Affine; 2]> {
        let old = Shrunk::of(&self.oo, shrinkage, "old")?.factor;
        let new = Shrunk::of(&self.nn, shrinkage, "new")?.factor;
        let half = old.solve_lower(&self.on);
        let whitened = new.solve_lower(&half.transpose().to_owned()).transpose().to_owned();
        let svd = Svd::new(&whitened, "the whitened cross-covariance")?;
        let weights: Vec<f64> = svd.s.iter().map(|rho| rho.max(0.0).sqrt()).collect();
        let side = |factor: &Cholesky, directions: &Mat, mean: &[f64]| {
            let projection = factor.solve_upper(&scale_columns(directions, &weights)).transpose().to_owned();
            Affine::centred(&projection, Some(mean), None)
        };
        Ok([side(&old, &svd.u, &self.means[0]), side(&new, &svd.v, &self.means[1])])
    }
}

/// Whether unit vectors with this mean are mostly their mean. Word vectors are, sentence encoders are not.
pub(super) fn is_mostly_mean(mean: &[f64]) -> bool {
    mean.iter().map(|x| x * x).sum::<f64>() > MOSTLY_MEAN
}

/// `S + x yᵀ`.
fn about_zero(covariance: &Mat, x: &[f64], y: &[f64]) -> Mat {
    Mat::from_fn(covariance.nrows(), covariance.ncols(), |i, j| covariance[(i, j)] + x[i] * y[j])
}

/// The covariance of rows about their mean.
pub(super) fn covariance_of(rows: &Matrix) -> Mat {
    let moments = PatternMoments::of_rows(rows, &Matrix::new(vec![0.0; rows.rows()], 1), &vec![1.0; rows.rows()]);
    block(&moments.covariance(), (0, rows.cols()), (0, rows.cols()))
}
