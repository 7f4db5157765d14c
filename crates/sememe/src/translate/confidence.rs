//! Calibrated confidences of translations.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::product_of_rows;
use crate::retrieve::Hit;
use crate::retrieve::kernel::{dot, exp};
use crate::vectors::Matrix;

/// Queries and targets per block of scores. Fixed, so that results do not depend on the number of threads.
const QUERIES: usize = 256;
const TARGETS: usize = 1024;

/// A probability distribution over all words of a view: `p(t|x) = exp(cos(x, t) / T) / Σ_s exp(cos(x, s) / T)`.
///
/// The temperature `T` is calibrated on held-out words when a space is aligned: about 80 % of the translations with a
/// confidence of 80 % are right.
///
/// ```
/// use sememe::{retrieve::{nearest, Criterion}, translate::Confidence, vectors::Matrix};
///
/// let targets = Matrix::new(vec![1.0, 0.0, 0.8, 0.6, 0.0, 1.0], 2);
/// let query = Matrix::new(vec![1.0, 0.1], 2);
/// let hits = nearest(&query, &targets, 2, Criterion::Nn)?;
/// let confidence = Confidence::new(targets, 0.1)?.of_hits(&query, &hits);
/// assert!(confidence[0][0] > 0.7 && confidence[0][0] + confidence[0][1] < 1.0);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Confidence {
    targets: Matrix,
    temperature: f64,
}

impl Confidence {
    /// Confidences over these targets. The temperature must be positive.
    pub fn new(targets: Matrix, temperature: f64) -> Result<Self> {
        match temperature > 0.0 && temperature.is_finite() {
            true => Ok(Confidence { targets, temperature }),
            false => Err(Error::argument("temperature", temperature, "it must be a positive number")),
        }
    }

    /// The temperature.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// The probability of each hit of each query, whatever criterion found it.
    pub fn of_hits(&self, queries: &Matrix, hits: &[Vec<Hit>]) -> Vec<Vec<f64>> {
        let log_sums = self.log_sums(queries);
        let of_query = |(query, hits): (usize, &Vec<Hit>)| {
            let probability = |hit: &Hit| (self.score(queries.row(query), hit.index) - log_sums[query]).exp().min(1.0);
            hits.iter().map(probability).collect()
        };
        hits.par_iter().enumerate().map(of_query).collect()
    }

    /// An upper bound of the probability of the first hit, from the given hits only. It is cheap and avoids most of the
    /// full sums where only high probabilities matter.
    pub fn at_most(&self, query: &[f32], hits: &[Hit]) -> f64 {
        let scores: Vec<f64> = hits.iter().map(|hit| self.score(query, hit.index)).collect();
        let Some(first) = scores.first() else { return 0.0 };
        1.0 / scores.iter().map(|score| (score - first).exp()).sum::<f64>()
    }

    /// `cos(x, t) / T`.
    fn score(&self, query: &[f32], target: usize) -> f64 {
        let target = self.targets.row(target);
        dot(query, target) * to_unit(query) * to_unit(target) / self.temperature
    }

    /// `log Σ_t exp(cos(x, t) / T)` of every query.
    fn log_sums(&self, queries: &Matrix) -> Vec<f64> {
        let dim = self.targets.cols();
        let tiles: Vec<usize> = (0..self.targets.rows()).step_by(TARGETS).collect();
        let of_block = |block: &[f32]| {
            let scaled: Vec<f32> = block
                .chunks_exact(dim)
                .flat_map(|row| {
                    let factor = to_unit(row) / self.temperature;
                    row.iter().map(move |&x| (f64::from(x) * factor) as f32)
                })
                .collect();
            let of_tile = |&first: &usize| self.sums_of_tile(&scaled, first..self.targets.rows().min(first + TARGETS));
            let of_tiles: Vec<Vec<Sum>> = tiles.par_iter().map(of_tile).collect();
            let total = |query: usize| of_tiles.iter().fold(Sum::NOTHING, |total, sums| total.plus(sums[query])).log();
            (0..block.len() / dim).map(total).collect::<Vec<f64>>()
        };
        queries.as_slice().par_chunks(QUERIES * dim).flat_map_iter(of_block).collect()
    }

