//! Soft couplings: the probability of every pair of words of two views, and the expected moments.

use rayon::prelude::*;

use crate::linalg::{Mat, block, outer_gram, product_of_rows, times_transpose};
use crate::moments::PatternMoments;
use crate::retrieve::kernel::exp;
use crate::vectors::Matrix;

/// Rows summed by one thread at a time. Fixed, so that results do not depend on the number of threads.
const ROWS: usize = 256;

/// A probability for every two words: the mean of the softmax over the row and over the column. Row and column sums are
/// about 1.
pub struct Coupling {
    cols: usize,
    weights: Vec<f32>,
    of_rows: Vec<f32>,
    of_cols: Vec<f32>,
}

impl Coupling {
    /// `(exp(s/T) / Σ over the row + exp(s/T) / Σ over the column) / 2`.
    pub fn of_scores(mut scores: Vec<f32>, cols: usize, temperature: f32) -> Self {
        let largest = scores.par_iter().copied().reduce(|| f32::NEG_INFINITY, f32::max);
        let row_sums: Vec<f32> = scores
            .par_chunks_mut(cols)
            .map(|row| {
                row.iter_mut().for_each(|score| *score = exp((*score - largest) / temperature));
                sum(row)
            })
            .collect();
        let col_sums = column_sums(&scores, cols);
        let half = |sums: Vec<f32>| -> Vec<f32> { sums.iter().map(|sum| 0.5 / sum).collect() };
        let (row_factors, col_factors) = (half(row_sums), half(col_sums));
        let of_rows: Vec<f32> = scores
            .par_chunks_mut(cols)
            .zip(&row_factors)
            .map(|(row, own)| {
                row.iter_mut().zip(&col_factors).for_each(|(weight, other)| *weight *= own + other);
                sum(row)
            })
            .collect();
        let of_cols = column_sums(&scores, cols);
        Coupling { cols, weights: scores, of_rows, of_cols }
    }

    /// Expected moments: all pairs, each weighted by its probability.
    pub fn moments(&self, x: &Matrix, y: &Matrix) -> PatternMoments {
        let n: f64 = self.of_rows.iter().map(|&weight| f64::from(weight)).sum();
        let expected = self.times(y);
        let (sum_x, sum_xx) = weighted_gram(x, &self.of_rows);
        let (sum_y, sum_yy) = weighted_gram(y, &self.of_cols);
        let sum_xy = cross(x, &expected);
        ExpectedSums { n, of_vectors: [sum_x, sum_y], of_products: [sum_xx, sum_yy, sum_xy] }.moments()
    }

    /// `Σ_j w_ij y_j` for every row `i`.
    fn times(&self, y: &Matrix) -> Matrix {
        let dim = y.cols();
        let mut transposed = vec![0.0_f32; y.as_slice().len()];
        for (row, values) in y.as_slice().chunks_exact(dim).enumerate() {
            values.iter().enumerate().for_each(|(col, value)| transposed[col * y.rows() + row] = *value);
        }
        let mut out = vec![0.0_f32; self.of_rows.len() * dim];
        let blocks = out.par_chunks_mut(2 * ROWS * dim).zip(self.weights.par_chunks(2 * ROWS * self.cols));
        blocks.for_each(|(out, weights)| product_of_rows(weights, &transposed, self.cols, out));
        Matrix::new(out, dim)
    }
}

/// Sums over all pairs of words, each weighted by its probability.
pub struct ExpectedSums {
    /// Of one.
    pub n: f64,
    /// Of the vectors of each view.
    pub of_vectors: [Vec<f64>; 2],
    /// Of the products `x xᵀ`, `y yᵀ` and `x yᵀ`.
    pub of_products: [Mat; 3],
}

impl ExpectedSums {
    /// The moments of both views together.
    pub fn moments(&self) -> PatternMoments {
        let ExpectedSums { n, of_vectors: [sum_x, sum_y], of_products: [sum_xx, sum_yy, sum_xy] } = self;
        let (p, q) = (sum_x.len(), sum_y.len());
        let mean: Vec<f64> = sum_x.iter().chain(sum_y).map(|sum| sum / n).collect();
        let scatter = Mat::from_fn(p + q, p + q, |i, j| {
            let sum = match (i < p, j < p) {
                (true, true) => sum_xx[(i, j)],
                (false, false) => sum_yy[(i - p, j - p)],
                (true, false) => sum_xy[(i, j - p)],
                (false, true) => sum_xy[(j, i - p)],
            };
            sum - n * mean[i] * mean[j]
        });
        PatternMoments { n: *n, mean, scatter }
    }
}

