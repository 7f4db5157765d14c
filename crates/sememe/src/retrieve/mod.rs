//! Nearest-neighbour retrieval: the criteria and one exact search engine.
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
//! `corrected` is the exception: it first ranks the queries for every target. Between two views of a model of more views,
//! `x` and `t` of the criteria made of cosines are in the [coordinates of the pair](PairCoordinates).

mod best;
mod both_ways;
mod bounds;
mod calibration;
mod corrected;
mod criterion;
pub(crate) mod csls;
mod eight_bit;
mod engine;
mod export;
mod files;
mod form;
mod generative;
#[cfg(feature = "cuda")]
mod gpu;
mod instructions;
pub(crate) mod kernel;
mod mutual;
#[cfg(feature = "cuda")]
mod on_device;
mod pair;
mod quantised;
mod ranked;
mod retriever;
mod rows;
mod screen;
mod shortlist;
mod side;
mod terms;
mod tuned;

pub(crate) use self::both_ways::BothWays;
pub use self::calibration::Calibration;
pub(crate) use self::calibration::{UsualRows, log_odds, log_row, logistic};
pub use self::criterion::Criterion;
pub use self::export::{Export, Metric};
pub use self::files::{hits_arrays, hits_files, write_hits};
pub use self::generative::Generative;
pub(crate) use self::mutual::mutual_best;
#[cfg(feature = "cuda")]
pub use self::on_device::DeviceRows;
pub use self::pair::PairCoordinates;
pub use self::ranked::PartialHits;
pub use self::retriever::{Builder, Retriever};
pub(crate) use self::side::{Side, get_or_compute};
pub use self::tuned::TunedCriterion;
use crate::error::Result;
use crate::vectors::Matrix;

/// A retrieved target and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Row of the target.
    pub index: usize,
    /// The score; larger is nearer.
    pub score: f32,
}

/// Returns the `k` nearest targets of each query, nearest first, ties by lower row; fewer if there are fewer targets.
/// Zero rows have no direction: where a criterion uses cosines, zero targets are never found and zero queries find
/// nothing. Where a criterion uses the words of the source, as CSLS does, the queries stand in for them; [`Retriever`]
/// takes any source.
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
