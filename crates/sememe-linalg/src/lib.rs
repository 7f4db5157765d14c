//! Matrices of f64, products and factorisations.
//!
//! The linear algebra libraries behind this crate are hidden: neither their types nor their versions appear in a
//! signature. It is a separate crate because their generic code takes long to compile. It is compiled once here, so
//! that other crates build quickly.
//!
//! Results are the same to the last bit for any number of threads. Every call of faer is sequential (`Par::Seq`):
//! faer's own parallelism depends on a global setting and on a Cargo feature, which any other crate of a program can
//! change. Parallel work is split into pieces of fixed size here.
//!
//! Every factorisation is checked by its residual.

mod cholesky;
mod eigen;
mod elementwise;
mod jacobi;
mod low_rank;
mod mat;
mod products;
mod svd;
mod views;

pub use self::cholesky::Cholesky;
pub use self::eigen::{Eigen, largest_eigenvalue};
pub use self::elementwise::{add_outer, add_scaled, block, dot, inner, scale_columns, symmetric, trace};
pub use self::low_rank::{isometry, low_rank_factor};
pub use self::mat::Mat;
pub use self::products::{
    add_product, outer_gram, product_of_columns, product_of_rows, symmetric_product, times, times_transpose,
    times_vector, transpose_times,
};
pub use self::svd::Svd;
pub use self::views::{AsMatrix, MatMut, MatRef};

/// A computation that failed, or whose result did not pass its check.
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

#[cfg(test)]
fn sample(rows: usize, cols: usize) -> Mat {
    Mat::from_fn(rows, cols, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0 + if i == j { 9.0 } else { 0.0 })
}
