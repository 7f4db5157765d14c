//! The owned matrix.

use std::fmt;
use std::ops::{Add, AddAssign, Index, IndexMut, Sub};

use super::{AsMatrix, MatMut, MatRef};

/// A matrix of f64, column-major.
///
/// Indexing, views and arithmetic panic if shapes do not agree, as slices do.
#[derive(Clone, PartialEq)]
pub struct Mat(pub(crate) faer::Mat<f64>);

impl Mat {
    /// A matrix whose entry in row `i` and column `j` is `f(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, f: impl FnMut(usize, usize) -> f64) -> Self {
        Mat(faer::Mat::from_fn(rows, cols, f))
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Mat(faer::Mat::zeros(rows, cols))
    }

    /// A matrix of zeros with ones on the diagonal.
    pub fn identity(rows: usize, cols: usize) -> Self {
        Mat(faer::Mat::identity(rows, cols))
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

    /// Column `j`.
    #[inline]
    #[track_caller]
    pub fn col_as_slice(&self, j: usize) -> &[f64] {
        self.0.col_as_slice(j)
    }

    /// Column `j`, mutable.
    #[inline]
    #[track_caller]
    pub fn col_as_slice_mut(&mut self, j: usize) -> &mut [f64] {
        self.0.col_as_slice_mut(j)
    }

    /// The columns from left to right.
    pub fn col_iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.ncols()).map(|j| self.col_as_slice(j))
    }

    /// The columns from left to right, mutable.
    pub fn col_iter_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.0.col_iter_mut().map(super::views::contiguous_mut)
    }

    /// A view of the whole matrix.
    #[inline]
    pub fn as_ref(&self) -> MatRef<'_> {
        MatRef(self.0.as_ref())
    }

    /// A mutable view of the whole matrix.
    #[inline]
    pub fn as_mut(&mut self) -> MatMut<'_> {
        MatMut(self.0.as_mut())
    }

    /// The transposed view, without a copy.
    pub fn transpose(&self) -> MatRef<'_> {
        self.as_ref().transpose()
    }

    /// A view of the block that begins at (`row`, `col`).
    #[track_caller]
    pub fn submatrix(&self, row: usize, col: usize, rows: usize, cols: usize) -> MatRef<'_> {
        MatRef(self.0.submatrix(row, col, rows, cols))
    }

    /// A mutable view of the block that begins at (`row`, `col`).
    #[track_caller]
    pub fn submatrix_mut(&mut self, row: usize, col: usize, rows: usize, cols: usize) -> MatMut<'_> {
        MatMut(self.0.submatrix_mut(row, col, rows, cols))
    }

    /// A view of `rows` rows from `row`.
    #[track_caller]
    pub fn subrows(&self, row: usize, rows: usize) -> MatRef<'_> {
        MatRef(self.0.subrows(row, rows))
    }

    /// A mutable view of `rows` rows from `row`.
    #[track_caller]
    pub fn subrows_mut(&mut self, row: usize, rows: usize) -> MatMut<'_> {
        MatMut(self.0.subrows_mut(row, rows))
    }

    /// The largest absolute value: 0 for an empty matrix, NaN if any entry is NaN.
    pub fn norm_max(&self) -> f64 {
        // faer's maximum ignores NaN, but a sum of squares is NaN if any entry is.
        let squares = self.squared_norm_l2();
        if squares.is_nan() { squares } else { self.0.norm_max() }
    }

    /// The Frobenius norm: the square root of the sum of squares.
    pub fn norm_l2(&self) -> f64 {
        self.0.norm_l2()
    }

    /// The sum of squares.
    pub fn squared_norm_l2(&self) -> f64 {
        self.0.squared_norm_l2()
    }
}

impl fmt::Debug for Mat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Index<(usize, usize)> for Mat {
    type Output = f64;

    #[inline]
    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.0[at]
    }
}

impl IndexMut<(usize, usize)> for Mat {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, at: (usize, usize)) -> &mut f64 {
        &mut self.0[at]
    }
}

impl<M: AsMatrix> AddAssign<M> for Mat {
    #[track_caller]
    fn add_assign(&mut self, other: M) {
        self.0 += other.as_mat_ref().0;
    }
}

impl<M: AsMatrix> Add<M> for Mat {
    type Output = Mat;

    #[track_caller]
    fn add(mut self, other: M) -> Mat {
        self.0 += other.as_mat_ref().0;
        self
    }
}

