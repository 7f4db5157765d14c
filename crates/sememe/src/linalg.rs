//! Matrices in f64 and the factorisations we trust; the only file that names the linear-algebra crates.
//!
//! faer is built without its thread pool: every call is sequential, so results never depend on the number of threads.
//! Parallel work is split into fixed pieces outside. Every factorisation is checked by its residual.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::inverse as llt;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par, Side};
use gemm::Parallelism;

use crate::error::{Error, Result};

/// A column-major matrix of f64.
pub type Mat = faer::Mat<f64>;

/// Largest accepted residual of a factorisation, relative to the matrix.
const RESIDUAL: f64 = 1e-9;

/// `A = L Lᵀ` of a symmetric positive definite matrix.
#[derive(Clone, Debug)]
pub struct Cholesky {
    l: Mat,
}

impl Cholesky {
    /// Factors `a`; `what` names it in errors.
    pub fn new(a: &Mat, what: &str) -> Result<Self> {
        let factor = Self::unchecked(a, what)?;
        let residual = (times_transpose(&factor.l, &factor.l) - a).norm_l2() / a.norm_l2();
        if residual.is_nan() || residual > RESIDUAL {
            return Err(Self::failed(what, format!("relative residual {residual:.1e}")));
        }
        Ok(factor)
    }

    /// Factors `a` without checking the residual: inside an iteration, whose result is checked otherwise.
    pub(crate) fn unchecked(a: &Mat, what: &str) -> Result<Self> {
        let factor = a.llt(Side::Lower);
        let factor = factor.map_err(|_| Self::failed(what, "the matrix is not positive definite".to_owned()))?;
        let l = factor.L().to_owned();
        match (0..l.nrows()).all(|i| l[(i, i)].is_finite()) {
            true => Ok(Cholesky { l }),
            false => Err(Self::failed(what, "the matrix is not finite".to_owned())),
        }
    }

    fn failed(what: &str, detail: String) -> Error {
        Error::Numerical { what: format!("Cholesky factorisation of {what}"), detail }
    }

    /// The lower triangular factor.
    pub fn l(&self) -> &Mat {
        &self.l
    }

    /// `log |A|`.
    pub fn log_det(&self) -> f64 {
        2.0 * (0..self.l.nrows()).map(|i| self.l[(i, i)].ln()).sum::<f64>()
    }

    /// `L⁻¹ B`.
    pub fn solve_lower(&self, b: &Mat) -> Mat {
        let mut x = b.clone();
        self.l.solve_lower_triangular_in_place(x.as_mut());
        x
    }

    /// `L⁻ᵀ B`.
    pub fn solve_upper(&self, b: &Mat) -> Mat {
        let mut x = b.clone();
        self.l.transpose().solve_upper_triangular_in_place(x.as_mut());
        x
    }

    /// `A⁻¹ B`.
    pub fn solve(&self, b: &Mat) -> Mat {
        self.solve_upper(&self.solve_lower(b))
    }

    /// `A⁻¹`, symmetric to the last bit.
    pub fn inverse(&self) -> Mat {
        let n = self.l.nrows();
        let mut inverse = Mat::zeros(n, n);
        let mut memory = MemBuffer::new(llt::inverse_scratch::<f64>(n, Par::Seq));
        llt::inverse(inverse.as_mut(), self.l.as_ref(), Par::Seq, MemStack::new(&mut memory));
        mirror_lower(&mut inverse);
        inverse
    }
}

/// `A = U diag(s) Vᵀ`, singular values decreasing.
pub struct Svd {
    /// Left singular vectors, one a column.
    pub u: Mat,
    /// Singular values.
    pub s: Vec<f64>,
    /// Right singular vectors, one a column.
    pub v: Mat,
}

