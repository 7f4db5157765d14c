//! Sums of exponentials on a GPU.

use cudarc::driver::{CudaSlice, PushKernelArg};

use super::grid::grid_of;
use super::{Cuda, WARP};
use crate::card::Fault;
use crate::exponentials::{Exponentials, LEAST};

/// For each target the largest score, and the sum of exponentials.
pub struct Sums {
    largest: CudaSlice<f32>,
    sums: CudaSlice<f64>,
    count: usize,
}

impl Exponentials for Cuda {
    type Sums = Sums;

    fn sums(&self, count: usize) -> Result<Sums, Fault> {
        Ok(Sums { largest: self.copied(&vec![LEAST; count])?, sums: self.copied(&vec![0.0; count])?, count })
    }

    fn add_exponentials(
        &self,
        sources: &CudaSlice<f32>,
        targets: &CudaSlice<f32>,
        factors: &CudaSlice<f32>,
        dim: usize,
        sums: &mut Sums,
    ) -> Result<(), Fault> {
        let kernels = self.products_kernels()?;
        let vectors = |values| self.vectors_argument(values, (dim, 1));
        let count = sources.len() / dim;
        let products = self.products(&kernels, (vectors(sources), count), (vectors(targets), sums.count), dim)?;
        let numbers = [count, sums.count].map(|number| number as u32);
        let mut launch = self.shared.stream.launch_builder(&kernels.add_exponentials);
        launch.arg(&products).arg(factors).arg(&numbers[0]).arg(&numbers[1]).arg(&sums.largest).arg(&sums.sums);
        // SAFETY: the arguments are those of the kernel; a thread a target, few of which are in a block, for all
        // multiprocessors to have some.
        unsafe { launch.launch(grid_of(sums.count, 2 * WARP, 2 * WARP, 0)) }?;
        Ok(())
    }

    fn fetch_sums(&self, sums: Sums) -> Result<(Vec<f32>, Vec<f64>), Fault> {
        Ok((self.fetched(&sums.largest, sums.count)?, self.fetched(&sums.sums, sums.count)?))
    }
}