    fn sums_of_tile(&self, scaled: &[f32], tile: Range<usize>) -> Vec<Sum> {
        let dim = self.targets.cols();
        let targets = &self.targets.as_slice()[tile.start * dim..tile.end * dim];
        let width = tile.len();
        let mut scores = vec![0.0_f32; scaled.len() / dim * width];
        product_of_rows(scaled, targets, dim, &mut scores);
        // Recomputed for every block of queries: cheap beside the product, and it avoids a pass over all targets.
        let factors: Vec<f32> = targets.chunks_exact(dim).map(|row| to_unit(row) as f32).collect();
        let of_query = |scores: &mut [f32]| {
            scores.iter_mut().zip(&factors).for_each(|(score, factor)| *score *= factor);
            Sum::of(scores)
        };
        scores.chunks_exact_mut(width).map(of_query).collect()
    }
}

/// The factor that scales a vector to length 1; 0 for a zero vector.
fn to_unit(row: &[f32]) -> f64 {
    match dot(row, row) {
        square if square > 0.0 => 1.0 / square.sqrt(),
        _ => 0.0,
    }
}

/// Number of sums that run in parallel, so that the loop vectorises.
const LANES: usize = 16;

/// `Σ exp(x)` without overflow (log-sum-exp).
#[derive(Clone, Copy)]
struct Sum {
    largest: f32,
    /// The sum of `exp(x - largest)`.
    rest: f64,
}

impl Sum {
    const NOTHING: Sum = Sum { largest: f32::NEG_INFINITY, rest: 0.0 };

    fn of(scores: &[f32]) -> Self {
        let mut largest = [f32::NEG_INFINITY; LANES];
        for scores in scores.chunks(LANES) {
            largest.iter_mut().zip(scores).for_each(|(largest, &score)| *largest = largest.max(score));
        }
        let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let mut sums = [0.0_f32; LANES];
        let (whole, rest) = scores.as_chunks::<LANES>();
        for scores in whole {
            for lane in 0..LANES {
                sums[lane] += exp(scores[lane] - largest);
            }
        }
        let of_rest: f64 = rest.iter().map(|&score| f64::from(exp(score - largest))).sum();
        Sum { largest, rest: sums.iter().map(|&sum| f64::from(sum)).sum::<f64>() + of_rest }
    }

    fn plus(self, other: Sum) -> Sum {
        let (more, less) = if self.largest >= other.largest { (self, other) } else { (other, self) };
        if less.rest == 0.0 {
            return more;
        }
        let scale = f64::from(less.largest - more.largest).exp();
        Sum { largest: more.largest, rest: more.rest + less.rest * scale }
    }

    fn log(self) -> f64 {
        f64::from(self.largest) + self.rest.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::retrieve::{Criterion, nearest};

    fn rows(count: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::new((0..count * 5).map(|_| random.normal() as f32).collect(), 5)
    }

    #[test]
    fn probabilities_are_those_of_the_definition_and_add_up_to_one() {
        let (queries, targets) = (rows(300, 1), rows(2500, 2));
        for temperature in [0.005, 0.03, 1.0] {
            let confidence = Confidence::new(targets.clone(), temperature).unwrap();
            let hits = nearest(&queries, &targets, 2500, Criterion::Nn).unwrap();
            let found = confidence.of_hits(&queries, &hits);
            for query in [0, 17, 299] {
                let weights: Vec<f64> =
                    hits[query].iter().map(|hit| (f64::from(hit.score) / temperature).exp()).collect();
                let sum: f64 = weights.iter().sum();
                for (weight, p) in weights.iter().zip(&found[query]) {
                    assert!((weight / sum - p).abs() < 2e-4, "{weight} {p}");
                }
                assert!((found[query].iter().sum::<f64>() - 1.0).abs() < 1e-4);
                assert!(found[query].is_sorted_by(|a, b| a >= b), "in the order of the cosines");
                let bound = confidence.at_most(queries.row(query), &hits[query][..10]);
                assert!(bound >= found[query][0] - 1e-4 && bound < 1.0);
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let (queries, targets) = (rows(600, 3), rows(3000, 4));
        let hits = nearest(&queries, &targets, 3, Criterion::Nn).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Confidence::new(targets.clone(), 0.03).unwrap().of_hits(&queries, &hits))
        };
        assert_eq!(on(1), on(3));
        // Results do not depend on the other queries either.
        let alone = Confidence::new(targets.clone(), 0.03).unwrap().of_hits(&queries.select(&[599]), &hits[599..]);
        assert!((alone[0][0] - on(1)[599][0]).abs() < 1e-6);
    }

    #[test]
    fn a_vector_without_direction_knows_nothing() {
        let targets = Matrix::new(vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0], 2);
        let query = Matrix::new(vec![0.0, 0.0], 2);
        let hits = nearest(&query, &targets, 4, Criterion::Dot).unwrap();
        assert_eq!(Confidence::new(targets, 0.01).unwrap().of_hits(&query, &hits)[0], [0.25; 4]);
    }
}
