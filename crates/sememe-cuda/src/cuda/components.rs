//! The steps of component analysis. Sums are in another order than on the CPU, so that the last digits differ.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, PushKernelArg};

use super::grid::grid_of;
use super::products::{Products, Vectors};
use super::{Cuda, THREADS};
use crate::card::Fault;
use crate::tiles::with_less;

/// Words whose components are looked for, on a GPU.
pub struct Whitened {
    card: Cuda,
    kernels: Arc<Products>,
    words: CudaSlice<f32>,
    count: usize,
    dim: usize,
}

impl Cuda {
    /// Copies words to the card.
    pub fn whitened(&self, words: Vectors) -> Result<Whitened, Fault> {
        Ok(Whitened {
            card: self.clone(),
            kernels: self.products_kernels()?,
            words: self.copied(words.values)?,
            count: words.count(),
            dim: words.dim,
        })
    }
}

impl Whitened {
    /// `Σ <w, z>² z` over all words `z`, for every direction `w`; directions and sums are row by row.
    pub fn moments(&self, directions: &[f32]) -> Result<Vec<f64>, Fault> {
        let directions = self.card.copied(directions)?;
        with_less(self.count, |words| self.moments_by(words.max(1), &directions))
    }

    /// [`Whitened::moments`], with the products of so many words at a time.
    fn moments_by(&self, at_a_time: usize, directions: &CudaSlice<f32>) -> Result<Vec<f64>, Fault> {
        let Whitened { card, kernels, words, count, dim } = self;
        let vectors = |values| card.vectors_argument(values, (*dim, 1));
        let mut moments = vec![0.0; dim * dim];
        for first in (0..*count).step_by(at_a_time) {
            let some = at_a_time.min(count - first);
            let words_of_tile = vectors(words).from(first);
            let values = card.products(kernels, (words_of_tile, some), (vectors(directions), *dim), *dim)?;
            let numbers = (some * dim) as u64;
            let mut launch = card.shared.stream.launch_builder(&kernels.squares);
            launch.arg(&values).arg(&numbers);
            // SAFETY: the arguments are those of the kernel; a thread a number.
            unsafe { launch.launch(grid_of(some * dim, THREADS, THREADS, 0)) }?;
            let (values, words) = (card.address(&values), card.address(words) + 4 * (first * dim) as u64);
            let of_tile = card.weighted_products(kernels, (values, *dim), (words, *dim), None, some)?;
            moments.iter_mut().zip(of_tile).for_each(|(sum, part)| *sum += part);
        }
        Ok(moments)
    }
}