impl<M: AsMatrix> Add<M> for &Mat {
    type Output = Mat;

    #[track_caller]
    fn add(self, other: M) -> Mat {
        self.clone() + other
    }
}

impl<M: AsMatrix> Sub<M> for Mat {
    type Output = Mat;

    #[track_caller]
    fn sub(mut self, other: M) -> Mat {
        self.0 -= other.as_mat_ref().0;
        self
    }
}

impl<M: AsMatrix> Sub<M> for &Mat {
    type Output = Mat;

    #[track_caller]
    fn sub(self, other: M) -> Mat {
        self.clone() - other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries `10 i + j`, which identify their position.
    fn numbered(rows: usize, cols: usize) -> Mat {
        Mat::from_fn(rows, cols, |i, j| (10 * i + j) as f64)
    }

    #[test]
    fn entries_are_where_they_were_put() {
        let mut a = numbered(3, 2);
        assert_eq!((a.nrows(), a.ncols()), (3, 2));
        assert_eq!(a[(2, 1)], 21.0);
        a[(2, 1)] = -1.0;
        assert_eq!(a.col_as_slice(1), [1.0, 11.0, -1.0]);
        a.col_as_slice_mut(0)[1] = 7.0;
        assert_eq!(a[(1, 0)], 7.0);
    }

    #[test]
    fn columns_come_from_left_to_right() {
        let mut a = numbered(3, 2);
        a.col_iter_mut().for_each(|column| column[0] += 0.5);
        let columns: Vec<&[f64]> = a.col_iter().collect();
        assert_eq!(columns, [[0.5, 10.0, 20.0], [1.5, 11.0, 21.0]]);
    }

    #[test]
    fn zeros_and_identity() {
        assert_eq!(Mat::zeros(2, 3), Mat::from_fn(2, 3, |_, _| 0.0));
        assert_eq!(Mat::identity(2, 3), Mat::from_fn(2, 3, |i, j| f64::from(u8::from(i == j))));
        assert_ne!(Mat::zeros(2, 3), Mat::zeros(3, 2));
        assert_ne!(Mat::zeros(2, 2), Mat::identity(2, 2));
    }

    #[test]
    fn sums_and_differences_of_matrices_and_views() {
        let (a, b) = (numbered(2, 3), Mat::from_fn(2, 3, |i, j| (i * j) as f64));
        let sum = Mat::from_fn(2, 3, |i, j| a[(i, j)] + b[(i, j)]);
        let difference = Mat::from_fn(2, 3, |i, j| a[(i, j)] - b[(i, j)]);
        let transposed = b.transpose().to_owned();
        for found in [&a + &b, a.clone() + &b, &a + b.clone(), &a + transposed.transpose()] {
            assert_eq!(found, sum);
        }
        for found in [&a - &b, a.clone() - &b, &a - b.clone(), &a - transposed.transpose()] {
            assert_eq!(found, difference);
        }
        let mut assigned = a.clone();
        assigned += &b;
        assert_eq!(assigned, sum);
    }

    #[test]
    #[should_panic]
    fn sums_of_different_shapes_panic() {
        let _ = Mat::zeros(2, 3) + Mat::zeros(3, 2);
    }

    #[test]
    #[should_panic]
    fn rows_beyond_the_last_panic() {
        // A column may be followed by padding, which is not a row.
        let _ = numbered(3, 2)[(3, 0)];
    }

    #[test]
    fn norms() {
        let a = Mat::from_fn(2, 2, |i, j| [[1.0, -4.0], [2.0, 2.0]][i][j]);
        assert_eq!((a.norm_max(), a.norm_l2(), a.squared_norm_l2()), (4.0, 5.0, 25.0));
        assert_eq!(Mat::zeros(0, 3).norm_max(), 0.0);
        for (row, col) in [(0, 0), (6, 2), (9, 8)] {
            let with = |entry: f64| Mat::from_fn(10, 9, |i, j| if (i, j) == (row, col) { entry } else { 1.0 });
            assert!(with(f64::NAN).norm_max().is_nan());
            assert_eq!(with(-f64::INFINITY).norm_max(), f64::INFINITY);
        }
    }

    #[test]
    fn debug_shows_the_numbers() {
        let text = format!("{:?}", numbered(2, 2));
        assert!(["0.0", "1.0", "10.0", "11.0"].iter().all(|number| text.contains(number)), "{text}");
    }
}
