//! Semantic textual similarity (STS): correlation of cosines of sentence vectors with human ratings.

use serde::Serialize;

use super::bags::Bags;
use super::correlation::{cosine, pearson, spearman};
use super::weighting::{mean_vector, remove_first_component};
use super::{SentencePairs, Weighting, Words};
use crate::error::{Error, Result};
use crate::linalg::Mat;

/// Correlation of cosines of sentence vectors with human ratings on one dataset.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sts {
    /// The release.
    pub year: String,
    /// The name of the dataset.
    pub set: String,
    /// Number of sentence pairs with a rating.
    pub pairs: usize,
    /// Number of these pairs with a sentence without known words; their cosine counts as 0.
    pub without_words: usize,
    /// Spearman's rank correlation, with mean ranks for ties.
    pub spearman: f64,
    /// Pearson's correlation.
    pub pearson: f64,
}

/// Averages over the datasets of one release.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsYear {
    /// The release.
    pub year: String,
    /// Number of datasets.
    pub sets: usize,
    /// Number of pairs in all datasets.
    pub pairs: usize,
    /// The mean over datasets, as reported by Arora et al. and later papers.
    pub spearman: f64,
    /// The mean over datasets.
    pub pearson: f64,
    /// The mean over datasets weighted by their numbers of pairs, as in the shared tasks.
    pub weighted_spearman: f64,
    /// The mean over datasets weighted by their numbers of pairs.
    pub weighted_pearson: f64,
}

/// Compares cosines of sentence vectors with the ratings of a dataset. Weightings are estimated from all sentences of
/// the dataset.
pub fn sts(words: Words, set: &SentencePairs, weighting: &Weighting) -> Result<Sts> {
    let mut sentences = Bags::default();
    for text in set.pairs.iter().flat_map(|pair| &pair.sentences) {
        sentences.push(&words.of_sentence(text));
    }
    if sentences.empty() == sentences.len() {
        let problem = "no word of any sentence has a vector; check the view, the language and the casing";
        return Err(Error::NotEnoughData(format!("{}.{}: {problem}", set.year, set.name)));
    }
    let weights = weighting.weights(&sentences, words.embeddings.len());
    let mut vectors = Mat::zeros(words.embeddings.dim(), sentences.len());
    for (column, sentence) in sentences.iter().enumerate() {
        vectors.col_as_slice_mut(column).copy_from_slice(&mean_vector(words.embeddings, &weights, sentence));
    }
    if let Weighting::Sif { .. } = weighting {
        remove_first_component(&mut vectors)?;
    }
    let scores: Vec<f64> = set.pairs.iter().map(|pair| pair.score).collect();
    let is_empty = |sentence: usize| sentences.get(sentence).is_empty();
    let similarity = |pair: usize| match is_empty(2 * pair) || is_empty(2 * pair + 1) {
        true => 0.0,
        false => cosine(vectors.col_as_slice(2 * pair), vectors.col_as_slice(2 * pair + 1)),
    };
    let cosines: Vec<f64> = (0..scores.len()).map(similarity).collect();
    let undefined = || {
        let problem = format!("all scores or all cosines of the {} pairs are equal", scores.len());
        Error::NotEnoughData(format!("{}.{}: {problem}", set.year, set.name))
    };
    Ok(Sts {
        year: set.year.clone(),
        set: set.name.clone(),
        pairs: scores.len(),
        without_words: (0..scores.len()).filter(|&pair| is_empty(2 * pair) || is_empty(2 * pair + 1)).count(),
        spearman: spearman(&cosines, &scores).ok_or_else(undefined)?,
        pearson: pearson(&cosines, &scores).ok_or_else(undefined)?,
    })
}

/// Averages over the datasets of each release, in order of first occurrence.
pub fn sts_years(results: &[Sts]) -> Vec<StsYear> {
    let mut years: Vec<&str> = Vec::new();
    for result in results {
        if !years.contains(&result.year.as_str()) {
            years.push(&result.year);
        }
    }
    let of_year = |year: &str| {
        let sets: Vec<&Sts> = results.iter().filter(|result| result.year == year).collect();
        let pairs = sets.iter().map(|set| set.pairs).sum();
        let mean = |value: fn(&Sts) -> f64| sets.iter().map(|set| value(set)).sum::<f64>() / sets.len() as f64;
        let weighted =
            |value: fn(&Sts) -> f64| sets.iter().map(|set| value(set) * set.pairs as f64).sum::<f64>() / pairs as f64;
        StsYear {
            year: year.to_owned(),
            sets: sets.len(),
            pairs,
            spearman: mean(|set| set.spearman),
            pearson: mean(|set| set.pearson),
            weighted_spearman: weighted(|set| set.spearman),
            weighted_pearson: weighted(|set| set.pearson),
        }
    };
    years.into_iter().map(of_year).collect()
}
