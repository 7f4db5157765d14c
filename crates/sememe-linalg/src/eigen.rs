//! Eigenvalues and eigenvectors of symmetric matrices.

use faer::Par;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};

use super::products::{sequential_product, times_vector};
use super::{Failure, Mat, RESIDUAL, Result, dot, jacobi, scale_columns, symmetric};

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
        let is_right = |eigen: &Self| eigen.residual(a) <= RESIDUAL;
        if let Some(eigen) = Self::unchecked(a).filter(is_right) {
            return Ok(eigen);
        }
        let failed = |detail: String| Failure { what: format!("eigendecomposition of {what}"), detail };
        if !a.norm_max().is_finite() {
            return Err(failed("numbers that are not finite".to_owned()));
        }
        let eigen = jacobi::eigen(a);
        match is_right(&eigen) {
            true => Ok(eigen),
            false => Err(failed(format!("relative residual {:.1e}", eigen.residual(a)))),
        }
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

/// Matrices up to this size are decomposed; Lanczos' method is for larger ones.
const SMALL: usize = 64;
/// Lanczos steps between two looks at the result, and their maximum.
const STEPS_AT_A_TIME: usize = 20;
const MAX_STEPS: usize = 400;
/// Relative change of the result that counts as convergence.
const SETTLED: f64 = 1e-14;

/// The largest eigenvalue of a symmetric positive semi-definite matrix, by Lanczos' method with full
/// reorthogonalisation. It takes a small part of the time of a decomposition.
pub fn largest_eigenvalue(a: &Mat, what: &str) -> Result<f64> {
    let n = a.nrows();
    let largest_of = |matrix: &Mat| Ok(Eigen::new(matrix, what)?.values.last().copied().unwrap_or(0.0));
    if n <= SMALL {
        return largest_of(a);
    }
    // Any start that is not orthogonal to the eigenvector will do.
    let mut vector: Vec<f64> = (0..n).map(|i| 1.0 + (i % 7) as f64 / 7.0).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut diagonal, mut beside, mut found) = (Vec::new(), Vec::new(), f64::NAN);
    loop {
        let length = dot(&vector, &vector).sqrt();
        // The basis spans all eigenvectors of the start if what is left of the next vector is rounding.
        let scale = diagonal.iter().fold(0.0_f64, |scale, x: &f64| scale.max(x.abs()));
        let is_spanned = !basis.is_empty() && length <= SETTLED * scale;
        let is_exhausted = is_spanned || basis.len() >= n.min(MAX_STEPS);
        if is_exhausted || (!basis.is_empty() && basis.len().is_multiple_of(STEPS_AT_A_TIME)) {
            let tridiagonal = Mat::from_fn(basis.len(), basis.len(), |i, j| match i.abs_diff(j) {
                0 => diagonal[i],
                1 => beside[i.min(j) + 1],
                _ => 0.0,
            });
            let now = largest_of(&tridiagonal)?;
            if is_exhausted || (now - found).abs() <= SETTLED * now.abs() {
                return Ok(now);
            }
            found = now;
        }
        vector.iter_mut().for_each(|x| *x /= length);
        // The first is the length of the start, which the tridiagonal matrix does not have.
        beside.push(length);
        let mut next = times_vector(a, &vector);
        diagonal.push(dot(&next, &vector));
        basis.push(std::mem::take(&mut vector));
        // Twice is enough for orthogonality to rounding.
        for _ in 0..2 {
            for known in &basis {
                let along = dot(&next, known);
                next.iter_mut().zip(known).for_each(|(x, y)| *x -= along * y);
            }
        }
        vector = next;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{outer_gram, sample, times, transpose_times};
    use super::*;

    #[test]
    fn the_largest_eigenvalue_is_that_of_the_decomposition() {
        for (n, rank) in [(40, 60), (150, 200), (150, 30), (300, 1)] {
            let a = outer_gram(&sample(n, rank));
            let expected = *Eigen::new(&a, "a sample").unwrap().values.last().unwrap();
            let found = largest_eigenvalue(&a, "a sample").unwrap();
            assert!((found - expected).abs() < 1e-12 * expected, "{n} x {rank}: {found} {expected}");
        }
        assert_eq!(largest_eigenvalue(&Mat::zeros(100, 100), "zero").unwrap(), 0.0);
    }

    #[test]
    fn values_increase_and_map_applies_functions() {
        let a = outer_gram(&sample(40, 60));
        let eigen = Eigen::new(&a, "a sample").unwrap();
        assert!(eigen.values.is_sorted());
        let root = eigen.map(f64::sqrt);
        assert!((times(&root, &root) - &a).norm_max() < 1e-10 * a.norm_max());
    }

    #[test]
    fn jacobi_rotations_give_the_same_decomposition() {
        let indefinite = |n: usize| symmetric(&sample(n, n));
        for a in [outer_gram(&sample(40, 60)), outer_gram(&sample(30, 7)), indefinite(25), Mat::zeros(4, 4)] {
            let (found, expected) = (jacobi::eigen(&a), Eigen::new(&a, "a sample").unwrap());
            let largest = a.norm_max().max(1.0);
            let differences = found.values.iter().zip(&expected.values).map(|(a, b)| (a - b).abs());
            assert!(differences.fold(0.0, f64::max) < 1e-11 * largest);
            assert!(found.residual(&a) < 1e-12);
            let products = transpose_times(&found.vectors, &found.vectors);
            assert!((products - Mat::identity(a.nrows(), a.nrows())).norm_max() < 1e-12);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        assert!(Eigen::new(&Mat::from_fn(3, 3, |_, _| f64::NAN), "x").is_err());
    }
}
