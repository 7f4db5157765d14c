//! What is reproduced, and on what.

use std::str::FromStr;

use sememe::evaluate::MAX_SENTENCES;
use sememe::prepare::{Casing, Step};
use sememe::vectors::Embeddings;

use crate::experiment;

/// What is computed, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// What the report has; all parts if there are none.
    pub parts: Vec<Part>,
    /// How many words of each language are read.
    pub max_words: usize,
    /// How words are looked up.
    pub casing: Casing,
    /// How vectors are prepared.
    pub steps: Vec<Step>,
    /// Sentences of a parallel text to look among.
    pub sentences: usize,
    /// Steps of plain EM for table 8 and the learning curve.
    pub em_steps: usize,
    /// Of whatever is random.
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
    /// Precision as the input gets worse.
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