/// `Σ w x` and `Σ w x xᵀ`.
fn weighted_gram(x: &Matrix, weights: &[f32]) -> (Vec<f64>, Mat) {
    let dim = x.cols();
    // An extra row for the sum: the Gram matrix of (w^½ x, w^½) holds it beside the squares.
    let gram = sum_of_blocks(x.rows(), |rows| {
        let of_row = |j: usize, i: usize| {
            let root = f64::from(weights[rows.start + j]).sqrt();
            if i < dim { root * f64::from(x.row(rows.start + j)[i]) } else { root }
        };
        outer_gram(&Mat::from_fn(dim + 1, rows.len(), |i, j| of_row(j, i)))
    });
    ((0..dim).map(|i| gram[(i, dim)]).collect(), block(&gram, (0, dim), (0, dim)))
}

/// `Xᵀ Y` of rows.
fn cross(x: &Matrix, y: &Matrix) -> Mat {
    sum_of_blocks(x.rows(), |rows| times_transpose(&x.columns(rows.clone()), &y.columns(rows)))
}

/// Sums the results of blocks of rows, in order.
fn sum_of_blocks(rows: usize, of_block: impl Fn(std::ops::Range<usize>) -> Mat + Sync) -> Mat {
    let starts: Vec<usize> = (0..rows).step_by(8 * ROWS).collect();
    let parts: Vec<Mat> = starts.par_iter().map(|&start| of_block(start..rows.min(start + 8 * ROWS))).collect();
    parts.into_iter().reduce(|sum, part| sum + part).expect("there are rows")
}

fn column_sums(values: &[f32], cols: usize) -> Vec<f32> {
    let parts: Vec<Vec<f32>> = values
        .par_chunks(ROWS * cols)
        .map(|rows| {
            let mut sums = vec![0.0_f32; cols];
            for row in rows.chunks_exact(cols) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            sums
        })
        .collect();
    let mut sums = vec![0.0_f32; cols];
    parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    sums
}

/// Eight partial sums, for SIMD instructions.
fn sum(values: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let chunks = values.chunks_exact(8);
    let rest: f32 = chunks.remainder().iter().sum();
    chunks.for_each(|chunk| sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value));
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_all_pairs_with_their_probabilities() {
        let x = Matrix::new(vec![1.0, 0.5, -1.0, 2.0, 0.25, 0.125], 2);
        let y = Matrix::new(vec![3.0, -2.0], 1);
        let scores = vec![0.1, 0.2, 0.5, -0.3, 0.0, 0.1];
        let coupling = Coupling::of_scores(scores.clone(), 2, 0.2);
        let e: Vec<f64> = scores.iter().map(|&s| (f64::from(s) / 0.2).exp()).collect();
        let weight = |i: usize, j: usize| {
            let row = e[2 * i] + e[2 * i + 1];
            let col = e[j] + e[2 + j] + e[4 + j];
            0.5 * e[2 * i + j] * (1.0 / row + 1.0 / col)
        };
        let (mut n, mut sum) = (0.0, [0.0; 3]);
        let mut squares = Mat::zeros(3, 3);
        for i in 0..3 {
            for j in 0..2 {
                let both = [f64::from(x.row(i)[0]), f64::from(x.row(i)[1]), f64::from(y.row(j)[0])];
                n += weight(i, j);
                for a in 0..3 {
                    sum[a] += weight(i, j) * both[a];
                    (0..3).for_each(|b| squares[(a, b)] += weight(i, j) * both[a] * both[b]);
                }
            }
        }
        let moments = coupling.moments(&x, &y);
        assert!((moments.n - n).abs() < 1e-5);
        for a in 0..3 {
            assert!((moments.mean[a] - sum[a] / n).abs() < 1e-5);
            for b in 0..3 {
                assert!((moments.scatter[(a, b)] - (squares[(a, b)] - sum[a] * sum[b] / n)).abs() < 1e-4);
            }
        }
    }
}
