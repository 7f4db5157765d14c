//! A contiguous row-major f32 matrix, owned or borrowed.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::ROWS_AT_A_TIME;
use crate::error::Result;
use crate::files::{Bytes, Spilled};
use crate::linalg::{Mat, product_of_rows};

/// Rows that are copied from a spilled matrix before its memory is given back: the system maps much around each of them.
const ROWS_BEFORE_RELEASE: usize = 64;

/// Rows that are computed from others at a time: blocks for many threads.
pub(crate) const ROWS_AT_ONCE: usize = 16 * ROWS_AT_A_TIME;

/// Contiguous rows of f32, owned or borrowed without a copy, for instance from a memory-mapped file. Clones share the
/// numbers.
#[derive(Clone)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    storage: Storage,
}

#[derive(Clone)]
enum Storage {
    /// The numbers from `start` on. There are others around them if a whole file was read.
    Owned {
        numbers: Arc<Vec<f32>>,
        start: usize,
    },
    Borrowed(Arc<dyn AsRef<[f32]> + Send + Sync>),
    /// In a file without a name.
    Spilled(Arc<Spilled>),
}

/// Numbers in a memory-mapped file.
struct MappedRows {
    bytes: Bytes,
    start: usize,
    len: usize,
}

impl AsRef<[f32]> for MappedRows {
    fn as_ref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.bytes[self.start..self.start + self.len * 4])
    }
}

impl Storage {
    fn owned(numbers: Vec<f32>) -> Self {
        Storage::Owned { numbers: Arc::new(numbers), start: 0 }
    }
}

impl Matrix {
    /// A matrix of `data.len() / cols` rows. Panics when `cols` is zero or the data do not fill whole rows.
    pub fn new(data: Vec<f32>, cols: usize) -> Self {
        assert!(cols > 0 && data.len().is_multiple_of(cols), "{} values do not make rows of {cols}", data.len());
        Matrix { rows: data.len() / cols, cols, storage: Storage::owned(data) }
    }

    /// A matrix over numbers that another object owns, without a copy. Panics like [`Matrix::new`].
    ///
    /// ```
    /// use sememe::vectors::Matrix;
    ///
    /// let matrix = Matrix::borrowed(std::sync::Arc::new(vec![1.0, 2.0, 3.0, 4.0]), 2);
    /// assert_eq!(matrix.row(1), [3.0, 4.0]);
    /// ```
    pub fn borrowed(values: Arc<dyn AsRef<[f32]> + Send + Sync>, cols: usize) -> Self {
        let len = (*values).as_ref().len();
        assert!(cols > 0 && len.is_multiple_of(cols), "{len} values do not make rows of {cols}");
        Matrix { rows: len / cols, cols, storage: Storage::Borrowed(values) }
    }

    /// Little-endian f32 in `bytes` from `start` on, without a copy if endianness and alignment allow it. Panics when
    /// there are too few bytes.
    pub(crate) fn from_bytes(bytes: Bytes, start: usize, rows: usize, cols: usize) -> Self {
        let range = start..start + rows * cols * 4;
        let usable =
            cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, f32>(&bytes[range.clone()]).is_ok();
        let storage = match bytes.aligned() {
            Some(numbers) if usable => Storage::Owned { numbers: numbers.clone(), start: start / size_of::<f32>() },
            None if usable => Storage::Borrowed(Arc::new(MappedRows { bytes, start, len: rows * cols })),
            _ => {
                let values = bytes[range].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                Storage::owned(values.collect())
            }
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
            Storage::Owned { numbers, start } => &numbers[*start..*start + self.rows * self.cols],
            Storage::Borrowed(values) => (**values).as_ref(),
            Storage::Spilled(values) => (**values).as_ref(),
        }
    }

    /// Moves the numbers to a file without a name in a folder, from which the system reads those that are used.
    pub(crate) fn spill(&mut self, folder: &Path) -> Result<()> {
        if self.rows > 0 {
            self.storage = Storage::Spilled(Arc::new(Spilled::new(self.as_slice(), folder)?));
        }
        Ok(())
    }

    /// The folder that the numbers were spilled to, unless they are in memory.
    pub(crate) fn spilled_to(&self) -> Option<&Path> {
        match &self.storage {
            Storage::Spilled(values) => Some(values.folder()),
            _ => None,
        }
    }

    /// Gives the memory of spilled numbers back until they are used again. Other numbers stay in memory.
    pub(crate) fn release(&self) {
        if let Storage::Spilled(values) = &self.storage {
            values.release();
        }
    }

