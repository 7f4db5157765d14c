//! Matching of the components of two views, by their distributions and by their relations to other components.

use rayon::prelude::*;

use super::components::Components;
use crate::linalg::{Mat, add_scaled, dot, times, times_transpose, transpose_times};
use crate::retrieve::mutual_best;
use crate::vectors::Matrix;

/// Number of quantiles by which distributions are compared.
const QUANTILES: usize = 300;
/// Scale of squared differences of quantiles: about the value for matching components.
const SHAPE_SCALE: f64 = 0.02;
/// The weight of relations relative to that of distributions.
const RELATIONS_WEIGHT: f64 = 5.0;
/// Annealing: the temperature falls from this to a tenth of it, in this many steps.
const START_TEMPERATURE: f64 = 2.0;
const STEPS: usize = 60;
/// Number of Sinkhorn iterations.
const SCALINGS: usize = 30;
/// A word belongs to a component from this many standard deviations on. Larger values than the second number are
/// clipped.
const MEMBERSHIP_THRESHOLD: f32 = 2.0;
const LARGEST_VALUE: f32 = 5.0;
/// Added to co-occurrence counts, so that rare components do not decide.
const PSEUDO_COUNT: f64 = 2.0;

/// The probability that components match, one view's by rows, the other's by columns.
pub fn matching(x: &Components, y: &Components) -> Mat {
    let shapes = unlikeness_of_shapes(&x.values, &y.values);
    let (of_x, of_y) = rayon::join(|| relations(&x.values), || relations(&y.values));
    let relations: Vec<(Mat, Mat)> = of_x.into_iter().zip(of_y).collect();
    let mut matching = scaled(&shapes, START_TEMPERATURE);
    for step in 0..STEPS {
        let temperature = START_TEMPERATURE * 0.1_f64.powf(step as f64 / STEPS as f64);
        let of_relation = |(of_x, of_y): &(Mat, Mat)| {
            let (mut both, back) = rayon::join(
                || times_transpose(&times(of_x, &matching), of_y),
                || times(&transpose_times(of_x, &matching), of_y),
            );
            both += back;
            both
        };
        let mut scores = shapes.clone();
        for of_relation in relations.par_iter().map(of_relation).collect::<Vec<_>>() {
            add_scaled(scores.as_mut(), RELATIONS_WEIGHT, of_relation.as_ref());
        }
        matching = scaled(&scores, temperature);
    }
    mutual(&matching)
}

/// Keeps only mutual best matches.
fn mutual(matching: &Mat) -> Mat {
    let (rows, cols) = (matching.nrows(), matching.ncols());
    let largest = |values: &mut dyn Iterator<Item = f64>| {
        let larger = |best: (usize, f64), (at, value)| if value > best.1 { (at, value) } else { best };
        values.enumerate().fold((0, f64::NEG_INFINITY), larger).0
    };
    let of_rows = (0..rows).map(|i| (i, largest(&mut (0..cols).map(|j| matching[(i, j)]))));
    let of_cols: Vec<usize> = (0..cols).map(|j| largest(&mut (0..rows).map(|i| matching[(i, j)]))).collect();
    let mut mutual = Mat::zeros(rows, cols);
    for [i, j] in mutual_best(of_rows, |j| Some(of_cols[j])) {
        mutual[(i, j)] = matching[(i, j)];
    }
    mutual
}

/// Minus the scaled squared difference of the quantiles of every two components.
fn unlikeness_of_shapes(x: &Matrix, y: &Matrix) -> Mat {
    let (x, y) = (quantiles(x), quantiles(y));
    let squared = |i: usize, j: usize| x[i].iter().zip(&y[j]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    Mat::from_fn(x.len(), y.len(), |i, j| -squared(i, j) / QUANTILES as f64 / SHAPE_SCALE)
}

fn quantiles(values: &Matrix) -> Vec<Vec<f64>> {
    let of_component = |row: &[f32]| {
        let mut sorted = row.to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = |level: f64| {
            let place = level * (sorted.len() - 1) as f64;
            let (low, part) = (place.floor() as usize, place.fract());
            let (a, b) = (f64::from(sorted[low]), f64::from(sorted[(low + 1).min(sorted.len() - 1)]));
            a + part * (b - a)
        };
        (0..QUANTILES).map(|k| at((k as f64 + 0.5) / QUANTILES as f64)).collect()
    };
    values.as_slice().par_chunks(values.cols()).map(of_component).collect()
}

/// Three relations between components: the correlation of absolute values, the co-skewness, and how often words belong
/// to both, as a log-ratio to independence.
fn relations(values: &Matrix) -> [Mat; 3] {
    let (dim, n) = (values.rows(), values.cols());
    // A component is a column, which lies in memory as a whole.
    let columns = |f: &dyn Fn(f32) -> f64| Mat::from_fn(n, dim, |j, i| f(values.row(i)[j]));
    let sizes = {
        let mut sizes = columns(&|x| f64::from(x.abs()));
        for size in sizes.col_iter_mut() {
            let mean = size.iter().sum::<f64>() / n as f64;
            size.iter_mut().for_each(|x| *x -= mean);
            let length = dot(size, size).sqrt().max(f64::MIN_POSITIVE);
            size.iter_mut().for_each(|x| *x /= length);
        }
        transpose_times(&sizes, &sizes)
    };
    let squares = columns(&|x| f64::from((x * x).min(LARGEST_VALUE * LARGEST_VALUE)));
    let skewness =
        transpose_times(&squares, &columns(&|x| f64::from(x.clamp(-LARGEST_VALUE, LARGEST_VALUE)) / n as f64));
    let about = columns(&|x| f64::from(u8::from(x > MEMBERSHIP_THRESHOLD)));
    let together = transpose_times(&about, &about);
    let expected = |i: usize, j: usize| together[(i, i)] * together[(j, j)] / n as f64;
    let association =
        Mat::from_fn(dim, dim, |i, j| ((together[(i, j)] + PSEUDO_COUNT) / (expected(i, j) + PSEUDO_COUNT)).ln());
    [sizes, skewness, association].map(without_diagonal)
}

/// Without the diagonal, scaled to rows of unit length on average.
fn without_diagonal(mut a: Mat) -> Mat {
    let dim = a.nrows();
    (0..dim).for_each(|i| a[(i, i)] = 0.0);
    let length = (a.squared_norm_l2() / dim as f64).sqrt().max(f64::MIN_POSITIVE);
    Mat::from_fn(dim, dim, |i, j| a[(i, j)] / length)
}

/// `exp(scores / temperature)` with rows and columns scaled to sum to 1 (Sinkhorn 1967).
fn scaled(scores: &Mat, temperature: f64) -> Mat {
    let (rows, cols) = (scores.nrows(), scores.ncols());
    let largest: Vec<f64> =
        (0..rows).map(|i| (0..cols).map(|j| scores[(i, j)]).fold(f64::NEG_INFINITY, f64::max)).collect();
    let mut out = Mat::from_fn(rows, cols, |i, j| ((scores[(i, j)] - largest[i]) / temperature).exp().max(1e-30));
    for _ in 0..SCALINGS {
        let mut sums = vec![0.0; rows];
        for j in 0..cols {
            out.col_as_slice(j).iter().zip(&mut sums).for_each(|(value, sum)| *sum += value);
        }
        sums.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
        for j in 0..cols {
            let column = out.col_as_slice_mut(j);
            let factor = 1.0 / dot(column, &sums);
            column.iter_mut().zip(&sums).for_each(|(value, of_row)| *value *= of_row * factor);
        }
    }
    out
}
