//! Byte order of numbers in files.

use std::borrow::Cow;

/// The little-endian bytes of f32 numbers, as in every format here.
pub(crate) fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(bytemuck::cast_slice(values)),
        false => Cow::Owned(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
    }
}
