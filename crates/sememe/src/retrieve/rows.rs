//! Vectors, each with a factor: unit vectors without a copy.

use rayon::prelude::*;

use super::kernel::dot;
use crate::error::{Error, Result};
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// Vectors of one side, and what to call them in errors.
#[derive(Clone, Copy)]
pub(super) struct Vectors<'a> {
    values: &'a [f32],
    dim: usize,
    what: &'static str,
}

impl<'a> Vectors<'a> {
    pub(super) fn queries(matrix: &'a Matrix) -> Self {
        Vectors { values: matrix.as_slice(), dim: matrix.cols(), what: "the matrix of queries" }
    }

    pub(super) fn sources(matrix: &'a Matrix) -> Self {
        Vectors { values: matrix.as_slice(), dim: matrix.cols(), what: "the matrix of source words" }
    }

    pub(super) fn targets(matrix: &'a Matrix) -> Self {
        Vectors { values: matrix.as_slice(), dim: matrix.cols(), what: "the matrix of targets" }
    }

    /// Only so many, from the beginning; all if there are fewer or no number is given.
    pub(super) fn first(self, count: Option<usize>) -> Self {
        let len = count.map_or(self.values.len(), |count| count.saturating_mul(self.dim).min(self.values.len()));
        Vectors { values: &self.values[..len], ..self }
    }

    /// `|x|²` of every vector. One with NaN or infinity has no length, and no place in any order.
    pub(super) fn squares(self) -> Result<Vec<f64>> {
        let rows = self.values.par_chunks(ROWS_AT_A_TIME * self.dim);
        let square = |row: &[f32]| dot(row, row);
        let squares: Vec<f64> = rows.flat_map_iter(|rows| rows.chunks_exact(self.dim).map(square)).collect();
        match squares.iter().position(|square| !square.is_finite()) {
            None => Ok(squares),
            Some(row) => Err(self.unusable(row, "not finite", "remove the row, or repair where it comes from")),
        }
    }

    fn unusable(self, row: usize, how: &str, advice: &str) -> Error {
        Error::argument(self.what, format!("{how} in row {}", row + 1), advice)
    }

    /// All scaled to one length. A zero vector points nowhere: it has no cosine.
    pub(super) fn of_length(self, length: f64) -> Result<Rows<'a>> {
        let squares = self.squares()?;
        if let Some(row) = squares.iter().position(|&square| square == 0.0) {
            return Err(self.unusable(row, "zero", "that has no direction; remove the row, or rank by dot or l2"));
        }
        let factors = squares.into_iter().map(|square| length / square.sqrt()).collect();
        Ok(Rows { values: self.values, dim: self.dim, factors })
    }

    /// All multiplied by the same factor.
    pub(super) fn times(self, factor: f64) -> Result<Rows<'a>> {
        let factors = self.squares()?.into_iter().map(|_| factor).collect();
        Ok(Rows { values: self.values, dim: self.dim, factors })
    }
}

/// Vectors, each multiplied by a factor of its own.
pub(super) struct Rows<'a> {
    values: &'a [f32],
    dim: usize,
    factors: Vec<f64>,
}

impl<'a> Rows<'a> {
    pub(super) fn len(&self) -> usize {
        self.factors.len()
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// The vector without its factor.
    pub(super) fn row(&self, index: usize) -> &'a [f32] {
        self.rows(index..index + 1)
    }

    /// Several vectors without their factors.
    pub(super) fn rows(&self, range: std::ops::Range<usize>) -> &'a [f32] {
        &self.values[range.start * self.dim..range.end * self.dim]
    }

    pub(super) fn factor(&self, index: usize) -> f64 {
        self.factors[index]
    }

    /// The vector with its factor, rounded.
    pub(super) fn scaled(&self, index: usize) -> impl Iterator<Item = f32> + use<'a> {
        let factor = self.factors[index];
        self.row(index).iter().map(move |&x| (f64::from(x) * factor) as f32)
    }

    /// The length of the vector with its factor.
    pub(super) fn length(&self, index: usize) -> f64 {
        let row = self.row(index);
        self.factors[index].abs() * dot(row, row).sqrt()
    }
}
