//! The arguments of kernels, laid out as in `kernels/`.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};

use super::{Cuda, Lists, Queries, Rows, Targets};

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TargetsArgument {
    pub(super) halves: CUdeviceptr,
    pub(super) lengths: CUdeviceptr,
    pub(super) lower: CUdeviceptr,
    pub(super) upper: CUdeviceptr,
    pub(super) count: u32,
    pub(super) error: f32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct QueriesArgument {
    pub(super) halves: CUdeviceptr,
    pub(super) list: CUdeviceptr,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) inverses: CUdeviceptr,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct ListsArgument {
    pub(super) candidates: CUdeviceptr,
    pub(super) counts: CUdeviceptr,
    pub(super) capacity: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ScreenArgument {
    pub(super) row_thresholds: CUdeviceptr,
    pub(super) column_thresholds: CUdeviceptr,
    pub(super) of_rows: ListsArgument,
    pub(super) of_columns: ListsArgument,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TilesArgument {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) stride: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ExactArgument {
    pub(super) values: CUdeviceptr,
    pub(super) factors: CUdeviceptr,
}

// SAFETY: these are plain numbers, laid out as the kernels expect.
unsafe impl DeviceRepr for TargetsArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for QueriesArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for ListsArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for ScreenArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for TilesArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for ExactArgument {}

impl Cuda {
    pub(super) fn address<T>(&self, slice: &CudaSlice<T>) -> CUdeviceptr {
        slice.device_ptr(&self.shared.stream).0
    }

    pub(super) fn targets_argument(&self, targets: &Targets) -> TargetsArgument {
        let address = |slice: &CudaSlice<f32>| self.address(slice);
        TargetsArgument {
            halves: self.address(&targets.rows.prepared.halves),
            lengths: address(&targets.lengths),
            lower: address(&targets.lower),
            upper: address(&targets.upper),
            count: targets.count as u32,
            error: targets.error,
        }
    }

    pub(super) fn queries_argument(&self, queries: &Queries) -> QueriesArgument {
        QueriesArgument {
            halves: self.address(&queries.rows.prepared.halves),
            list: queries.list.as_ref().map_or(0, |list| self.address(list)),
            first: queries.first,
            count: queries.count as u32,
            inverses: self.address(&queries.inverses),
        }
    }

    pub(super) fn lists_argument(&self, lists: &Lists) -> ListsArgument {
        ListsArgument {
            candidates: self.address(&lists.candidates),
            counts: self.address(&lists.counts),
            capacity: lists.capacity as u32,
        }
    }

    pub(super) fn exact_argument(&self, rows: &Rows) -> ExactArgument {
        ExactArgument { values: self.address(&rows.prepared.values), factors: self.address(&rows.prepared.factors) }
    }
}