impl Svd {
    /// The thin decomposition of `a`; `what` names it in errors.
    pub fn new(a: &Mat, what: &str) -> Result<Self> {
        let failed =
            |detail: String| Error::Numerical { what: format!("singular value decomposition of {what}"), detail };
        let svd = a.thin_svd().map_err(|_| failed("no convergence".to_owned()))?;
        let (u, v) = (svd.U().to_owned(), svd.V().to_owned());
        let s: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        let off_orthogonal = |q: &Mat| (q.transpose() * q - Mat::identity(q.ncols(), q.ncols())).norm_max();
        let largest = s.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let residual = (scale_columns(&u, &s) * v.transpose() - a).norm_max() / largest;
        let worst = residual.max(off_orthogonal(&u)).max(off_orthogonal(&v));
        if worst.is_nan() || worst > RESIDUAL {
            return Err(failed(format!("residual {worst:.1e}")));
        }
        Ok(Svd { u, s, v })
    }
}

/// Eigenvalues, increasing, and eigenvectors, one a column, of a symmetric matrix.
pub struct Eigen {
    /// Eigenvalues.
    pub values: Vec<f64>,
    /// Eigenvectors.
    pub vectors: Mat,
}

impl Eigen {
    /// Decomposes the symmetric `a`; `what` names it in errors.
    pub fn new(a: &Mat, what: &str) -> Result<Self> {
        let failed = |detail: String| Error::Numerical { what: format!("eigendecomposition of {what}"), detail };
        let eigen = a.self_adjoint_eigen(Side::Lower).map_err(|_| failed("no convergence".to_owned()))?;
        let vectors = eigen.U().to_owned();
        let values: Vec<f64> = eigen.S().column_vector().iter().copied().collect();
        let largest = values.iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let residual = (a * &vectors - scale_columns(&vectors, &values)).norm_max() / largest;
        if residual.is_nan() || residual > RESIDUAL {
            return Err(failed(format!("relative residual {residual:.1e}")));
        }
        Ok(Eigen { values, vectors })
    }

    /// `U f(values) Uᵀ`.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Mat {
        let values: Vec<f64> = self.values.iter().map(|&value| f(value)).collect();
        symmetric(&(scale_columns(&self.vectors, &values) * self.vectors.transpose()))
    }
}

/// `A diag(factors)`.
pub fn scale_columns(a: &Mat, factors: &[f64]) -> Mat {
    Mat::from_fn(a.nrows(), factors.len(), |i, j| a[(i, j)] * factors[j])
}

/// `(A + Aᵀ) / 2`.
pub fn symmetric(a: &Mat) -> Mat {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}

/// The sum of the diagonal.
pub fn trace(a: &Mat) -> f64 {
    (0..a.nrows()).map(|i| a[(i, i)]).sum()
}

/// `Σ a_ij b_ij`, which is `tr Aᵀ B`.
pub fn inner(a: &Mat, b: &Mat) -> f64 {
    (0..a.ncols()).map(|j| (0..a.nrows()).map(|i| a[(i, j)] * b[(i, j)]).sum::<f64>()).sum()
}

/// The block of `rows` and `cols`, each given as start and length.
pub fn block(a: &Mat, (row, rows): (usize, usize), (col, cols): (usize, usize)) -> Mat {
    a.submatrix(row, col, rows, cols).to_owned()
}

/// Columns of a product that one thread computes at a time. Fixed, so that the bits do not depend on the threads.
const PANEL: usize = 64;

/// `A B` on all threads.
pub fn times(a: &Mat, b: &Mat) -> Mat {
    product(a.as_ref(), b.as_ref())
}

/// `Aᵀ B` on all threads.
pub fn transpose_times(a: &Mat, b: &Mat) -> Mat {
    product(a.transpose(), b.as_ref())
}

/// `A Bᵀ` on all threads.
pub fn times_transpose(a: &Mat, b: &Mat) -> Mat {
    product(a.as_ref(), b.transpose())
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    fill_panels(out.as_mut(), a, b);
    out
}

fn fill_panels(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    let panels = b.ncols().div_ceil(PANEL);
    if panels <= 1 {
        return faer::linalg::matmul::matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
    }
    let middle = panels / 2 * PANEL;
    let (left, right) = out.split_at_col_mut(middle);
    let (b_left, b_right) = b.split_at_col(middle);
    rayon::join(|| fill_panels(left, a, b_left), || fill_panels(right, a, b_right));
}

