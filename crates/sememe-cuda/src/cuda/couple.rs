//! Similarities and soft couplings of the words of two views, for self-learning. Sums are in another order than on the CPU,
//! so that results differ in the last digits.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, PushKernelArg};

use super::grid::grid_of;
use super::products::{Products, Vectors, warps};
use super::{Cuda, WARP};
use crate::card::Fault;

/// The most similar vector of the other side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Its row.
    pub index: usize,
    /// The similarity.
    pub score: f32,
}

/// The CSLS of every two vectors of two sides, on a GPU.
pub struct Similarities {
    card: Cuda,
    kernels: Arc<Products>,
    /// Row by row, and column by column.
    scores: [CudaSlice<f32>; 2],
    counts: [usize; 2],
    /// The nearest vector of the other side, for every vector of each side.
    pub nearest: [Vec<Nearest>; 2],
}

/// Sums over all pairs of vectors of two sides, each weighted by its probability.
#[derive(Debug)]
pub struct Coupled {
    /// The sum of the probabilities.
    pub weight: f64,
    /// The weighted sums of the vectors of each side.
    pub sums: [Vec<f64>; 2],
    /// The weighted sums of the products of numbers, row by row: of the first side with itself, of the second with itself,
    /// of the first with the second.
    pub products: [Vec<f64>; 3],
}

impl Cuda {
    /// The CSLS of every two unit vectors, by the mean cosines of the `k` nearest.
    pub fn similarities(&self, x: Vectors, y: Vectors, k: usize) -> Result<Similarities, Fault> {
        let kernels = self.products_kernels()?;
        let (of_x, of_y) = (self.copied(x.values)?, self.copied(y.values)?);
        let counts = [x.count(), y.count()];
        let argument = |values: &CudaSlice<f32>| self.vectors_argument(values, (x.dim, 1));
        let (a, b) = (argument(&of_x), argument(&of_y));
        let mut scores = [
            self.products(&kernels, (a, counts[0]), (b, counts[1]), x.dim)?,
            self.products(&kernels, (b, counts[1]), (a, counts[0]), x.dim)?,
        ];
        let means =
            [0, 1].map(|side| self.means_of_largest(&kernels, &scores[side], (counts[side], counts[1 - side]), k));
        let [of_x, of_y] = means;
        let (of_x, of_y) = (of_x?, of_y?);
        let mut nearest = [Vec::new(), Vec::new()];
        for (side, scores) in scores.iter_mut().enumerate() {
            let (rows, columns) = (counts[side], counts[1 - side]);
            let (best, indices) = (self.allocate::<f32>(rows)?, self.allocate::<u32>(rows)?);
            let numbers = [(side == 0) as usize, rows, columns].map(|number| number as u32);
            let mut launch = self.shared.stream.launch_builder(&kernels.similarities);
            launch.arg(&*scores).arg(&of_x).arg(&of_y).arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]);
            launch.arg(&best).arg(&indices);
            // SAFETY: the arguments are those of the kernel; a warp a row.
            unsafe { launch.launch(warps(rows)) }?;
            let of_rows = self.fetched(&best, rows)?.into_iter().zip(self.fetched(&indices, rows)?);
            nearest[side] = of_rows.map(|(score, index)| Nearest { index: index as usize, score }).collect();
        }
        Ok(Similarities { card: self.clone(), kernels, scores, counts, nearest })
    }

    fn means_of_largest(
        &self,
        kernels: &Products,
        values: &CudaSlice<f32>,
        (rows, columns): (usize, usize),
        k: usize,
    ) -> Result<CudaSlice<f32>, Fault> {
        let means = self.allocate::<f32>(rows)?;
        let numbers = [rows, columns, k].map(|number| number as u32);
        let mut launch = self.shared.stream.launch_builder(&kernels.means_of_largest);
        launch.arg(values).arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]).arg(&means);
        // SAFETY: the arguments are those of the kernel; a warp a row.
        unsafe { launch.launch(warps(rows)) }?;
        Ok(means)
    }
}

impl Similarities {
    /// The moments of other vectors of the same words, for a probability of every pair: the mean of the softmax over the
    /// row and over the column, at a temperature.
    pub fn couple(self, temperature: f32, x: Vectors, y: Vectors) -> Result<Coupled, Fault> {
        let Similarities { card, kernels, scores, counts, nearest } = &self;
        let largest = nearest[0].iter().map(|nearest| nearest.score).fold(f32::NEG_INFINITY, f32::max);
        let sizes = [0, 1].map(|side: usize| [counts[side], counts[1 - side]].map(|count| count as u32));
        let halves = [card.allocate::<f32>(counts[0])?, card.allocate::<f32>(counts[1])?];
        for side in 0..2 {
            let mut launch = card.shared.stream.launch_builder(&kernels.halves_of_sums);
            launch.arg(&scores[side]).arg(&sizes[side][0]).arg(&sizes[side][1]).arg(&largest).arg(&temperature);
            launch.arg(&halves[side]);
            // SAFETY: the arguments are those of the kernel; a warp a row.
            unsafe { launch.launch(warps(counts[side])) }?;
        }
        let weights = [card.allocate::<f32>(counts[0])?, card.allocate::<f32>(counts[1])?];
        for side in 0..2 {
            let mut launch = card.shared.stream.launch_builder(&kernels.probabilities);
            launch.arg(&scores[side]).arg(&halves[side]).arg(&halves[1 - side]);
            launch.arg(&sizes[side][0]).arg(&sizes[side][1]).arg(&largest).arg(&temperature).arg(&weights[side]);
            // SAFETY: as above.
            unsafe { launch.launch(warps(counts[side])) }?;
        }
        let (of_x, of_y) = (card.copied(x.values)?, card.copied(y.values)?);
        // What is expected of the other side, for every vector of the first.
        let probabilities = card.vectors_argument(&scores[0], (counts[1], 1));
        let numbers = card.vectors_argument(&of_y, (1, y.dim));
        let expected = card.products(kernels, (probabilities, counts[0]), (numbers, y.dim), counts[1])?;
        let [a, b, expected_b] =
            [(&of_x, x.dim), (&of_y, y.dim), (&expected, y.dim)].map(|(vectors, dim)| (card.address(vectors), dim));
        let products = [
            card.weighted_products(kernels, a, a, Some(&weights[0]), counts[0])?,
            card.weighted_products(kernels, b, b, Some(&weights[1]), counts[1])?,
            card.weighted_products(kernels, a, expected_b, None, counts[0])?,
        ];
        let sums = [
            self.weighted_sums((&of_x, x.dim), &weights[0], counts[0])?,
            self.weighted_sums((&of_y, y.dim), &weights[1], counts[1])?,
        ];
        let weight = card.fetched(&weights[0], counts[0])?.into_iter().map(f64::from).sum();
        Ok(Coupled { weight, sums, products })
    }

    fn weighted_sums(
        &self,
        (a, of_a): (&CudaSlice<f32>, usize),
        weights: &CudaSlice<f32>,
        rows: usize,
    ) -> Result<Vec<f64>, Fault> {
        let out = self.card.allocate::<f64>(of_a)?;
        let numbers = [rows, of_a].map(|number| number as u32);
        let mut launch = self.card.shared.stream.launch_builder(&self.kernels.weighted_sums);
        launch.arg(a).arg(weights).arg(&numbers[0]).arg(&numbers[1]).arg(&out);
        // SAFETY: the arguments are those of the kernel; a thread a number.
        unsafe { launch.launch(grid_of(of_a, WARP, WARP, 0)) }?;
        self.card.fetched(&out, of_a)
    }
}
