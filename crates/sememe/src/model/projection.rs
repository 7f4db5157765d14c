//! Projection of vectors into the latent space.

use rayon::prelude::*;

use super::{Model, ViewModel};
use crate::error::Result;
use crate::linalg::{Cholesky, Mat, symmetric, times, times_transpose};
use crate::vectors::{Matrix, ROWS_AT_A_TIME, ROWS_AT_ONCE, View};

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
    /// Projects the prepared rows of a view. Rows that are not shared are replaced piece by piece, so that both matrices
    /// are never in memory at once. The latent vectors of spilled rows are spilled.
    pub fn latent_view(&self, view: usize, prepared: View) -> Result<LatentView> {
        let log_density = match self.views[view].emission.is_some() {
            true => Some(self.log_densities(view, prepared.rows())?),
            false => None,
        };
        let words = prepared.shared_words().filter(|_| self.spelling.is_some());
        let spell = |first: usize, latent: &mut [f32]| {
            if let Some(words) = &words {
                self.spell_rows(view, latent, |row| words.word(first + row));
            }
        };
        let latent = prepared.map_rows(|rows| match rows.spilled_to() {
            Some(_) => self.views[view].project_pieces(&rows, spell),
            None => {
                let mut latent = self.views[view].project_in_place(rows)?;
                spell(0, latent.as_mut_slice());
                Ok(latent)
            }
        })?;
        Ok(LatentView { view: latent, log_density })
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
        let mut densities = Vec::with_capacity(rows.rows());
        for rows in rows.pieces() {
            densities.par_extend(view.blocks(rows).flat_map_iter(|centred| of_block(&times(&whitener, &centred))));
        }
        Ok(densities)
    }
}

impl ViewModel {
    /// What projecting needs: the same view without its distribution of `x` given `z`.
    pub(crate) fn without_emission(&self) -> Self {
        let ViewModel { name, mu, projection, .. } = self;
        ViewModel { name: name.clone(), mu: mu.clone(), projection: projection.clone(), emission: None }
    }

    /// The latent vector of every row `x`: `E[z|x]` for the generative models.
    pub fn project(&self, rows: &Matrix) -> Result<Matrix> {
        self.check_dimension(rows.cols())?;
        let latent = self.projection.nrows();
        let mut projected = vec![0.0_f32; rows.rows() * latent];
        self.project_into(&mut projected, rows.as_slice());
        Ok(Matrix::new(projected, latent))
    }

    /// [`ViewModel::project`] by pieces, for spilled rows. `change` gets the latent vectors of each piece, with the number of
    /// the first one.
    fn project_pieces(&self, rows: &Matrix, change: impl Fn(usize, &mut [f32])) -> Result<Matrix> {
        self.check_dimension(rows.cols())?;
        rows.map_pieces(self.projection.nrows(), |first, rows, latent| {
            self.project_into(latent, rows);
            change(first, latent);
        })
    }

    /// [`ViewModel::project`] into the memory of the rows, if latent vectors are not longer than rows.
    fn project_in_place(&self, rows: Matrix) -> Result<Matrix> {
        self.check_dimension(rows.cols())?;
        let (dim, latent, count) = (self.dim(), self.projection.nrows(), rows.rows());
        if latent > dim {
            return self.project(&rows);
        }
        let mut values = rows.into_vec();
        let mut piece = vec![0.0_f32; ROWS_AT_ONCE.min(count) * latent];
        for start in (0..count).step_by(ROWS_AT_ONCE) {
            let end = count.min(start + ROWS_AT_ONCE);
            let piece = &mut piece[..(end - start) * latent];
            self.project_into(piece, &values[start * dim..end * dim]);
            // The rows that are overwritten were projected already, as latent vectors are not longer.
            values[start * latent..end * latent].copy_from_slice(piece);
        }
        values.truncate(count * latent);
        Ok(Matrix::new(values, latent))
    }

    fn project_into(&self, projected: &mut [f32], rows: &[f32]) {
        let latent = self.projection.nrows();
        projected.par_chunks_mut(ROWS_AT_A_TIME * latent).zip(self.blocks(rows)).for_each(|(out, centred)| {
            let z = times(&self.projection, &centred);
            for (j, out) in out.chunks_exact_mut(latent).enumerate() {
                out.iter_mut().enumerate().for_each(|(i, out)| *out = z[(i, j)] as f32);
            }
        });
    }

    /// `x - mu` as columns, in blocks of rows.
    fn blocks(&self, rows: &[f32]) -> impl IndexedParallelIterator<Item = Mat> {
        rows.par_chunks(ROWS_AT_A_TIME * self.dim()).map(|rows| self.centred(rows))
    }

    /// `x - mu` of all rows, as columns.
    pub(crate) fn centred(&self, rows: &[f32]) -> Mat {
        let dim = self.dim();
        Mat::from_fn(dim, rows.len() / dim, |i, j| f64::from(rows[j * dim + i]) - self.mu[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn projecting_in_place_and_by_pieces_gives_the_same_bits() {
        let (dim, count) = (5, 2 * ROWS_AT_ONCE + 700);
        let mut random = Random::new(7);
        let mut number = || random.normal();
        let rows = Matrix::new((0..count * dim).map(|_| number() as f32).collect(), dim);
        let folder = tempfile::tempdir().unwrap();
        let mut spilled = rows.clone();
        spilled.spill(folder.path()).unwrap();
        for latent in [1, 3, 5, 6] {
            let view = ViewModel {
                name: String::new(),
                mu: (0..dim).map(|_| number()).collect(),
                projection: Mat::from_fn(latent, dim, |_, _| number()),
                emission: None,
            };
            let expected = view.project(&rows).unwrap();
            let by_pieces = view.project_pieces(&spilled, |_, _| ()).unwrap();
            assert!(by_pieces.spilled_to().is_some());
            for found in [view.project_in_place(rows.clone()).unwrap(), by_pieces] {
                assert!(expected.as_slice() == found.as_slice() && found.cols() == latent && found.rows() == count);
            }
        }
    }
}
