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
    candidates: Vec<Candidate>,
    /// By scores.
    best: Best,
}

impl Shortlist {
    pub(super) fn new(k: usize) -> Self {
        Shortlist { sure: Best::new(k), candidates: Vec::new(), best: Best::new(k) }
    }

    /// What an upper bound must reach to matter.
    pub(super) fn threshold(&self) -> f64 {
        self.sure.threshold().max(self.best.threshold())
    }

    /// Adds a candidate; `score` computes scores where there is no room for more candidates.
    pub(super) fn add(&mut self, candidate: Candidate, score: impl Fn(usize) -> Scored) {
        self.sure.offer(Scored { score: candidate.lower, index: candidate.target });
        self.candidates.push(candidate);
        if self.candidates.len() == ROOM {
            self.settle(score);
        }
    }

    /// Computes the scores that decide.
    fn settle(&mut self, score: impl Fn(usize) -> Scored) {
        // The most promising first: they dismiss the others.
        self.candidates.sort_unstable_by(|a, b| b.upper.total_cmp(&a.upper));
        for candidate in std::mem::take(&mut self.candidates) {
            if f64::from(candidate.upper) < self.threshold() {
                break;
            }
            self.best.offer(score(candidate.target));
        }
    }

    /// The best by their scores.
    pub(super) fn finish(mut self, score: impl Fn(usize) -> Scored) -> Best {
        self.settle(score);
        self.best
    }
}
