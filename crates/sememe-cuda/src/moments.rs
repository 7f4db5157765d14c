//! Second moments of many rows, in tiles that fit on a card. Sums are in double precision, in another order than on the CPU.

use std::ops::Range;

use crate::card::{Card, Fault};
use crate::tiles::with_memory;

/// Rows that belong to one part of the sums; also in `kernels/`.
pub(crate) const ROWS_OF_BLOCK: usize = 256;
/// Parts of the sums of few dimensions, so that all of a card is busy, and the number of dimensions that are few.
const PARTS: usize = 8;
const FEW_DIMENSIONS: usize = 1024;
/// Bytes of rows that are on a card at a time.
const TILE_BYTES: usize = 64 << 20;

/// What moments need of a card.
pub trait SecondMoments: Card {
    /// Sums over rows.
    type Moments;

    /// Sums of nothing, in so many parts, for rows that `shift` is subtracted from.
    fn no_moments(&self, shift: &[f64], parts: usize) -> Result<Self::Moments, Fault>;

    /// Adds weighted products of the numbers of rows. Blocks of `ROWS_OF_BLOCK` rows belong to the parts in turn.
    fn add_second_moments(
        &self,
        rows: &Self::Numbers,
        weights: &[f64],
        moments: &mut Self::Moments,
    ) -> Result<(), Fault>;

    /// The products of every two numbers of a row and a one after them, of which only those of a number and its
    /// predecessors count.
    fn fetch_moments(&self, moments: Self::Moments) -> Result<Vec<f64>, Fault>;
}

/// Weighted sums over rows.
#[derive(Debug)]
pub struct Summed {
    /// Of the rows, less a shift.
    pub of_rows: Vec<f64>,
    /// Of the products of two numbers of a row, at `i * (dim + 1) + j` for `j <= i`.
    pub of_products: Vec<f64>,
}

/// Sums over rows, each less `shift` and with a weight. `rows` returns the numbers of some of them.
pub fn second_moments<C: SecondMoments>(
    card: &C,
    shift: &[f64],
    weights: &[f64],
    rows: &dyn Fn(Range<usize>) -> Vec<f32>,
) -> Result<Summed, Fault> {
    let dim = shift.len();
    let parts = if dim < FEW_DIMENSIONS { PARTS } else { 1 };
    // Whole rounds over the parts, so that the bits do not depend on the memory.
    let round = parts * ROWS_OF_BLOCK;
    let mut of_products = with_memory(card, |bytes| {
        let mut moments = card.no_moments(shift, parts)?;
        let at_a_time = (bytes.min(TILE_BYTES) / (4 * dim + 8) / round).max(1) * round;
        for first in (0..weights.len()).step_by(at_a_time) {
            let tile = first..weights.len().min(first + at_a_time);
            card.add_second_moments(&card.numbers(&rows(tile.clone()))?, &weights[tile], &mut moments)?;
        }
        card.fetch_moments(moments)
    })?;
    let of_rows = of_products.split_off(dim * (dim + 1));
    Ok(Summed { of_rows: of_rows[..dim].to_vec(), of_products })
}
