//! Exact nearest-neighbour search on NVIDIA GPUs.
//!
//! For every query, [`nearest`] finds the `k` targets with the largest `scale <q, t> + b(t)`, with the scores that the CPU
//! computes, to the bit. [`means_of_both`] computes the terms of CSLS in both
//! directions with one product.
//!
//! A card estimates all cosines in half precision. The largest error of an estimate is known, so that most targets are
//! ruled out; the others get exact scores, in double precision and in the order of the CPU. What a card cannot decide,
//! such as hundreds of equal rows, is left to the CPU ([`Found::unresolved`]).
//!
//! The search is written for any [`Card`]. [`Cuda`] is a GPU. [`StandIn`] does the same on the CPU, slowly, for tests on
//! machines without a GPU.
//!
//! [`log_sums`] computes the terms of inverted softmax, also to the bit. [`Cuda::similarities`] and [`Similarities::couple`] are
//! the steps of self-learning that take longest, [`Cuda::whitened`] those of component analysis, and [`Cuda::finishing`]
//! those of the discriminative finish: these differ from the CPU in the last digits. So do [`Projector`], which maps any number
//! of rows, [`second_moments`] of rows, and [`Cuda::ranks_of_pairs`].

mod card;
mod cuda;
mod exponentials;
mod found;
mod moments;
mod projection;
mod resident;
mod search;
mod stand_in;
mod stand_in_doubles;
mod stand_in_sums;
mod tiles;

pub use self::card::{Best, Card, Facts, Fault, HostRows, Selection, Settled, State, Wanted};
pub use self::cuda::{
    Coupled, Cuda, Description, Finishing, Nearest, PairRank, RowsOnGpu, Similarities, Unavailable, Vectors, Whitened,
    descriptions,
};
pub use self::exponentials::{Exponentials, SOURCES_OF_BLOCK, log_sums};
pub use self::found::Found;
pub use self::moments::{SecondMoments, Summed, second_moments};
pub use self::projection::{LinearMap, Projections, Projector};
pub use self::resident::Resident;
pub use self::search::{Ranking, means_of_both, nearest, nearest_of_host};
pub use self::stand_in::StandIn;

/// Rows and columns that a card multiplies at a time. `kernels/` has the same numbers.
const ROWS_OF_TILE: usize = 256;
const COLUMNS_OF_TILE: usize = 128;
/// Columns that share a maximum.
const COLUMNS_OF_GROUP: usize = 64;
/// Coordinates are padded to a multiple of this number.
const COORDINATES: usize = 16;
/// Larger than all roundings to single precision between an estimate and a bound; also in `kernels/`.
const ROUNDING: f64 = 1.0 / (1 << 20) as f64;
