//! Precision and mean reciprocal rank of queries whose right answers were found at some rank, or not at all.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Bootstrap;

/// How many candidates precision looks at.
pub const RANKS: [usize; 3] = [1, 5, 10];
/// How many candidates the mean reciprocal rank looks at; what comes later counts as not found.
pub const DEPTH: usize = 100;

/// 95 % intervals of what was measured, in per cent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Intervals {
    /// Of the precision at each rank, from and to.
    pub precision: BTreeMap<usize, [f64; 2]>,
    /// Of the mean reciprocal rank.
    pub mrr: [f64; 2],
}

/// Ranks of the first right answers, from 1 on; none where it is not among the first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranks(pub(super) Vec<Option<usize>>);

impl Ranks {
    /// Per cent of queries with a right answer among the first 1, 5 and 10.
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

    /// 100 for every query with a right answer at this rank or before, else 0.
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
