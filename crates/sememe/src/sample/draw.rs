//! Sampling from a model: vectors, and the words nearest to them.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::{Mat, times, times_transpose};
use crate::model::Model;
use crate::retrieve::{Criterion, nearest};
use crate::vectors::Matrix;

/// The words that sampled vectors are matched with, for each view of the model.
pub enum Vocabularies<'a> {
    /// Vectors [preprocessed for the model](crate::align::Alignment::prepare).
    Vectors(Vec<&'a Matrix>),
    /// Latent vectors `E[z|x]` and `log p(x)`, as a space stores them. Sampled vectors are projected before matching.
    Latent(Vec<(&'a Matrix, &'a [f64])>),
}

/// A sampled tuple: one word per view.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Drawn {
    /// The row of the word in each view.
    pub words: Vec<usize>,
    /// `log p(x_1, …, x_v)` of the vectors of these words, in nats.
    pub log_density: f64,
}

/// Samples `n` tuples of vectors from the model and replaces each vector by the word with the largest cosine. Returns
/// the distinct tuples of words by joint density under the model, largest first.
///
/// With latent vectors `z_i`, `A_i = I + W_iᵀ Psi_i⁻¹ W_i`, `A = I + Σ (A_i - I)` and `h = Σ A_i z_i`,
///
/// `log p(x_1, …, x_v) = Σ (log p(x_i) + ½ log |A_i| - ½ z_iᵀ A_i z_i) - ½ log |A| + ½ hᵀ A⁻¹ h`.
pub fn draw(model: &Model, vocabularies: &Vocabularies, n: usize, seed: u64) -> Result<Vec<Drawn>> {
    if n == 0 {
        return Err(Error::argument("number of samples", n, "at least one must be drawn"));
    }
    let vectors = model.sample(n, seed)?;
    let mut rows = Vec::new();
    for (view, vectors) in vectors.iter().enumerate() {
        let found = match vocabularies {
            Vocabularies::Vectors(words) => nearest(vectors, words[view], 1, Criterion::Nn)?,
            Vocabularies::Latent(words) => {
                nearest(&model.views[view].project(vectors)?, words[view].0, 1, Criterion::Nn)?
            }
        };
        let first = found.iter().map(|hits| Some(hits.first()?.index)).collect::<Option<Vec<usize>>>();
        rows.push(first.ok_or_else(|| {
            let name = &model.views[view].name;
            Error::NotEnoughData(format!("all vectors of view {name:?} are zero: no word can stand for what is drawn"))
        })?);
    }
    let mut seen = HashSet::new();
    let tuples = (0..n).map(|at| rows.iter().map(|rows| rows[at]).collect::<Vec<usize>>());
    let tuples: Vec<Vec<usize>> = tuples.filter(|words| seen.insert(words.clone())).collect();
    let densities = match vocabularies {
        Vocabularies::Vectors(words) => of_vectors(model, words, &tuples)?,
        Vocabularies::Latent(words) => of_latent(model, words, &tuples)?,
    };
    let drawn = tuples.into_iter().zip(densities).map(|(words, log_density)| Drawn { words, log_density });
    let mut drawn: Vec<Drawn> = drawn.collect();
    // The sort is stable: ties keep the order of sampling.
    drawn.sort_by(|a, b| b.log_density.total_cmp(&a.log_density));
    Ok(drawn)
}

fn of_vectors(model: &Model, words: &[&Matrix], tuples: &[Vec<usize>]) -> Result<Vec<f64>> {
    let density = model.density(&(0..words.len()).collect::<Vec<_>>())?;
    let log = |tuple: &Vec<usize>| {
        density.log(&tuple.iter().zip(words).map(|(&row, words)| words.row(row)).collect::<Vec<_>>())
    };
    tuples.par_iter().map(log).collect()
}

fn of_latent(model: &Model, words: &[(&Matrix, &[f64])], tuples: &[Vec<usize>]) -> Result<Vec<f64>> {
    let joint = model.density(&(0..words.len()).collect::<Vec<_>>())?;
    let mut logs = vec![-0.5 * joint.precision.log_det(); tuples.len()];
    let mut evidence = Mat::zeros(model.latent(), tuples.len());
    for (view, (latent, log_density)) in words.iter().enumerate() {
        if !model.projects_posterior_means(view)? {
            let expected = "densities follow from posterior means, but this space was made with another exponent or \
                            de-whitened; give the vectors themselves";
            return Err(Error::argument("latent vectors", "weighted", expected));
        }
        let own = model.density(&[view])?.precision;
        let row = |tuple: usize| latent.row(tuples[tuple][view]);
        let z = Mat::from_fn(model.latent(), tuples.len(), |i, tuple| f64::from(row(tuple)[i]));
        let h = times(&times_transpose(own.l(), own.l()), &z);
        for (tuple, log) in logs.iter_mut().enumerate() {
            let square: f64 = z.col_as_slice(tuple).iter().zip(h.col_as_slice(tuple).iter()).map(|(z, h)| z * h).sum();
            *log += log_density[tuples[tuple][view]] + 0.5 * (own.log_det() - square);
        }
        evidence += h;
    }
    let whitened = joint.precision.solve_lower(&evidence);
    let square = |tuple: usize| whitened.col_as_slice(tuple).iter().map(|x| x * x).sum::<f64>();
    logs.iter_mut().enumerate().for_each(|(tuple, log)| *log += 0.5 * square(tuple));
    Ok(logs)
}
