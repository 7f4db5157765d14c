//! Products of few rows, and the ranks of right pairs among them. Products are in single precision, in another order than on
//! the CPU.

use cudarc::driver::PushKernelArg;

use super::Cuda;
use super::products::{Vectors, warps};
use crate::card::Fault;

/// How a right pair of rows ranks among all pairs with one of its rows, but those of the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairRank {
    /// Rows of the second side with a larger product.
    pub in_row: usize,
    /// Rows of the first side with a larger product.
    pub in_column: usize,
    /// Number of the rows that were compared, on each side.
    pub compared: usize,
}

impl Cuda {
    /// The inner products of every row with every row of the other side, row by row.
    pub fn products_of_rows(&self, rows: Vectors, others: Vectors) -> Result<Vec<f32>, Fault> {
        let kernels = self.products_kernels()?;
        let [a, b] = [self.copied(rows.values)?, self.copied(others.values)?];
        let (counts, dim) = ([rows.count(), others.count()], rows.dim);
        let [a, b] = [&a, &b].map(|values| self.vectors_argument(values, (dim, 1)));
        let products = self.products(&kernels, (a, counts[0]), (b, counts[1]), dim)?;
        self.fetched(&products, counts[0] * counts[1])
    }

    /// The ranks by inner product of pairs of rows: row `i` of each side are a pair of the words `words[i]`.
    pub fn ranks_of_pairs(&self, x: Vectors, y: Vectors, words: &[[u32; 2]]) -> Result<Vec<PairRank>, Fault> {
        let kernels = self.products_kernels()?;
        let (count, number) = (words.len(), words.len() as u32);
        let [a, b] = [self.copied(x.values)?, self.copied(y.values)?];
        let [a, b] = [&a, &b].map(|values| self.vectors_argument(values, (x.dim, 1)));
        let products = self.products(&kernels, (a, count), (b, count), x.dim)?;
        let (words, ranks) = (self.copied(words.as_flattened())?, self.allocate::<u32>(3 * count)?);
        let mut launch = self.shared.stream.launch_builder(&kernels.ranks_of_pairs);
        launch.arg(&products).arg(&words).arg(&number).arg(&ranks);
        // SAFETY: the arguments are those of the kernel; a warp a pair.
        unsafe { launch.launch(warps(count)) }?;
        let ranks = self.fetched(&ranks, 3 * count)?;
        let (ranks, _) = ranks.as_chunks();
        let rank = |&[in_row, in_column, compared]: &[u32; 3]| PairRank {
            in_row: in_row as usize,
            in_column: in_column as usize,
            compared: compared as usize,
        };
        Ok(ranks.iter().map(rank).collect())
    }
}
