//! Changing the embedding model without computing the index again.
//!
//! An index of millions of rows was made by an old model; queries come from a new one. From some texts embedded by both
//! ([`Pairs`]), [`fit`] makes a [`MigrationMap`]: new vectors → queries for the old index as it is, old vectors → the
//! new model's space, and both → a latent space in which rows of both models may be mixed.

mod affine;
mod asking;
mod candidates;
mod evaluation;
mod factors;
mod fit;
mod geometry;
mod map;
mod pairs;

pub use self::affine::Affine;
pub use self::asking::{Question, RECALL_AT, Recall, read_questions};
pub use self::candidates::MapMethod;
pub use self::evaluation::MigrationEvaluation;
pub use self::fit::{MIN_PAIRS, MigrateOptions, fit};
pub use self::geometry::{Geometry, Reference};
pub use self::map::{Chosen, HeldOutRecall, MigrationMap, ModelCard, Side};
pub use self::pairs::{Pairs, read_both, read_rows};
