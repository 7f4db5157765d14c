//! Matrices in f64 and the factorisations we trust; the only crate that names those of linear algebra.
//!
//! It is a crate of its own because their generic code takes long to compile: here that is done once, and changes to what
//! uses it are quick to build.
//!
//! faer is built without its thread pool: every call is sequential, so results never depend on the number of threads.
//! Parallel work is split into fixed pieces outside. Every factorisation is checked by its residual.

mod products;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::inverse as llt;
use faer::mat::AsMatRef;
use faer::{Par, Side};

use self::products::in_row_panels;
pub use self::products::{
    add_product, outer_gram, product_of_rows, symmetric_product, times, times_transpose, times_vector, transpose_times,
};

/// A column-major matrix of f64.
pub type Mat = faer::Mat<f64>;
/// A view of a matrix, or of a part of one.
pub type MatRef<'a> = faer::MatRef<'a, f64>;
/// A view of a matrix through which it can be changed.
pub type MatMut<'a> = faer::MatMut<'a, f64>;

/// A matrix or a view of one.
pub trait AsMatrix: AsMatRef<T = f64, Rows = usize, Cols = usize> {}

impl<M: AsMatRef<T = f64, Rows = usize, Cols = usize>> AsMatrix for M {}

/// A computation that failed or whose result did not pass its check.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what} failed: {detail}")]
pub struct Failure {
    /// The computation.
    pub what: String,
    /// How it failed.
    pub detail: String,
}

/// A `Result` whose error is [`Failure`].
pub type Result<T> = std::result::Result<T, Failure>;

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
    pub fn unchecked(a: &Mat, what: &str) -> Result<Self> {
        let factor = a.llt(Side::Lower);
        let factor = factor.map_err(|_| Self::failed(what, "the matrix is not positive definite".to_owned()))?;
        let l = factor.L().to_owned();
        match (0..l.nrows()).all(|i| l[(i, i)].is_finite()) {
            true => Ok(Cholesky { l }),
            false => Err(Self::failed(what, "the matrix is not finite".to_owned())),
        }
    }

    fn failed(what: &str, detail: String) -> Failure {
        Failure { what: format!("Cholesky factorisation of {what}"), detail }
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

    /// `B L⁻ᵀ` on all threads.
    pub fn after_solve_upper(&self, mut b: Mat) -> Mat {
        in_row_panels(b.as_mut(), &|rows| self.l.solve_lower_triangular_in_place(rows.transpose_mut()));
        b
    }

    /// `B L⁻¹` on all threads.
    pub fn after_solve_lower(&self, mut b: Mat) -> Mat {
        in_row_panels(b.as_mut(), &|rows| self.l.transpose().solve_upper_triangular_in_place(rows.transpose_mut()));
        b
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
        let failed = |detail: String| Failure { what: format!("singular value decomposition of {what}"), detail };
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
        let failed = |detail: String| Failure { what: format!("eigendecomposition of {what}"), detail };
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
    let mut symmetric = a.clone();
    for_each_below_diagonal(a.nrows(), |i, j| {
        let mean = 0.5 * (a[(i, j)] + a[(j, i)]);
        symmetric[(i, j)] = mean;
        symmetric[(j, i)] = mean;
    });
    symmetric
}

/// Copies what is below the diagonal to above it.
fn mirror_lower(a: &mut Mat) {
    for_each_below_diagonal(a.nrows(), |i, j| a[(j, i)] = a[(i, j)]);
}

/// Visits all `(i, j)` with `i > j` tile by tile, so that neither `(i, j)` nor `(j, i)` jumps through memory.
fn for_each_below_diagonal(n: usize, mut visit: impl FnMut(usize, usize)) {
    const TILE: usize = 16;
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for j in left..n.min(left + TILE) {
                (top.max(j + 1)..n.min(top + TILE)).for_each(|i| visit(i, j));
            }
        }
    }
}

/// The sum of the diagonal.
pub fn trace(a: &Mat) -> f64 {
    (0..a.nrows()).map(|i| a[(i, i)]).sum()
}

/// `Σ a_ij b_ij`, which is `tr Aᵀ B`.
pub fn inner(a: &Mat, b: &Mat) -> f64 {
    (0..a.ncols()).map(|j| dot(a.col_as_slice(j), b.col_as_slice(j))).sum()
}

/// The block of `rows` and `cols`, each given as start and length.
pub fn block(a: &Mat, (row, rows): (usize, usize), (col, cols): (usize, usize)) -> Mat {
    a.submatrix(row, col, rows, cols).to_owned()
}

/// `A += factor x yᵀ`.
pub fn add_outer(a: &mut Mat, factor: f64, x: &[f64], y: &[f64]) {
    for (j, &y) in y.iter().enumerate() {
        add_to(a.col_as_slice_mut(j), factor * y, x);
    }
}

/// `A += factor B`.
pub fn add_scaled(mut a: MatMut<'_>, factor: f64, b: MatRef<'_>) {
    const CONTIGUOUS: &str = "the rows of a column follow each other";
    for j in 0..a.ncols() {
        let sums = a.as_mut().col_mut(j).try_as_col_major_mut().expect(CONTIGUOUS).as_slice_mut();
        add_to(sums, factor, b.col(j).try_as_col_major().expect(CONTIGUOUS).as_slice());
    }
}

fn add_to(sums: &mut [f64], factor: f64, values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
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

#[cfg(test)]
fn sample(rows: usize, cols: usize) -> Mat {
    Mat::from_fn(rows, cols, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0 + if i == j { 9.0 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(Cholesky::new(&a, "x").is_err());
        a[(2, 2)] = f64::NAN;
        assert!(Cholesky::new(&a, "x").is_err());
    }
}
