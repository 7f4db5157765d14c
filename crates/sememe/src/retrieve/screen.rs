//! Upper bounds of all scores, a tile at a time.
//!
//! For estimates `e` of `<q, t>` with `|<q, t> - e| <= |q| d_t + d_q m_t`, whatever the arithmetic they come from, the score is
//! at most `s_q s_t e + b_t + n_q d_t + d_q m_t`.

use std::ops::Range;

use super::bounds::{QueryBound, TargetBounds};
use super::rows::Rows;
use crate::linalg::product_of_rows;

/// Queries and targets of a tile: its estimates stay in a core's cache.
pub(super) const QUERIES: usize = 128;
pub(super) const TARGETS: usize = 1024;

/// Targets prepared for screening.
pub(super) struct Screen<'a> {
    targets: &'a Rows<'a>,
    bounds: TargetBounds,
}

/// Some queries prepared for screening.
pub(super) struct Block<'a> {
    screen: &'a Screen<'a>,
    queries: &'a [f32],
    bounds: Vec<QueryBound>,
    estimates: Vec<f32>,
}

/// Estimates for some queries and targets.
pub(super) struct Tile<'a> {
    block: &'a Block<'a>,
    first: usize,
    width: usize,
}

impl<'a> Screen<'a> {
    pub(super) fn of(targets: &'a Rows<'a>, bias: &[f64]) -> Self {
        Screen { targets, bounds: TargetBounds::of_products(targets, bias) }
    }

    pub(super) fn block(&'a self, queries: &'a Rows<'a>, range: Range<usize>) -> Block<'a> {
        let bounds = range.clone().map(|query| QueryBound::of_product(queries, query)).collect();
        Block { screen: self, queries: queries.rows(range), bounds, estimates: vec![0.0; QUERIES * TARGETS] }
    }
}

impl Block<'_> {
    pub(super) fn tile(&mut self, number: usize) -> Tile<'_> {
        let (first, dim) = (number * TARGETS, self.screen.targets.dim());
        let width = TARGETS.min(self.screen.targets.len() - first);
        let targets = self.screen.targets.rows(first..first + width);
        product_of_rows(self.queries, targets, dim, &mut self.estimates[..self.bounds.len() * width]);
        Tile { block: self, first, width }
    }
}

impl Tile<'_> {
    /// Numbers of the targets.
    pub(super) fn targets(&self) -> Range<usize> {
        self.first..self.first + self.width
    }

    /// The first target from number `from` on whose score for a query of the block may reach the threshold.
    pub(super) fn next_candidate(&self, query: usize, threshold: f64, from: usize) -> Option<usize> {
        let estimates = &self.block.estimates[query * self.width..(query + 1) * self.width];
        let bounds = self.block.screen.bounds.slice(from..self.first + self.width);
        let at = bounds.first_reaching(&estimates[from - self.first..], &self.block.bounds[query], threshold)?;
        Some(from + at)
    }

    /// The `k` targets with the largest bounds for a query of the block, in no order; all if there are fewer.
    pub(super) fn most_promising(&self, query: usize, k: usize) -> Vec<usize> {
        let estimates = &self.block.estimates[query * self.width..(query + 1) * self.width];
        let bounds = self.block.screen.bounds.slice(self.targets());
        let mut bounds: Vec<(f32, usize)> =
            bounds.upper(estimates, &self.block.bounds[query]).zip(self.targets()).collect();
        if k < bounds.len() {
            bounds.select_nth_unstable_by(k, |a, b| b.0.total_cmp(&a.0));
            bounds.truncate(k);
        }
        bounds.into_iter().map(|(_, target)| target).collect()
    }
}
