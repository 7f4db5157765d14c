//! Maps and products of many rows in f32, on all threads. The bits do not depend on the number of threads.

use rayon::prelude::*;

use crate::linalg::{Mat, product_of_columns};
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// Rows of as many blocks as keep all threads busy.
pub(super) fn rows_for_all_threads() -> usize {
    2 * rayon::current_num_threads() * ROWS_AT_A_TIME
}

/// `Σ a bᵀ` over the rows of both, row-major.
pub(super) fn sum_of_outer_products(a: &Matrix, b: &Matrix) -> Vec<f32> {
    let shape = (a.cols(), b.cols());
    let mut total = vec![0.0; shape.0 * shape.1];
    // The sums of few blocks are in memory at a time.
    let rows = rows_for_all_threads();
    for (a, b) in a.as_slice().chunks(rows * shape.0).zip(b.as_slice().chunks(rows * shape.1)) {
        add_outer_products(&mut total, a, b, shape);
    }
    total
}

/// Adds `Σ a bᵀ` over the rows of both, which have as many columns as `shape` says. Sums over parts of the rows have the
/// same bits if all parts but the last one are whole blocks.
pub(super) fn add_outer_products(total: &mut [f32], a: &[f32], b: &[f32], shape: (usize, usize)) {
    let of_block = |(a, b): (&[f32], &[f32])| {
        let mut sum = vec![0.0; shape.0 * shape.1];
        product_of_columns(a, b, shape, &mut sum);
        sum
    };
    let sums = a.par_chunks(ROWS_AT_A_TIME * shape.0).zip(b.par_chunks(ROWS_AT_A_TIME * shape.1)).map(of_block);
    for sum in sums.collect::<Vec<Vec<f32>>>() {
        add(total, 1.0, &sum);
    }
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
