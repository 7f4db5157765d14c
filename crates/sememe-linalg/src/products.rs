//! Matrix products, split into pieces of fixed size over all threads: results do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Par};
use gemm::Parallelism;

use super::elementwise::mirror_lower;
use super::{AsMatrix, Mat, MatMut, MatRef};

/// A product with more columns than this is halved recursively; halves have a multiple of `UNIT` columns.
const PANEL: usize = 80;
const UNIT: usize = 4;

/// `A B` on all threads.
pub fn times(a: &impl AsMatrix, b: &impl AsMatrix) -> Mat {
    product(a.as_mat_ref(), b.as_mat_ref())
}

/// `Aᵀ B` on all threads.
pub fn transpose_times(a: &impl AsMatrix, b: &impl AsMatrix) -> Mat {
    product(a.as_mat_ref().transpose(), b.as_mat_ref())
}

/// `A Bᵀ` on all threads.
pub fn times_transpose(a: &impl AsMatrix, b: &impl AsMatrix) -> Mat {
    product(a.as_mat_ref(), b.as_mat_ref().transpose())
}

fn product(a: MatRef<'_>, b: MatRef<'_>) -> Mat {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    add_product(out.as_mut(), 1.0, a, b);
    out
}

/// `A B` on one thread, not split.
pub(crate) fn sequential_product(a: MatRef<'_>, b: MatRef<'_>) -> Mat {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.0.as_mut(), Accum::Replace, a.0, b.0, 1.0, Par::Seq);
    out
}

/// `out += factor A B` on all threads.
pub fn add_product(out: MatMut<'_>, factor: f64, a: MatRef<'_>, b: MatRef<'_>) {
    add_panels(out.0, factor, a.0, b.0);
}

fn add_panels(out: faer::MatMut<'_, f64>, factor: f64, a: faer::MatRef<'_, f64>, b: faer::MatRef<'_, f64>) {
    let Some(half) = half(b.ncols()) else {
        return matmul(out, Accum::Add, a, b, factor, Par::Seq);
    };
    let (left, right) = out.split_at_col_mut(half);
    let (b_left, b_right) = b.split_at_col(half);
    rayon::join(|| add_panels(left, factor, a, b_left), || add_panels(right, factor, a, b_right));
}

/// `A B`, which must be symmetric, at little more than half the cost.
pub fn symmetric_product(a: &impl AsMatrix, b: &impl AsMatrix) -> Mat {
    let (a, b) = (a.as_mat_ref(), b.as_mat_ref());
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    add_below_diagonal(out.0.as_mut(), a.0, b.0);
    mirror_lower(&mut out);
    out
}

/// Adds the lower triangle of `A B`, with the diagonal.
fn add_below_diagonal(out: faer::MatMut<'_, f64>, a: faer::MatRef<'_, f64>, b: faer::MatRef<'_, f64>) {
    let Some(half) = half(b.ncols()) else {
        let (lower, all) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        return triangular::matmul(out, lower, Accum::Add, a, all, b, all, 1.0, Par::Seq);
    };
    let (top, _, below, bottom) = out.split_at_mut(half, half);
    let ((a_top, a_bottom), (b_left, b_right)) = (a.split_at_row(half), b.split_at_col(half));
    rayon::join(
        || add_panels(below, 1.0, a_bottom, b_left),
        || rayon::join(|| add_below_diagonal(top, a_top, b_left), || add_below_diagonal(bottom, a_bottom, b_right)),
    );
}

/// Calls `f` on panels of rows, which are split like the columns of products.
pub(crate) fn in_row_panels(a: faer::MatMut<'_, f64>, f: &(impl Fn(faer::MatMut<'_, f64>) + Sync)) {
    let Some(half) = half(a.nrows()) else {
        return f(a);
    };
    let (top, bottom) = a.split_at_row_mut(half);
    rayon::join(|| in_row_panels(top, f), || in_row_panels(bottom, f));
}

/// Where to split this many columns, if at all.
fn half(columns: usize) -> Option<usize> {
    (columns > PANEL).then(|| columns.div_ceil(2 * UNIT) * UNIT)
}

