//! Independent component analysis: the directions in which words are least Gaussian.
//!
//! Each component is about a topic, such as ships, numbers or first names: most words have nothing to do with it and a
//! few have much. Other languages have components of the same topics (Yamagiwa, Oyama & Shimodaira 2023), with similar
//! distributions and similar relations to other components. These are third and higher moments. Second moments, which
//! whitening makes all alike, cannot tell one rotation from another.

use rayon::prelude::*;

#[cfg(feature = "cuda")]
use super::super::gpu;
use crate::error::Result;
use crate::linalg::{Eigen, Mat, outer_gram, product_of_columns, product_of_rows, times};
use crate::prepare::column_means;
use crate::vectors::Matrix;

/// Maximum number of steps, and the change of every direction below which the iteration has converged.
const STEPS: usize = 60;
const DIRECTION_TOLERANCE: f64 = 1e-3;
/// Directions with less than this fraction of the largest variance are left out.
const LEAST_VARIANCE: f64 = 1e-6;
/// Components that one thread multiplies at a time, and words.
const ROWS: usize = 32;
const WORDS_AT_A_TIME: usize = 512;

/// Whitened words: all directions have variance 1 and are uncorrelated.
pub struct Whitened {
    /// One word a row.
    pub rows: Matrix,
}

impl Whitened {
    /// Whitens words in the `directions` directions of most variance, or fewer if the rank is lower.
    pub fn of(words: &Matrix, directions: usize) -> Result<Self> {
        let (n, dim) = (words.rows(), words.cols());
        let means = column_means(words);
        let columns = words.columns(0..n);
        let centred = Mat::from_fn(dim, n, |i, j| columns[(i, j)] - means[i]);
        let eigen = Eigen::new(&outer_gram(&centred), "the covariance of frequent words")?;
        let largest = eigen.values[dim - 1];
        let is_there = |&at: &usize| eigen.values[at] > LEAST_VARIANCE * largest;
        let kept: Vec<usize> = (0..dim).rev().take(directions).filter(is_there).collect();
        let scaled = Mat::from_fn(kept.len(), dim, |i, j| {
            eigen.vectors[(j, kept[i])] * (n as f64 / eigen.values[kept[i]]).sqrt()
        });
        Ok(Whitened { rows: Matrix::of_columns(&times(&scaled, &centred)) })
    }

    /// The first `count` directions, which are those of most variance.
    pub fn narrowed(&self, count: usize) -> Self {
        let rows = self.rows.as_slice().chunks_exact(self.rows.cols()).flat_map(|row| row[..count].to_vec()).collect();
        Whitened { rows: Matrix::new(rows, count) }
    }
}

/// Independent components of words.
pub struct Components {
    /// One component a row, in whitened coordinates; orthonormal.
    pub directions: Mat,
    /// The value of every word: one component a row, one word a column.
    pub values: Matrix,
}

impl Components {
    /// The directions of greatest skewness, from the rotation that is nearest to `start`: fixed points of
    /// `W ← E[(W z)² zᵀ]` with orthonormalised rows (Hyvärinen's FastICA with the square as its nonlinearity).
    pub fn of(words: &Whitened, start: &Mat) -> Result<Self> {
        let (dim, n) = (words.rows.cols(), words.rows.rows());
        let mut directions = orthogonal(start)?;
        #[cfg(feature = "cuda")]
        let on_gpu = gpu::whitened(&words.rows, STEPS);
        for _ in 0..STEPS {
            let rows = row_major(&directions);
            #[cfg(feature = "cuda")]
            let of_gpu = on_gpu.as_ref().and_then(|words| gpu::moments(words, &rows));
            #[cfg(not(feature = "cuda"))]
            let of_gpu = None;
            let sums: Vec<f64> = of_gpu.unwrap_or_else(|| moments(&rows, words));
            let next = orthogonal(&Mat::from_fn(dim, dim, |i, j| sums[i * dim + j] / n as f64))?;
            let turned = |i: usize| {
                let cosine: f64 = (0..dim).map(|j| next[(i, j)] * directions[(i, j)]).sum();
                (1.0 - cosine.abs()).abs()
            };
            let change = (0..dim).map(turned).fold(0.0, f64::max);
            directions = next;
            if change < DIRECTION_TOLERANCE {
                break;
            }
        }
        let mut values = values(&directions, words);
        // Makes the skewness positive: a few words have large values, not very negative ones.
        for (component, row) in values.as_mut_slice().chunks_exact_mut(n).enumerate() {
            if row.iter().map(|&x| f64::from(x).powi(3)).sum::<f64>() < 0.0 {
                row.iter_mut().for_each(|x| *x = -*x);
                (0..dim).for_each(|j| directions[(component, j)] *= -1.0);
            }
        }
        Ok(Components { directions, values })
    }
}

