//! Candidates of one query, before their exact scores are computed.

use std::sync::atomic::{AtomicU64, Ordering};

use super::best::{Best, Scored};
use super::screen::Candidate;

/// Number of candidates that are collected before exact scores are computed.
const CANDIDATES_BEFORE_SCORING: usize = 1024;

/// A score that the `k` best targets of a query reach at least, shared by the searches of several pieces of the targets. It
/// only spares work: what is found does not depend on who raises it when.
pub(super) struct Floor(AtomicU64);

impl Floor {
    pub(super) fn new() -> Self {
        Floor(AtomicU64::new(ordered(f64::NEG_INFINITY)))
    }

    fn get(&self) -> f64 {
        let bits = self.0.load(Ordering::Relaxed);
        f64::from_bits(if bits >> 63 == 1 { bits ^ (1 << 63) } else { !bits })
    }

    pub(super) fn raise(&self, to: f64) {
        self.0.fetch_max(ordered(to), Ordering::Relaxed);
    }
}

/// Bits that are ordered as the numbers are.
fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 0 { bits ^ (1 << 63) } else { !bits }
}

/// The state of the search for the best `k` targets of a query.
///
/// At least `k` targets reach the `k`-th largest lower bound. Candidates whose upper bound is below it are discarded
/// without an exact score.
#[derive(Clone)]
pub(super) struct Shortlist {
    /// The best by lower bound.
    sure: Best,
    /// Upper bounds and indices of the candidates.
    candidates: Vec<(f32, usize)>,
    /// The best by exact score.
    best: Best,
    /// What is known from other pieces of the targets.
    floor: f64,
}

impl Shortlist {
    pub(super) fn new(k: usize) -> Self {
        Shortlist { sure: Best::new(k), candidates: Vec::new(), best: Best::new(k), floor: f64::NEG_INFINITY }
    }

    /// Whether there is a threshold: `k` targets have a lower bound, here or in another piece of the targets.
    pub(super) fn has_threshold(&self) -> bool {
        self.sure.is_full() || self.floor > f64::NEG_INFINITY
    }

    /// Learns from other pieces of the targets, and tells them.
    pub(super) fn exchange(&mut self, floor: &Floor) {
        let (known, own) = (floor.get(), self.threshold());
        if known > own {
            self.floor = known;
        } else if own > known {
            floor.raise(own);
        }
    }

    /// The threshold that an upper bound must reach.
    pub(super) fn threshold(&self) -> f64 {
        self.sure.threshold().max(self.best.threshold()).max(self.floor)
    }

    /// Adds candidates. `score` computes exact scores when the list is full.
    pub(super) fn add(&mut self, candidates: &[Candidate], score: impl Fn(usize) -> Scored) {
        // Lower bounds first: they may raise the threshold and discard most candidates.
        for candidate in candidates {
            if candidate.lower > self.sure.threshold() {
                self.sure.offer(Scored { score: candidate.lower, index: candidate.target });
            }
        }
        let threshold = self.threshold();
        let is_possible = |candidate: &&Candidate| f64::from(candidate.upper) >= threshold;
        self.candidates.extend(candidates.iter().filter(is_possible).map(|found| (found.upper, found.target)));
        if self.candidates.len() >= CANDIDATES_BEFORE_SCORING {
            self.settle(score);
        }
    }

    /// Computes the exact scores of the remaining candidates.
    fn settle(&mut self, score: impl Fn(usize) -> Scored) {
        let threshold = self.threshold();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.retain(|&(upper, _)| f64::from(upper) >= threshold);
        // Descending upper bounds: high scores come early and end the loop sooner.
        candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        for (upper, target) in candidates {
            if f64::from(upper) < self.threshold() {
                break;
            }
            self.best.offer(score(target));
        }
    }

    /// The best by exact score.
    pub(super) fn finish(mut self, score: impl Fn(usize) -> Scored) -> Best {
        self.settle(score);
        self.best
    }
}
