//! Products of many rows in f32, on all threads. The bits do not depend on the number of threads.

use rayon::prelude::*;

use crate::linalg::product_of_columns;
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

/// Adds a multiple of `values` to `sums`.
pub(super) fn add(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += factor * x);
}
