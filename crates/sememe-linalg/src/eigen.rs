//! Eigenvalues and eigenvectors of symmetric matrices.

use faer::Par;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};

use super::products::sequential_product;
use super::{Failure, Mat, RESIDUAL, Result, scale_columns, symmetric};

/// Eigenvalues, increasing, and eigenvectors, as columns, of a symmetric matrix.
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
        let eigen = Self::unchecked(a).ok_or_else(|| failed("no convergence".to_owned()))?;
        let residual = eigen.residual(a);
        if residual.is_nan() || residual > RESIDUAL {
            return Err(failed(format!("relative residual {residual:.1e}")));
        }
        Ok(eigen)
    }

    /// The decomposition; `None` without convergence.
    fn unchecked(a: &Mat) -> Option<Self> {
        let n = a.nrows();
        let (mut vectors, mut values) = (Mat::zeros(n, n), Diag::zeros(n));
        let (yes, parameters) = (ComputeEigenvectors::Yes, Default::default());
        let mut memory = MemBuffer::new(evd::self_adjoint_evd_scratch::<f64>(n, yes, Par::Seq, parameters));
        evd::self_adjoint_evd(
            a.0.as_ref(),
            values.as_mut(),
            Some(vectors.0.as_mut()),
            Par::Seq,
            MemStack::new(&mut memory),
            parameters,
        )
        .ok()?;
        Some(Eigen { values: values.column_vector().iter().copied().collect(), vectors })
    }

    /// The largest entry of `A U - U diag(values)`, relative to the largest eigenvalue.
    fn residual(&self, a: &Mat) -> f64 {
        let largest = self.values.iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let product = sequential_product(a.as_ref(), self.vectors.as_ref());
        (product - scale_columns(&self.vectors, &self.values)).norm_max() / largest
    }

    /// `U f(values) Uᵀ`.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Mat {
        let values: Vec<f64> = self.values.iter().map(|&value| f(value)).collect();
        symmetric(&sequential_product(scale_columns(&self.vectors, &values).as_ref(), self.vectors.transpose()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{outer_gram, sample, times};
    use super::*;

    #[test]
    fn values_increase_and_map_applies_functions() {
        let a = outer_gram(&sample(40, 60));
        let eigen = Eigen::new(&a, "a sample").unwrap();
        assert!(eigen.values.is_sorted());
        let root = eigen.map(f64::sqrt);
        assert!((times(&root, &root) - &a).norm_max() < 1e-10 * a.norm_max());
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        assert!(Eigen::new(&Mat::from_fn(3, 3, |_, _| f64::NAN), "x").is_err());
    }
}
