//! The candidates for a map between two models, each in closed form from the moments of pairs.
//!
//! With unit vectors `x` of the new model and `y` of the old one, second moments `R` about zero, covariances `S`, and
//! `s(S) = (1 - a) S + a (tr S / d) I`:
//!
//! | candidate    | the query for the old index as it is                          |
//! |--------------|----------------------------------------------------------------|
//! | `procrustes` | `U Vᵀ x` with `R_yx = U D Vᵀ`: orthogonal                       |
//! | `ridge`      | `R_yx (R_xx + lambda I)⁻¹ x`                                    |
//! | `low-rank`   | ridge with an intercept, cut to its strongest directions        |
//! | `ibfa`       | `¾ M x / |M x| + ¼ Q x / |Q x|` and a shift against hubs        |
//!
//! `M = s(S_yy)⁻¹ S_yx s(S_xx)⁻¹` is `A_yᵀ A_x` with the canonical projections `A`, `Q` is Procrustes of centred rows, and
//! their lengths are those of the root mean square over the pairs. Vectors are not centred, as under a shift of domain an
//! intercept does harm, unless the vectors of a model are mostly their mean: then nothing else would be mapped.

use std::fmt;
use std::str::FromStr;

use super::pair_moments::{PairMoments, Shrunk, is_mostly_mean};
use super::{Affine, Pairs, hubs};
use crate::error::{Error, Result};
use crate::linalg::{
    Cholesky, Eigen, Mat, Svd, block, inner, symmetric, times, times_transpose, trace, transpose_times,
};
use crate::names::{self, serde_as_spelled};
use crate::vectors::Matrix;

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

/// A candidate with its parameters: how it is fitted to some pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Candidate {
    Procrustes,
    /// The ridge term, as a fraction of the mean variance of a coordinate.
    Ridge(f64),
    /// The same, and the share of directions that are kept.
    LowRank(f64, f64),
    /// The projections of factor analysis and some of Procrustes.
    Ibfa,
}

/// Few candidates each: recall hardly depends on the parameters.
const RIDGES: [f64; 3] = [0.01, 0.1, 1.0];
/// The share of Procrustes in the map of [`Candidate::Ibfa`]. Up to one half recall is the same.
const PROCRUSTES_SHARE: f64 = 0.25;

impl Candidate {
    /// All candidates, or those of one method.
    pub(super) fn all(only: Option<MapMethod>) -> Vec<Self> {
        let mut all = vec![Candidate::Procrustes];
        all.extend(RIDGES.map(Candidate::Ridge));
        all.push(Candidate::LowRank(RIDGES[1], 0.5));
        all.push(Candidate::Ibfa);
        all.retain(|candidate| only.is_none_or(|only| candidate.method() == only));
        all
    }

    pub(super) fn method(self) -> MapMethod {
        match self {
            Candidate::Procrustes => MapMethod::Procrustes,
            Candidate::Ridge(_) => MapMethod::Ridge,
            Candidate::LowRank(..) => MapMethod::LowRank,
            Candidate::Ibfa => MapMethod::Ibfa,
        }
    }

    /// Its parameters, for people.
    pub(super) fn parameters(self) -> String {
        match self {
            Candidate::Procrustes => String::new(),
            Candidate::Ridge(ridge) => format!("ridge {ridge}"),
            Candidate::LowRank(ridge, share) => format!("ridge {ridge}, rank {} %", 100.0 * share),
            Candidate::Ibfa => "shrinkage sqrt(d/n)".to_owned(),
        }
    }

    /// The map from the new model to the old one. `under` are the moments that are expected of the whole index.
    pub(super) fn fit(self, pairs: &PairMoments, under: &PairMoments) -> Result<Affine> {
        match self {
            Candidate::Procrustes => {
                let svd = Svd::new(&pairs.second_on(), "the cross moment of both models")?;
                Ok(Affine::centred(&times_transpose(&svd.u, &svd.v), None, None))
            }
            Candidate::Ridge(ridge) => {
                Ok(Affine::centred(&regression(&pairs.second_on(), &pairs.second_nn(), ridge)?, None, None))
            }
            Candidate::LowRank(ridge, share) => low_rank(pairs, ridge, share),
            Candidate::Ibfa => {
                let old = Shrunk::of(&under.oo, pairs.shrinkage(under.oo.nrows()), "old")?;
                let new = Shrunk::of(&under.nn, pairs.shrinkage(under.nn.nrows()), "new")?;
                let half = old.factor.solve(&under.on);
                let map = new.factor.solve(&half.transpose().to_owned()).transpose().to_owned();
                let svd = Svd::new(&pairs.on, "the cross-covariance of both models")?;
                let mean = &pairs.means[1];
                let is_centred = is_mostly_mean(mean);
                let second = if is_centred { pairs.nn.clone() } else { pairs.second_nn() };
                let map = blend(&map, &times_transpose(&svd.u, &svd.v), &second);
                Ok(Affine::centred(&map, is_centred.then_some(mean.as_slice()), None))
            }
        }
    }

    /// The map for queries of the new model. What rows of the index are near to everything by is taken off.
    pub(super) fn fit_queries(self, seen: &Pairs, moments: [&PairMoments; 2], index: &Matrix) -> Result<Affine> {
        let map = self.fit(moments[0], moments[1])?;
        match self {
            Candidate::Ibfa => hubs::shifted(map, seen.new_rows(), index),
            _ => Ok(map),
        }
    }
}

/// Two maps, each divided by the root mean square of the lengths of the vectors that it gives.
fn blend(map: &Mat, rotation: &Mat, second: &Mat) -> Mat {
    let length = |map: &Mat| inner(&times(map, second), map).max(f64::MIN_POSITIVE).sqrt();
    let (of_map, of_rotation) = ((1.0 - PROCRUSTES_SHARE) / length(map), PROCRUSTES_SHARE / length(rotation));
    Mat::from_fn(map.nrows(), map.ncols(), |i, j| of_map * map[(i, j)] + of_rotation * rotation[(i, j)])
}

/// `S_yx (S_xx + ridge (tr S_xx / d) I)⁻¹`.
fn regression(yx: &Mat, xx: &Mat, ridge: f64) -> Result<Mat> {
    let added = ridge * trace(xx) / xx.nrows() as f64;
    let mut regularised = xx.clone();
    (0..xx.nrows()).for_each(|i| regularised[(i, i)] += added);
    let factor = Cholesky::new(&regularised, "the second moment of the new vectors")?;
    Ok(factor.solve(&yx.transpose().to_owned()).transpose().to_owned())
}

fn low_rank(pairs: &PairMoments, ridge: f64, share: f64) -> Result<Affine> {
    let map = regression(&pairs.on, &pairs.nn, ridge)?;
    // The covariance of what the regression predicts has the directions that a map of low rank keeps.
    let predicted = times_transpose(&map, &pairs.on);
    let eigen = Eigen::new(&symmetric(&predicted), "the covariance of predictions")?;
    let dim = eigen.vectors.nrows();
    let rank = ((share * dim as f64).round() as usize).clamp(1, dim);
    let kept = block(&eigen.vectors, (0, dim), (dim - rank, rank));
    let map = times(&kept, &transpose_times(&kept, &map));
    let [old, new] = &pairs.means;
    Ok(Affine::centred(&map, Some(new), Some(old)))
}
