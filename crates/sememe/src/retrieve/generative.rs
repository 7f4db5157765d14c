//! PMI (pointwise mutual information) under the generative model, as an inner product of latent vectors.
//!
//! With the evidence of a vector `h_i = W_iᵀ Psi_i⁻¹ (x_i - mu_i)` and the posterior precisions of `z`,
//! `A_i = I + W_iᵀ Psi_i⁻¹ W_i` given one vector and `A_xy = A_x + A_y - I` given both,
//!
//! `PMI(x, y) = ½ log |A_x| |A_y| / |A_xy| + ½ (h_x + h_y)ᵀ A_xy⁻¹ (h_x + h_y) - ½ h_xᵀ A_x⁻¹ h_x - ½ h_yᵀ A_y⁻¹ h_y`.
//!
//! As `h_i = A_i E[z|x_i]`, PMI follows from the latent vectors alone. For IBFA all matrices are diagonal.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::{Cholesky, Failure, Mat, symmetric, times, times_transpose, transpose_times};
use crate::model::Model;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// Largest relative difference between the posterior mean and the linear map of the projection that reproduces it.
const TOLERANCE: f64 = 1e-6;

/// The parameters of the criteria `pmi` and `logp` for two views of a generative model.
#[derive(Clone)]
pub struct Generative {
    pub(super) pmi: Pmi,
    /// `log p(y)` of every target; `logp` needs it.
    pub(super) log_density: Option<Arc<[f64]>>,
}

impl Generative {
    /// Parameters for queries of view `from` and targets of view `to`. `log_density` is `log p(y)` of every target,
    /// which only `logp` needs. Methods without a noise model return an error.
    pub fn new(model: &Model, from: usize, to: usize, log_density: Option<Arc<[f64]>>) -> Result<Self> {
        Ok(Generative { pmi: Pmi::of(model, from, to)?, log_density })
    }

    /// The matrix `B`, row-major, with which the PMI of latent vectors `u` of a query and `v` of a target is `uᵀ B v` and
    /// their terms.
    pub fn bilinear(&self) -> Vec<f32> {
        let map = &self.pmi.map;
        map.col_iter().flat_map(|column| column.iter().map(|&x| x as f32).collect::<Vec<_>>()).collect()
    }

    /// The terms of PMI that depend on the query only.
    pub fn query_terms(&self, latent: &Matrix) -> Vec<f64> {
        self.pmi.of_queries(latent)
    }

    /// The terms of PMI that depend on the target only.
    pub fn target_terms(&self, latent: &Matrix) -> Vec<f64> {
        self.pmi.of_targets(latent)
    }
}

/// PMI of latent vectors `u` of one view and `v` of another: `vᵀ map u + ½ uᵀ of_query u + ½ vᵀ of_target v + constant`.
#[derive(Clone)]
pub(super) struct Pmi {
    map: Mat,
    of_query: Mat,
    of_target: Mat,
    constant: f64,
}

/// Returns `T` with `posterior = T projection`. The latent vectors of a space may be weighted by another power of the
/// correlations than the posterior mean, or de-whitened.
fn undo_weights(posterior: &Mat, projection: &Mat) -> Result<Mat> {
    let largest = posterior.norm_max();
    let is_right = |t: &Mat| (times(t, projection) - posterior).norm_max() <= TOLERANCE * largest;
    // Tries diagonal weights first: they tolerate coordinates with zero weight.
    let row_product =
        |a: &Mat, b: &Mat, row: usize| (0..a.ncols()).map(|col| a[(row, col)] * b[(row, col)]).sum::<f64>();
    let weight = |row: usize| match row_product(projection, projection, row) {
        0.0 => 0.0,
        square => row_product(posterior, projection, row) / square,
    };
    let latent = projection.nrows();
    let weights: Vec<f64> = (0..latent).map(weight).collect();
    let diagonal = Mat::from_fn(latent, latent, |i, j| if i == j { weights[i] } else { 0.0 });
    if is_right(&diagonal) {
        return Ok(diagonal);
    }
    let gram = Cholesky::new(&times_transpose(projection, projection), "the projection")?;
    let full = gram.solve(&times_transpose(projection, posterior)).transpose().to_owned();
    match is_right(&full) {
        true => Ok(full),
        false => Err(Error::from(Failure {
            what: "PMI from latent vectors".to_owned(),
            detail: "the posterior mean does not follow from them".to_owned(),
        })),
    }
}

/// What a vector of one view says of `z`, by its latent vector `u`.
struct Evidence {
    /// `A⁻¹`.
    covariance: Mat,
    /// `A`.
    precision: Mat,
    log_det: f64,
    /// `h = of_latent u`.
    of_latent: Mat,
}

