//! The vectors that the benchmarks beside this file run on.

use sememe::vectors::Matrix;

/// The dimension of most published word vectors.
const DIMENSION: usize = 300;

/// Rows that look random and are the same every time.
pub fn rows(count: usize, seed: u32) -> Matrix {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((state >> 16) as i16)
    };
    Matrix::new((0..count * DIMENSION).map(|_| next()).collect(), DIMENSION)
}
