//! The canonical rotation: rotations of the latent vector do not change the model, so one is chosen.

use super::em::Parameters;
use super::problem::Problem;
use crate::error::Result;
use crate::linalg::{Eigen, Mat};

/// Rotates the latent space so that `Σ W_iᵀ Psi_i⁻¹ W_i` is diagonal and decreasing, and the largest entry of each
/// column of the loadings is positive. The same model then always has the same numbers, and its leading dimensions
/// carry the most information.
pub(super) fn fix(problem: &Problem, parameters: &mut Parameters) -> Result<()> {
    let eigen = Eigen::new(&parameters.information(problem)?, "the information about the latent vectors")?;
    let latent = eigen.values.len();
    let rotation = Mat::from_fn(latent, latent, |i, j| eigen.vectors[(i, latent - 1 - j)]);
    parameters.rotate(&rotation);
    for j in 0..latent {
        let entries = parameters.w.iter().flat_map(|w| w.col_as_slice(j).iter().copied());
        let largest = entries.fold(0.0_f64, |a, b| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            parameters.w.iter_mut().for_each(|w| w.col_as_slice_mut(j).iter_mut().for_each(|x| *x = -*x));
        }
    }
    Ok(())
}
