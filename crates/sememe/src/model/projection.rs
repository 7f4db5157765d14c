//! Projection of vectors into the latent space.

use rayon::prelude::*;

use super::{Model, ViewModel};
use crate::error::Result;
use crate::linalg::{Cholesky, Mat, symmetric, times, times_transpose};
use crate::vectors::{Matrix, ROWS_AT_A_TIME, View};

/// A projected view.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LatentView {
    /// The view, with latent vectors as its rows.
    pub view: View,
    /// `log p(x)` of each row, for methods that have a density.
    pub log_density: Option<Vec<f64>>,
}

impl Model {
    /// Projects the prepared rows of a view.
    pub fn latent_view(&self, view: usize, prepared: &View) -> Result<LatentView> {
        let rows = prepared.rows();
        let latent = self.views[view].project(rows)?;
        Ok(LatentView {
            view: prepared.with_rows(latent),
            log_density: match self.views[view].emission.is_some() {
                true => Some(self.log_densities(view, rows)?),
                false => None,
            },
        })
    }

    /// `log p(x)` of every row of a view, with `x ~ N(mu, W Wᵀ + Psi)`.
    pub fn log_densities(&self, view: usize, rows: &Matrix) -> Result<Vec<f64>> {
        let emission = self.emission(view)?;
        let view = &self.views[view];
        view.check_dimension(rows.cols())?;
        let sigma = symmetric(&(times_transpose(&emission.w, &emission.w) + &emission.psi));
        let factor = Cholesky::new(&sigma, "the covariance of a view")?;
        let whitener = factor.solve_lower(&Mat::identity(view.dim(), view.dim()));
        let constant = view.dim() as f64 * (2.0 * std::f64::consts::PI).ln() + factor.log_det();
        let of_block = |whitened: &Mat| -> Vec<f64> {
            let squared = |column: usize| whitened.col_as_slice(column).iter().map(|x| x * x).sum::<f64>();
            (0..whitened.ncols()).map(|column| -0.5 * (constant + squared(column))).collect()
        };
        Ok(view.blocks(rows).flat_map_iter(|centred| of_block(&times(&whitener, &centred))).collect())
    }
}

impl ViewModel {
    /// The latent vector of every row `x`: `E[z|x]` for the generative models.
    pub fn project(&self, rows: &Matrix) -> Result<Matrix> {
        self.check_dimension(rows.cols())?;
        let latent = self.projection.nrows();
        let mut projected = vec![0.0_f32; rows.rows() * latent];
        projected.par_chunks_mut(ROWS_AT_A_TIME * latent).zip(self.blocks(rows)).for_each(|(out, centred)| {
            let z = times(&self.projection, &centred);
            for (j, out) in out.chunks_exact_mut(latent).enumerate() {
                out.iter_mut().enumerate().for_each(|(i, out)| *out = z[(i, j)] as f32);
            }
        });
        Ok(Matrix::new(projected, latent))
    }

    /// `x - mu` as columns, in blocks of rows.
    fn blocks(&self, rows: &Matrix) -> impl IndexedParallelIterator<Item = Mat> {
        let dim = self.dim();
        rows.as_slice().par_chunks(ROWS_AT_A_TIME * dim).map(|rows| self.centred(rows))
    }

    /// `x - mu` of all rows, as columns.
    pub(crate) fn centred(&self, rows: &[f32]) -> Mat {
        let dim = self.dim();
        Mat::from_fn(dim, rows.len() / dim, |i, j| f64::from(rows[j * dim + i]) - self.mu[i])
    }
}
