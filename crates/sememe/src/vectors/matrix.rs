//! A contiguous f32 matrix, row by row, in memory or in a mapped file.

use std::borrow::Cow;

use crate::files::Bytes;

/// Rows of f32, contiguous; owned, or borrowed from a mapped file without a copy.
#[derive(Clone)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    storage: Storage,
}

#[derive(Clone)]
enum Storage {
    Owned(Vec<f32>),
    Mapped { bytes: Bytes, start: usize },
}

impl Matrix {
    /// A matrix of `data.len() / cols` rows. Panics when `cols` is zero or the data do not fill whole rows.
    pub fn new(data: Vec<f32>, cols: usize) -> Self {
        assert!(cols > 0 && data.len().is_multiple_of(cols), "{} values do not make rows of {cols}", data.len());
        Matrix { rows: data.len() / cols, cols, storage: Storage::Owned(data) }
    }

    /// Little-endian f32 in `bytes` from `start` on, without a copy where the machine and the alignment allow it.
    /// Panics when the bytes are too few.
    pub(crate) fn from_bytes(bytes: Bytes, start: usize, rows: usize, cols: usize) -> Self {
        let range = start..start + rows * cols * 4;
        let usable =
            cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, f32>(&bytes[range.clone()]).is_ok();
        let storage = if usable {
            Storage::Mapped { bytes, start }
        } else {
            let values = bytes[range].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            Storage::Owned(values.collect())
        };
        Matrix { rows, cols, storage }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[f32] {
        match &self.storage {
            Storage::Owned(data) => data,
            Storage::Mapped { bytes, start } => bytemuck::cast_slice(&bytes[*start..start + self.rows * self.cols * 4]),
        }
    }

    /// All values, to change in place; copies a mapped matrix into memory first.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        if let Storage::Mapped { .. } = self.storage {
            self.storage = Storage::Owned(self.as_slice().to_vec());
        }
        match &mut self.storage {
            Storage::Owned(data) => data,
            Storage::Mapped { .. } => unreachable!("copied above"),
        }
    }

    /// One row. Panics when there is no such row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.as_slice()[index * self.cols..(index + 1) * self.cols]
    }

    /// The rows with the given indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Matrix {
        let mut data = Vec::with_capacity(indices.len() * self.cols);
        for &index in indices {
            data.extend_from_slice(self.row(index));
        }
        Matrix { rows: indices.len(), cols: self.cols, storage: Storage::Owned(data) }
    }
}

/// The bytes of f32 numbers as every format here stores them.
pub(crate) fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(bytemuck::cast_slice(values)),
        false => Cow::Owned(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
    }
}

impl std::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Matrix({} x {})", self.rows, self.cols)
    }
}
