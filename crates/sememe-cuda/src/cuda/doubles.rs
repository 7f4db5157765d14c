//! Projections and moments of rows.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaSlice, DeviceRepr, LaunchConfig, PushKernelArg};

use super::grid::grid_of;
use super::products::Products;
use super::{Cuda, THREADS};
use crate::card::Fault;
use crate::moments::SecondMoments;
use crate::projection::{LinearMap, Projections};

/// Results of a block of threads along each side; also in `kernels/`.
const SQUARE: usize = 64;

/// A linear map on a GPU.
pub struct MapOnGpu {
    kernels: Arc<Products>,
    shift: CudaSlice<f64>,
    map: CudaSlice<f64>,
    latent: usize,
}

/// Sums over rows on a GPU.
pub struct MomentsOnGpu {
    kernels: Arc<Products>,
    shift: CudaSlice<f64>,
    parts: CudaSlice<f64>,
    number: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct LinearMapArgument {
    shift: CUdeviceptr,
    map: CUdeviceptr,
    dim: u32,
    latent: u32,
}

// SAFETY: these are plain numbers, laid out as the kernels expect.
unsafe impl DeviceRepr for LinearMapArgument {}

impl Cuda {
    fn linear_map_argument(&self, map: &MapOnGpu) -> LinearMapArgument {
        LinearMapArgument {
            shift: self.address(&map.shift),
            map: self.address(&map.map),
            dim: map.shift.len() as u32,
            latent: map.latent as u32,
        }
    }
}

/// A grid of so many squares, and of so many parts.
fn squares([columns, rows]: [usize; 2], parts: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (columns.max(1) as u32, rows.max(1) as u32, parts as u32),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    }
}

impl Projections for Cuda {
    type Map = MapOnGpu;

    fn linear_map(&self, LinearMap { shift, map }: LinearMap) -> Result<MapOnGpu, Fault> {
        Ok(MapOnGpu {
            kernels: self.products_kernels()?,
            shift: self.copied(shift)?,
            map: self.copied(map)?,
            latent: map.len() / shift.len(),
        })
    }

    fn project_rows(&self, rows: &CudaSlice<f32>, map: &MapOnGpu, images: &mut [f32]) -> Result<(), Fault> {
        let count = images.len() / map.latent;
        let (linear, number) = (self.linear_map_argument(map), count as u32);
        let out = self.allocate::<f32>(images.len())?;
        let mut launch = self.shared.stream.launch_builder(&map.kernels.project_rows);
        launch.arg(rows).arg(&number).arg(&linear).arg(&out);
        // SAFETY: the arguments are those of the kernel, and there is room for all images.
        unsafe { launch.launch(squares([count.div_ceil(SQUARE), map.latent.div_ceil(SQUARE)], 1)) }?;
        self.fetch_into(&out, images)
    }

    fn squares_of_images(&self, rows: &CudaSlice<f32>, map: &MapOnGpu, of_rows: &mut [f64]) -> Result<(), Fault> {
        let (linear, number) = (self.linear_map_argument(map), of_rows.len() as u32);
        let out = self.allocate::<f64>(of_rows.len())?;
        let mut launch = self.shared.stream.launch_builder(&map.kernels.squares_of_images);
        launch.arg(rows).arg(&number).arg(&linear).arg(&out);
        // SAFETY: the arguments are those of the kernel, and there is room for a number of each row.
        unsafe { launch.launch(squares([of_rows.len().div_ceil(SQUARE), 1], 1)) }?;
        self.fetch_into(&out, of_rows)
    }
}

impl SecondMoments for Cuda {
    type Moments = MomentsOnGpu;

    fn no_moments(&self, shift: &[f64], number: usize) -> Result<MomentsOnGpu, Fault> {
        let size = shift.len() + 1;
        Ok(MomentsOnGpu {
            kernels: self.products_kernels()?,
            shift: self.copied(shift)?,
            parts: self.shared.stream.alloc_zeros(number * size * size)?,
            number,
        })
    }

    fn add_second_moments(
        &self,
        rows: &CudaSlice<f32>,
        weights: &[f64],
        moments: &mut MomentsOnGpu,
    ) -> Result<(), Fault> {
        let MomentsOnGpu { kernels, shift, parts, number } = moments;
        let numbers = [weights.len(), shift.len()].map(|number| number as u32);
        let weights = self.copied(weights)?;
        let mut launch = self.shared.stream.launch_builder(&kernels.add_second_moments);
        launch.arg(rows).arg(&weights).arg(&numbers[0]).arg(&numbers[1]).arg(&*shift).arg(&*parts);
        let side = (shift.len() + 1).div_ceil(SQUARE);
        // SAFETY: the arguments are those of the kernel, and the parts have the size that it expects.
        unsafe { launch.launch(squares([side, side], *number)) }?;
        Ok(())
    }

    fn fetch_moments(&self, moments: MomentsOnGpu) -> Result<Vec<f64>, Fault> {
        let MomentsOnGpu { kernels, shift, parts, number } = moments;
        let count = (shift.len() + 1).pow(2);
        let numbers = (count as u64, number as u32);
        let mut launch = self.shared.stream.launch_builder(&kernels.sums_of_parts);
        launch.arg(&parts).arg(&numbers.0).arg(&numbers.1);
        // SAFETY: the arguments are those of the kernel; a thread a number.
        unsafe { launch.launch(grid_of(count, THREADS, THREADS, 0)) }?;
        self.fetched(&parts, count)
    }
}
