//! Memory of a GPU: copies to and from it, and what stays allocated between searches.

use std::sync::Arc;

use cudarc::driver::sys::CUmemPool_attribute;
use cudarc::driver::{CudaContext, CudaSlice, DeviceRepr, DriverError, result};

use super::Cuda;
use crate::card::Fault;

/// Bytes that stay allocated between searches.
const KEPT_BYTES: u64 = 8 << 30;

/// Memory of earlier searches stays allocated, as allocating it anew takes longer than a search.
pub(super) fn keep(context: &Arc<CudaContext>) -> Result<(), DriverError> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut bytes = KEPT_BYTES.min(context.total_mem()? as u64 / 8);
    let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the pool is that of the device, and the attribute is a number of 64 bits.
    unsafe {
        let pool = result::device::get_default_mem_pool(context.cu_device())?;
        result::mem_pool::set_attribute(pool, threshold, (&raw mut bytes).cast())
    }
}

/// Bytes that were kept and are not in use.
pub(super) fn kept_bytes(context: &Arc<CudaContext>) -> Result<usize, DriverError> {
    if !context.has_async_alloc() {
        return Ok(0);
    }
    let attributes = [
        CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
        CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
    ];
    let mut values = [0_u64; 2];
    for (attribute, value) in attributes.into_iter().zip(&mut values) {
        // SAFETY: as above.
        unsafe {
            let pool = result::device::get_default_mem_pool(context.cu_device())?;
            result::mem_pool::get_attribute(pool, attribute, std::ptr::from_mut(value).cast())?;
        }
    }
    Ok(values[0].saturating_sub(values[1]) as usize)
}

impl Cuda {
    pub(super) fn allocate<T: DeviceRepr>(&self, len: usize) -> Result<CudaSlice<T>, Fault> {
        // SAFETY: kernels write all of it before anything reads it.
        Ok(unsafe { self.shared.stream.alloc(len.max(1)) }?)
    }

    pub(super) fn copied<T: DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>, Fault> {
        let mut slice = self.allocate(values.len())?;
        if !values.is_empty() {
            self.shared.stream.memcpy_htod(values, &mut slice)?;
        }
        Ok(slice)
    }

    pub(super) fn fetched<T: DeviceRepr + Clone + Default>(
        &self,
        slice: &CudaSlice<T>,
        len: usize,
    ) -> Result<Vec<T>, Fault> {
        let mut values = vec![T::default(); len];
        if len > 0 {
            self.shared.stream.memcpy_dtoh(&slice.slice(..len), &mut values)?;
        }
        Ok(values)
    }
}