fn row_major(directions: &Mat) -> Matrix {
    Matrix::of_columns(&directions.transpose().to_owned())
}

/// `Σ (W z)² zᵀ`, row by row. Blocks of words are multiplied out of the cache, and their sums added in order.
fn moments(directions: &Matrix, words: &Whitened) -> Vec<f64> {
    let dim = directions.cols();
    let of_block = |words: &[f32]| {
        let mut squares = vec![0.0_f32; words.len()];
        product_of_rows(words, directions.as_slice(), dim, &mut squares);
        squares.iter_mut().for_each(|value| *value *= *value);
        let mut sums = vec![0.0_f32; dim * dim];
        product_of_columns(&squares, words, (dim, dim), &mut sums);
        sums
    };
    let blocks = words.rows.as_slice().par_chunks(WORDS_AT_A_TIME * dim);
    let mut sums = vec![0.0; dim * dim];
    for of_block in blocks.map(of_block).collect::<Vec<_>>() {
        sums.iter_mut().zip(of_block).for_each(|(sum, part)| *sum += f64::from(part));
    }
    sums
}

fn values(directions: &Mat, words: &Whitened) -> Matrix {
    let (dim, n) = (directions.nrows(), words.rows.rows());
    let rows = row_major(directions);
    let mut out = vec![0.0_f32; dim * n];
    out.par_chunks_mut(ROWS * n).zip(rows.as_slice().par_chunks(ROWS * dim)).for_each(|(out, directions)| {
        product_of_rows(directions, words.rows.as_slice(), dim, out);
    });
    Matrix::new(out, n)
}

/// The nearest matrix with orthonormal rows.
fn orthogonal(a: &Mat) -> Result<Mat> {
    let eigen = Eigen::new(&outer_gram(a), "directions of components")?;
    let largest = eigen.values.last().copied().unwrap_or(1.0);
    Ok(times(&eigen.map(|value| value.max(1e-12 * largest).powf(-0.5)), a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn components_that_were_mixed_are_found_again() {
        let mut random = Random::new(3);
        let (n, dim) = (4000, 4);
        // Exponential distributions are skewed; mixtures of them are less so.
        let sources: Vec<f64> = (0..n * dim).map(|_| -random.uniform().ln() - 1.0).collect();
        let mix = Mat::from_fn(dim, dim, |_, _| random.normal());
        let mixed = (0..n).flat_map(|row| {
            let source = &sources[row * dim..(row + 1) * dim];
            (0..dim).map(|i| (0..dim).map(|j| mix[(i, j)] * source[j]).sum::<f64>() as f32).collect::<Vec<_>>()
        });
        let words = Whitened::of(&Matrix::new(mixed.collect(), dim), dim).unwrap();
        let start = Mat::from_fn(dim, dim, |_, _| random.normal());
        let components = Components::of(&words, &start).unwrap();
        for source in 0..dim {
            let correlation = |component: usize| {
                let values = components.values.row(component).iter().enumerate();
                values.map(|(row, &x)| f64::from(x) * sources[row * dim + source]).sum::<f64>() / n as f64
            };
            let best = (0..dim).map(correlation).fold(0.0, f64::max);
            assert!(best > 0.9, "source {source}: {best}");
        }
    }
}
