//! Word similarity: correlation of cosines with human ratings.

use serde::Serialize;

use super::correlation::{cosine, pearson, spearman};
use super::{ScoredPairs, Words};
use crate::error::{Error, Result};

/// Correlation of cosines with human ratings. Pairs with an out-of-vocabulary word are left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Similarity {
    /// The name of the dataset.
    pub set: String,
    /// Number of pairs.
    pub pairs: usize,
    /// Number of pairs with vectors for both words.
    pub known: usize,
    /// Per cent of pairs with vectors for both words.
    pub coverage: f64,
    /// Spearman's rank correlation, with mean ranks for ties.
    pub spearman: f64,
    /// Pearson's correlation.
    pub pearson: f64,
}

/// Compares cosines of word pairs with their ratings. The first word of a pair is of the first view, the second word of
/// the second view. For monolingual datasets both views are the same.
pub fn similarity(views: [Words; 2], set: &ScoredPairs) -> Result<Similarity> {
    let vector = |view: &Words, word: &str| -> Option<Vec<f64>> {
        view.find(word).map(|index| view.embeddings.vector(index).iter().map(|&x| f64::from(x)).collect())
    };
    let mut cosines = Vec::new();
    let mut scores = Vec::new();
    for pair in &set.pairs {
        let [first, second] = &pair.words;
        if let (Some(x), Some(y)) = (vector(&views[0], first), vector(&views[1], second)) {
            cosines.push(cosine(&x, &y));
            scores.push(pair.score);
        }
    }
    let (pairs, known) = (set.pairs.len(), scores.len());
    let undefined = || {
        let why = match known {
            0 => "no pair has a vector for both words; check the view, the language and the casing".to_owned(),
            1 => "only one pair has a vector for both words".to_owned(),
            _ => format!("all scores or all cosines of the {known} pairs with vectors are equal"),
        };
        Error::NotEnoughData(format!("{} ({pairs} pairs): {why}", set.name))
    };
    Ok(Similarity {
        set: set.name.clone(),
        pairs,
        known,
        coverage: 100.0 * known as f64 / pairs as f64,
        spearman: spearman(&cosines, &scores).ok_or_else(undefined)?,
        pearson: pearson(&cosines, &scores).ok_or_else(undefined)?,
    })
}
