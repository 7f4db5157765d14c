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

/// Candidates of one query in one tile, and room to find them.
#[derive(Default)]
pub(super) struct Candidates {
    reached: Vec<usize>,
    found: Vec<Candidate>,
}

impl Candidates {
    pub(super) fn found(&self) -> &[Candidate] {
        &self.found
    }
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
    /// How many targets there are.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Finds those of some targets of the tile whose score for a query of the block may reach the threshold.
    pub(super) fn find(&self, candidates: &mut Candidates, query: usize, targets: Range<usize>, threshold: f64) {
        match &self.block.estimates {
            Estimates::Products { tile, .. } => {
                self.find_by(&tile[query * self.width..], candidates, query, targets, threshold);
            }
            Estimates::EightBits { tile, .. } => {
                self.find_by(&tile[query * self.block.screen.width..], candidates, query, targets, threshold);
            }
        }
    }

    fn find_by(
        &self,
        estimates: &[impl Estimate],
        candidates: &mut Candidates,
        query: usize,
        targets: Range<usize>,
        threshold: f64,
    ) {
        let (estimates, query, first) =
            (&estimates[targets.clone()], self.block.bounds[query], self.first + targets.start);
        let bounds = self.block.screen.bounds.slice(first..self.first + targets.end);
        let Candidates { reached, found } = candidates;
        reached.clear();
        found.clear();
        bounds.reaching(estimates, query, threshold, reached);
        found.extend(reached.iter().map(|&at| {
            let (upper, lower) = bounds.both(at, estimates[at], query);
            Candidate { target: first + at, upper, lower }
        }));
    }
}
