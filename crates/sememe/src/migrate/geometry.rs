//! What the vectors of a model look like: their mean and covariance, and how surprising other vectors are.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Side;
use super::affine::not_finite;
use crate::error::{Error, Result};
use crate::linalg::{Mat, product_of_rows};
use crate::model::Shrinkage;
use crate::moments::PatternMoments;
use crate::prepare::scale_to_unit;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// The mean and the spread of a number over rows that the fit has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reference {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// Number of rows.
    pub count: usize,
}

impl Reference {
    pub(super) fn of(values: &[f64]) -> Self {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        Reference { mean, deviation: variance.sqrt(), count: values.len() }
    }

    /// Standard errors by which the mean of `count` other rows lies above this one. The errors of both means are added:
    /// all batches are compared with one reference, whose error they share.
    pub(super) fn standard_errors(&self, mean: f64, count: usize) -> f64 {
        let error = |count: usize| self.deviation / (count.max(1) as f64).sqrt();
        (mean - self.mean) / (error(count) + error(self.count)).max(f64::MIN_POSITIVE)
    }
}

/// Where the limit between the own model and another one lies, on the way to an unrelated model.
const ANOTHER_MODEL: f64 = 0.6;
/// Rows that are enough to tell another model.
const ENOUGH_TO_TELL: usize = 20;

/// The mean and covariance of a model's unit vectors.
#[derive(Debug, Clone)]
pub struct Geometry {
    mean: Vec<f32>,
    /// `L⁻¹` of the shrunk covariance `L Lᵀ`.
    whitener: Matrix,
    reference: Reference,
}

impl Geometry {
    /// The geometry of unit rows, and the coefficient that their covariance was shrunk by. How surprising such rows are is
    /// told by [`Geometry::with_reference`].
    pub(super) fn fit(rows: &Matrix, shrinkage: Shrinkage, name: &str) -> Result<(Self, f64)> {
        let moments = PatternMoments::of_rows(rows, &Matrix::new(vec![0.0; rows.rows()], 1), &vec![1.0; rows.rows()]);
        let dim = rows.cols();
        let covariance = crate::linalg::block(&moments.covariance(), (0, dim), (0, dim));
        let shrunk = shrinkage.apply(&covariance, moments.n, (name, 0))?;
        let whitener = shrunk.factor.solve_lower(&Mat::identity(dim, dim));
        let whitener = (0..dim).flat_map(|i| (0..dim).map(move |j| (i, j))).map(|at| whitener[at] as f32).collect();
        let mean = moments.mean[..dim].iter().map(|&x| x as f32).collect();
        Ok((Self::from_parts(mean, Matrix::new(whitener, dim), Reference::of(&[])), shrunk.by))
    }

    /// The same geometry, with the surprises of rows that fits have not seen.
    pub(super) fn with_reference(self, surprises: &[f64]) -> Self {
        Geometry { reference: Reference::of(surprises), ..self }
    }

    pub(super) fn from_parts(mean: Vec<f32>, whitener: Matrix, reference: Reference) -> Self {
        Geometry { mean, whitener, reference }
    }

    pub(super) fn parts(&self) -> (&[f32], &Matrix) {
        (&self.mean, &self.whitener)
    }

    /// How surprising rows of the same model and domain are that the fit has not seen.
    pub fn reference(&self) -> Reference {
        self.reference
    }

    /// The mean surprise that vectors of an unrelated model of the same dimension would have, whose directions have
    /// nothing to do with these.
    fn unrelated(&self) -> f64 {
        let square = |values: &[f32]| values.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        let along_mean = |row: &[f32]| crate::retrieve::kernel::dot(row, &self.mean).powi(2);
        let dim = self.mean.len() as f64;
        let of_mean: f64 = self.whitener.as_slice().chunks_exact(self.mean.len()).map(along_mean).sum();
        (square(self.whitener.as_slice()) / dim + of_mean) / dim
    }

    /// The mean surprise above which rows count as those of another model. It lies well above that of other domains:
    /// sentences of image captions have 1.4 to 1.8 where the model was fitted to speeches and the limit is 1.5 to 3.8.
    pub fn limit(&self) -> f64 {
        let usual = self.reference.mean;
        usual + ANOTHER_MODEL * (self.unrelated() - usual).max(0.5 * usual)
    }

    /// Returns an error if rows look like those of another model. Few rows tell too little, and pass.
    pub(super) fn check(&self, rows: &Matrix, side: Side) -> Result<()> {
        if rows.rows() < ENOUGH_TO_TELL {
            return Ok(());
        }
        let surprises = self.surprises(rows)?;
        let mean = surprises.iter().sum::<f64>() / surprises.len() as f64;
        if mean <= self.limit() {
            return Ok(());
        }
        Err(Error::Request(format!(
            "these do not look like vectors of the {side} model: their surprise is {mean:.2}, where that of its own \
             vectors is {:.2} and {:.2} is tolerated; check which model made them, or force it",
            self.reference.mean,
            self.limit()
        )))
    }

    /// The squared Mahalanobis distance of every row to the mean, divided by the dimension: about 1 for rows like those
    /// of the fit. Up to a constant it is minus twice the log-density.
    pub fn surprises(&self, rows: &Matrix) -> Result<Vec<f64>> {
        let dim = self.mean.len();
        if rows.cols() != dim {
            return Err(Error::argument(
                "length of the vectors",
                rows.cols(),
                format!("the model has {dim} dimensions"),
            ));
        }
        let mut unit = rows.clone();
        scale_to_unit(&mut unit);
        let of_block = |block: &[f32]| {
            let mut centred = block.to_vec();
            let centre = |row: &mut [f32]| row.iter_mut().zip(&self.mean).for_each(|(x, mean)| *x -= mean);
            centred.chunks_exact_mut(dim).for_each(centre);
            let mut whitened = vec![0.0; block.len()];
            product_of_rows(&centred, self.whitener.as_slice(), dim, &mut whitened);
            let square = |row: &[f32]| row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
            whitened.chunks_exact(dim).map(|row| square(row) / dim as f64).collect::<Vec<f64>>()
        };
        let surprises: Vec<f64> = unit.as_slice().par_chunks(ROWS_AT_A_TIME * dim).flat_map_iter(of_block).collect();
        match surprises.iter().position(|surprise| !surprise.is_finite()) {
            Some(row) => Err(not_finite(row)),
            None => Ok(surprises),
        }
    }
}
