//! Memory of a GPU: copies to and from it, and what stays allocated between searches.

use std::sync::{Arc, PoisonError};

use cudarc::driver::sys::CUmemPool_attribute;
use cudarc::driver::{CudaContext, CudaSlice, DeviceRepr, DriverError, result};

use super::{Cuda, Shared};
use crate::card::Fault;

/// Bytes that stay allocated between searches.
const KEPT_BYTES: u64 = 8 << 30;

/// Bytes that are copied from a GPU at a time.
const STAGED_BYTES: usize = 16 << 20;

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

    /// The first `len` numbers.
    pub(super) fn fetched<T: DeviceRepr + Copy>(&self, slice: &CudaSlice<T>, len: usize) -> Result<Vec<T>, Fault> {
        let mut values = Vec::with_capacity(len);
        self.fetch(slice, len, |some| values.extend_from_slice(some))?;
        Ok(values)
    }

    /// The first numbers, as many as there is room for.
    pub(super) fn fetch_into<T: DeviceRepr + Copy>(&self, slice: &CudaSlice<T>, values: &mut [T]) -> Result<(), Fault> {
        let mut done = 0;
        self.fetch(slice, values.len(), |some| {
            values[done..done + some.len()].copy_from_slice(some);
            done += some.len();
        })
    }

    /// Hands out the first `len` numbers, by way of page-locked memory: to other memory a GPU copies at a fifth of the speed.
    fn fetch<T: DeviceRepr + Copy>(
        &self,
        slice: &CudaSlice<T>,
        len: usize,
        mut take: impl FnMut(&[T]),
    ) -> Result<(), Fault> {
        let Shared { context, stream, staging, .. } = &*self.shared;
        let mut staging = staging.lock().unwrap_or_else(PoisonError::into_inner);
        if staging.is_none() {
            // SAFETY: it is written before it is read.
            *staging = Some(unsafe { context.alloc_pinned_with_flags(STAGED_BYTES, 0) }?);
        }
        let staging = staging.as_mut().expect("allocated above");
        let bytes = staging.as_mut_slice()?;
        let (size, mut done) = (size_of::<T>(), 0);
        context.bind_to_thread()?;
        while done < len {
            let count = (len - done).min(STAGED_BYTES / size);
            let from = self.address(slice) + (done * size) as u64;
            // SAFETY: both sides have so many bytes, and the copy is complete before they are used again.
            unsafe { result::memcpy_dtoh_async(&mut bytes[..count * size], from, stream.cu_stream()) }?;
            stream.synchronize()?;
            // SAFETY: the bytes are `count` numbers, and the memory is aligned to pages.
            take(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), count) });
            done += count;
        }
        Ok(())
    }
}
