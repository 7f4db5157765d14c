//! Terms of targets that sum up how near they are to the words of the source.

use std::ops::Range;

use rayon::prelude::*;

use super::engine::Search;
use super::kernel::{add_exponentials, raise_to};
use super::rows::{Rows, Vectors};
use crate::error::Result;
use crate::linalg::product_of_rows;
use crate::observe::{Meter, Observer, Stage};

/// Words of the source that are summed over at a time, and targets that one thread handles at a time.
const SOURCES: usize = 128;
const TARGETS: usize = 1024;

/// `r`: the mean of the `k` largest cosines of every vector with those of the other side.
pub(super) fn mean_cosines(of: Vectors, among: Vectors, k: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
    let (queries, targets) = (of.of_length(1.0)?, among.of_length(1.0)?);
    let bias = vec![0.0; targets.len()];
    let found = Search { queries: &queries, targets: &targets, bias: &bias, observer }.nearest(k)?;
    let mean = |found: Vec<super::best::Scored>| {
        found.iter().map(|scored| scored.score).sum::<f64>() / found.len().max(1) as f64
    };
    Ok(found.into_iter().map(mean).collect())
}

/// `log Σ_x exp(beta cos(x, t))` over the words of the source, of every target.
pub(super) fn log_sums(targets: Vectors, sources: Vectors, beta: f64, observer: &dyn Observer) -> Result<Vec<f64>> {
    let (targets, sources) = (targets.of_length(1.0)?, sources.of_length(beta)?);
    let firsts: Vec<usize> = (0..targets.len()).step_by(TARGETS).collect();
    let meter = Meter::new(observer, Stage::Preparing, targets.len());
    let sums = firsts.into_par_iter().map(|first| {
        meter.check()?;
        let last = targets.len().min(first + TARGETS);
        let sums = log_sums_of(&targets, first..last, &sources);
        meter.advance(last - first)?;
        Ok(sums)
    });
    Ok(sums.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn log_sums_of(targets: &Rows, range: Range<usize>, sources: &Rows) -> Vec<f64> {
    let (dim, width) = (targets.dim(), range.len());
    // `Σ exp(x)` is kept as `exp(largest) sum`, so that it never leaves the range of numbers.
    let mut largest = vec![f32::MIN; width];
    let mut sums = vec![0.0_f64; width];
    let mut scores = vec![0.0_f32; SOURCES * width];
    for first in (0..sources.len()).step_by(SOURCES) {
        let block = first..sources.len().min(first + SOURCES);
        let scores = &mut scores[..block.len() * width];
        let scaled: Vec<f32> = block.flat_map(|source| sources.scaled(source)).collect();
        product_of_rows(&scaled, targets.rows(range.clone()), dim, scores);
        let before = largest.clone();
        for scores in scores.chunks_exact_mut(width) {
            scores.iter_mut().zip(range.clone()).for_each(|(score, target)| *score *= targets.factor(target) as f32);
            raise_to(&mut largest, scores);
        }
        let mut of_block = vec![0.0; width];
        scores.chunks_exact(width).for_each(|scores| add_exponentials(&mut of_block, scores, &largest));
        for (target, sum) in sums.iter_mut().enumerate() {
            *sum = *sum * f64::from(before[target] - largest[target]).exp() + f64::from(of_block[target]);
        }
    }
    largest.iter().zip(&sums).map(|(&largest, sum)| f64::from(largest) + sum.ln()).collect()
}
