//! Noise covariances that stay positive definite.

use crate::error::Result;
use crate::linalg::{Cholesky, Eigen, Mat};

/// Lower bound of the noise after an EM step, in every direction, relative to the view's variance there. It is far
/// below a Heywood case, which has a warning of its own, and far above rounding.
const FLOOR: f64 = 1e-8;

/// The noise with every eigenvalue raised to the floor. An EM step computes noise as a difference, which rounding can
/// make indefinite. The next step could not invert it, and the whole fit would fail.
pub(super) fn floored(psi: Mat) -> Result<Mat> {
    let mut lowered = psi.clone();
    (0..psi.nrows()).for_each(|i| lowered[(i, i)] -= FLOOR);
    if Cholesky::unchecked(&lowered, "noise").is_ok() {
        return Ok(psi);
    }
    Ok(Eigen::new(&psi, "noise")?.map(|value| value.max(2.0 * FLOOR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indefinite_noise_is_raised_and_other_noise_keeps_its_bits() {
        let sound = Mat::from_fn(2, 2, |i, j| if i == j { 0.5 } else { 0.1 });
        assert_eq!(floored(sound.clone()).unwrap(), sound);
        let mut indefinite = sound;
        indefinite[(1, 1)] = 0.01;
        assert!(Cholesky::unchecked(&indefinite, "noise").is_err());
        let raised = floored(indefinite.clone()).unwrap();
        assert!(Cholesky::new(&raised, "noise").is_ok());
        assert!((&raised - &indefinite).norm_max() < 0.02, "only what is negative changes");
    }
}
