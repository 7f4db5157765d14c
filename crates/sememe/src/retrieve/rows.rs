//! Vectors, each with a factor: unit vectors without copying the matrix.

use rayon::prelude::*;

use super::kernel::dot;
use crate::error::{Error, Result};
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// The role of rows in a search, for error messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    Queries,
    Sources,
    Targets,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Queries => "the matrix of queries",
            Role::Sources => "the matrix of source words",
            Role::Targets => "the matrix of targets",
        }
    }

    fn unusable(self, row: usize, how: &str, advice: &str) -> Error {
        Error::argument(self.name(), format!("{how} in row {}", row + 1), advice)
    }
}

/// `|x|²` of every row. NaN and infinity are errors, because they cannot be ranked.
pub(super) fn squares(matrix: &Matrix, role: Role) -> Result<Vec<f64>> {
    let rows = matrix.as_slice().par_chunks(ROWS_AT_A_TIME * matrix.cols());
    let square = |row: &[f32]| dot(row, row);
    let squares: Vec<f64> = rows.flat_map_iter(|rows| rows.chunks_exact(matrix.cols()).map(square)).collect();
    match squares.iter().position(|square| !square.is_finite()) {
        None => Ok(squares),
        Some(row) => Err(role.unusable(row, "not finite", "remove the row, or repair where it comes from")),
    }
}

/// Vectors, each with a factor to multiply it by.
pub(super) struct Scaled {
    matrix: Matrix,
    factors: Vec<f64>,
    zeros: usize,
}

impl Scaled {
    /// Vectors scaled to a common length. A zero vector has no direction: its factor is 0.
    pub(super) fn directions(matrix: Matrix, length: f64, role: Role) -> Result<Self> {
        let factor = |square: f64| if square > 0.0 { length / square.sqrt() } else { 0.0 };
        let factors: Vec<f64> = squares(&matrix, role)?.into_iter().map(factor).collect();
        let zeros = factors.iter().filter(|&&factor| factor == 0.0).count();
        Ok(Scaled { matrix, factors, zeros })
    }

    /// Vectors multiplied by a common factor.
    pub(super) fn times(matrix: Matrix, factor: f64, role: Role) -> Result<Self> {
        let factors = squares(&matrix, role)?.into_iter().map(|_| factor).collect();
        Ok(Scaled { matrix, factors, zeros: 0 })
    }

    /// Some of the rows, with their factors.
    #[cfg(feature = "cuda")]
    pub(super) fn selected(rows: Rows, which: &[u32]) -> Self {
        let values = which.iter().flat_map(|&row| rows.row(row as usize)).copied().collect();
        let factors = which.iter().map(|&row| rows.factor(row as usize)).collect();
        Scaled { matrix: Matrix::new(values, rows.dim), factors, zeros: 0 }
    }

    /// Number of zero rows where directions are needed.
    pub(super) fn zeros(&self) -> usize {
        self.zeros
    }

    /// Whether a row is zero where directions are needed.
    pub(super) fn is_zero(&self, row: usize) -> bool {
        self.zeros > 0 && self.factors[row] == 0.0
    }

    /// Returns an error if there are zero rows, for callers that cannot exclude rows.
    pub(super) fn check_directions(&self, role: Role) -> Result<()> {
        match (0..self.factors.len()).find(|&row| self.is_zero(row)) {
            None => Ok(()),
            Some(row) => Err(role.unusable(row, "zero", "that has no direction; remove the row, or rank by dot or l2")),
        }
    }

    pub(super) fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// A borrowed view of the vectors, for inner loops.
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows { values: self.matrix.as_slice(), dim: self.matrix.cols(), factors: &self.factors }
    }
}

/// Borrowed vectors and their factors.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    values: &'a [f32],
    dim: usize,
    factors: &'a [f64],
}

impl<'a> Rows<'a> {
    pub(super) fn len(self) -> usize {
        self.factors.len()
    }

    pub(super) fn dim(self) -> usize {
        self.dim
    }

    /// The vectors without their factors, and the factors.
    #[cfg(feature = "cuda")]
    pub(super) fn parts(self) -> (&'a [f32], &'a [f64]) {
        (self.values, self.factors)
    }

    /// A vector without its factor.
    pub(super) fn row(self, index: usize) -> &'a [f32] {
        self.rows(index..index + 1)
    }

    /// A range of vectors without their factors.
    pub(super) fn rows(self, range: std::ops::Range<usize>) -> &'a [f32] {
        &self.values[range.start * self.dim..range.end * self.dim]
    }

    pub(super) fn factor(self, index: usize) -> f64 {
        self.factors[index]
    }

    /// A vector multiplied by its factor, rounded to f32.
    pub(super) fn scaled(self, index: usize) -> impl Iterator<Item = f32> + use<'a> {
        let factor = self.factors[index];
        self.row(index).iter().map(move |&x| (f64::from(x) * factor) as f32)
    }

    /// The length of a vector multiplied by its factor.
    pub(super) fn length(self, index: usize) -> f64 {
        let row = self.row(index);
        self.factors[index].abs() * dot(row, row).sqrt()
    }
}
