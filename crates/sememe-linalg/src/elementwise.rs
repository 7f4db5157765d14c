//! Elementwise sums, scalings and copies.

use super::views::{contiguous, contiguous_mut};
use super::{Mat, MatMut, MatRef};

/// `A diag(factors)`.
pub fn scale_columns(a: &Mat, factors: &[f64]) -> Mat {
    Mat::from_fn(a.nrows(), factors.len(), |i, j| a[(i, j)] * factors[j])
}

/// The symmetric part, `(A + Aᵀ) / 2`.
pub fn symmetric(a: &Mat) -> Mat {
    let mut symmetric = a.clone();
    for_each_below_diagonal(a.nrows(), |i, j| {
        let mean = 0.5 * (a[(i, j)] + a[(j, i)]);
        symmetric[(i, j)] = mean;
        symmetric[(j, i)] = mean;
    });
    symmetric
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror_lower(a: &mut Mat) {
    for_each_below_diagonal(a.nrows(), |i, j| a[(j, i)] = a[(i, j)]);
}

/// Visits all `(i, j)` with `i > j` tile by tile, so that accesses to both `(i, j)` and `(j, i)` are local in memory.
fn for_each_below_diagonal(n: usize, mut visit: impl FnMut(usize, usize)) {
    const TILE: usize = 16;
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for j in left..n.min(left + TILE) {
                (top.max(j + 1)..n.min(top + TILE)).for_each(|i| visit(i, j));
            }
        }
    }
}

/// The sum of the diagonal.
pub fn trace(a: &Mat) -> f64 {
    (0..a.nrows()).map(|i| a[(i, i)]).sum()
}

/// `Σ a_ij b_ij`, which is `tr Aᵀ B`.
pub fn inner(a: &Mat, b: &Mat) -> f64 {
    (0..a.ncols()).map(|j| dot(a.col_as_slice(j), b.col_as_slice(j))).sum()
}

/// A copy of the block of `rows` and `cols`, each given as start and length.
pub fn block(a: &Mat, (row, rows): (usize, usize), (col, cols): (usize, usize)) -> Mat {
    a.submatrix(row, col, rows, cols).to_owned()
}

/// `A += factor x yᵀ`.
pub fn add_outer(a: &mut Mat, factor: f64, x: &[f64], y: &[f64]) {
    for (j, &y) in y.iter().enumerate() {
        add_to(a.col_as_slice_mut(j), factor * y, x);
    }
}

/// `A += factor B`.
pub fn add_scaled(mut a: MatMut<'_>, factor: f64, b: MatRef<'_>) {
    for j in 0..a.0.ncols() {
        add_to(contiguous_mut(a.0.as_mut().col_mut(j)), factor, contiguous(b.0.col(j)));
    }
}

fn add_to(sums: &mut [f64], factor: f64, values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// `xᵀ y`, with several partial sums for SIMD instructions.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (x_chunks, y_chunks) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f64 = x_chunks.remainder().iter().zip(y_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in x_chunks.zip(y_chunks) {
        (0..LANES).for_each(|lane| sums[lane] += x[lane] * y[lane]);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn symmetric_is_the_mean_with_the_transpose() {
        let a = sample(37, 37);
        let mean = Mat::from_fn(37, 37, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
        assert_eq!(symmetric(&a), mean);
    }

    #[test]
    fn inner_is_the_trace_of_the_product() {
        let (a, b) = (sample(5, 3), sample(5, 4));
        let b = block(&b, (0, 5), (1, 3));
        assert!((inner(&a, &b) - trace(&super::super::transpose_times(&a, &b))).abs() < 1e-10);
    }

    #[test]
    fn scaled_matrices_and_outer_products_are_added() {
        let (x, y) = ([1.0, 2.0, 3.0], [-1.0, 0.5]);
        let outer = Mat::from_fn(3, 2, |i, j| x[i] * y[j]);
        let mut found = sample(3, 2);
        add_outer(&mut found, 2.0, &x, &y);
        let mut expected = sample(3, 2);
        add_scaled(expected.as_mut(), 2.0, outer.as_ref());
        assert_eq!(found, expected);
        assert_eq!(found, Mat::from_fn(3, 2, |i, j| sample(3, 2)[(i, j)] + 2.0 * outer[(i, j)]));
    }

    #[test]
    fn dot_counts_every_entry_once() {
        for len in [0, 1, 7, 8, 9, 31] {
            let x: Vec<f64> = (0..len).map(f64::from).collect();
            assert_eq!(dot(&x, &vec![1.0; x.len()]), x.iter().sum::<f64>());
        }
    }
}
