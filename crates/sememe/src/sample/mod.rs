//! Words drawn from a model: hidden vectors and noise make vectors, and the nearest words stand for them.

mod candidates;
mod draw;
mod samples;

pub use self::candidates::Candidates;
pub use self::draw::{Drawn, Vocabularies, draw};
pub use self::samples::{ComparedWith, Sample, Samples, without_trained};
