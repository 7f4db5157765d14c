//! Shrinkage of covariances towards a multiple of the identity, which regularises fits to few pairs.

use std::fmt;
use std::str::FromStr;

use super::{Emission, FitWarning, ViewModel};
use crate::error::{Error, Result};
use crate::linalg::{
    Cholesky, Mat, inner, largest_eigenvalue, symmetric, times, times_transpose, times_vector, trace, transpose_times,
};
use crate::names::serde_as_spelled;

/// Shrinkage of a view's covariance: `(1 - a) S + a (tr S / d) I`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Shrinkage {
    /// Chosen from the data. Where the vectors are available, [`align`](crate::align::align()) chooses it by held-out
    /// retrieval. The fallback, for moments alone and for too few tuples, is [`Shrinkage::Oas`].
    #[default]
    Auto,
    /// Oracle approximating shrinkage (Chen, Wiesel, Eldar & Hero 2010), which needs only the covariance.
    Oas,
    /// No shrinkage: maximum likelihood.
    None,
    /// This coefficient, from 0 to 0.99.
    By(f64),
}

serde_as_spelled!(Shrinkage);

impl FromStr for Shrinkage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = format!("it must be auto, oas, none or a number from 0 to {MAX_SHRINKAGE}");
        match text {
            "auto" => Ok(Shrinkage::Auto),
            "oas" => Ok(Shrinkage::Oas),
            "none" => Ok(Shrinkage::None),
            number => match number.parse() {
                Ok(by) if (0.0..=MAX_SHRINKAGE).contains(&by) => Ok(Shrinkage::By(by)),
                _ => Err(Error::argument("shrinkage", text, expected)),
            },
        }
    }
}

impl fmt::Display for Shrinkage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shrinkage::Auto => f.write_str("auto"),
            Shrinkage::Oas => f.write_str("oas"),
            Shrinkage::None => f.write_str("none"),
            Shrinkage::By(by) => write!(f, "{by}"),
        }
    }
}

/// Upper bound: a covariance shrunk by 1 would not depend on the data.
const MAX_SHRINKAGE: f64 = 0.99;

/// A shrunk covariance that can be inverted, and its shrinkage.
#[derive(Clone)]
pub(crate) struct Shrunk {
    /// Mean variance of a coordinate before shrinkage, which is the target.
    pub(crate) variance: f64,
    pub(crate) covariance: Mat,
    pub(crate) factor: Cholesky,
    pub(crate) by: f64,
    /// The factor for cross-covariances with this view that keeps the joint covariance positive definite. Shrinking
    /// takes variance from the strongest directions, and what they share with other views cannot exceed what they have.
    pub(crate) kept: f64,
    /// Number of constant coordinates.
    pub(crate) constant: usize,
    /// True if the covariance was singular and needed more shrinkage than requested.
    pub(crate) forced: bool,
}

impl Shrunk {
    /// Converts parameters `W`, `Psi` and `mu` from whitened coordinates, in which this covariance is the identity and
    /// `mean` is zero. The projection is `E[z|x] = (I + Wᵀ Psi⁻¹ W)⁻¹ Wᵀ Psi⁻¹ (x - mu)`.
    pub(crate) fn unwhiten(&self, name: &str, mean: &[f64], (w, psi, mu): (&Mat, &Mat, &[f64])) -> Result<ViewModel> {
        let q = Cholesky::new(psi, &format!("the noise of view {name:?}"))?.solve(w);
        let precision = Mat::identity(w.ncols(), w.ncols()) + transpose_times(w, &q);
        let precision = Cholesky::new(&symmetric(&precision), "the posterior precision")?;
        // In whitened coordinates it applies to L⁻¹ (x - mean).
        let projection = precision.solve(&q.transpose().to_owned());
        let projection = self.factor.solve_upper(&projection.transpose().to_owned()).transpose().to_owned();
        let l = self.factor.l();
        Ok(ViewModel {
            name: name.to_owned(),
            mu: mean.iter().zip(times_vector(l, mu)).map(|(mean, shift)| mean + shift).collect(),
            projection,
            emission: Some(Emission { w: times(l, w), psi: symmetric(&times_transpose(&times(l, psi), l)) }),
        })
    }

    /// [`Shrunk::kept`] for the covariance of a part of the view's rows, shrunk by the same coefficient.
    pub(crate) fn kept_of(&self, covariance: &Mat) -> Result<f64> {
        if self.by > 0.0 { Ok(kept(covariance, self.by, self.variance)?.min(self.kept)) } else { Ok(self.kept) }
    }

    /// A warning for the user, if there is one.
    pub(crate) fn warning(&self, view: &str) -> Option<FitWarning> {
        let view = view.to_owned();
        match (self.forced, self.constant) {
            (true, _) => Some(FitWarning::Singular { view, by: self.by }),
            (false, 0) => None,
            (false, count) => Some(FitWarning::ConstantColumns { view, count, by: self.by }),
        }
    }
}

