//! Terms of targets that depend on all words of the source: `r(t)` of CSLS and the denominator of inverted softmax.

use std::ops::Range;

use rayon::prelude::*;

use super::csls;
use super::engine::{Ranking, Search};
use super::kernel::{add_exponentials, exp, raise_to};
use super::rows::{Rows, Scaled};
use super::side::Indexed;
use crate::error::Result;
use crate::linalg::product_of_rows;
use crate::observe::{Meter, Observer, Stage};

/// Source words that are summed at a time, and targets that one thread processes at a time.
pub(super) const SOURCES: usize = 128;
pub(super) const TARGETS: usize = 1024;

/// `r`: the mean of the `k` largest cosines of every vector with the first `words` vectors of the other side.
pub(super) fn mean_cosines(
    of: &Scaled,
    (among, words): (&Indexed, Option<usize>),
    k: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let ranking = Ranking { scale: 1.0, bias: among.unbiased(), k, among: words.unwrap_or(usize::MAX) };
    let search = Search {
        queries: of.rows(),
        targets: among,
        rankings: &[ranking],
        known: &[],
        observer,
        stage: Stage::Preparing,
    };
    #[cfg(feature = "cuda")]
    if let Some(means) = search.means_on_gpu()? {
        return Ok(means);
    }
    let found = search.run()?.into_iter().flatten();
    Ok(found.map(|found| csls::mean(found.iter().map(|scored| scored.score))).collect())
}

/// `log Σ_x exp(beta cos(x, t))` of every target, over all source words that are not zero.
pub(super) fn log_sums(targets: Rows, sources: &Scaled, observer: &dyn Observer) -> Result<Vec<f64>> {
    let words: Vec<usize> = (0..sources.rows().len()).filter(|&word| !sources.is_zero(word)).collect();
    #[cfg(feature = "cuda")]
    if let Some(sums) = super::gpu::log_sums(targets, (sources.rows(), &words), observer)? {
        return Ok(sums);
    }
    log_sums_on_cpu(targets, (sources.rows(), &words), observer)
}

pub(super) fn log_sums_on_cpu(
    targets: Rows,
    (sources, words): (Rows, &[usize]),
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let firsts: Vec<usize> = (0..targets.len()).step_by(TARGETS).collect();
    let meter = Meter::new(observer, Stage::Preparing, targets.len());
    let sums = firsts.into_par_iter().map(|first| {
        meter.check()?;
        let last = targets.len().min(first + TARGETS);
        let sums = log_sums_of(targets, first..last, sources, words);
        meter.advance(last - first)?;
        Ok(sums)
    });
    Ok(sums.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn log_sums_of(targets: Rows, range: Range<usize>, sources: Rows, words: &[usize]) -> Vec<f64> {
    let (dim, width) = (targets.dim(), range.len());
    // `Σ exp(x)` is stored as `exp(largest) sum`, so that it cannot overflow (log-sum-exp).
    let mut largest = vec![f32::MIN; width];
    let mut sums = vec![0.0_f64; width];
    let mut scores = vec![0.0_f32; SOURCES * width];
    for block in words.chunks(SOURCES) {
        let scores = &mut scores[..block.len() * width];
        let scaled: Vec<f32> = block.iter().flat_map(|&word| sources.scaled(word)).collect();
        product_of_rows(&scaled, targets.rows(range.clone()), dim, scores);
        let before = largest.clone();
        for scores in scores.chunks_exact_mut(width) {
            scores.iter_mut().zip(range.clone()).for_each(|(score, target)| *score *= targets.factor(target) as f32);
            raise_to(&mut largest, scores);
        }
        let mut of_block = vec![0.0; width];
        scores.chunks_exact(width).for_each(|scores| add_exponentials(&mut of_block, scores, &largest));
        for (target, sum) in sums.iter_mut().enumerate() {
            *sum = *sum * f64::from(exp(before[target] - largest[target])) + f64::from(of_block[target]);
        }
    }
    largest.iter().zip(&sums).map(|(&largest, sum)| f64::from(largest) + sum.ln()).collect()
}
