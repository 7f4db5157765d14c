//! Precision and mean reciprocal rank (MRR), from the rank of the first correct answer of each query.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Bootstrap;

/// The ranks `k` of precision at `k`.
pub const RANKS: [usize; 3] = [1, 5, 10];
/// Number of candidates for the mean reciprocal rank; answers below it count as not found.
pub const DEPTH: usize = 100;

/// 95 % confidence intervals, in per cent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Intervals {
    /// Lower and upper end for the precision at each rank.
    pub precision: BTreeMap<usize, [f64; 2]>,
    /// Lower and upper end for the mean reciprocal rank.
    pub mrr: [f64; 2],
}

/// Rank of the first correct answer of each query, counted from 1; `None` if it is not among the candidates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranks(pub(super) Vec<Option<usize>>);

impl Ranks {
    /// Precision at 1, 5 and 10: per cent of queries with a correct answer at this rank or above.
    pub(super) fn precision(&self) -> BTreeMap<usize, f64> {
        RANKS.into_iter().map(|rank| (rank, mean(&self.hits(rank)))).collect()
    }

    /// `100 / n Σ 1 / rank`.
    pub(super) fn mrr(&self) -> f64 {
        mean(&self.reciprocal())
    }

    pub(super) fn intervals(&self, bootstrap: &Bootstrap) -> Intervals {
        Intervals {
            precision: RANKS.into_iter().map(|rank| (rank, bootstrap.interval(&self.hits(rank)))).collect(),
            mrr: bootstrap.interval(&self.reciprocal()),
        }
    }

    /// 100 for every query with a correct answer at this rank or above, else 0.
    pub(super) fn hits(&self, rank: usize) -> Vec<f64> {
        let is_hit = |found: &Option<usize>| found.is_some_and(|found| found <= rank);
        self.0.iter().map(|found| if is_hit(found) { 100.0 } else { 0.0 }).collect()
    }

    fn reciprocal(&self) -> Vec<f64> {
        self.0.iter().map(|found| found.map_or(0.0, |rank| 100.0 / rank as f64)).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
