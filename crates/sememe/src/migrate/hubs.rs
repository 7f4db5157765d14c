//! Hubs: rows of an index that are near to many queries. What they are near by is estimated, and taken off.

use rayon::prelude::*;

use super::Affine;
use super::pair_moments::{covariance_of, is_mostly_mean};
use crate::error::Result;
use crate::linalg::{Cholesky, product_of_rows, times_vector, trace};
use crate::prepare::column_means;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// Nearest queries that the nearness of a row is averaged over, as in CSLS.
pub(super) const NEIGHBOURS: usize = 10;
/// Queries and rows of the index that the nearness is estimated from.
const QUERIES: usize = 4000;
const ROWS: usize = 12_000;
/// The weight of the nearness: one half of it, as in CSLS. From 0.3 to 0.7 recall is the same.
pub(super) const WEIGHT: f64 = 0.5;
/// The share of the mean that queries get, beside that which rows of the index have.
const MEAN_SHARE: f64 = 0.5;
/// The ridge term of its regression on the rows.
const RIDGE: f64 = 1e-3;

/// Rows, evenly spaced, at most `count`.
pub(super) fn evenly_spaced(rows: &Matrix, count: usize) -> Matrix {
    let count = count.min(rows.rows());
    rows.select(&(0..count).map(|at| at * rows.rows() / count).collect::<Vec<_>>())
}

/// For every row, the mean of its largest cosines with the queries. Both are of unit length. `own` is the row that a query
/// is the twin of, which does not count.
pub(super) fn nearness(rows: &Matrix, queries: &Matrix, own: Option<&[usize]>) -> Vec<f64> {
    let of_block = |(number, block): (usize, &[f32])| -> Vec<f64> {
        let count = block.len() / rows.cols();
        let mut cosines = vec![0.0; count * queries.rows()];
        product_of_rows(block, queries.as_slice(), rows.cols(), &mut cosines);
        mask(&mut cosines, queries.rows(), number * ROWS_AT_A_TIME, own);
        cosines.chunks_exact_mut(queries.rows()).map(mean_of_largest).collect()
    };
    let blocks = rows.as_slice().par_chunks(ROWS_AT_A_TIME * rows.cols()).enumerate();
    blocks.flat_map_iter(of_block).collect()
}

/// Takes the cosines of queries with their own twins out of a block of rows that begins at `first`.
pub(super) fn mask(cosines: &mut [f32], queries: usize, first: usize, own: Option<&[usize]>) {
    let count = cosines.len() / queries.max(1);
    for (query, &twin) in own.unwrap_or_default().iter().enumerate() {
        if (first..first + count).contains(&twin) {
            cosines[(twin - first) * queries + query] = f32::NEG_INFINITY;
        }
    }
}

/// The mean of the largest numbers; those that were taken out do not count.
pub(super) fn mean_of_largest(values: &mut [f32]) -> f64 {
    let k = NEIGHBOURS.min(values.len());
    if k < values.len() {
        values.select_nth_unstable_by(k, |a, b| b.total_cmp(a));
    }
    let largest = values[..k].iter().filter(|value| value.is_finite());
    let (sum, count) = largest.fold((0.0, 0_usize), |(sum, count), &value| (sum + f64::from(value), count + 1));
    sum / count.max(1) as f64
}

/// The map with a shift of its queries away from hubs: the regression of the nearness of rows on the rows themselves is
/// linear, so that half of it can be taken off the query instead of the index. Queries for an index whose rows are mostly
/// their mean get some of that mean first: without any of it they find the rows that are least like the others.
pub(super) fn shifted(map: Affine, training: &Matrix, index: &Matrix) -> Result<Affine> {
    let rows = evenly_spaced(index, ROWS);
    let means = column_means(&rows);
    let towards = towards_mean(&means);
    let single = |shift: &[f64]| Some(shift.iter().map(|&x| x as f32).collect());
    let map = if is_mostly_mean(&means) { map.with_shift(single(&towards))? } else { map };
    let queries = map.apply(&evenly_spaced(training, QUERIES))?;
    let near = nearness(&rows, &queries, None);
    let mean = near.iter().sum::<f64>() / near.len().max(1) as f64;
    let dim = rows.cols();
    let mut cross = vec![0.0; dim];
    for (row, near) in rows.as_slice().chunks_exact(dim).zip(&near) {
        let slope = (near - mean) / rows.rows() as f64;
        cross.iter_mut().zip(row.iter().zip(&means)).for_each(|(sum, (&x, m))| *sum += slope * (f64::from(x) - m));
    }
    let mut covariance = covariance_of(&rows);
    let added = RIDGE * trace(&covariance) / dim as f64;
    (0..dim).for_each(|i| covariance[(i, i)] += added);
    let inverse = Cholesky::new(&covariance, "the covariance of the index")?.inverse();
    // Queries have about this length where the mean was added to them.
    let length = (1.0 + towards.iter().map(|x| x * x).sum::<f64>()).sqrt();
    let against = times_vector(&inverse, &cross).into_iter().map(|x| -WEIGHT * length * x);
    let shift: Vec<f64> = against.zip(&towards).map(|(against, towards)| against + towards).collect();
    map.with_shift(single(&shift))
}

/// What queries of length 1 about the mean of an index get of that mean, if its rows are mostly their mean.
fn towards_mean(means: &[f64]) -> Vec<f64> {
    let square = means.iter().map(|x| x * x).sum::<f64>();
    let factor = if is_mostly_mean(means) { MEAN_SHARE / (1.0 - square).max(f64::EPSILON).sqrt() } else { 0.0 };
    means.iter().map(|x| factor * x).collect()
}
