//! Rows that another library has put on a card: they are searched without a copy on the computer.

use crate::card::{Card, Fault};

/// What rows that are on a card already need of it.
pub trait Resident: Card {
    /// The rows.
    type Values;

    /// Number of the rows, and of the numbers in a row.
    fn shape(&self, values: &Self::Values) -> (usize, usize);

    /// The sum of the squares of every row, with the bits of the CPU.
    fn squares(&self, values: &Self::Values) -> Result<Vec<f64>, Fault>;

    /// The rows with a factor each, prepared as uploaded ones are.
    fn prepared(&self, values: &Self::Values, factors: &[f64]) -> Result<Self::Rows, Fault>;
}
