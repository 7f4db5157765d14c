//! What a search keeps on a GPU.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, PushKernelArg};

use super::grid::grid_of;
use super::{Cuda, ROWS_BEYOND, THREADS, WARP};
use crate::COORDINATES;
use crate::card::{Facts, Fault};

/// Rows on a GPU.
#[derive(Clone)]
pub struct Rows {
    pub(super) prepared: Arc<Prepared>,
}

pub(super) struct Prepared {
    pub(super) facts: Facts,
    pub(super) padded: usize,
    pub(super) values: Arc<CudaSlice<f32>>,
    pub(super) factors: CudaSlice<f64>,
    pub(super) halves: CudaSlice<u16>,
    pub(super) lengths: CudaSlice<f64>,
}

/// Targets on a GPU.
pub struct Targets {
    pub(super) rows: Rows,
    pub(super) count: usize,
    pub(super) bias: CudaSlice<f64>,
    pub(super) lengths: CudaSlice<f32>,
    pub(super) lower: CudaSlice<f32>,
    pub(super) upper: CudaSlice<f32>,
    pub(super) error: f32,
}

/// Queries on a GPU.
pub struct Queries {
    pub(super) rows: Rows,
    pub(super) list: Option<CudaSlice<u32>>,
    pub(super) first: u32,
    pub(super) count: usize,
    pub(super) scale: f64,
    pub(super) inverses: CudaSlice<f32>,
}

/// Candidates on a GPU, each an estimate and a target.
pub struct Lists {
    pub(super) capacity: usize,
    pub(super) candidates: CudaSlice<u64>,
    pub(super) counts: CudaSlice<u32>,
}

impl Cuda {
    /// Rounds rows on the card to half precision and measures them.
    pub(super) fn prepare(
        &self,
        values: Arc<CudaSlice<f32>>,
        factors: CudaSlice<f64>,
        dim: usize,
    ) -> Result<Rows, Fault> {
        let (count, padded) = (factors.len().min(values.len() / dim), dim.next_multiple_of(COORDINATES));
        let halves = self.allocate::<u16>((count + ROWS_BEYOND) * padded)?;
        let (lengths, residuals) = (self.allocate::<f64>(count)?, self.allocate::<f32>(count)?);
        let program = self.program(padded).map_err(|error| Fault::Driver(error.to_string()))?;
        let numbers = [count as u32, dim as u32];
        let mut launch = self.shared.stream.launch_builder(&program.round_rows);
        launch.arg(&*values).arg(&factors).arg(&numbers[0]).arg(&numbers[1]);
        launch.arg(&halves).arg(&lengths).arg(&residuals);
        // SAFETY: the arguments are those of the kernel; a warp a row.
        unsafe { launch.launch(grid_of(count, THREADS / WARP, THREADS, 0)) }?;
        let facts = Facts::new(dim, &self.fetched(&lengths, count)?, &self.fetched(&residuals, count)?);
        Ok(Rows { prepared: Arc::new(Prepared { facts, padded, values, factors, halves, lengths }) })
    }
}
