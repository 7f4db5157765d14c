//! Covariances of few pairs: shrunk towards a multiple of the identity until they can be trusted.

use std::fmt;
use std::str::FromStr;

use super::{Emission, FitWarning, ViewModel};
use crate::error::{Error, Result};
use crate::linalg::{
    Cholesky, Eigen, Mat, inner, symmetric, times, times_transpose, times_vector, trace, transpose_times,
};
use crate::names::serde_as_spelled;

/// How much a view's covariance is shrunk: `(1 - a) S + a (tr S / d) I`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Shrinkage {
    /// Chosen from the data. With the vectors at hand and few tuples, [`align`](crate::align::align()) takes what finds
    /// held-out tuples best; otherwise it is [`Shrinkage::Oas`].
    #[default]
    Auto,
    /// By oracle approximating shrinkage (Chen, Wiesel, Eldar & Hero 2010), which needs the covariance only.
    Oas,
    /// Not at all: maximum likelihood.
    None,
    /// By this much, from 0 to 0.99.
    By(f64),
}

serde_as_spelled!(Shrinkage);

impl FromStr for Shrinkage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = format!("it must be auto, oas, none or a number from 0 to {MOST}");
        match text {
            "auto" => Ok(Shrinkage::Auto),
            "oas" => Ok(Shrinkage::Oas),
            "none" => Ok(Shrinkage::None),
            number => match number.parse() {
                Ok(by) if (0.0..=MOST).contains(&by) => Ok(Shrinkage::By(by)),
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

/// Shrunk by 1, a covariance would say nothing of the data.
const MOST: f64 = 0.99;

/// A shrunk covariance that can be inverted, and how much it was shrunk.
#[derive(Clone)]
pub(crate) struct Shrunk {
    /// Mean variance of a coordinate before: what it was shrunk towards.
    pub(crate) variance: f64,
    pub(crate) covariance: Mat,
    pub(crate) factor: Cholesky,
    pub(crate) by: f64,
    /// What cross-covariances with this view must be multiplied by for the whole to stay positive definite: shrinking
    /// takes variance from the strongest directions, and what they share with other views cannot exceed what they have.
    pub(crate) kept: f64,
    /// Coordinates without any variance.
    pub(crate) constant: usize,
    /// More than was asked for, because the covariance was singular.
    pub(crate) forced: bool,
}

impl Shrunk {
    /// A view whose parameters `W`, `Psi` and `mu` are known in coordinates in which this covariance is white and `mean` is
    /// zero; its projection is `E[z|x] = (I + Wᵀ Psi⁻¹ W)⁻¹ Wᵀ Psi⁻¹ (x - mu)`.
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

    /// [`Shrunk::kept`] for the covariance of some rows of the view, shrunk alike.
    pub(crate) fn kept_of(&self, covariance: &Mat) -> Result<f64> {
        if self.by > 0.0 { Ok(kept(covariance, self.by, self.variance)?.min(self.kept)) } else { Ok(self.kept) }
    }

    /// What to tell the user, if anything.
    pub(crate) fn warning(&self, view: &str) -> Option<FitWarning> {
        let view = view.to_owned();
        match (self.forced, self.constant) {
            (true, _) => Some(FitWarning::Singular { view, by: self.by }),
            (false, 0) => None,
            (false, count) => Some(FitWarning::ConstantColumns { view, count, by: self.by }),
        }
    }
}

/// A pivot this small beside the mean variance is rounding error: the matrix is singular.
const SMALLEST_PIVOT: f64 = 1e-10;
/// A coordinate with less variance than this, beside the mean, is constant.
const NOTHING: f64 = 1e-12;
/// Tried in turn when a covariance is singular.
const RESCUES: [f64; 4] = [1e-6, 1e-4, 1e-2, 0.1];

impl Shrinkage {
    /// Shrinks the covariance of `n` rows of the view called `name`.
    pub(crate) fn apply(self, covariance: &Mat, n: f64, name: &str) -> Result<Shrunk> {
        let variance = trace(covariance) / covariance.nrows() as f64;
        if !(variance > 0.0 && variance.is_finite()) {
            let problem =
                format!("all pairs have the same vector in view {name:?}; at least two different ones are needed");
            return Err(Error::NotEnoughData(problem));
        }
        let asked = match self {
            Shrinkage::Auto | Shrinkage::Oas => oracle_approximating(covariance, n),
            Shrinkage::None => 0.0,
            Shrinkage::By(by) => by,
        };
        let rescues = RESCUES.into_iter().filter(|&by| by > asked);
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
                        (0..covariance.nrows()).filter(|&i| covariance[(i, i)] <= NOTHING * variance).count();
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

/// `1 / sqrt(λ)` for the largest eigenvalue `λ` of the covariance in units of the shrunk one. They share eigenvectors,
/// and it is largest in the direction of most variance.
fn kept(covariance: &Mat, by: f64, variance: f64) -> Result<f64> {
    let values = Eigen::new(covariance, "a covariance")?.values;
    let largest = values.last().copied().unwrap_or(variance).max(variance);
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
fn oracle_approximating(covariance: &Mat, n: f64) -> f64 {
    let p = covariance.nrows() as f64;
    let of_square = inner(covariance, covariance);
    let square_of_trace = trace(covariance).powi(2);
    let numerator = (1.0 - 2.0 / p) * of_square + square_of_trace;
    let denominator = (n + 1.0 - 2.0 / p) * (of_square - square_of_trace / p);
    // A multiple of the identity is its own target.
    if denominator > 0.0 { (numerator / denominator).min(MOST) } else { MOST }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficient_is_that_of_the_paper() {
        // numpy, equation (23) of Chen et al. for the rows (1,2), (2,1), (3,5), (4,3), (6,6).
        let covariance = Mat::from_fn(2, 2, |i, j| [[2.96, 2.52], [2.52, 3.44]][i][j]);
        assert!((oracle_approximating(&covariance, 5.0) - 0.639_200_998_751_560_9).abs() < 1e-12);
    }

    #[test]
    fn singular_covariance_is_rescued_and_reported() {
        let covariance = Mat::from_fn(3, 3, |i, j| if i == j && i < 2 { 1.0 } else { 0.0 });
        let shrunk = Shrinkage::None.apply(&covariance, 10.0, "x").unwrap();
        assert!(shrunk.forced && shrunk.by > 0.0);
        assert!(Shrinkage::Auto.apply(&Mat::zeros(2, 2), 1.0, "x").is_err());
    }
}
