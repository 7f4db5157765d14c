//! Which components of two views are about the same: those of the same shape that go with others in the same way.

use rayon::prelude::*;

use super::components::Components;
use crate::linalg::{Mat, times, times_transpose, transpose_times};
use crate::retrieve::mutual_best;
use crate::vectors::Matrix;

/// How finely distributions are compared.
const QUANTILES: usize = 300;
/// Squared differences of quantiles are divided by this: about what those of the same component come to.
const SHAPE: f64 = 0.02;
/// The weight of relations beside that of shapes.
const RELATIONS: f64 = 5.0;
/// The temperature falls from the first to a tenth of it.
const HOTTEST: f64 = 2.0;
const STEPS: usize = 60;
/// Scalings of rows and columns that make a matrix of probabilities.
const SCALINGS: usize = 30;
/// A word is about a component from so many standard deviations on. Larger values are clipped to the second number.
const HIGH: f32 = 2.0;
const LARGEST_VALUE: f32 = 5.0;
/// Added to counts of words, so that rare components do not decide.
const PSEUDO_COUNT: f64 = 2.0;

/// The probability that a component of one view is about the same as one of the other, by rows and columns.
pub fn matching(x: &Components, y: &Components) -> Mat {
    let shapes = unlikeness_of_shapes(&x.values, &y.values);
    let relations: Vec<(Mat, Mat)> = relations(&x.values).into_iter().zip(relations(&y.values)).collect();
    let mut matching = scaled(&shapes, HOTTEST);
    for step in 0..STEPS {
        let temperature = HOTTEST * 0.1_f64.powf(step as f64 / STEPS as f64);
        let mut scores = shapes.clone();
        for (of_x, of_y) in &relations {
            let forth = times_transpose(&times(of_x, &matching), of_y);
            let back = times(&transpose_times(of_x, &matching), of_y);
            scores += Mat::from_fn(forth.nrows(), forth.ncols(), |i, j| RELATIONS * (forth[(i, j)] + back[(i, j)]));
        }
        matching = scaled(&scores, temperature);
    }
    mutual(&matching)
}

/// Each other's most probable ones alone.
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

/// Minus the squared difference of the quantiles of every two components.
fn unlikeness_of_shapes(x: &Matrix, y: &Matrix) -> Mat {
    let (x, y) = (quantiles(x), quantiles(y));
    let squared = |i: usize, j: usize| x[i].iter().zip(&y[j]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    Mat::from_fn(x.len(), y.len(), |i, j| -squared(i, j) / QUANTILES as f64 / SHAPE)
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

/// How components go together, in three ways: whether words have much or little of both; whether words with much of one
/// have more of the other; how often words are about both.
fn relations(values: &Matrix) -> [Mat; 3] {
    let (dim, n) = (values.rows(), values.cols());
    let columns = |f: &dyn Fn(f32) -> f64| Mat::from_fn(dim, n, |i, j| f(values.row(i)[j]));
    let sizes = {
        let mut sizes = columns(&|x| f64::from(x.abs()));
        for i in 0..dim {
            let mean = (0..n).map(|j| sizes[(i, j)]).sum::<f64>() / n as f64;
            (0..n).for_each(|j| sizes[(i, j)] -= mean);
            let length = (0..n).map(|j| sizes[(i, j)].powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            (0..n).for_each(|j| sizes[(i, j)] /= length);
        }
        times_transpose(&sizes, &sizes)
    };
    let squares = columns(&|x| f64::from((x * x).min(LARGEST_VALUE * LARGEST_VALUE)));
    let skewness =
        times_transpose(&squares, &columns(&|x| f64::from(x.clamp(-LARGEST_VALUE, LARGEST_VALUE)) / n as f64));
    let about = columns(&|x| f64::from(u8::from(x > HIGH)));
    let together = times_transpose(&about, &about);
    let expected = |i: usize, j: usize| together[(i, i)] * together[(j, j)] / n as f64;
    let association =
        Mat::from_fn(dim, dim, |i, j| ((together[(i, j)] + PSEUDO_COUNT) / (expected(i, j) + PSEUDO_COUNT)).ln());
    [sizes, skewness, association].map(without_diagonal)
}

/// Relations to others only, with rows of length 1 on average.
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
        for j in 0..cols {
            let column = out.col_as_slice_mut(j);
            column.iter_mut().zip(&sums).for_each(|(value, sum)| *value /= sum);
            let sum: f64 = column.iter().sum();
            column.iter_mut().for_each(|value| *value /= sum);
        }
    }
    out
}
