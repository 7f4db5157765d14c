//! Options of the reproduction.

use std::str::FromStr;

use sememe::evaluate::MAX_SENTENCES;
use sememe::prepare::{Casing, Step};
use sememe::vectors::Embeddings;

use crate::experiment;

/// Options of the reproduction.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The parts of the report; all if empty.
    pub parts: Vec<Part>,
    /// Number of words of each language.
    pub max_words: usize,
    /// The casing of words.
    pub casing: Casing,
    /// The normalisation steps of vectors.
    pub steps: Vec<Step>,
    /// Number of candidate sentences of a parallel text.
    pub sentences: usize,
    /// Steps of plain EM for table 8 and the learning curve.
    pub em_steps: usize,
    /// The random seed.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            parts: Vec::new(),
            max_words: 40_000,
            casing: Casing::Lower,
            steps: vec![Step::Unit],
            sentences: MAX_SENTENCES,
            em_steps: 1000,
            seed: 0,
        }
    }
}

impl Options {
    /// Whether the report has this part.
    pub fn wants(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// Vectors of a language as models are fitted to them.
    pub fn prepare(&self, vectors: Embeddings) -> Embeddings {
        experiment::prepared(&self.steps, &self.casing.of_embeddings(vectors))
    }
}

/// A part of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// A table of the paper.
    Table(u8),
    /// Pairs learned from the vectors: rows of tables 1 and 5, and few entries among several languages.
    Learned,
    /// Robustness: precision on degraded input.
    Noise,
    /// A map of the latent space.
    Map,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.trim(), text.trim().parse()) {
            ("learned", _) => Ok(Part::Learned),
            ("noise", _) => Ok(Part::Noise),
            ("map", _) => Ok(Part::Map),
            (_, Ok(number @ 1..=8)) => Ok(Part::Table(number)),
            _ => Err("the tables are 1 to 8, learned, noise and map".to_owned()),
        }
    }
}
