//! Linear maps of many rows, in tiles that fit on a card. Sums are in double precision, in another order than on the CPU.

use crate::card::{Card, Fault};
use crate::tiles::with_memory;

/// Bytes of rows and their images that are on a card at a time.
const TILE_BYTES: usize = 256 << 20;

/// `map (x - shift)` of a row `x`.
#[derive(Debug, Clone, Copy)]
pub struct LinearMap<'a> {
    /// A number for each of the row.
    pub shift: &'a [f64],
    /// The rows of the map, one after the other.
    pub map: &'a [f64],
}

/// What projections need of a card.
pub trait Projections: Card {
    /// A linear map.
    type Map;

    /// Copies a linear map to the card.
    fn linear_map(&self, map: LinearMap) -> Result<Self::Map, Fault>;

    /// The images of rows, one after the other.
    fn project_rows(&self, rows: &Self::Numbers, map: &Self::Map, images: &mut [f32]) -> Result<(), Fault>;

    /// The sum of the squares of the image of each row.
    fn squares_of_images(&self, rows: &Self::Numbers, map: &Self::Map, squares: &mut [f64]) -> Result<(), Fault>;
}

/// A linear map on a card.
pub struct Projector<C: Projections> {
    card: C,
    map: C::Map,
    dim: usize,
    latent: usize,
}

impl<C: Projections> Projector<C> {
    /// Copies a linear map to a card.
    pub fn new(card: C, map: LinearMap) -> Result<Self, Fault> {
        let (dim, latent) = (map.shift.len(), map.map.len() / map.shift.len());
        Ok(Projector { map: card.linear_map(map)?, card, dim, latent })
    }

    /// The images of rows, in single precision.
    pub fn project(&self, rows: &[f32], images: &mut [f32]) -> Result<(), Fault> {
        self.in_tiles(rows, (images, self.latent), 4 * self.latent, |rows, images| {
            self.card.project_rows(rows, &self.map, images)
        })
    }

    /// The sums of the squares of the images of rows.
    pub fn squares(&self, rows: &[f32], squares: &mut [f64]) -> Result<(), Fault> {
        self.in_tiles(rows, (squares, 1), 8, |rows, squares| self.card.squares_of_images(rows, &self.map, squares))
    }

    /// `of_tile` for as many rows at a time as fit on the card; each has so many results, which take so many bytes there.
    fn in_tiles<T>(
        &self,
        rows: &[f32],
        (results, results_of_row): (&mut [T], usize),
        bytes_of_results: usize,
        of_tile: impl Fn(&C::Numbers, &mut [T]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        with_memory(&self.card, |bytes| {
            let at_a_time = (bytes.min(TILE_BYTES) / (4 * self.dim + bytes_of_results)).max(1);
            let tiles = rows.chunks(at_a_time * self.dim).zip(results.chunks_mut(at_a_time * results_of_row));
            tiles.into_iter().try_for_each(|(rows, results)| of_tile(&self.card.numbers(rows)?, results))
        })
    }
}
