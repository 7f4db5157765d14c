//! The bytes of files, and the byte order of numbers in them.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use super::mapped::Mapped;

/// Immutable bytes that are cheap to clone.
#[derive(Clone)]
pub(crate) struct Bytes(pub(super) Storage);

#[derive(Clone)]
pub(super) enum Storage {
    /// A memory-mapped file.
    Mapped(Arc<Mapped>),
    /// Bytes that were decompressed or given.
    Owned(Arc<Vec<u8>>),
    /// The first `len` bytes of numbers: a file that was read whole, aligned so that its numbers need not be copied.
    Aligned { numbers: Arc<Vec<f32>>, len: usize },
}

impl Bytes {
    /// The bytes as numbers that can be shared or changed, if they are stored so.
    pub(crate) fn aligned(&self) -> Option<&Arc<Vec<f32>>> {
        match &self.0 {
            Storage::Aligned { numbers, .. } => Some(numbers),
            Storage::Mapped(_) | Storage::Owned(_) => None,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Storage::Mapped(map) => map,
            Storage::Owned(bytes) => bytes,
            Storage::Aligned { numbers, len } => &bytemuck::cast_slice(numbers)[..*len],
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes(Storage::Owned(Arc::new(bytes)))
    }
}

/// The little-endian bytes of f32 numbers, as in every format here.
pub(crate) fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(bytemuck::cast_slice(values)),
        false => Cow::Owned(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
    }
}
