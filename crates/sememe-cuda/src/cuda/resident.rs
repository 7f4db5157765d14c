//! Rows that another library has put on a GPU.

use std::sync::Arc;

use cudarc::driver::sys::{CUpointer_attribute, cuPointerGetAttribute};
use cudarc::driver::{CudaSlice, PushKernelArg, result};

use super::data::Rows;
use super::grid::grid_of;
use super::{Cuda, THREADS, WARP, probe};
use crate::COORDINATES;
use crate::card::Fault;
use crate::resident::Resident;

/// A copy of rows of another library, on the GPU that has them.
pub struct RowsOnGpu {
    values: Arc<CudaSlice<f32>>,
    count: usize,
    dim: usize,
}

impl Cuda {
    /// The number of the GPU that has this address.
    pub fn number_of(address: u64) -> Result<usize, Fault> {
        probe::count().map_err(|reason| Fault::Driver(reason.to_string()))?;
        let mut number = 0_i32;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        // SAFETY: the attribute is an int, and an address of no GPU is an error.
        unsafe { cuPointerGetAttribute((&raw mut number).cast(), attribute, address) }.result()?;
        usize::try_from(number).map_err(|_| Fault::Driver("an address of no GPU".to_owned()))
    }

    /// Copies rows that are on this GPU, after all work on it that was begun before.
    ///
    /// # Safety
    /// From `address` on there must be `count * dim` numbers in single precision, which nothing changes meanwhile.
    pub unsafe fn copy_of(&self, address: u64, count: usize, dim: usize) -> Result<RowsOnGpu, Fault> {
        self.shared.context.bind_to_thread()?;
        self.shared.context.synchronize()?;
        let values = self.allocate::<f32>(count * dim)?;
        let stream = self.shared.stream.cu_stream();
        // SAFETY: the caller says so of the source, and the destination was allocated above.
        unsafe { result::memcpy_dtod_async(self.address(&values), address, 4 * count * dim, stream) }?;
        self.synchronize()?;
        Ok(RowsOnGpu { values: Arc::new(values), count, dim })
    }

    /// The numbers of rows on this GPU.
    pub fn values_of(&self, values: &RowsOnGpu) -> Result<Vec<f32>, Fault> {
        self.fetched(&values.values, values.count * values.dim)
    }
}

impl Resident for Cuda {
    type Values = RowsOnGpu;

    fn shape(&self, values: &RowsOnGpu) -> (usize, usize) {
        (values.count, values.dim)
    }

    fn squares(&self, values: &RowsOnGpu) -> Result<Vec<f64>, Fault> {
        let squares = self.allocate::<f64>(values.count)?;
        let program = self.program(values.dim.next_multiple_of(COORDINATES));
        let program = program.map_err(|error| Fault::Driver(error.to_string()))?;
        let numbers = [values.count, values.dim].map(|number| number as u32);
        let mut launch = self.shared.stream.launch_builder(&program.squares_of_rows);
        launch.arg(&*values.values).arg(&numbers[0]).arg(&numbers[1]).arg(&squares);
        // SAFETY: the arguments are those of the kernel; a warp a row.
        unsafe { launch.launch(grid_of(values.count, THREADS / WARP, THREADS, 0)) }?;
        self.fetched(&squares, values.count)
    }

    fn prepared(&self, values: &RowsOnGpu, factors: &[f64]) -> Result<Rows, Fault> {
        self.prepare(values.values.clone(), self.copied(factors)?, values.dim)
    }
}
