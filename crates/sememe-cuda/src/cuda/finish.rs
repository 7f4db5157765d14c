//! The steps of the discriminative finish. Sums are in another order than on the CPU, so that the last digits differ.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, PushKernelArg};

use super::Cuda;
use super::products::{Products, Vectors, warps};
use crate::card::Fault;

/// The words of two sides, and pairs of them that are compared, on a GPU.
pub struct Finishing {
    card: Cuda,
    kernels: Arc<Products>,
    dim: usize,
    words: [CudaSlice<f32>; 2],
    counts: [usize; 2],
    compared: usize,
    /// The words of each pair.
    pairs: CudaSlice<u32>,
    /// Where the pairs of each word start, and the pairs.
    of_words: [[CudaSlice<u32>; 2]; 2],
    /// Unit vectors of the words after the last maps, and their lengths before.
    images: Option<[[CudaSlice<f32>; 2]; 2]>,
}

/// The pairs of each of `count` words of one side: where they start, and their numbers.
fn pairs_of_words(pairs: &[[u32; 2]], side: usize, count: usize) -> [Vec<u32>; 2] {
    let mut starts = vec![0_u32; count + 1];
    pairs.iter().for_each(|pair| starts[pair[side] as usize + 1] += 1);
    (0..count).for_each(|word| starts[word + 1] += starts[word]);
    let (mut next, mut of_words) = (starts.clone(), vec![0_u32; pairs.len()]);
    for (pair, number) in pairs.iter().zip(0_u32..) {
        let place = &mut next[pair[side] as usize];
        of_words[*place as usize] = number;
        *place += 1;
    }
    [starts, of_words]
}

impl Cuda {
    /// Copies words of two sides and pairs of them to the card.
    pub fn finishing(&self, words: [Vectors; 2], pairs: &[[u32; 2]]) -> Result<Finishing, Fault> {
        let counts = words.map(|words| words.count());
        let lists = |side: usize| -> Result<[CudaSlice<u32>; 2], Fault> {
            let [starts, of_words] = pairs_of_words(pairs, side, counts[side]);
            Ok([self.copied(&starts)?, self.copied(&of_words)?])
        };
        Ok(Finishing {
            card: self.clone(),
            kernels: self.products_kernels()?,
            dim: words[0].dim,
            words: [self.copied(words[0].values)?, self.copied(words[1].values)?],
            counts,
            compared: pairs.len(),
            pairs: self.copied(pairs.as_flattened())?,
            of_words: [lists(0)?, lists(1)?],
            images: None,
        })
    }
}

impl Finishing {
    /// The cosines of all pairs after a map of each side, which is row by row.
    pub fn cosines(&mut self, maps: [&[f32]; 2]) -> Result<Vec<f64>, Fault> {
        self.images = None;
        let [first, second] = [self.image(0, maps[0])?, self.image(1, maps[1])?];
        let products = self.card.allocate::<f64>(self.compared)?;
        let [count, dim] = [self.compared, self.dim].map(|number| number as u32);
        let mut launch = self.card.shared.stream.launch_builder(&self.kernels.products_of_pairs);
        launch.arg(&first[0]).arg(&second[0]).arg(&self.pairs).arg(&count).arg(&dim).arg(&products);
        // SAFETY: the arguments are those of the kernel; a warp a pair.
        unsafe { launch.launch(warps(self.compared)) }?;
        self.images = Some([first, second]);
        self.card.fetched(&products, self.compared)
    }

    fn image(&self, side: usize, map: &[f32]) -> Result<[CudaSlice<f32>; 2], Fault> {
        let Finishing { card, kernels, dim, .. } = self;
        let (count, map) = (self.counts[side], card.copied(map)?);
        let vectors = |values| card.vectors_argument(values, (*dim, 1));
        let image = card.products(kernels, (vectors(&self.words[side]), count), (vectors(&map), *dim), *dim)?;
        let lengths = card.allocate::<f32>(count)?;
        let numbers = [count, *dim].map(|number| number as u32);
        let mut launch = card.shared.stream.launch_builder(&kernels.unit_rows);
        launch.arg(&image).arg(&numbers[0]).arg(&numbers[1]).arg(&lengths);
        // SAFETY: the arguments are those of the kernel; a warp a row.
        unsafe { launch.launch(warps(count)) }?;
        Ok([image, lengths])
    }

    /// The gradients for both maps, row by row, from the slope of the loss for each cosine at the last maps.
    pub fn gradients(&mut self, slopes: &[f32]) -> Result<[Vec<f64>; 2], Fault> {
        let images = self.images.take().ok_or(Fault::Unsuited("cosines come before gradients"))?;
        let slopes = self.card.copied(slopes)?;
        Ok([self.gradient(0, &images, &slopes)?, self.gradient(1, &images, &slopes)?])
    }

    fn gradient(
        &self,
        side: usize,
        images: &[[CudaSlice<f32>; 2]; 2],
        slopes: &CudaSlice<f32>,
    ) -> Result<Vec<f64>, Fault> {
        let Finishing { card, kernels, dim, .. } = self;
        let count = self.counts[side];
        let of_rows = card.allocate::<f32>(count * dim)?;
        let numbers = [side, count, *dim].map(|number| number as u32);
        let ([unit, lengths], [other, _]) = (&images[side], &images[1 - side]);
        let [starts, pairs] = &self.of_words[side];
        let mut launch = card.shared.stream.launch_builder(&kernels.slopes_of_rows);
        launch.arg(unit).arg(lengths).arg(other).arg(&self.pairs).arg(&numbers[0]).arg(starts).arg(pairs).arg(slopes);
        launch.arg(&numbers[1]).arg(&numbers[2]).arg(&of_rows);
        // SAFETY: the arguments are those of the kernel; a warp a row.
        unsafe { launch.launch(warps(count)) }?;
        let [rows, words] = [&of_rows, &self.words[side]].map(|values| (card.address(values), *dim));
        card.weighted_products(kernels, rows, words, None, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_pairs_in_their_order() {
        let pairs = [[0, 3], [0, 1], [2, 3], [1, 3]];
        assert_eq!(pairs_of_words(&pairs, 0, 4), [vec![0, 2, 3, 4, 4], vec![0, 1, 3, 2]]);
        assert_eq!(pairs_of_words(&pairs, 1, 4), [vec![0, 0, 1, 1, 4], vec![1, 0, 2, 3]]);
    }
}
