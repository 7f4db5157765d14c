//! Where vectors lie in the latent space.

use rayon::prelude::*;

use crate::error::Result;
use crate::linalg::Mat;
use crate::model::View;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

impl View {
    /// Where every row `x` lies in the latent space: `E[z|x]` for the generative models.
    pub fn project(&self, rows: &Matrix) -> Result<Matrix> {
        let dim = self.dim();
        self.check_dimension(rows.cols())?;
        let latent = self.projection.nrows();
        let mut projected = vec![0.0_f32; rows.rows() * latent];
        projected
            .par_chunks_mut(ROWS_AT_A_TIME * latent)
            .zip(rows.as_slice().par_chunks(ROWS_AT_A_TIME * dim))
            .for_each(|(out, rows)| {
                let centred = Mat::from_fn(dim, rows.len() / dim, |i, j| f64::from(rows[j * dim + i]) - self.mu[i]);
                let z = &self.projection * centred;
                for (j, out) in out.chunks_exact_mut(latent).enumerate() {
                    out.iter_mut().enumerate().for_each(|(i, out)| *out = z[(i, j)] as f32);
                }
            });
        Ok(Matrix::new(projected, latent))
    }
}
