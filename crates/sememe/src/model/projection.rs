//! Projection of vectors into the latent space.

use rayon::prelude::*;

#[cfg(feature = "cuda")]
use super::gpu::OnGpu;
use super::{Model, ViewModel};
use crate::error::Result;
use crate::linalg::{Cholesky, Mat, symmetric, times, times_transpose};
use crate::vectors::{Matrix, ROWS_AT_A_TIME, ROWS_AT_ONCE, View};

/// Rows that are mapped at a time in place of [`ROWS_AT_ONCE`] where each piece is copied to a GPU and back.
#[cfg(feature = "cuda")]
const ROWS_FOR_GPU: usize = 8 * ROWS_AT_ONCE;

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
        let map = LinearMap::new(view, &whitener, rows.rows());
        let mut squares = Vec::with_capacity(rows.rows());
        for rows in rows.pieces() {
            squares.extend(map.squares(rows));
        }
        Ok(squares.into_iter().map(|square| -0.5 * (constant + square)).collect())
    }
}

/// A linear map of the centred rows of a view.
struct LinearMap<'a> {
    view: &'a ViewModel,
    map: &'a Mat,
    #[cfg(feature = "cuda")]
    on_gpu: OnGpu,
}

impl<'a> LinearMap<'a> {
    /// For so many rows.
    #[cfg_attr(not(feature = "cuda"), expect(unused_variables, reason = "there is no GPU without the feature"))]
    fn new(view: &'a ViewModel, map: &'a Mat, rows: usize) -> Self {
        LinearMap {
            view,
            map,
            #[cfg(feature = "cuda")]
            on_gpu: OnGpu::of(&view.mu, map, rows),
        }
    }

    /// Rows that are mapped at a time where few of them should be in memory twice.
    fn rows_at_once(&self) -> usize {
        #[cfg(feature = "cuda")]
        if self.on_gpu.is_used() {
            return ROWS_FOR_GPU;
        }
        ROWS_AT_ONCE
    }

    /// The images of rows.
    fn project_into(&self, images: &mut [f32], rows: &[f32]) {
        #[cfg(feature = "cuda")]
        if self.on_gpu.project(rows, images) {
            return;
        }
        let (map, size) = (self.map, self.map.nrows());
        images.par_chunks_mut(ROWS_AT_A_TIME * size).zip(self.view.blocks(rows)).for_each(|(out, centred)| {
            let z = times(map, &centred);
            for (j, out) in out.chunks_exact_mut(size).enumerate() {
                out.iter_mut().enumerate().for_each(|(i, out)| *out = z[(i, j)] as f32);
            }
        });
    }

    /// The sums of the squares of the images of rows.
    fn squares(&self, rows: &[f32]) -> Vec<f64> {
        #[cfg(feature = "cuda")]
        {
            let mut squares = vec![0.0; rows.len() / self.view.dim()];
            if self.on_gpu.squares(rows, &mut squares) {
                return squares;
            }
        }
        let of_block = |images: &Mat| -> Vec<f64> {
            images.col_iter().map(|image| image.iter().map(|x| x * x).sum::<f64>()).collect()
        };
        let map = self.map;
        self.view.blocks(rows).flat_map_iter(|centred| of_block(&times(map, &centred))).collect()
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
        self.linear_map(rows.rows()).project_into(&mut projected, rows.as_slice());
        Ok(Matrix::new(projected, latent))
    }

    /// [`ViewModel::project`] by pieces, for spilled rows. `change` gets the latent vectors of each piece, with the number of
    /// the first one.
    fn project_pieces(&self, rows: &Matrix, change: impl Fn(usize, &mut [f32])) -> Result<Matrix> {
        self.check_dimension(rows.cols())?;
        let map = self.linear_map(rows.rows());
        rows.map_pieces(self.projection.nrows(), |first, rows, latent| {
            map.project_into(latent, rows);
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
        let map = self.linear_map(count);
        let mut values = rows.into_vec();
        let at_once = map.rows_at_once();
        let mut piece = vec![0.0_f32; at_once.min(count) * latent];
        for start in (0..count).step_by(at_once) {
            let end = count.min(start + at_once);
            let piece = &mut piece[..(end - start) * latent];
            map.project_into(piece, &values[start * dim..end * dim]);
            // The rows that are overwritten were projected already, as latent vectors are not longer.
            values[start * latent..end * latent].copy_from_slice(piece);
        }
        values.truncate(count * latent);
        Ok(Matrix::new(values, latent))
    }

    /// The projection of so many rows.
    fn linear_map(&self, rows: usize) -> LinearMap<'_> {
        LinearMap::new(self, &self.projection, rows)
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

    #[cfg(feature = "cuda")]
    #[test]
    fn images_and_densities_on_a_card_are_those_of_the_cpu() {
        let (dim, latent, count) = (9, 7, 2000);
        let mut random = Random::new(8);
        let mut number = || random.normal();
        let view = ViewModel {
            name: String::new(),
            mu: (0..dim).map(|_| number()).collect(),
            projection: Mat::from_fn(latent, dim, |_, _| number()),
            emission: None,
        };
        let rows: Vec<f32> = (0..count * dim).map(|_| number() as f32).collect();
        let on_cpu = LinearMap::new(&view, &view.projection, 0);
        let (mut expected, mut found) = (vec![0.0; count * latent], vec![0.0; count * latent]);
        on_cpu.project_into(&mut expected, &rows);
        for bytes in [1 << 20, 20_000] {
            let on_gpu = OnGpu::on(sememe_cuda::StandIn::new(bytes), &view.mu, &view.projection);
            assert!(on_gpu.project(&rows, &mut found));
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() <= f32::EPSILON * expected.abs() + 1e-12, "{found} {expected}");
            }
            let mut squares = vec![0.0; count];
            assert!(on_gpu.squares(&rows, &mut squares) && on_gpu.is_used());
            for (found, expected) in squares.iter().zip(on_cpu.squares(&rows)) {
                assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
            }
        }
        // Without memory for the map the CPU does the work.
        let on_gpu = OnGpu::on(sememe_cuda::StandIn::new(100), &view.mu, &view.projection);
        assert!(!on_gpu.is_used() && !on_gpu.project(&rows, &mut found));
    }
}
