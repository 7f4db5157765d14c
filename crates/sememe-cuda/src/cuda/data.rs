//! What a search keeps on a GPU.

use std::sync::Arc;

use cudarc::driver::CudaSlice;

use crate::card::Facts;

/// Rows on a GPU.
#[derive(Clone)]
pub struct Rows {
    pub(super) prepared: Arc<Prepared>,
}

pub(super) struct Prepared {
    pub(super) facts: Facts,
    pub(super) padded: usize,
    pub(super) values: CudaSlice<f32>,
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
