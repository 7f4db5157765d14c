//! Kernels for self-learning, the finish, sums of exponentials, projections and moments.

use std::sync::{Arc, PoisonError};

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, DeviceRepr, LaunchConfig, PushKernelArg};

use super::grid::grid_of;
use super::program::compiled;
use super::{Cuda, THREADS, Unavailable, WARP};
use crate::card::Fault;

/// Compiled as one file.
const SOURCE: &str = concat!(
    include_str!("../kernels/common.cu"),
    include_str!("../kernels/couple.cu"),
    include_str!("../kernels/finish.cu"),
    include_str!("../kernels/exponentials.cu"),
    include_str!("../kernels/doubles.cu"),
    include_str!("../kernels/ranks.cu"),
);
/// Rows and columns of a block of products, and of sums in double precision; also in `kernels/`.
const SIDE: usize = 128;
const PART: usize = 32;

/// The kernels.
pub(super) struct Products {
    pub(super) products: CudaFunction,
    pub(super) means_of_largest: CudaFunction,
    pub(super) similarities: CudaFunction,
    pub(super) halves_of_sums: CudaFunction,
    pub(super) probabilities: CudaFunction,
    pub(super) weighted_products: CudaFunction,
    pub(super) weighted_sums: CudaFunction,
    pub(super) squares: CudaFunction,
    pub(super) unit_rows: CudaFunction,
    pub(super) products_of_pairs: CudaFunction,
    pub(super) slopes_of_rows: CudaFunction,
    pub(super) add_exponentials: CudaFunction,
    pub(super) project_rows: CudaFunction,
    pub(super) squares_of_images: CudaFunction,
    pub(super) add_second_moments: CudaFunction,
    pub(super) sums_of_parts: CudaFunction,
    pub(super) ranks_of_pairs: CudaFunction,
}

/// Vectors of floats, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    /// The numbers of all vectors.
    pub values: &'a [f32],
    /// Numbers of a vector.
    pub dim: usize,
}

impl Vectors<'_> {
    pub(super) fn count(&self) -> usize {
        self.values.len() / self.dim
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct VectorsArgument {
    values: CUdeviceptr,
    vector: u64,
    number: u64,
}

impl VectorsArgument {
    /// The vectors from this one on.
    pub(super) fn from(self, first: usize) -> Self {
        VectorsArgument { values: self.values + 4 * first as u64 * self.vector, ..self }
    }
}

// SAFETY: these are plain numbers, laid out as the kernels expect.
unsafe impl DeviceRepr for VectorsArgument {}

impl Cuda {
    /// The kernels, compiled on first use.
    pub(super) fn products_kernels(&self) -> Result<Arc<Products>, Fault> {
        let mut products = self.shared.products.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernels) = &*products {
            return Ok(kernels.clone());
        }
        let kernels = Arc::new(self.compile_products().map_err(|error| Fault::Driver(error.to_string()))?);
        *products = Some(kernels.clone());
        Ok(kernels)
    }

    fn compile_products(&self) -> Result<Products, Unavailable> {
        let module = compiled(&self.shared.context, SOURCE, self.shared.capability, &[])?;
        let function = |name: &str| module.load_function(name);
        Ok(Products {
            products: function("products")?,
            means_of_largest: function("means_of_largest")?,
            similarities: function("similarities")?,
            halves_of_sums: function("halves_of_sums")?,
            probabilities: function("probabilities")?,
            weighted_products: function("weighted_products")?,
            weighted_sums: function("weighted_sums")?,
            squares: function("squares")?,
            unit_rows: function("unit_rows")?,
            products_of_pairs: function("products_of_pairs")?,
            slopes_of_rows: function("slopes_of_rows")?,
            add_exponentials: function("add_exponentials")?,
            project_rows: function("project_rows")?,
            squares_of_images: function("squares_of_images")?,
            add_second_moments: function("add_second_moments")?,
            sums_of_parts: function("sums_of_parts")?,
            ranks_of_pairs: function("ranks_of_pairs")?,
        })
    }

    /// Vectors and their numbers are so far apart.
    pub(super) fn vectors_argument(
        &self,
        values: &CudaSlice<f32>,
        (vector, number): (usize, usize),
    ) -> VectorsArgument {
        VectorsArgument { values: self.address(values), vector: vector as u64, number: number as u64 }
    }

    /// The inner products of so many vectors of two sides, of `count` numbers each.
    pub(super) fn products(
        &self,
        kernels: &Products,
        (a, rows): (VectorsArgument, usize),
        (b, columns): (VectorsArgument, usize),
        count: usize,
    ) -> Result<CudaSlice<f32>, Fault> {
        let out = self.allocate::<f32>(rows * columns)?;
        let numbers = [rows, columns, count].map(|number| number as u32);
        let mut launch = self.shared.stream.launch_builder(&kernels.products);
        launch.arg(&a).arg(&b).arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]).arg(&out);
        // SAFETY: the arguments are those of the kernel, and the result has room for all products.
        unsafe { launch.launch(blocks((rows, columns), SIDE)) }?;
        Ok(out)
    }

    /// `Σ w a bᵀ` over the rows of both, in double precision and row by row; without weights they are 1.
    pub(super) fn weighted_products(
        &self,
        kernels: &Products,
        (a, of_a): (CUdeviceptr, usize),
        (b, of_b): (CUdeviceptr, usize),
        weights: Option<&CudaSlice<f32>>,
        rows: usize,
    ) -> Result<Vec<f64>, Fault> {
        let out = self.allocate::<f64>(of_a * of_b)?;
        let weights = weights.map_or(0, |weights| self.address(weights));
        let numbers = [rows, of_a, of_b].map(|number| number as u32);
        let mut launch = self.shared.stream.launch_builder(&kernels.weighted_products);
        launch.arg(&a).arg(&b).arg(&weights).arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]).arg(&out);
        // SAFETY: the arguments are those of the kernel, and the result has room for all sums.
        unsafe { launch.launch(blocks((of_a, of_b), PART)) }?;
        self.fetched(&out, of_a * of_b)
    }
}

/// A warp for each row.
pub(super) fn warps(rows: usize) -> LaunchConfig {
    grid_of(rows, THREADS / WARP, THREADS, 0)
}

/// Blocks of `side` x `side` results.
fn blocks((rows, columns): (usize, usize), side: usize) -> LaunchConfig {
    let count = |of: usize| of.div_ceil(side).max(1) as u32;
    LaunchConfig { grid_dim: (count(columns), count(rows), 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}