/// A matrix with a smaller pivot than this, relative to the mean variance, counts as singular.
const SMALLEST_PIVOT: f64 = 1e-10;
/// A coordinate with less variance than this, relative to the mean, counts as constant.
const CONSTANT_VARIANCE: f64 = 1e-12;
/// Fallback coefficients for singular covariances, in order.
const FALLBACKS: [f64; 4] = [1e-6, 1e-4, 1e-2, 0.1];

impl Shrinkage {
    /// Shrinks the covariance of `n` rows of the view called `name`. Dimensions outside the covariance have no variance.
    pub(crate) fn apply(self, covariance: &Mat, n: f64, (name, outside): (&str, usize)) -> Result<Shrunk> {
        let dimensions = (covariance.nrows() + outside) as f64;
        let variance = trace(covariance) / dimensions;
        if !(variance > 0.0 && variance.is_finite()) {
            let problem =
                format!("all pairs have the same vector in view {name:?}; at least two different ones are needed");
            return Err(Error::NotEnoughData(problem));
        }
        let asked = match self {
            Shrinkage::Auto | Shrinkage::Oas => oracle_approximating(covariance, n, dimensions),
            Shrinkage::None => 0.0,
            Shrinkage::By(by) => by,
        };
        let rescues = FALLBACKS.into_iter().filter(|&by| by > asked);
        let mut last = None;
        for by in std::iter::once(asked).chain(rescues) {
            let shrunk = shrink(covariance, by, variance);
            match Cholesky::new(&shrunk, &format!("the covariance of view {name:?}")) {
                Ok(factor) if smallest_pivot(&factor) >= SMALLEST_PIVOT * variance => {
                    let kept = match by {
                        0.0 => 1.0,
                        _ => kept(covariance, by, variance)?,
                    };
                    let constant =
                        (0..covariance.nrows()).filter(|&i| covariance[(i, i)] <= CONSTANT_VARIANCE * variance).count();
                    let forced = by > asked;
                    return Ok(Shrunk { variance, covariance: shrunk, factor, by, kept, constant, forced });
                }
                Ok(_) => {}
                Err(error) => last = Some(Error::from(error)),
            }
        }
        Err(last.unwrap_or_else(|| Error::NotEnoughData(format!("the covariance of view {name:?} is singular"))))
    }
}

/// `1 / sqrt(λ)` for the largest eigenvalue `λ` of the covariance relative to the shrunk one. Both have the same
/// eigenvectors, and the ratio is largest in the direction of most variance.
fn kept(covariance: &Mat, by: f64, variance: f64) -> Result<f64> {
    let largest = largest_eigenvalue(covariance, "a covariance")?.max(variance);
    Ok((((1.0 - by) * largest + by * variance) / largest).sqrt().min(1.0))
}

fn smallest_pivot(factor: &Cholesky) -> f64 {
    (0..factor.l().nrows()).map(|i| factor.l()[(i, i)].powi(2)).fold(f64::INFINITY, f64::min)
}

fn shrink(covariance: &Mat, by: f64, variance: f64) -> Mat {
    let d = covariance.nrows();
    Mat::from_fn(d, d, |i, j| (1.0 - by) * covariance[(i, j)] + if i == j { by * variance } else { 0.0 })
}

/// The coefficient that minimises the expected squared error for Gaussian data, from the covariance alone.
fn oracle_approximating(covariance: &Mat, n: f64, p: f64) -> f64 {
    let of_square = inner(covariance, covariance);
    let square_of_trace = trace(covariance).powi(2);
    let numerator = (1.0 - 2.0 / p) * of_square + square_of_trace;
    let denominator = (n + 1.0 - 2.0 / p) * (of_square - square_of_trace / p);
    // A multiple of the identity equals its target, so the coefficient does not matter.
    if denominator > 0.0 { (numerator / denominator).min(MAX_SHRINKAGE) } else { MAX_SHRINKAGE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficient_is_that_of_the_paper() {
        // numpy, equation (23) of Chen et al. for the rows (1,2), (2,1), (3,5), (4,3), (6,6).
        let covariance = Mat::from_fn(2, 2, |i, j| [[2.96, 2.52], [2.52, 3.44]][i][j]);
        assert!((oracle_approximating(&covariance, 5.0, 2.0) - 0.639_200_998_751_560_9).abs() < 1e-12);
    }

    #[test]
    fn singular_covariance_is_rescued_and_reported() {
        let covariance = Mat::from_fn(3, 3, |i, j| if i == j && i < 2 { 1.0 } else { 0.0 });
        let shrunk = Shrinkage::None.apply(&covariance, 10.0, ("x", 0)).unwrap();
        assert!(shrunk.forced && shrunk.by > 0.0);
        assert!(Shrinkage::Auto.apply(&Mat::zeros(2, 2), 1.0, ("x", 0)).is_err());
    }
}
