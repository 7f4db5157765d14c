//! Targets of one query that may be among the best `k`, before their scores are computed.

use super::best::{Best, Scored};
use super::screen::Candidate;

/// Candidates that are kept before scores are computed.
const ROOM: usize = 1024;

/// What is known so far of the best `k` targets of a query.
///
/// The `k`-th largest lower bound is a score that `k` targets are sure to reach, so that almost all candidates can be
/// dismissed without ever having been looked at.
#[derive(Clone)]
pub(super) struct Shortlist {
    /// By lower bounds.
    sure: Best,
    /// Upper bounds of targets.
    candidates: Vec<(f32, usize)>,
    /// By scores.
    best: Best,
}

impl Shortlist {
    pub(super) fn new(k: usize) -> Self {
        Shortlist { sure: Best::new(k), candidates: Vec::new(), best: Best::new(k) }
    }

    /// Whether as many targets are known as are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.sure.is_full()
    }

    /// What an upper bound must reach to matter.
    pub(super) fn threshold(&self) -> f64 {
        self.sure.threshold().max(self.best.threshold())
    }

    /// Adds candidates; `score` computes scores where there is no room for more.
    pub(super) fn add(&mut self, candidates: &[Candidate], score: impl Fn(usize) -> Scored) {
        // Lower bounds first: where there was no threshold yet, they dismiss most.
        for candidate in candidates {
            if candidate.lower > self.sure.threshold() {
                self.sure.offer(Scored { score: candidate.lower, index: candidate.target });
            }
        }
        let threshold = self.threshold();
        let is_possible = |candidate: &&Candidate| f64::from(candidate.upper) >= threshold;
        self.candidates.extend(candidates.iter().filter(is_possible).map(|found| (found.upper, found.target)));
        if self.candidates.len() >= ROOM {
            self.settle(score);
        }
    }

    /// Computes the scores that decide.
    fn settle(&mut self, score: impl Fn(usize) -> Scored) {
        let threshold = self.threshold();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.retain(|&(upper, _)| f64::from(upper) >= threshold);
        // The most promising first: they dismiss the others.
        candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        for (upper, target) in candidates {
            if f64::from(upper) < self.threshold() {
                break;
            }
            self.best.offer(score(target));
        }
    }

    /// The best by their scores.
    pub(super) fn finish(mut self, score: impl Fn(usize) -> Scored) -> Best {
        self.settle(score);
        self.best
    }
}
