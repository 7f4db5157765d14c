//! Which targets are nearest to a query: criteria, and one exact engine.
//!
//! Every criterion ranks targets by an inner product and a term of the target, `<q, t> + b(t)`:
//!
//! | criterion   | `q`                              | `t`     | `b(t)`                             |
//! |-------------|----------------------------------|---------|------------------------------------|
//! | `nn`        | `x / abs(x)`                     | unit    | 0                                  |
//! | `csls`      | `2 x / abs(x)`                   | unit    | `-r(t)`                            |
//! | `isf`       | `beta x / abs(x)`                | unit    | `-log Σ_x exp(beta cos(x, t))`     |
//! | `dot`       | `x`                              | as is   | 0                                  |
//! | `l2`        | `2 x`                            | as is   | `-abs(t)²`                         |
//! | `pmi`       | a linear map of `x`              | as is   | a quadratic form of `t`            |
//! | `logp`      | a linear map of `x`              | as is   | the same, and `log p(t)`           |
//!
//! `corrected` alone ranks queries for every target first.

mod best;
mod bounds;
mod corrected;
mod criterion;
pub(crate) mod csls;
mod engine;
mod export;
mod files;
mod generative;
mod instructions;
pub(crate) mod kernel;
mod mutual;
mod quantised;
mod retriever;
mod rows;
mod screen;
mod shortlist;
mod side;
mod terms;

pub use self::criterion::Criterion;
pub use self::export::{Export, Metric};
pub use self::files::{NOTHING, hits_arrays, hits_files, write_hits};
pub use self::generative::Generative;
pub(crate) use self::mutual::mutual_best;
pub use self::retriever::{Builder, Retriever};
pub(crate) use self::side::{Side, get_or_compute};
use crate::error::Result;
use crate::vectors::Matrix;

/// A target and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Row of the target.
    pub index: usize,
    /// The larger the nearer.
    pub score: f32,
}

/// For each query the `k` nearest targets, nearest first, equal scores by the lower row; fewer if there are not `k`.
/// Where a criterion compares directions, zero rows have none: as targets they are never found, as queries they find nothing.
/// Where a criterion looks at the words of the source, these are the queries; see [`Retriever`] for other cases.
///
/// ```
/// use sememe::{retrieve::{nearest, Criterion}, vectors::Matrix};
///
/// let targets = Matrix::new(vec![1.0, 0.0, 0.0, 2.0, 3.0, 3.0], 2);
/// let hits = nearest(&Matrix::new(vec![0.0, 1.0], 2), &targets, 2, Criterion::Nn)?;
/// assert_eq!(hits[0].iter().map(|hit| hit.index).collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn nearest(queries: &Matrix, targets: &Matrix, k: usize, criterion: Criterion) -> Result<Vec<Vec<Hit>>> {
    Retriever::new(queries.clone(), targets.clone(), criterion, &())?.nearest(queries, k, &())
}