    /// All values, mutable. Copies them first if they are shared or borrowed.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        let len = self.rows * self.cols;
        let is_own = match &mut self.storage {
            Storage::Owned { numbers, .. } => Arc::get_mut(numbers).is_some(),
            Storage::Borrowed(_) | Storage::Spilled(_) => false,
        };
        if !is_own {
            self.storage = Storage::owned(match &self.storage {
                Storage::Spilled(values) => values.to_vec(),
                _ => self.as_slice().to_vec(),
            });
        }
        match &mut self.storage {
            Storage::Owned { numbers, start } => &mut Arc::make_mut(numbers)[*start..*start + len],
            Storage::Borrowed(_) | Storage::Spilled(_) => unreachable!("copied above"),
        }
    }

    /// All values, row after row. Copies them if they are shared or borrowed.
    pub fn into_vec(mut self) -> Vec<f32> {
        let len = self.as_mut_slice().len();
        match self.storage {
            Storage::Owned { numbers, start } => {
                let mut numbers = Arc::unwrap_or_clone(numbers);
                numbers.truncate(start + len);
                numbers.drain(..start);
                numbers
            }
            Storage::Borrowed(_) | Storage::Spilled(_) => unreachable!("copied above"),
        }
    }

    /// One row. Panics when `index` is out of range.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.as_slice()[index * self.cols..(index + 1) * self.cols]
    }

    /// The rows with the given indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Matrix {
        let mut data = Vec::with_capacity(indices.len() * self.cols);
        for some in indices.chunks(ROWS_BEFORE_RELEASE) {
            some.iter().for_each(|&index| data.extend_from_slice(self.row(index)));
            self.release();
        }
        Matrix { rows: indices.len(), cols: self.cols, storage: Storage::owned(data) }
    }

    /// Every row after a linear map in f32, which is row-major. The bits do not depend on the number of threads.
    pub(crate) fn mapped(&self, map: &[f32]) -> Matrix {
        let (from, to) = (self.cols, map.len() / self.cols);
        let mut values = vec![0.0; self.rows * to];
        let blocks = values.par_chunks_mut(ROWS_AT_A_TIME * to);
        let blocks = blocks.zip(self.as_slice().par_chunks(ROWS_AT_A_TIME * from));
        blocks.for_each(|(values, rows)| product_of_rows(rows, map, from, values));
        Matrix::new(values, to)
    }

    /// Rows that are computed from these, many consecutive ones at a time: `map` gets the number of the first one, the rows,
    /// and zeros to be replaced. What is computed from spilled rows is spilled, so that neither is in memory as a whole.
    pub(crate) fn map_pieces(&self, cols: usize, map: impl Fn(usize, &[f32], &mut [f32])) -> Result<Matrix> {
        let pieces = (0..self.rows).step_by(ROWS_AT_ONCE).map(|first| {
            let end = self.rows.min(first + ROWS_AT_ONCE);
            let mut values = vec![0.0; (end - first) * cols];
            map(first, &self.as_slice()[first * self.cols..end * self.cols], &mut values);
            self.release();
            values
        });
        let storage = match self.spilled_to() {
            Some(folder) => Storage::Spilled(Arc::new(Spilled::of_pieces(pieces.map(Cow::Owned), folder)?)),
            None => {
                let mut values = Vec::with_capacity(self.rows * cols);
                pieces.for_each(|piece| values.extend_from_slice(&piece));
                Storage::owned(values)
            }
        };
        Ok(Matrix { rows: self.rows, cols, storage })
    }

    /// The rows with this number of columns: cut, or with zeros at their ends.
    pub(crate) fn with_columns(&self, cols: usize) -> Result<Matrix> {
        let kept = cols.min(self.cols);
        self.map_pieces(cols, |_, rows, values| {
            let rows = values.chunks_exact_mut(cols).zip(rows.chunks_exact(self.cols));
            rows.for_each(|(new, row)| new[..kept].copy_from_slice(&row[..kept]));
        })
    }

    /// The numbers of many consecutive rows at a time. Those of spilled rows are in memory only until the next ones are.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[f32]> {
        self.as_slice().chunks(ROWS_AT_ONCE * self.cols).inspect(|_| self.release())
    }

    /// Keeps only the rows with the given ascending indices, without a copy if the rows are not shared. The memory of the
    /// others is given back.
    pub(crate) fn keep(&mut self, indices: &[usize]) {
        let cols = self.cols;
        let values = self.as_mut_slice();
        for (to, &from) in indices.iter().enumerate() {
            values.copy_within(from * cols..(from + 1) * cols, to * cols);
        }
        self.rows = indices.len();
        if let Storage::Owned { numbers, start } = &mut self.storage
            && let Some(numbers) = Arc::get_mut(numbers)
        {
            numbers.truncate(*start + indices.len() * cols);
            numbers.shrink_to_fit();
        }
    }

    /// The first `count` rows, or all if there are fewer.
    pub(crate) fn first(&self, count: usize) -> Matrix {
        let count = count.min(self.rows);
        Matrix::new(self.as_slice()[..count * self.cols].to_vec(), self.cols)
    }

    /// A range of rows as columns in double precision.
    pub(crate) fn columns(&self, rows: Range<usize>) -> Mat {
        Mat::from_fn(self.cols, rows.len(), |i, j| f64::from(self.row(rows.start + j)[i]))
    }

    /// The transpose of `columns`, in single precision.
    pub(crate) fn of_columns(columns: &Mat) -> Matrix {
        let values = (0..columns.ncols()).flat_map(|j| columns.col_as_slice(j)).map(|&value| value as f32);
        Matrix::new(values.collect(), columns.nrows())
    }
}

impl std::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Matrix({} x {})", self.rows, self.cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_not_kept_take_no_memory() {
        let mut matrix = Matrix::new((0..60).map(|x| x as f32).collect(), 3);
        let shared = matrix.clone();
        for _ in 0..2 {
            matrix.keep(&[0, 2, 5]);
            assert_eq!(matrix.as_slice(), [0.0, 1.0, 2.0, 6.0, 7.0, 8.0, 15.0, 16.0, 17.0]);
            let Storage::Owned { numbers, .. } = &matrix.storage else { panic!("its numbers are its own") };
            assert_eq!(numbers.capacity(), 9);
            // The first time the numbers were shared, the second time they are not.
            matrix = Matrix::new(shared.as_slice().to_vec(), 3);
        }
        assert_eq!(shared.rows(), 20);
    }
}
