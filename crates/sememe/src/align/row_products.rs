//! Maps and products of many rows in f32, on all threads. The bits do not depend on the number of threads.

use rayon::prelude::*;

use crate::linalg::{Mat, product_of_columns};
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// `Σ a bᵀ` over the rows of both, row-major.
pub(super) fn sum_of_outer_products(a: &Matrix, b: &Matrix) -> Vec<f32> {
    let shape = (a.cols(), b.cols());
    let of_block = |(a, b): (&[f32], &[f32])| {
        let mut sum = vec![0.0; shape.0 * shape.1];
        product_of_columns(a, b, shape, &mut sum);
        sum
    };
    let blocks = |matrix: &Matrix| ROWS_AT_A_TIME * matrix.cols();
    let sums = a.as_slice().par_chunks(blocks(a)).zip(b.as_slice().par_chunks(blocks(b))).map(of_block);
    let mut total = vec![0.0; shape.0 * shape.1];
    for sum in sums.collect::<Vec<Vec<f32>>>() {
        add(&mut total, 1.0, &sum);
    }
    total
}

/// The entries of a map, row-major.
pub(super) fn row_major(map: &Mat) -> Vec<f32> {
    (0..map.nrows()).flat_map(|i| (0..map.ncols()).map(move |j| map[(i, j)] as f32)).collect()
}

/// The map with these entries, which are row-major.
pub(super) fn map_of(row_major: &[f32], cols: usize) -> Mat {
    Mat::from_fn(row_major.len() / cols, cols, |i, j| f64::from(row_major[i * cols + j]))
}

/// Adds a multiple of `values` to `sums`.
pub(super) fn add(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += factor * x);
}
