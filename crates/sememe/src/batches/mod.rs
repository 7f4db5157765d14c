//! The steps of a fit on record batches of Arrow, for engines that keep rows on many machines.
//!
//! [`PartialMoments`] sums a part of the rows up, [`merge`] adds parts up, [`project`] applies a model, and [`Targets`]
//! finds nearest neighbours. An engine such as Spark only carries batches to them and back. Rows have no order there:
//! whatever is computed does not depend on how they are divided into parts and batches, up to rounding. A missing view is a
//! null. It needs the Cargo feature `parquet`.

mod column;
mod moments;
mod project;
mod row_hashes;
mod targets;

pub use self::moments::{PartialMoments, merge, moments_batch};
pub use self::project::{Projection, project};
pub use self::targets::{Found, Targets, largest_cosines};
