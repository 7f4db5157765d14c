//! The steps of component analysis. Sums are in another order than on the CPU, so that the last digits differ.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, PushKernelArg};

use super::grid::grid_of;
use super::products::{Products, Vectors};
use super::{Cuda, THREADS};
use crate::card::Fault;

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
        let Whitened { card, kernels, words, count, dim } = self;
        let directions = card.copied(directions)?;
        let vectors = |values| card.vectors_argument(values, (*dim, 1));
        let values = card.products(kernels, (vectors(words), *count), (vectors(&directions), *dim), *dim)?;
        let numbers = (count * dim) as u64;
        let mut launch = card.shared.stream.launch_builder(&kernels.squares);
        launch.arg(&values).arg(&numbers);
        // SAFETY: the arguments are those of the kernel; a thread a number.
        unsafe { launch.launch(grid_of(count * dim, THREADS, THREADS, 0)) }?;
        card.weighted_products(kernels, (&values, *dim), (words, *dim), None, *count)
    }
}
