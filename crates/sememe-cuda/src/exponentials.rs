//! Sums of exponentials, for the terms of inverted softmax. Products, exponentials and sums have the bits of the CPU.

use crate::card::{Card, Fault, HostRows};
use crate::tiles::with_memory;

/// Sources that are summed in single precision, in their order; also in `kernels/` and in the library.
pub const SOURCES_OF_BLOCK: usize = 128;
/// Most sources and targets that are multiplied at a time.
const MOST_SOURCES: usize = 8192;
const MOST_TARGETS: usize = 1 << 18;
/// The smallest number, with which the largest score of a target starts.
pub(crate) const LEAST: f32 = f32::MIN;

/// What sums of exponentials need of a card.
pub trait Exponentials: Card {
    /// For each target the largest score so far, and the sum of the exponentials of scores less the largest.
    type Sums;

    /// Sums of nothing, for so many targets.
    fn sums(&self, count: usize) -> Result<Self::Sums, Fault>;

    /// Adds `exp(factor <s, t>)` of some sources to the sum of every target, whose vectors have `dim` numbers.
    fn add_exponentials(
        &self,
        sources: &Self::Numbers,
        targets: &Self::Numbers,
        factors: &Self::Numbers,
        dim: usize,
        sums: &mut Self::Sums,
    ) -> Result<(), Fault>;

    /// The largest scores and the sums.
    fn fetch_sums(&self, sums: Self::Sums) -> Result<(Vec<f32>, Vec<f64>), Fault>;
}

/// `log Σ exp(<s, t>)` over all sources, for every target times its factor. `proceed` is told how many targets are done and
/// says whether to go on.
pub fn log_sums<C: Exponentials>(
    card: &C,
    targets: HostRows,
    sources: &[f32],
    proceed: &dyn Fn(usize) -> bool,
) -> Result<Vec<f64>, Fault> {
    let (count, dim) = (targets.factors.len(), targets.dim);
    let factors: Vec<f32> = targets.factors.iter().map(|&factor| factor as f32).collect();
    with_memory(card, |bytes| {
        // A target has its numbers, its sums, and its products with a block of sources.
        let most = bytes / 2 / (4 * (dim + SOURCES_OF_BLOCK) + 16);
        let at_a_time = most.clamp(SOURCES_OF_BLOCK, MOST_TARGETS).min(count.max(1));
        let of_sources = (bytes / 2 / (4 * at_a_time)).clamp(SOURCES_OF_BLOCK, MOST_SOURCES);
        let of_sources = of_sources / SOURCES_OF_BLOCK * SOURCES_OF_BLOCK;
        let mut logs = Vec::with_capacity(count);
        for first in (0..count).step_by(at_a_time) {
            let range = first..count.min(first + at_a_time);
            let values = card.numbers(targets.slice(range.clone()).values)?;
            let factors = card.numbers(&factors[range.clone()])?;
            let mut sums = card.sums(range.len())?;
            let mut done = 0;
            for some in sources.chunks(of_sources * dim) {
                card.add_exponentials(&card.numbers(some)?, &values, &factors, dim, &mut sums)?;
                done += some.len();
                if !proceed(first + (range.len() as f64 * done as f64 / sources.len() as f64) as usize) {
                    return Err(Fault::Stopped);
                }
            }
            let (largest, sums) = card.fetch_sums(sums)?;
            logs.extend(largest.iter().zip(&sums).map(|(&largest, sum)| f64::from(largest) + sum.ln()));
        }
        Ok(logs)
    })
}
