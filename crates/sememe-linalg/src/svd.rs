//! The singular value decomposition.

use faer::Par;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{self, ComputeSvdVectors};

use super::products::sequential_product;
use super::{Failure, Mat, RESIDUAL, Result, jacobi, scale_columns};

/// `A = U diag(s) Vᵀ`, with decreasing singular values.
pub struct Svd {
    /// Left singular vectors, as columns.
    pub u: Mat,
    /// Singular values.
    pub s: Vec<f64>,
    /// Right singular vectors, as columns.
    pub v: Mat,
}

impl Svd {
    /// The thin decomposition of `a`; `what` names it in errors.
    pub fn new(a: &Mat, what: &str) -> Result<Self> {
        let failed = |detail: String| Failure { what: format!("singular value decomposition of {what}"), detail };
        if !a.norm_l2().is_finite() {
            return Err(failed("its norm is not finite".to_owned()));
        }
        let is_good = |svd: &Self| svd.residual(a) <= RESIDUAL;
        if let Some(svd) = Self::unchecked(a).filter(is_good) {
            return Ok(svd);
        }
        let svd = jacobi::svd(a);
        if is_good(&svd) { Ok(svd) } else { Err(failed(format!("residual {:.1e}", svd.residual(a)))) }
    }

    /// The thin decomposition; `None` without convergence.
    fn unchecked(a: &Mat) -> Option<Self> {
        let (m, n) = (a.nrows(), a.ncols());
        let (mut u, mut v, mut s) = (Mat::zeros(m, m.min(n)), Mat::zeros(n, m.min(n)), Diag::zeros(m.min(n)));
        let (thin, parameters) = (ComputeSvdVectors::Thin, Default::default());
        let mut memory = MemBuffer::new(svd::svd_scratch::<f64>(m, n, thin, thin, Par::Seq, parameters));
        svd::svd(
            a.0.as_ref(),
            s.as_mut(),
            Some(u.0.as_mut()),
            Some(v.0.as_mut()),
            Par::Seq,
            MemStack::new(&mut memory),
            parameters,
        )
        .ok()?;
        Some(Svd { u, s: s.column_vector().iter().copied().collect(), v })
    }

    /// The larger of two errors: the distance of the product from `a`, relative to the largest singular value, and the
    /// distance of the factors from orthonormal.
    fn residual(&self, a: &Mat) -> f64 {
        let off_orthogonal =
            |q: &Mat| (sequential_product(q.transpose(), q.as_ref()) - Mat::identity(q.ncols(), q.ncols())).norm_max();
        let largest = self.s.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let product = sequential_product(scale_columns(&self.u, &self.s).as_ref(), self.v.transpose());
        let residual = (product - a).norm_max() / largest;
        let worse = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
        worse(worse(residual, off_orthogonal(&self.u)), off_orthogonal(&self.v))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{sample, times_transpose};
    use super::*;

    #[test]
    fn decomposition_is_thin_ordered_and_exact() {
        for (rows, cols) in [(7, 4), (4, 7), (120, 90)] {
            let a = sample(rows, cols);
            let Svd { u, s, v } = Svd::new(&a, "a sample").unwrap();
            let size = rows.min(cols);
            assert_eq!((u.nrows(), u.ncols(), v.nrows(), v.ncols()), (rows, size, cols, size));
            assert!(s.is_sorted_by(|a, b| a >= b));
            assert!((times_transpose(&scale_columns(&u, &s), &v) - a).norm_max() < 1e-10);
        }
    }

    #[test]
    fn jacobi_rotations_give_the_same_decomposition() {
        let low_rank = times_transpose(&sample(60, 9), &sample(40, 9));
        for a in [sample(7, 4), sample(4, 7), sample(120, 90), low_rank, Mat::zeros(3, 5), sample(1, 1)] {
            let (found, expected) = (jacobi::svd(&a), Svd::new(&a, "a sample").unwrap());
            assert!(found.residual(&a) < 1e-12, "{}", found.residual(&a));
            assert!(found.s.is_sorted_by(|a, b| a >= b));
            let largest = expected.s[0].max(1.0);
            assert!(found.s.iter().zip(&expected.s).all(|(a, b)| (a - b).abs() < 1e-12 * largest));
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        assert!(Svd::new(&Mat::from_fn(3, 3, |_, _| f64::NAN), "x").is_err());
    }

    #[test]
    fn matrices_of_low_rank_that_faer_fails_on_are_decomposed() {
        // Columns that fall in strength, as those of the latent vectors of a small dictionary.
        let factor = |seed: usize| {
            let noise = |i: usize, j: usize| ((seed + 31 * i + 17 * j + i * j * 7) as f64 * 0.618_034).fract() - 0.5;
            Mat::from_fn(160, 80, |i, j| (-(j as f64) / 40.0).exp() * noise(i, j))
        };
        for seed in 0..4 {
            let a = times_transpose(&factor(seed), &factor(seed + 1000));
            let svd = Svd::new(&a, "a sample").unwrap();
            assert!((times_transpose(&scale_columns(&svd.u, &svd.s), &svd.v) - a).norm_max() < 1e-12);
        }
    }
}
