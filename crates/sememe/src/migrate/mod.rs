//! Changing the embedding model without computing the index again.
//!
//! An index of millions of rows was made by an old model; queries come from a new one. From some texts embedded by both
//! ([`Pairs`]), [`fit`] makes a [`MigrationMap`]: new vectors → queries for the old index as it is, old vectors → the
//! new model's space, and both → a latent space in which rows of both models may be mixed.

mod adapt;
mod affine;
mod asking;
mod candidates;
mod choice;
mod confidence;
mod evaluation;
mod fit;
mod geometry;
mod hubs;
mod map;
mod monitor;
mod onnx;
mod pair_moments;
mod pairs;
mod pairs_learned;
mod plan;
mod route;
#[cfg_attr(not(feature = "parquet"), allow(unused, reason = "tables need more than arrays do"))]
mod stream;

pub use self::adapt::Adapted;
pub use self::affine::Affine;
pub use self::asking::{Question, RECALL_AT, Recall, read_questions};
pub use self::candidates::MapMethod;
pub use self::confidence::{Confidence, Confident};
pub use self::evaluation::{MigrationEvaluation, Trust, TrustLevel};
pub use self::fit::{MIN_PAIRS, MigrateOptions, fit};
pub use self::geometry::{Geometry, Reference};
pub use self::map::{CandidateScore, Chosen, MigrationMap, ModelCard, Side};
pub use self::monitor::{Check, MonitorReport};
pub use self::pairs::{Pairs, read_both, read_rows};
pub use self::pairs_learned::learn_pairs;
pub use self::plan::{MigrationPlan, PlanCosts, PlanOptions, PlanPoint, plan};
pub use self::route::Route;
pub use self::stream::{Precision, StreamOptions, Streamed};
