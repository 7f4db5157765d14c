//! The one engine: for every query the `k` targets with the largest `<q, t> + b(t)`, exactly.
//!
//! Scores that decide are sums in f64 in a fixed order ([`kernel::dot`](super::kernel::dot)). Most are never computed:
//! a [screen](super::screen) gives an upper bound of every score, in tiles, by cheaper arithmetic, and only targets
//! whose bound reaches the `k`-th best score so far are looked at. What comes out is what looking at all would give,
//! however the work is divided.

use rayon::prelude::*;

use super::best::{Best, Scored};
use super::kernel::dot;
use super::rows::Rows;
use super::screen::{QUERIES, Screen, TARGETS};

/// For so few queries it costs less to look at all targets than to prepare a screen.
const FEW: usize = 16;
/// Targets that one thread looks at, at a time, when there are few queries.
const SEGMENT: usize = 4096;

/// Queries, targets, and `b(t)`.
pub(super) struct Search<'a> {
    pub(super) queries: &'a Rows<'a>,
    pub(super) targets: &'a Rows<'a>,
    pub(super) bias: &'a [f64],
}

impl Search<'_> {
    /// For every query the best `k`, best first, equal scores by the lower index.
    pub(super) fn nearest(&self, k: usize) -> Vec<Vec<Scored>> {
        if self.queries.len() <= FEW { self.scan(k) } else { self.screened(k) }
    }

    /// The score that decides.
    fn score(&self, query: usize, target: usize) -> Scored {
        let product = dot(self.queries.row(query), self.targets.row(target));
        let factor = self.queries.factor(query) * self.targets.factor(target);
        Scored { score: factor * product + self.bias[target], index: target }
    }

    /// Looks at every target.
    fn scan(&self, k: usize) -> Vec<Vec<Scored>> {
        let segments: Vec<usize> = (0..self.targets.len()).step_by(SEGMENT).collect();
        let found: Vec<Vec<Best>> = segments
            .into_par_iter()
            .map(|first| {
                let mut best = vec![Best::new(k); self.queries.len()];
                for target in first..self.targets.len().min(first + SEGMENT) {
                    best.iter_mut().enumerate().for_each(|(query, best)| best.offer(self.score(query, target)));
                }
                best
            })
            .collect();
        merge(found, self.queries.len(), k)
    }

    /// Looks at those that may be among the best.
    fn screened(&self, k: usize) -> Vec<Vec<Scored>> {
        let screen = Screen::of(self.targets, self.bias);
        let tiles = self.targets.len().div_ceil(TARGETS);
        let blocks: Vec<usize> = (0..self.queries.len()).step_by(QUERIES).collect();
        // Enough pieces for all threads to be busy until the end; the targets are divided only where queries are few.
        let pieces = (8 * rayon::current_num_threads()).div_ceil(blocks.len()).clamp(1, tiles.max(1));
        let found: Vec<Vec<Scored>> = blocks
            .into_par_iter()
            .flat_map_iter(|first| {
                let block = first..self.queries.len().min(first + QUERIES);
                let count = block.len();
                let piece = |piece: usize| {
                    let tiles = piece * tiles / pieces..(piece + 1) * tiles / pieces;
                    self.best_of_tiles(&screen, block.clone(), tiles, k)
                };
                let found: Vec<Vec<Best>> = match pieces {
                    1 => vec![piece(0)],
                    _ => (0..pieces).into_par_iter().map(piece).collect(),
                };
                merge(found, count, k)
            })
            .collect();
        found
    }

    fn best_of_tiles(
        &self,
        screen: &Screen,
        block: std::ops::Range<usize>,
        tiles: std::ops::Range<usize>,
        k: usize,
    ) -> Vec<Best> {
        let mut best = vec![Best::new(k); block.len()];
        let mut screening = screen.block(self.queries, block.clone());
        for tile in tiles {
            let tile = screening.tile(tile);
            for (offset, best) in best.iter_mut().enumerate() {
                let query = block.start + offset;
                if best.threshold() == f64::NEG_INFINITY && k < tile.targets().len() {
                    best.expect(self.worst_of(query, &tile.most_promising(offset, k)));
                }
                let mut from = tile.targets().start;
                while let Some(target) = tile.next_candidate(offset, best.threshold(), from) {
                    best.offer(self.score(query, target));
                    from = target + 1;
                }
            }
        }
        best
    }

    fn worst_of(&self, query: usize, targets: &[usize]) -> f64 {
        targets.iter().map(|&target| self.score(query, target).score).fold(f64::INFINITY, f64::min)
    }
}

/// Joins what was found in several parts of the targets.
fn merge(parts: Vec<Vec<Best>>, queries: usize, k: usize) -> Vec<Vec<Scored>> {
    let mut all = vec![Best::new(k); queries];
    for part in parts {
        all.iter_mut().zip(&part).for_each(|(all, part)| all.merge(part));
    }
    all.into_iter().map(Best::into_found).collect()
}
