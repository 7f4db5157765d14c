//! Normalisation of vectors: steps that are fitted on a vocabulary, recorded and applied again.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// A normalisation step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Step {
    /// Scale each vector to length 1.
    Unit,
    /// Subtract the mean of the vocabulary.
    Center,
    /// Divide each coordinate by its standard deviation (about the mean) over the vocabulary.
    Standardize,
}

impl Step {
    /// All steps by name.
    pub const ALL: [(&'static str, Step); 3] =
        [("unit", Step::Unit), ("center", Step::Center), ("standardize", Step::Standardize)];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(names::of(self, &Step::ALL))
    }
}

impl FromStr for Step {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("normalize step", name, &Step::ALL)
    }
}

/// Steps fitted on one vocabulary, which can be applied to other vectors of the same space.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Normalizer {
    /// Each step with its fitted numbers: the mean, the standard deviations, or nothing.
    fitted: Vec<(Step, Vec<f32>)>,
}

impl Normalizer {
    /// Fits the steps one after another on the rows, and applies them.
    pub fn fit_apply(steps: &[Step], matrix: &mut Matrix) -> Self {
        let cols = matrix.cols();
        let fit_apply = |&step: &Step| {
            let learned = learned(step, matrix);
            apply_step(step, &learned, matrix.as_mut_slice(), cols);
            (step, learned)
        };
        Normalizer { fitted: steps.iter().map(fit_apply).collect() }
    }

    /// [`Normalizer::fit_apply`] for rows that may be spilled: they stay so, and one piece of them is in memory at a time.
    pub(crate) fn fit_apply_by_pieces(steps: &[Step], matrix: &mut Matrix) -> Result<Self> {
        if matrix.spilled_to().is_none() {
            return Ok(Self::fit_apply(steps, matrix));
        }
        let cols = matrix.cols();
        let mut fitted = Vec::new();
        for &step in steps {
            let learned = learned(step, matrix);
            *matrix = matrix.map_pieces(cols, |_, rows, changed| {
                changed.copy_from_slice(rows);
                apply_step(step, &learned, changed, cols);
            })?;
            fitted.push((step, learned));
        }
        Ok(Normalizer { fitted })
    }

    /// A normalizer from the parts in a file.
    pub(crate) fn from_parts(fitted: Vec<(Step, Vec<f32>)>) -> Self {
        Normalizer { fitted }
    }

    /// The steps with their fitted numbers.
    pub fn parts(&self) -> &[(Step, Vec<f32>)] {
        &self.fitted
    }

    /// Applies the fitted steps.
    pub fn apply(&self, rows: &mut Matrix) {
        let cols = rows.cols();
        for (step, learned) in &self.fitted {
            apply_step(*step, learned, rows.as_mut_slice(), cols);
        }
    }
}

/// What a step learns from rows.
fn learned(step: Step, matrix: &Matrix) -> Vec<f32> {
    match step {
        Step::Unit => Vec::new(),
        Step::Center => column_means(matrix).into_iter().map(|mean| mean as f32).collect(),
        Step::Standardize => standard_deviations(matrix),
    }
}

fn apply_step(step: Step, learned: &[f32], rows: &mut [f32], cols: usize) {
    rows.par_chunks_mut(ROWS_AT_A_TIME * cols).for_each(|rows| {
        for row in rows.chunks_exact_mut(cols) {
            match step {
                Step::Unit => {
                    let norm = norm(row);
                    // A vector that earlier steps made zero has no direction and stays zero.
                    if norm > 0.0 {
                        row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
                    }
                }
                Step::Center => row.iter_mut().zip(learned).for_each(|(x, mean)| *x -= mean),
                Step::Standardize => row.iter_mut().zip(learned).for_each(|(x, deviation)| *x /= deviation),
            }
        }
    });
}

/// Scales every row to length 1; zero rows stay zero.
pub(crate) fn scale_to_unit(matrix: &mut Matrix) {
    let cols = matrix.cols();
    apply_step(Step::Unit, &[], matrix.as_mut_slice(), cols);
}

/// Length of a vector, summed in f64.
pub(crate) fn norm(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
}

/// The mean row, summed in f64 in an order that does not depend on the number of threads.
pub(crate) fn column_means(matrix: &Matrix) -> Vec<f64> {
    column_sums(matrix, |_, x| x).into_iter().map(|sum| sum / matrix.rows().max(1) as f64).collect()
}

fn standard_deviations(matrix: &Matrix) -> Vec<f32> {
    let means = column_means(matrix);
    let squares = column_sums(matrix, |col, x| (x - means[col]).powi(2));
    // A constant coordinate is not scaled.
    let deviation = |sum: f64| (sum / matrix.rows().max(1) as f64).sqrt() as f32;
    squares.into_iter().map(deviation).map(|d| if d > 0.0 { d } else { 1.0 }).collect()
}

fn column_sums(matrix: &Matrix, term: impl Fn(usize, f64) -> f64 + Sync) -> Vec<f64> {
    let cols = matrix.cols();
    let of_rows = |rows: &[f32]| {
        let mut sums = vec![0.0; cols];
        for row in rows.chunks_exact(cols) {
            sums.iter_mut().zip(row).enumerate().for_each(|(col, (sum, &x))| *sum += term(col, f64::from(x)));
        }
        sums
    };
    let mut partial: Vec<Vec<f64>> = Vec::new();
    matrix.pieces().for_each(|piece| partial.par_extend(piece.par_chunks(ROWS_AT_A_TIME * cols).map(of_rows)));
    partial.into_iter().fold(vec![0.0; cols], |mut total, sums| {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        total
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_applied_in_order_and_again_to_new_vectors() {
        let mut training = Matrix::new(vec![3.0, 4.0, 0.0, 2.0], 2);
        let normalizer = Normalizer::fit_apply(&[Step::Unit, Step::Center, Step::Unit], &mut training);
        let expected = [0.6, -0.2].map(|x: f64| (x / 0.4_f64.sqrt()) as f32);
        assert!((training.row(0)[0] - 0.948_683_3).abs() < 1e-6 && (expected[0] - 0.948_683_3).abs() < 1e-6);

        let mut same_again = Matrix::new(vec![6.0, 8.0], 2);
        normalizer.apply(&mut same_again);
        assert_eq!(same_again.row(0), training.row(0));
    }

    #[test]
    fn spilled_rows_are_prepared_to_the_same_bits() {
        let mut random = crate::random::Random::new(4);
        let values = (0..2 * 3 * (crate::vectors::ROWS_AT_ONCE + 9)).map(|_| random.normal() as f32 + 0.5);
        let mut expected = Matrix::new(values.collect(), 3);
        let mut spilled = expected.clone();
        let folder = tempfile::tempdir().unwrap();
        spilled.spill(folder.path()).unwrap();
        let steps = [Step::Unit, Step::Center, Step::Standardize];
        let normalizer = Normalizer::fit_apply(&steps, &mut expected);
        assert_eq!(Normalizer::fit_apply_by_pieces(&steps, &mut spilled).unwrap(), normalizer);
        assert!(spilled.spilled_to().is_some() && spilled.as_slice() == expected.as_slice());
    }

    #[test]
    fn constant_coordinates_survive_standardizing() {
        let mut vectors = Matrix::new(vec![1.0, 5.0, 3.0, 5.0], 2);
        Normalizer::fit_apply(&[Step::Standardize], &mut vectors);
        assert_eq!(vectors.row(1), [3.0, 5.0]);
    }
}
