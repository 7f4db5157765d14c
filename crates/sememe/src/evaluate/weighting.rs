//! Sentence vectors: weighted means of word vectors.

use std::path::Path;

use super::Words;
use super::bags::Bags;
use super::scored_pairs::{fields_of_lines, number_in};
use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::linalg::{Eigen, Mat, dot, outer_gram};
use crate::vectors::Embeddings;

/// The default parameter `a` of smooth inverse frequency (SIF), as in Arora et al.
pub const SIF_A: f64 = 1e-3;

/// How the words of a sentence are weighted.
#[derive(Debug, Clone, PartialEq)]
pub enum Weighting {
    /// TF-IDF: `ln(n / df(w))` for each occurrence of a word that is in `df` of the `n` sentences of a dataset.
    TfIdf,
    /// Smooth inverse frequency (SIF, Arora et al. 2017): `a / (a + p(w))` for each occurrence. The first principal
    /// component of all sentences of the dataset, without centring, is then removed.
    Sif {
        /// The smoothing parameter. With a larger value, word frequency matters less.
        a: f64,
        /// The unigram probabilities `p(w)`.
        probabilities: Probabilities,
    },
}

/// The unigram probability of every word of a vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct Probabilities(Vec<f64>);

impl Probabilities {
    /// Estimated by Zipf's law, for words sorted by descending frequency: `p(w) = 1 / (r H)` for the `r`-th of `n`
    /// words, with `H = Σ 1/r`.
    pub fn of_ranks(words: Words) -> Self {
        let inverse_ranks = (1..=words.embeddings.len()).map(|rank| 1.0 / rank as f64);
        let sum: f64 = inverse_ranks.clone().sum();
        Probabilities(inverse_ranks.map(|inverse| inverse / sum).collect())
    }

    /// Reads a file of `word count` lines. Counts of words that the casing of the view makes equal are added. A word
    /// that is not in the file has probability 0.
    pub fn read(path: &Path, words: Words) -> Result<Self> {
        Self::read_input(&Input::open(path)?, words)
    }

    /// [`Probabilities::read`] on data in memory.
    pub fn read_input(input: &Input, words: Words) -> Result<Self> {
        let mut counts = vec![0.0; words.embeddings.len()];
        let mut sum = 0.0;
        for (line, fields) in fields_of_lines(input, 2, "WORD COUNT")? {
            let count = number_in(&fields[1]).filter(|&count| count >= 0.0).ok_or_else(|| {
                let problem = format!("{:?} is no count; lines must be WORD COUNT", fields[1]);
                Error::malformed(input.path(), Place::Line(line), problem)
            })?;
            sum += count;
            if let Some(index) = words.find(&fields[0]) {
                counts[index] += count;
            }
        }
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(Error::malformed(input.path(), Place::Whole, "has no counts above 0"));
        }
        Ok(Probabilities(counts.into_iter().map(|count| count / sum).collect()))
    }
}

impl Weighting {
    /// Smooth inverse frequency (SIF), with probabilities from a file of `word count` lines or, without one, by Zipf's
    /// law.
    pub fn sif(words: Words, a: f64, frequencies: Option<&Path>) -> Result<Self> {
        if !(a > 0.0 && a.is_finite()) {
            return Err(Error::argument("a", a, "it must be a positive number"));
        }
        let probabilities = match frequencies {
            Some(file) => Probabilities::read(file, words)?,
            None => Probabilities::of_ranks(words),
        };
        Ok(Weighting::Sif { a, probabilities })
    }

    /// Its name: `sif` or `tfidf`.
    pub fn name(&self) -> &'static str {
        match self {
            Weighting::Sif { .. } => "sif",
            Weighting::TfIdf => "tfidf",
        }
    }

    /// The weight of each word of the vocabulary in these sentences.
    pub(super) fn weights(&self, sentences: &Bags, vocabulary: usize) -> Vec<f64> {
        match self {
            Weighting::TfIdf => inverse_document_frequencies(&[sentences], vocabulary),
            Weighting::Sif { a, probabilities } => probabilities.0.iter().map(|p| a / (a + p)).collect(),
        }
    }
}

/// Inverse document frequency `ln(n / df(w))` of every word; 0 for words that are in no sentence.
pub(super) fn inverse_document_frequencies(corpora: &[&Bags], vocabulary: usize) -> Vec<f64> {
    let mut frequencies = vec![0_u32; vocabulary];
    let mut seen_in = vec![usize::MAX; vocabulary];
    for (number, sentence) in corpora.iter().flat_map(|corpus| corpus.iter()).enumerate() {
        for &word in sentence {
            let word = word as usize;
            if std::mem::replace(&mut seen_in[word], number) != number {
                frequencies[word] += 1;
            }
        }
    }
    let sentences = corpora.iter().map(|corpus| corpus.len()).sum::<usize>() as f64;
    frequencies.into_iter().map(|df| if df > 0 { (sentences / f64::from(df)).ln() } else { 0.0 }).collect()
}

/// `1/|s| Σ weight(w) x_w` over the words of a sentence; zero for an empty sentence.
pub(super) fn mean_vector(embeddings: &Embeddings, weights: &[f64], sentence: &[u32]) -> Vec<f64> {
    let mut mean = vec![0.0; embeddings.dim()];
    for &word in sentence {
        let weight = weights[word as usize] / sentence.len() as f64;
        let vector = embeddings.vector(word as usize);
        mean.iter_mut().zip(vector).for_each(|(mean, &x)| *mean += weight * f64::from(x));
    }
    mean
}

/// Subtracts `u uᵀ x` from every column `x`, where `u` is the first left singular vector of all columns.
pub(super) fn remove_first_component(columns: &mut Mat) -> Result<()> {
    let eigen = Eigen::new(&outer_gram(columns), "the second moments of sentence vectors")?;
    let first = eigen.vectors.col_as_slice(eigen.vectors.ncols() - 1);
    for column in 0..columns.ncols() {
        let column = columns.col_as_slice_mut(column);
        let along = dot(first, column);
        column.iter_mut().zip(first).for_each(|(x, u)| *x -= along * u);
    }
    Ok(())
}