impl Evidence {
    fn of(model: &Model, view: usize) -> Result<Self> {
        let covariance = model.posterior_covariance(&[view])?;
        let factor = Cholesky::new(&covariance, "a posterior covariance")?;
        let precision = factor.inverse();
        // The columns of spelling say nothing of `z`.
        let is_factor = |i: usize, j: usize| i == j && j < model.factors();
        let undone = match model.projects_posterior_means(view)? {
            true => Mat::from_fn(model.latent(), model.latent(), |i, j| f64::from(u8::from(is_factor(i, j)))),
            false => {
                let density = model.density(&[view])?;
                let posterior = density.precision.solve(&density.q[0].transpose().to_owned());
                undo_weights(&posterior, &model.views[view].projection)?
            }
        };
        Ok(Evidence { of_latent: times(&precision, &undone), covariance, precision, log_det: -factor.log_det() })
    }
}

impl Pmi {
    /// The PMI of views `from` and `to`. Methods without a noise model return an error.
    pub(super) fn of(model: &Model, from: usize, to: usize) -> Result<Self> {
        let (x, y) = (Evidence::of(model, from)?, Evidence::of(model, to)?);
        let twice = &(x.precision + &y.precision) - &Mat::identity(model.latent(), model.latent());
        let both = Cholesky::new(&symmetric(&twice), "the posterior precision")?;
        let covariance = both.inverse();
        let own = |own: &Mat, h: &Mat| symmetric(&times(&transpose_times(h, &(&covariance - own)), h));
        Ok(Pmi {
            map: times(&transpose_times(&y.of_latent, &covariance), &x.of_latent),
            of_query: own(&x.covariance, &x.of_latent),
            of_target: own(&y.covariance, &y.of_latent),
            constant: 0.5 * (x.log_det + y.log_det - both.log_det()),
        })
    }

    /// Queries after the linear map, ready for inner products with target vectors.
    pub(super) fn queries(&self, latent: &Matrix) -> Matrix {
        mapped_rows(latent, &self.map)
    }

    /// The terms that depend on the query only.
    pub(super) fn of_queries(&self, latent: &Matrix) -> Vec<f64> {
        half_squares(latent, &self.of_query).into_iter().map(|own| own + self.constant).collect()
    }

    /// The terms that depend on the target only.
    pub(super) fn of_targets(&self, latent: &Matrix) -> Vec<f64> {
        half_squares(latent, &self.of_target)
    }
}

/// Every row after a linear map of the space of rows. In f64: a row has the same image alone and among others.
pub(super) fn mapped_rows(rows: &Matrix, map: &Mat) -> Matrix {
    let (dim, to) = (rows.cols(), map.nrows());
    let mut mapped = vec![0.0_f32; rows.rows() * to];
    let blocks = mapped.par_chunks_mut(ROWS_AT_A_TIME * to).zip(rows.as_slice().par_chunks(ROWS_AT_A_TIME * dim));
    blocks.for_each(|(mapped, rows)| {
        let columns = times(map, &columns(rows, dim));
        mapped.iter_mut().zip(columns.col_iter().flatten()).for_each(|(mapped, &x)| *mapped = x as f32);
    });
    Matrix::new(mapped, to)
}

/// `½ zᵀ A z` of every row `z`.
fn half_squares(rows: &Matrix, a: &Mat) -> Vec<f64> {
    by_blocks(rows, |rows, out: &mut Vec<f64>| {
        let products = times(a, &rows);
        let square = |row: usize| {
            (rows.col_as_slice(row).iter().zip(products.col_as_slice(row).iter())).map(|(a, b)| a * b).sum::<f64>()
        };
        out.extend((0..rows.ncols()).map(|row| 0.5 * square(row)));
    })
}

/// Rows of this length as columns.
fn columns(rows: &[f32], dim: usize) -> Mat {
    Mat::from_fn(dim, rows.len() / dim, |i, j| f64::from(rows[j * dim + i]))
}

/// Applies `handle` to blocks of rows, given as columns, and concatenates the results.
fn by_blocks<T: Send>(matrix: &Matrix, handle: impl Fn(Mat, &mut Vec<T>) + Sync) -> Vec<T> {
    let dim = matrix.cols();
    let blocks = matrix.as_slice().par_chunks(ROWS_AT_A_TIME * dim).map(|rows| {
        let mut out = Vec::new();
        handle(columns(rows, dim), &mut out);
        out
    });
    blocks.collect::<Vec<_>>().into_iter().flatten().collect()
}
