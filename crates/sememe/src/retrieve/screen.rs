//! Upper bounds of all scores, a tile at a time.
//!
//! Estimates of `<q, t>` are products in eight bits where the processor has instructions for them, else in f32. Either way the
//! [bounds](super::bounds) hold for certain; only how many candidates are left depends on the precision.

use std::ops::Range;

use super::bounds::{Estimated, QueryBound, TargetBounds};
use super::kernel::Estimate;
use super::quantised::{PackedQueries, Panels};
use super::rows::Rows;
use crate::linalg::product_of_rows;

/// Queries and targets of a tile: its estimates stay in a core's cache.
pub(super) const QUERIES: usize = 240;
const TARGETS: usize = 512;

/// Targets prepared for screening.
pub(super) struct Screen<'a> {
    targets: &'a Rows<'a>,
    panels: Option<Panels>,
    bounds: TargetBounds,
    /// Targets of a tile.
    pub(super) width: usize,
}

/// Some queries prepared for screening, and the tile that was computed last.
pub(super) struct Block<'a> {
    screen: &'a Screen<'a>,
    bounds: Vec<QueryBound>,
    estimates: Estimates<'a>,
}

enum Estimates<'a> {
    Products { queries: &'a [f32], tile: Vec<f32> },
    EightBits { panels: &'a Panels, queries: PackedQueries, tile: Vec<i32> },
}

/// A target that may be among the best, and what its score is at most and at least.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) target: usize,
    pub(super) upper: f32,
    pub(super) lower: f64,
}

/// Estimates for some queries and targets.
pub(super) struct Tile<'a> {
    block: &'a Block<'a>,
    first: usize,
    width: usize,
}

impl<'a> Screen<'a> {
    /// The fastest that this processor can do.
    pub(super) fn of(targets: &'a Rows<'a>, bias: &[f64]) -> Self {
        if Panels::are_fast() { Self::in_eight_bits(targets, bias) } else { Self::in_f32(targets, bias) }
    }

    pub(super) fn in_eight_bits(targets: &'a Rows<'a>, bias: &[f64]) -> Self {
        let (panels, estimated) = Panels::of(targets);
        Screen { targets, panels: Some(panels), bounds: TargetBounds::new(estimated, bias), width: TARGETS }
    }

    pub(super) fn in_f32(targets: &'a Rows<'a>, bias: &[f64]) -> Self {
        let bounds = TargetBounds::new(Estimated::products_with(targets), bias);
        Screen { targets, panels: None, bounds, width: TARGETS }
    }

    pub(super) fn tiles(&self) -> usize {
        self.targets.len().div_ceil(self.width)
    }

    pub(super) fn block(&'a self, queries: &'a Rows<'a>, range: Range<usize>) -> Block<'a> {
        let (estimates, estimated) = match &self.panels {
            Some(panels) => {
                let (queries, estimated) = PackedQueries::of(queries, range);
                let tile = vec![0; queries.rows() * self.width];
                (Estimates::EightBits { panels, queries, tile }, estimated)
            }
            None => {
                let tile = vec![0.0; range.len() * self.width];
                let estimated = range.clone().map(|query| Estimated::unchanged(queries, query)).collect();
                (Estimates::Products { queries: queries.rows(range), tile }, estimated)
            }
        };
        Block { screen: self, bounds: estimated.iter().map(QueryBound::new).collect(), estimates }
    }
}

impl Block<'_> {
    pub(super) fn tile(&mut self, number: usize) -> Tile<'_> {
        let targets = self.screen.targets;
        let first = number * self.screen.width;
        let width = self.screen.width.min(targets.len() - first);
        match &mut self.estimates {
            Estimates::EightBits { panels, queries, tile } => panels.products(queries, first, self.screen.width, tile),
            Estimates::Products { queries, tile } => {
                let len = self.bounds.len() * width;
                product_of_rows(queries, targets.rows(first..first + width), targets.dim(), &mut tile[..len]);
            }
        }
        Tile { block: self, first, width }
    }
}

impl Tile<'_> {
    /// Numbers of the targets.
    pub(super) fn targets(&self) -> Range<usize> {
        self.first..self.first + self.width
    }

    /// The first target from number `from` on whose score for a query of the block may reach the threshold.
    pub(super) fn next_candidate(&self, query: usize, threshold: f64, from: usize) -> Option<Candidate> {
        let range = from - self.first..self.width;
        match &self.block.estimates {
            Estimates::Products { tile, .. } => self.next(query, &tile[query * self.width..][range], threshold),
            Estimates::EightBits { tile, .. } => {
                self.next(query, &tile[query * self.block.screen.width..][range], threshold)
            }
        }
    }

    /// [`Tile::next_candidate`] among the last targets, for which estimates are given.
    fn next(&self, query: usize, estimates: &[impl Estimate], threshold: f64) -> Option<Candidate> {
        let (last, query) = (self.first + self.width, self.block.bounds[query]);
        let from = last - estimates.len();
        let bounds = self.block.screen.bounds.slice(from..last);
        let at = bounds.first_reaching(estimates, query, threshold)?;
        let (upper, lower) = bounds.both(at, estimates[at], query);
        Some(Candidate { target: from + at, upper, lower })
    }
}