/// `A x`.
pub fn times_vector(a: &Mat, x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.nrows()];
    for (j, &factor) in x.iter().enumerate() {
        product.iter_mut().zip(a.col(j).iter()).for_each(|(sum, entry)| *sum += factor * entry);
    }
    product
}

/// `A += factor x yᵀ`.
pub fn add_outer(a: &mut Mat, factor: f64, x: &[f64], y: &[f64]) {
    for (j, &y) in y.iter().enumerate() {
        a.col_mut(j).iter_mut().zip(x).for_each(|(entry, x)| *entry += factor * x * y);
    }
}

/// `xᵀ y`, in several sums at once so that the processor's vector instructions can be used.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (x_chunks, y_chunks) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f64 = x_chunks.remainder().iter().zip(y_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in x_chunks.zip(y_chunks) {
        (0..LANES).for_each(|lane| sums[lane] += x[lane] * y[lane]);
    }
    sums.iter().sum::<f64>() + rest
}

/// `X Xᵀ` for column vectors `X`, at half the cost of a general product.
pub fn outer_gram(x: &Mat) -> Mat {
    let d = x.nrows();
    let mut gram = Mat::zeros(d, d);
    triangular::matmul(
        gram.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        x.as_ref(),
        BlockStructure::Rectangular,
        x.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    mirror_lower(&mut gram);
    gram
}

/// Copies what is below the diagonal to above it.
fn mirror_lower(a: &mut Mat) {
    for col in 0..a.ncols() {
        for row in 0..col {
            a[(row, col)] = a[(col, row)];
        }
    }
}

/// `out = A Bᵀ` in f32 for row-major `A` (m x k), `B` (n x k) and `out` (m x n), on one thread.
pub fn product_of_rows(a: &[f32], b: &[f32], k: usize, out: &mut [f32]) {
    let (m, n) = (a.len() / k, b.len() / k);
    assert!(a.len() == m * k && b.len() == n * k && out.len() == m * n, "shapes {m} x {k} and {n} x {k} must agree");
    let stride = |len: usize| isize::try_from(len).expect("a slice fits in the address space");
    // SAFETY: the pointers come from slices whose lengths were checked above against the strides given here,
    // and `out` is borrowed mutably, so it overlaps neither input.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            stride(n),
            false,
            a.as_ptr(),
            1,
            stride(k),
            b.as_ptr(),
            stride(k),
            1,
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
    use super::*;

    fn sample(rows: usize, cols: usize) -> Mat {
        Mat::from_fn(rows, cols, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0 + if i == j { 9.0 } else { 0.0 })
    }

    #[test]
    fn cholesky_inverts_and_measures() {
        let a = outer_gram(&sample(6, 9));
        let factor = Cholesky::new(&a, "a sample").unwrap();
        let identity = &a * factor.inverse();
        assert!((identity - Mat::identity(6, 6)).norm_max() < 1e-10);
        let product: f64 = (0..6).map(|i| factor.l()[(i, i)].powi(2)).product();
        assert!((factor.log_det() - product.ln()).abs() < 1e-10);
    }

    #[test]
    fn indefinite_matrix_is_refused() {
        let mut a = Mat::identity(3, 3);
        a[(2, 2)] = -1.0;
        assert!(matches!(Cholesky::new(&a, "x"), Err(Error::Numerical { .. })));
        a[(2, 2)] = f64::NAN;
        assert!(matches!(Cholesky::new(&a, "x"), Err(Error::Numerical { .. })));
    }

    #[test]
    fn gram_equals_the_general_product() {
        let x = sample(7, 20);
        assert!((outer_gram(&x) - &x * x.transpose()).norm_max() < 1e-12);
    }

    #[test]
    fn product_of_rows_is_all_inner_products() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0];
        let mut out = [0.0; 8];
        product_of_rows(&a, &b, 3, &mut out);
        assert_eq!(out, [4.0, 2.0, 12.0, 6.0, 10.0, 5.0, 30.0, 15.0]);
    }
}
