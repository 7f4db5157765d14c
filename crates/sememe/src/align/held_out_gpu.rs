//! Products of held-out retrieval on a GPU. They are in single precision as on the CPU, in another order.

use sememe_cuda::{Cuda, Vectors};

use super::held_out_pair::Counted;
use crate::device::{card_for_sums, fell_back};
use crate::vectors::Matrix;

/// The GPU that multiplies, if one is to be used.
pub(super) struct OnGpu(Option<Cuda>);

fn vectors(rows: &Matrix) -> Vectors<'_> {
    Vectors { values: rows.as_slice(), dim: rows.cols() }
}

impl OnGpu {
    /// For so many multiplications in total.
    pub(super) fn of(multiplications: usize) -> Self {
        OnGpu(card_for_sums(multiplications))
    }

    /// The product of every row with every row of `map`; none if the CPU has to compute it.
    pub(super) fn mapped(&self, rows: &Matrix, map: &Matrix) -> Option<Matrix> {
        let products = self.0.as_ref()?.products_of_rows(vectors(rows), vectors(map));
        Some(Matrix::new(products.map_err(fell_back).ok()?, map.rows()))
    }

    /// How pairs of rows rank; none if the CPU has to count.
    pub(super) fn counted(&self, x: &Matrix, y: &Matrix, pairs: &[(usize, usize)]) -> Option<Vec<Counted>> {
        let words: Vec<[u32; 2]> = pairs.iter().map(|&(a, b)| [a as u32, b as u32]).collect();
        let ranks = self.0.as_ref()?.ranks_of_pairs(vectors(x), vectors(y), &words).map_err(fell_back).ok()?;
        let counted =
            |rank: sememe_cuda::PairRank| Counted { better: [rank.in_row, rank.in_column], compared: rank.compared };
        Some(ranks.into_iter().map(counted).collect())
    }
}
