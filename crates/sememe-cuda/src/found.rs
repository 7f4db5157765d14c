//! What a search found.

use std::ops::Range;

use crate::card::{Selection, Settled, State};

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    k: usize,
    counts: Vec<u32>,
    scores: Vec<f64>,
    targets: Vec<u32>,
    /// Queries that have no result, in ascending order. The caller must search them in another way.
    pub unresolved: Vec<u32>,
}

impl Found {
    pub(crate) fn new(queries: usize, k: usize) -> Self {
        let all = queries * k;
        Found { k, counts: vec![0; queries], scores: vec![0.0; all], targets: vec![0; all], unresolved: Vec::new() }
    }

    pub(crate) fn of_means(queries: usize) -> Self {
        Found { targets: Vec::new(), ..Found::new(queries, 1) }
    }

    /// The mean score of every query, where means were asked for. Those of unresolved queries mean nothing.
    pub fn means(&self) -> &[f64] {
        assert!(self.targets.is_empty(), "means were not asked for");
        &self.scores
    }

    /// The targets of a query and their scores, best first, ties by the lower index.
    pub fn of(&self, query: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        let range = query * self.k..query * self.k + self.counts[query] as usize;
        self.targets[range.clone()].iter().map(|&target| target as usize).zip(self.scores[range].iter().copied())
    }

    /// Leaves queries without a result, whatever was found for them.
    pub(crate) fn leave_out(&mut self, queries: impl IntoIterator<Item = u32>) {
        self.unresolved.extend(queries);
        self.unresolved.sort_unstable();
        self.unresolved.dedup();
        self.unresolved.iter().for_each(|&query| self.counts[query as usize] = 0);
    }

    /// Takes results over. Returns the positions of queries whose candidates were lost.
    pub(crate) fn take(&mut self, selection: &Selection, settled: &mut Settled) -> Vec<usize> {
        if matches!(selection, Selection::Range(range) if range.len() == self.counts.len()) {
            return self.take_all(settled);
        }
        let mut lost = Vec::new();
        let k = self.k;
        for (query, state) in settled.states.iter().enumerate() {
            let row = selection.row(query) as usize;
            match *state {
                State::Found(_) if self.targets.is_empty() => self.scores[row] = settled.scores[query],
                State::Found(count) => {
                    let (from, to, len) = (query * k, row * k, count as usize);
                    self.counts[row] = count;
                    self.scores[to..to + len].copy_from_slice(&settled.scores[from..from + len]);
                    self.targets[to..to + len].copy_from_slice(&settled.targets[from..from + len]);
                }
                State::Lost => lost.push(query),
                State::Crowded => self.unresolved.push(row as u32),
            }
        }
        lost
    }

    /// Takes the results of all queries over, without copying them.
    fn take_all(&mut self, settled: &mut Settled) -> Vec<usize> {
        self.scores = std::mem::take(&mut settled.scores);
        self.targets = std::mem::take(&mut settled.targets);
        let mut lost = Vec::new();
        for ((query, state), own) in settled.states.iter().enumerate().zip(&mut self.counts) {
            match *state {
                State::Found(count) => *own = count,
                State::Lost => lost.push(query),
                State::Crowded => self.unresolved.push(query as u32),
            }
        }
        lost
    }

    /// Merges the result of another part of the targets, which begin at `first`, for a range of the queries.
    pub(crate) fn merge(&mut self, queries: Range<usize>, first: usize, part: &Found) {
        for (query, row) in queries.enumerate() {
            let mut all: Vec<(usize, f64)> = self.of(row).collect();
            all.extend(part.of(query).map(|(target, score)| (first + target, score)));
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.truncate(self.k);
            self.counts[row] = all.len() as u32;
            for (at, (target, score)) in (row * self.k..).zip(all) {
                self.targets[at] = target as u32;
                self.scores[at] = score;
            }
        }
    }
}
