//! The Cholesky factorisation, with solves, inverse and determinant.

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::inverse as llt;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};

use super::elementwise::mirror_lower;
use super::products::in_row_panels;
use super::{Failure, Mat, RESIDUAL, Result, times_transpose};

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

    /// Factors `a` without checking the residual: for iterations whose result is checked in another way.
    pub fn unchecked(a: &Mat, what: &str) -> Result<Self> {
        let n = a.nrows();
        let mut l = Mat::zeros(n, n);
        l.0.copy_from_triangular_lower(&a.0);
        let parameters = Default::default();
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, parameters));
        let stack = MemStack::new(&mut memory);
        cholesky_in_place(l.0.as_mut(), Default::default(), Par::Seq, stack, parameters)
            .map_err(|_| Self::failed(what, "the matrix is not positive definite".to_owned()))?;
        // The factorisation uses the upper triangle as scratch memory.
        (1..n).for_each(|j| l.col_as_slice_mut(j)[..j].fill(0.0));
        match (0..n).all(|i| l[(i, i)].is_finite()) {
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
        self.solve_lower_in_place(x.0.as_mut());
        x
    }

    /// `L⁻ᵀ B`.
    pub fn solve_upper(&self, b: &Mat) -> Mat {
        let mut x = b.clone();
        self.solve_upper_in_place(x.0.as_mut());
        x
    }

    /// `A⁻¹ B`.
    pub fn solve(&self, b: &Mat) -> Mat {
        self.solve_upper(&self.solve_lower(b))
    }

    /// `B L⁻ᵀ` on all threads.
    pub fn after_solve_upper(&self, mut b: Mat) -> Mat {
        in_row_panels(b.0.as_mut(), &|rows| self.solve_lower_in_place(rows.transpose_mut()));
        b
    }

    /// `B L⁻¹` on all threads.
    pub fn after_solve_lower(&self, mut b: Mat) -> Mat {
        in_row_panels(b.0.as_mut(), &|rows| self.solve_upper_in_place(rows.transpose_mut()));
        b
    }

    fn solve_lower_in_place(&self, b: faer::MatMut<'_, f64>) {
        solve_lower_triangular_in_place(self.l.0.as_ref(), b, Par::Seq);
    }

    fn solve_upper_in_place(&self, b: faer::MatMut<'_, f64>) {
        solve_upper_triangular_in_place(self.l.0.transpose(), b, Par::Seq);
    }

    /// `A⁻¹`, symmetric to the last bit.
    pub fn inverse(&self) -> Mat {
        let n = self.l.nrows();
        let mut inverse = Mat::zeros(n, n);
        let mut memory = MemBuffer::new(llt::inverse_scratch::<f64>(n, Par::Seq));
        llt::inverse(inverse.0.as_mut(), self.l.0.as_ref(), Par::Seq, MemStack::new(&mut memory));
        mirror_lower(&mut inverse);
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::super::{outer_gram, sample, times, transpose_times};
    use super::*;

    #[test]
    fn cholesky_inverts_and_measures() {
        let a = outer_gram(&sample(6, 9));
        let factor = Cholesky::new(&a, "a sample").unwrap();
        let identity = times(&a, &factor.inverse());
        assert!((identity - Mat::identity(6, 6)).norm_max() < 1e-10);
        let product: f64 = (0..6).map(|i| factor.l()[(i, i)].powi(2)).product();
        assert!((factor.log_det() - product.ln()).abs() < 1e-10);
    }

    #[test]
    fn factor_is_lower_triangular() {
        // Large enough for the factorisation to work in blocks.
        let l = Cholesky::new(&outer_gram(&sample(150, 200)), "a sample").unwrap().l;
        assert!((0..150).all(|j| (0..j).all(|i| l[(i, j)] == 0.0)));
    }

    #[test]
    fn solutions_solve_their_equations() {
        let (a, b) = (outer_gram(&sample(90, 120)), sample(90, 100));
        let factor = Cholesky::new(&a, "a sample").unwrap();
        let close = |found: Mat, expected: &Mat| assert!((found - expected).norm_max() < 1e-8 * expected.norm_max());
        close(times(factor.l(), &factor.solve_lower(&b)), &b);
        close(transpose_times(factor.l(), &factor.solve_upper(&b)), &b);
        close(times(&a, &factor.solve(&b)), &b);
        let rows = b.transpose().to_owned();
        close(times_transpose(&factor.after_solve_upper(rows.clone()), factor.l()), &rows);
        close(times(&factor.after_solve_lower(rows.clone()), factor.l()), &rows);
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
