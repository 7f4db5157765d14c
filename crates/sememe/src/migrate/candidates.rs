//! The candidates for a map between two models, each fitted to the moments of pairs.
//!
//! With the second moments `S` about zero, of unit vectors `x` of the source and `y` of the target:
//!
//! | candidate    | the query for the target's index as it is                     |
//! |--------------|----------------------------------------------------------------|
//! | `procrustes` | `U Vᵀ x` with `S_yx = U D Vᵀ`, orthogonal, without an intercept |
//! | `ridge`      | `S_yx (S_xx + lambda I)⁻¹ x`, without an intercept              |
//! | `low-rank`   | ridge with an intercept, cut to its strongest directions        |
//! | `ibfa`       | `A_yᵀ A_x (x - mu_x)`, with the projections `A` of the model    |

use std::fmt;
use std::str::FromStr;

use super::{Affine, Pairs};
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, Eigen, Mat, Svd, block, times, times_transpose, trace, transpose_times};
use crate::moments::PatternMoments;
use crate::names::{self, serde_as_spelled};

/// How a map between two models is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MapMethod {
    /// Orthogonal Procrustes without an intercept.
    Procrustes,
    /// Ridge regression without an intercept.
    Ridge,
    /// Ridge regression with an intercept, cut to a low rank.
    LowRank,
    /// The projections of inter-battery factor analysis.
    Ibfa,
}

impl MapMethod {
    /// All methods by name.
    pub const ALL: [(&'static str, MapMethod); 4] = [
        ("procrustes", MapMethod::Procrustes),
        ("ridge", MapMethod::Ridge),
        ("low-rank", MapMethod::LowRank),
        ("ibfa", MapMethod::Ibfa),
    ];
}

impl fmt::Display for MapMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(names::of(self, &MapMethod::ALL))
    }
}

impl FromStr for MapMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("method", name, &MapMethod::ALL)
    }
}

serde_as_spelled!(MapMethod);

/// Candidates for the ridge term, as fractions of the mean variance of a coordinate.
pub(super) const RIDGES: [f64; 4] = [0.03, 0.3, 3.0, 30.0];

/// Moments of pairs: of the source `x`, the target `y`, and both.
pub(super) struct PairMoments {
    means: [Vec<f64>; 2],
    /// About the means.
    covariances: Blocks,
    /// About zero.
    second: Blocks,
}

struct Blocks {
    xx: Mat,
    yx: Mat,
}

impl PairMoments {
    /// The moments for maps from the new model to the old one.
    pub(super) fn of(pairs: &Pairs) -> Self {
        let (x, y) = (pairs.new_rows(), pairs.old());
        let stacked = PatternMoments::of_rows(x, y, &vec![1.0; pairs.len()]);
        let (of_x, of_y) = ((0, x.cols()), (x.cols(), y.cols()));
        let blocks = |whole: &Mat| Blocks { xx: block(whole, of_x, of_x), yx: block(whole, of_y, of_x) };
        let (of_mean_x, of_mean_y) = stacked.mean.split_at(x.cols());
        PairMoments {
            means: [of_mean_x.to_vec(), of_mean_y.to_vec()],
            covariances: blocks(&stacked.covariance()),
            second: blocks(&stacked.second_moment()),
        }
    }

    /// The orthogonal map, without an intercept.
    pub(super) fn procrustes(&self) -> Result<Affine> {
        let svd = Svd::new(&self.second.yx, "the cross moment of both models")?;
        Ok(Affine::centred(&times_transpose(&svd.u, &svd.v), None, None))
    }

    /// Ridge regression without an intercept.
    pub(super) fn ridge(&self, ridge: f64) -> Result<Affine> {
        Ok(Affine::centred(&regression(&self.second, ridge)?, None, None))
    }

    /// Ridge regression with an intercept, cut to so many directions of the target.
    pub(super) fn low_rank(&self, ridge: f64, rank: usize) -> Result<Affine> {
        let map = regression(&self.covariances, ridge)?;
        // The covariance of what the regression predicts has the directions that a map of low rank keeps.
        let predicted = times_transpose(&map, &self.covariances.yx);
        let eigen = Eigen::new(&crate::linalg::symmetric(&predicted), "the covariance of predictions")?;
        let dim = eigen.vectors.nrows();
        let rank = rank.min(dim);
        let kept = block(&eigen.vectors, (0, dim), (dim - rank, rank));
        let map = times(&kept, &transpose_times(&kept, &map));
        let [of_x, of_y] = &self.means;
        Ok(Affine::centred(&map, Some(of_x), Some(of_y)))
    }
}

/// `S_yx (S_xx + ridge (tr S_xx / d) I)⁻¹`.
fn regression(Blocks { xx, yx }: &Blocks, ridge: f64) -> Result<Mat> {
    let added = ridge * trace(xx) / xx.nrows() as f64;
    let mut regularised = xx.clone();
    (0..xx.nrows()).for_each(|i| regularised[(i, i)] += added);
    let factor = Cholesky::new(&regularised, "the second moment of the new vectors")?;
    Ok(factor.solve(&yx.transpose().to_owned()).transpose().to_owned())
}
