//! Terms of targets that sum up how near they are to the words of the source.

use rayon::prelude::*;

use super::engine::Search;
use super::rows::{Rows, Vectors};
use crate::error::Result;
use crate::linalg::product_of_rows;
use crate::progress::{Counter, Progress};

/// Words of the source that are summed over at a time, and targets that one thread handles at a time.
const SOURCES: usize = 128;
const TARGETS: usize = 1024;

/// `r`: the mean of the `k` largest cosines of every vector with those of the other side.
pub(super) fn mean_cosines(of: Vectors, among: Vectors, k: usize, progress: &dyn Progress) -> Result<Vec<f64>> {
    let (queries, targets) = (of.of_length(1.0)?, among.of_length(1.0)?);
    let bias = vec![0.0; targets.len()];
    let found = Search { queries: &queries, targets: &targets, bias: &bias, progress }.nearest(k);
    let mean = |found: Vec<super::best::Scored>| {
        found.iter().map(|scored| scored.score).sum::<f64>() / found.len().max(1) as f64
    };
    Ok(found.into_iter().map(mean).collect())
}

/// `log Σ_x exp(beta cos(x, t))` over the words of the source, of every target.
pub(super) fn log_sums(targets: Vectors, sources: Vectors, beta: f64, progress: &dyn Progress) -> Result<Vec<f64>> {
    let (targets, sources) = (targets.of_length(1.0)?, sources.of_length(beta)?);
    let firsts: Vec<usize> = (0..targets.len()).step_by(TARGETS).collect();
    let counter = Counter::new(progress, targets.len());
    let sums = firsts.into_par_iter().flat_map_iter(|first| {
        let last = targets.len().min(first + TARGETS);
        let sums = log_sums_of(&targets, first..last, &sources);
        counter.add(last - first);
        sums
    });
    Ok(sums.collect())
}

fn log_sums_of(targets: &Rows, range: std::ops::Range<usize>, sources: &Rows) -> Vec<f64> {
    let (dim, width) = (targets.dim(), range.len());
    let factors: Vec<f32> = range.clone().map(|target| targets.factor(target) as f32).collect();
    let mut sums = vec![LogSum { largest: f32::NEG_INFINITY, sum: 0.0 }; width];
    let mut scores = vec![0.0_f32; SOURCES * width];
    for first in (0..sources.len()).step_by(SOURCES) {
        let block = first..sources.len().min(first + SOURCES);
        let scaled: Vec<f32> = block
            .clone()
            .flat_map(|source| sources.row(source).iter().map(move |&x| (f64::from(x) * sources.factor(source)) as f32))
            .collect();
        let scores = &mut scores[..block.len() * width];
        product_of_rows(&scaled, targets.rows(range.clone()), dim, scores);
        for scores in scores.chunks_exact(width) {
            for ((sum, &score), &factor) in sums.iter_mut().zip(scores.iter()).zip(&factors) {
                sum.add(score * factor);
            }
        }
    }
    sums.iter().map(LogSum::log).collect()
}

/// `log Σ exp(x)` without ever leaving the range of numbers.
#[derive(Clone, Copy)]
struct LogSum {
    largest: f32,
    /// Of `exp(x - largest)`.
    sum: f64,
}

impl LogSum {
    fn add(&mut self, x: f32) {
        if x <= self.largest {
            self.sum += f64::from(x - self.largest).exp();
        } else {
            self.sum = self.sum * f64::from(self.largest - x).exp() + 1.0;
            self.largest = x;
        }
    }

    fn log(&self) -> f64 {
        f64::from(self.largest) + self.sum.ln()
    }
}
