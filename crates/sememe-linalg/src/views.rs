//! Borrowed matrices: views of a matrix, of a part of one, or of a slice.

use std::fmt;
use std::ops::Index;

use super::Mat;

/// A view of a matrix, or of a part of one.
#[derive(Clone, Copy)]
pub struct MatRef<'a>(pub(crate) faer::MatRef<'a, f64>);

/// A mutable view of a matrix, or of a part of one.
pub struct MatMut<'a>(pub(crate) faer::MatMut<'a, f64>);

/// A matrix or a view of one.
pub trait AsMatrix {
    /// The view.
    fn as_mat_ref(&self) -> MatRef<'_>;
}

impl AsMatrix for Mat {
    #[inline]
    fn as_mat_ref(&self) -> MatRef<'_> {
        self.as_ref()
    }
}

impl AsMatrix for MatRef<'_> {
    #[inline]
    fn as_mat_ref(&self) -> MatRef<'_> {
        *self
    }
}

impl<M: AsMatrix> AsMatrix for &M {
    #[inline]
    fn as_mat_ref(&self) -> MatRef<'_> {
        (**self).as_mat_ref()
    }
}

impl<'a> MatRef<'a> {
    /// A view of a column-major slice.
    #[track_caller]
    pub fn from_column_major_slice(values: &'a [f64], rows: usize, cols: usize) -> Self {
        MatRef(faer::MatRef::from_column_major_slice(values, rows, cols))
    }

    /// The number of rows.
    #[inline]
    pub fn nrows(&self) -> usize {
        self.0.nrows()
    }

    /// The number of columns.
    #[inline]
    pub fn ncols(&self) -> usize {
        self.0.ncols()
    }

    /// The transposed view, without a copy.
    pub fn transpose(self) -> MatRef<'a> {
        MatRef(self.0.transpose())
    }

    /// An owned copy.
    pub fn to_owned(&self) -> Mat {
        Mat(self.0.to_owned())
    }
}

impl fmt::Debug for MatRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Index<(usize, usize)> for MatRef<'_> {
    type Output = f64;

    #[inline]
    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.0[at]
    }
}

impl<'a> MatMut<'a> {
    /// A mutable view of a column-major slice.
    #[track_caller]
    pub fn from_column_major_slice_mut(values: &'a mut [f64], rows: usize, cols: usize) -> Self {
        MatMut(faer::MatMut::from_column_major_slice_mut(values, rows, cols))
    }

    /// Reborrows the view, so that it can be used again.
    #[inline]
    pub fn as_mut(&mut self) -> MatMut<'_> {
        MatMut(self.0.as_mut())
    }

    /// Copies all entries of a matrix of the same shape.
    #[track_caller]
    pub fn copy_from(&mut self, other: impl AsMatrix) {
        self.0.copy_from(other.as_mat_ref().0);
    }
}

impl fmt::Debug for MatMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

const CONTIGUOUS: &str = "the rows of a column follow each other";

/// A column as a slice. It must not be a column of a transposed view.
pub(crate) fn contiguous(column: faer::ColRef<'_, f64>) -> &[f64] {
    column.try_as_col_major().expect(CONTIGUOUS).as_slice()
}

/// A column as a mutable slice. It must not be a column of a transposed view.
pub(crate) fn contiguous_mut(column: faer::ColMut<'_, f64>) -> &mut [f64] {
    column.try_as_col_major_mut().expect(CONTIGUOUS).as_slice_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_show_slices_column_by_column() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let view = MatRef::from_column_major_slice(&values, 3, 2);
        assert_eq!((view.nrows(), view.ncols()), (3, 2));
        assert_eq!(view[(0, 1)], 4.0);
        let transposed = view.transpose();
        assert_eq!((transposed.nrows(), transposed.ncols()), (2, 3));
        assert_eq!(transposed.to_owned(), Mat::from_fn(2, 3, |i, j| view[(j, i)]));
    }

    #[test]
    fn blocks_are_read_and_written_in_place() {
        let mut a = Mat::from_fn(4, 4, |i, j| (10 * i + j) as f64);
        assert_eq!(a.submatrix(1, 2, 2, 1).to_owned(), Mat::from_fn(2, 1, |i, _| (10 * i + 12) as f64));
        assert_eq!(a.subrows(2, 2).to_owned(), Mat::from_fn(2, 4, |i, j| (10 * i + 20 + j) as f64));
        a.submatrix_mut(0, 0, 1, 2).copy_from(Mat::from_fn(1, 2, |_, _| -1.0));
        a.subrows_mut(3, 1).copy_from(Mat::zeros(1, 4));
        assert_eq!(a.col_as_slice(1), [-1.0, 11.0, 21.0, 0.0]);
        assert_eq!(a.col_as_slice(2), [2.0, 12.0, 22.0, 0.0]);
    }

    #[test]
    fn slices_are_changed_through_views() {
        let mut values = [0.0; 4];
        let mut view = MatMut::from_column_major_slice_mut(&mut values, 2, 2);
        let numbers = Mat::from_fn(2, 2, |i, j| (2 * i + j) as f64);
        view.as_mut().copy_from(numbers.transpose());
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    #[should_panic]
    fn copies_of_another_shape_panic() {
        Mat::zeros(2, 2).as_mut().copy_from(Mat::zeros(2, 3));
    }
}
