//! The coordinates in which two views are compared by cosines: those of a finish, or the canonical coordinates of two
//! views of a model of more views.
//!
//! The latent vector `z` of several views has directions that a pair of them does not share. They only add to the
//! length of one side, and so disturb cosines. IBFA of the covariances that the model implies for the pair has
//! coordinates without them: with `A_i = Σ_i^-½ W_i` and `A_x A_yᵀ = U P Vᵀ` they are `P^½ Uᵀ Σ_x^-½ (x - mu_x)`. As
//! `E[z|x] = A_xᵀ Σ_x^-½ (x - mu_x)`, they follow from the latent vectors by the linear map `P^-½ Vᵀ A_y`.
//!
//! `A_iᵀ A_i = G_i` is the covariance of `E[z|x_i]`, the identity minus the posterior covariance. With symmetric roots
//! and `G_x^½ G_y^½ = U' P V'ᵀ`, the maps are `P^-½ V'ᵀ G_y^½` and `P^-½ U'ᵀ G_x^½`. For a model of two views they only
//! rotate.

use std::sync::Arc;

use super::generative::mapped_rows;
use crate::error::Result;
use crate::linalg::{Eigen, Mat, Svd, symmetric, times, transpose_times};
use crate::model::Model;
use crate::vectors::Matrix;

/// Directions with a smaller correlation than this, relative to the largest, are left out: they are rounding errors.
const NOT_SHARED: f64 = 1e-6;

/// Maps from latent vectors to the canonical coordinates of two views.
#[derive(Clone)]
pub struct PairCoordinates {
    queries: Arc<Mat>,
    targets: Arc<Mat>,
}

impl PairCoordinates {
    /// The maps for queries of view `from` and targets of view `to`: those of the [finish](crate::model::Finish) if
    /// the pair has one. Else `None` for models of two views, whose latent vectors are these coordinates already, and
    /// for latent vectors that are not posterior means.
    pub fn of(model: &Model, from: usize, to: usize) -> Result<Option<Self>> {
        if let Some(finish) = model.finish([from.min(to), from.max(to)]) {
            let [first, second] = finish.maps.clone();
            let (queries, targets) = if from < to { (first, second) } else { (second, first) };
            return Ok(Some(PairCoordinates { queries, targets }));
        }
        if model.views.len() < 3 {
            return Ok(None);
        }
        PairCoordinates::weighted(model, from, to, |_| 1.0)
    }

    /// The maps to canonical coordinates, each multiplied by a weight that follows from its correlation. `None` for models that
    /// are not generative, and for latent vectors that are not posterior means.
    pub(crate) fn weighted(
        model: &Model,
        from: usize,
        to: usize,
        weight_of: impl Fn(f64) -> f64,
    ) -> Result<Option<Self>> {
        if !model.views.iter().all(|view| view.emission.is_some()) {
            return Ok(None);
        }
        if !(model.projects_posterior_means(from)? && model.projects_posterior_means(to)?) {
            return Ok(None);
        }
        let root = |view: usize| -> Result<Mat> {
            let explained = Mat::identity(model.latent(), model.latent()) - model.posterior_covariance(&[view])?;
            let eigen = Eigen::new(&symmetric(&explained), "the covariance of latent vectors")?;
            Ok(eigen.map(|value| value.max(0.0).sqrt()))
        };
        let (of_queries, of_targets) = (root(from)?, root(to)?);
        let svd = Svd::new(&times(&of_queries, &of_targets), "the correlations of two views")?;
        let largest = svd.s.first().copied().unwrap_or(0.0);
        let weight = |&rho: &f64| if rho > NOT_SHARED * largest { weight_of(rho) / rho.sqrt() } else { 0.0 };
        let weights: Vec<f64> = svd.s.iter().map(weight).collect();
        let map = |directions: &Mat, root: &Mat| {
            let map = transpose_times(directions, root);
            Arc::new(Mat::from_fn(map.nrows(), map.ncols(), |i, j| weights[i] * map[(i, j)]))
        };
        Ok(Some(PairCoordinates { queries: map(&svd.v, &of_targets), targets: map(&svd.u, &of_queries) }))
    }

    /// The maps of both sides.
    pub(crate) fn maps(&self) -> [&Mat; 2] {
        [&self.queries, &self.targets]
    }

    /// Latent vectors of the view of the queries in the coordinates of the pair.
    pub fn of_queries(&self, latent: &Matrix) -> Matrix {
        mapped_rows(latent, &self.queries)
    }

    /// Latent vectors of the view of the targets in the coordinates of the pair.
    pub fn of_targets(&self, latent: &Matrix) -> Matrix {
        mapped_rows(latent, &self.targets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Tuples;
    use crate::linalg::times_transpose;
    use crate::model::{self, FitOptions, LatentSize};
    use crate::moments::Moments;
    use crate::random::Random;
    use crate::vectors::View;

    fn model_of(views: usize) -> Model {
        let mut random = Random::new(4);
        let mut tuples = Tuples::new(views);
        (0..200).for_each(|row| assert!(tuples.add(&vec![Some(row); views])));
        let hidden: Vec<f32> = (0..200 * 3).map(|_| random.normal() as f32).collect();
        let view = |name: usize| {
            let values = (0..200 * 5).map(|at| hidden[at / 5 * 3 + (at + name) % 3] + random.normal() as f32);
            View::new(name.to_string(), Matrix::new(values.collect(), 5))
        };
        let views: Vec<View> = (0..views).map(view).collect();
        let options = FitOptions::default().with_latent(LatentSize::Of(3));
        model::fit(&Moments::of(&views, &tuples).unwrap(), &options, &()).unwrap().0
    }

    #[test]
    fn coordinates_are_uncorrelated_and_as_strong_on_both_sides() {
        let model = model_of(3);
        let pair = PairCoordinates::of(&model, 0, 2).unwrap().unwrap();
        let explained = |view: usize| Mat::identity(3, 3) - model.posterior_covariance(&[view]).unwrap();
        let covariance = |a: &Mat, middle: &Mat, b: &Mat| times_transpose(&times(a, middle), b);
        let of_queries = covariance(&pair.queries, &explained(0), &pair.queries);
        let of_targets = covariance(&pair.targets, &explained(2), &pair.targets);
        let cross = covariance(&pair.queries, &times(&explained(0), &explained(2)), &pair.targets);
        let rho: Vec<f64> = (0..3).map(|i| of_queries[(i, i)]).collect();
        assert!(rho.is_sorted_by(|a, b| a >= b) && rho[0] < 1.0 && rho[2] > 0.0, "{rho:?}");
        let diagonal = |power: i32| Mat::from_fn(3, 3, |i, j| if i == j { rho[i].powi(power) } else { 0.0 });
        for (found, expected) in [(of_queries, diagonal(1)), (of_targets, diagonal(1)), (cross, diagonal(2))] {
            assert!((&found - &expected).norm_max() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn two_views_are_compared_as_they_are() {
        assert!(PairCoordinates::of(&model_of(2), 0, 1).unwrap().is_none());
    }
}