/// `A x`.
pub fn times_vector(a: &impl AsMatrix, x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.as_mat_ref().nrows()];
    let rows = product.len();
    let out = MatMut::from_column_major_slice_mut(&mut product, rows, 1);
    add_product(out, 1.0, a.as_mat_ref(), MatRef::from_column_major_slice(x, x.len(), 1));
    product
}

/// `X Xᵀ` for column vectors `X`, at half the cost of a general product.
pub fn outer_gram(x: &Mat) -> Mat {
    let d = x.nrows();
    let mut gram = Mat::zeros(d, d);
    triangular::matmul(
        gram.0.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        x.0.as_ref(),
        BlockStructure::Rectangular,
        x.0.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    mirror_lower(&mut gram);
    gram
}

/// `out = A Bᵀ` in f32 for row-major `A` (m x k), `B` (n x k) and `out` (m x n), on one thread.
pub fn product_of_rows(a: &[f32], b: &[f32], k: usize, out: &mut [f32]) {
    let (m, n) = (a.len() / k, b.len() / k);
    product_of_f32(Strided { values: a, strides: [k, 1] }, Strided { values: b, strides: [1, k] }, [m, k, n], out);
}

/// `out = Aᵀ B` in f32 for row-major `A` (k x m), `B` (k x n) and `out` (m x n), on one thread.
pub fn product_of_columns(a: &[f32], b: &[f32], (m, n): (usize, usize), out: &mut [f32]) {
    let k = a.len() / m;
    product_of_f32(Strided { values: a, strides: [1, m] }, Strided { values: b, strides: [n, 1] }, [m, k, n], out);
}

/// Entries of a matrix, with the distances between rows and between columns.
struct Strided<'a> {
    values: &'a [f32],
    strides: [usize; 2],
}

/// `out = A B` for `A` (m x k), `B` (k x n) and row-major `out` (m x n).
fn product_of_f32(a: Strided, b: Strided, [m, k, n]: [usize; 3], out: &mut [f32]) {
    let fits = a.values.len() == m * k && b.values.len() == k * n && out.len() == m * n;
    assert!(fits, "shapes {m} x {k} and {k} x {n} must agree");
    let stride = |len: usize| isize::try_from(len).expect("a slice fits in the address space");
    let ([a_row, a_col], [b_row, b_col]) = (a.strides.map(stride), b.strides.map(stride));
    // SAFETY: the lengths of the slices were checked above. The strides are those of a dense matrix of that shape or of
    // its transpose, so that every entry is inside. `out` is borrowed mutably, so that it overlaps neither input.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            stride(n),
            false,
            a.values.as_ptr(),
            a_col,
            a_row,
            b.values.as_ptr(),
            b_col,
            b_row,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn gram_equals_the_general_product() {
        let x = sample(7, 20);
        assert!((outer_gram(&x) - sequential_product(x.as_ref(), x.transpose())).norm_max() < 1e-12);
    }

    #[test]
    fn product_of_rows_is_all_inner_products() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0];
        let mut out = [0.0; 8];
        product_of_rows(&a, &b, 3, &mut out);
        assert_eq!(out, [4.0, 2.0, 12.0, 6.0, 10.0, 5.0, 30.0, 15.0]);
    }

    #[test]
    fn product_of_columns_sums_over_rows() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 2.0, 0.0, 1.0, 1.0, 3.0, 0.0, 1.0];
        let mut out = [0.0; 6];
        product_of_columns(&a, &b, (2, 3), &mut out);
        assert_eq!(out, [16.0, 3.0, 10.0, 20.0, 4.0, 14.0]);
    }

    #[test]
    fn products_that_are_cut_equal_those_that_are_not() {
        let (a, b) = (sample(170, 90), sample(90, 170));
        assert!((times(&a, &b) - sequential_product(a.as_ref(), b.as_ref())).norm_max() < 1e-11);
        let square = sequential_product(a.as_ref(), a.transpose());
        assert!((symmetric_product(&a, &a.transpose()) - square).norm_max() < 1e-11);
    }
}
