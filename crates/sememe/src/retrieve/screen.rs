//! Screening: upper bounds of all scores, tile by tile.
//!
//! The inner product `<q, t>` is estimated in eight bits where the processor has instructions for it, else in f32. The
//! [bounds](super::bounds) are guaranteed either way; the precision only affects how many candidates remain.

use std::ops::Range;

use super::bounds::{Bias, Estimated, QueryBound, TargetBounds};
use super::kernel::Estimate;
use super::quantised::{PackedQueries, Panels};
use super::rows::Rows;
use crate::linalg::product_of_rows;

/// Queries and targets per tile. The estimates of a tile fit into a core's cache.
pub(super) const QUERIES_PER_TILE: usize = 240;
const TARGETS_PER_TILE: usize = 512;

/// Targets prepared for screening.
pub(super) struct Screen {
    panels: Option<Panels>,
    bounds: TargetBounds,
    /// Targets per tile.
    pub(super) width: usize,
}

/// A block of queries prepared for screening, and the tile computed last.
pub(super) struct Block<'a> {
    screen: &'a Screen,
    targets: Rows<'a>,
    estimated: Vec<Estimated>,
    estimates: Estimates<'a>,
}

enum Estimates<'a> {
    Products { queries: &'a [f32], tile: Vec<f32> },
    EightBits { panels: &'a Panels, queries: PackedQueries, tile: Vec<i32> },
}

/// A target that may be among the best, with an upper and a lower bound of its score.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) target: usize,
    pub(super) upper: f32,
    pub(super) lower: f64,
}

/// Candidates of one query in one tile, with a reusable buffer.
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

/// Estimates for a block of queries and a range of targets.
pub(super) struct Tile<'a> {
    block: &'a Block<'a>,
    first: usize,
    width: usize,
}

impl Screen {
    /// The fastest kind of screen on this processor.
    pub(super) fn of(targets: Rows) -> Self {
        if Panels::are_fast() { Self::in_eight_bits(targets) } else { Self::in_f32(targets) }
    }

    pub(super) fn in_eight_bits(targets: Rows) -> Self {
        let (panels, estimated) = Panels::of(targets);
        Screen { panels: Some(panels), bounds: TargetBounds::new(estimated), width: TARGETS_PER_TILE }
    }

    pub(super) fn in_f32(targets: Rows) -> Self {
        let bounds = TargetBounds::new(Estimated::products_with(targets));
        Screen { panels: None, bounds, width: TARGETS_PER_TILE }
    }

    /// Prepares a block of queries. `targets` must be the rows that the screen was built from.
    pub(super) fn block<'a>(&'a self, targets: Rows<'a>, queries: Rows<'a>, range: Range<usize>) -> Block<'a> {
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
        Block { screen: self, targets, estimated, estimates }
    }
}

impl Block<'_> {
    /// The error bounds of every query multiplied by `scale`.
    pub(super) fn bounds(&self, scale: f64) -> Vec<QueryBound> {
        self.estimated.iter().map(|query| QueryBound::new(query, scale)).collect()
    }

    /// Computes the estimates of a tile.
    pub(super) fn tile(&mut self, number: usize) -> Tile<'_> {
        let targets = self.targets;
        let first = number * self.screen.width;
        let width = self.screen.width.min(targets.len() - first);
        match &mut self.estimates {
            Estimates::EightBits { panels, queries, tile } => panels.products(queries, first, self.screen.width, tile),
            Estimates::Products { queries, tile } => {
                let len = self.estimated.len() * width;
                product_of_rows(queries, targets.rows(first..first + width), targets.dim(), &mut tile[..len]);
            }
        }
        Tile { block: self, first, width }
    }
}

/// A query of a block, and the threshold that its scores must reach.
pub(super) struct ScreenedQuery<'a> {
    /// Position in the block.
    pub(super) position: usize,
    pub(super) bound: QueryBound,
    pub(super) bias: &'a Bias,
    pub(super) threshold: f64,
}

impl Tile<'_> {
    /// How many of the first `targets` targets are in the tile.
    pub(super) fn width_among(&self, targets: usize) -> usize {
        self.width.min(targets.saturating_sub(self.first))
    }

    /// Finds the targets in a range of the tile whose upper bound reaches the threshold.
    pub(super) fn find(&self, candidates: &mut Candidates, query: &ScreenedQuery, targets: Range<usize>) {
        match &self.block.estimates {
            Estimates::Products { tile, .. } => {
                self.find_by(&tile[query.position * self.width..], candidates, query, targets);
            }
            Estimates::EightBits { tile, .. } => {
                self.find_by(&tile[query.position * self.block.screen.width..], candidates, query, targets);
            }
        }
    }

    fn find_by(
        &self,
        estimates: &[impl Estimate],
        candidates: &mut Candidates,
        query: &ScreenedQuery,
        targets: Range<usize>,
    ) {
        let (estimates, first) = (&estimates[targets.clone()], self.first + targets.start);
        let bounds = self.block.screen.bounds.slice(first..self.first + targets.end, query.bias);
        let Candidates { reached, found } = candidates;
        reached.clear();
        found.clear();
        bounds.reaching(estimates, query.bound, query.threshold, reached);
        found.extend(reached.iter().map(|&at| {
            let (upper, lower) = bounds.both(at, estimates[at], query.bound);
            Candidate { target: first + at, upper, lower }
        }));
    }
}
