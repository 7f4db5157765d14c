//! Words sampled from a generative model: latent vectors and noise give vectors, which are matched with the nearest
//! words.

mod candidates;
mod draw;
mod samples;

pub use self::candidates::Candidates;
pub use self::draw::{Drawn, Vocabularies, draw};
pub use self::samples::{ComparedWith, Sample, Samples, without_trained};
