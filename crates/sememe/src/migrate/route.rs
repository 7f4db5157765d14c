//! The way from the vectors of one side to those of another.

use super::Affine;
use super::hubs::{WEIGHT, nearness};
use crate::error::{Error, Result};
use crate::vectors::Matrix;

/// A map to apply, and the further coordinate of an adapted index.
#[derive(Debug, Clone, Copy)]
pub struct Route<'a> {
    map: &'a Affine,
    further: Further<'a>,
}

/// The coordinate that follows those of the latent space.
#[derive(Debug, Clone, Copy)]
enum Further<'a> {
    None,
    /// 1, for queries.
    One,
    /// Minus one half of the mean cosine with the nearest of these queries, for rows of an index. A query that is a row itself does not
    /// count for that row.
    Hubs(&'a Matrix, Option<&'a [usize]>),
}

impl<'a> Route<'a> {
    pub(super) fn plain(map: &'a Affine) -> Self {
        Route { map, further: Further::None }
    }

    pub(super) fn of_queries(map: &'a Affine) -> Self {
        Route { map, further: Further::One }
    }

    pub(super) fn of_index(map: &'a Affine, queries: &'a Matrix, own: Option<&'a [usize]>) -> Self {
        Route { map, further: Further::Hubs(queries, own) }
    }

    /// Length of the vectors that it maps.
    pub fn from_dim(&self) -> usize {
        self.map.from_dim()
    }

    /// Length of the vectors that it maps to.
    pub fn to_dim(&self) -> usize {
        self.map.to_dim() + usize::from(!matches!(self.further, Further::None))
    }

    /// Maps every row; see [`Affine::apply`].
    pub fn apply(&self, rows: &Matrix) -> Result<Matrix> {
        let mapped = self.map.apply(rows)?;
        Ok(match self.further {
            Further::None => mapped,
            _ => Matrix::new(self.extended(mapped), self.to_dim()),
        })
    }

    /// Maps the rows of one block. The error is the first row that is not finite.
    pub(super) fn apply_block(&self, rows: &[f32], mapped: &mut [f32]) -> std::result::Result<(), usize> {
        if matches!(self.further, Further::None) {
            return self.map.apply_block(rows, mapped);
        }
        let mut latent = vec![0.0; rows.len() / self.from_dim() * self.map.to_dim()];
        self.map.apply_block(rows, &mut latent)?;
        mapped.copy_from_slice(&self.extended(Matrix::new(latent, self.map.to_dim())));
        Ok(())
    }

    /// Rows with their further coordinate.
    fn extended(&self, rows: Matrix) -> Vec<f32> {
        let further = match self.further {
            Further::Hubs(queries, own) => nearness(&rows, queries, own),
            _ => Vec::new(),
        };
        let of_row = |row: usize| further.get(row).map_or(1.0, |near| (-WEIGHT * near) as f32);
        (0..rows.rows()).flat_map(|row| rows.row(row).iter().copied().chain([of_row(row)])).collect()
    }

    /// The map as an ONNX model; see [`Affine::to_onnx`].
    pub fn to_onnx(&self) -> Result<Vec<u8>> {
        match self.further {
            Further::None => Ok(self.map.to_onnx()),
            _ => Err(Error::argument("to", "indexed", "it has no ONNX form; export latent, and append 1 to queries")),
        }
    }

    /// Feeds all that the result depends on to a hasher.
    pub(super) fn hash(&self, hasher: &mut blake3::Hasher) {
        let hubs = if let Further::Hubs(queries, _) = self.further { queries.as_slice() } else { &[] };
        let parts = [self.map.matrix().as_slice(), self.map.offset().unwrap_or_default()];
        for part in parts.into_iter().chain([self.map.shift().unwrap_or_default(), hubs]) {
            hasher.update(bytemuck::cast_slice(part));
        }
        hasher.update(&[u8::from(matches!(self.further, Further::None))]);
    }
}
