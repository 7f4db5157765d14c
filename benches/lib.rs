//! The vectors that the benchmarks beside this file run on.

#[path = "../crates/sememe/src/random.rs"]
#[allow(dead_code, reason = "the library's own generator, of which benchmarks use a part")]
mod random;

use random::Random;
use sememe::vectors::Matrix;

/// The dimension of most published word vectors.
const DIMENSION: usize = 300;

/// Random rows, the same for the same seed.
pub fn rows(count: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    Matrix::new((0..count * DIMENSION).map(|_| (2.0 * random.uniform() - 1.0) as f32).collect(), DIMENSION)
}
