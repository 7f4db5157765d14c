//! Upper bounds of all scores, a tile at a time.
//!
//! Estimates of `<q, t>` are products in eight bits where the processor has instructions for them, else in f32. Either way the
//! [bounds](super::bounds) hold for certain; only how many candidates are left depends on the precision.

use std::ops::Range;

use super::bounds::{Bias, Estimated, QueryBound, TargetBounds};
use super::kernel::Estimate;
use super::quantised::{PackedQueries, Panels};
use super::rows::Rows;
use crate::linalg::product_of_rows;

/// Queries and targets of a tile: its estimates stay in a core's cache.
pub(super) const QUERIES: usize = 240;
const TARGETS: usize = 512;

/// Targets prepared for screening.
pub(super) struct Screen {
    panels: Option<Panels>,
    bounds: TargetBounds,
    /// Targets of a tile.
    pub(super) width: usize,
}

/// Some queries prepared for screening, and the tile that was computed last.
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

impl Screen {
    /// The fastest that this processor can do.
    pub(super) fn of(targets: Rows) -> Self {
        if Panels::are_fast() { Self::in_eight_bits(targets) } else { Self::in_f32(targets) }
    }

    pub(super) fn in_eight_bits(targets: Rows) -> Self {
        let (panels, estimated) = Panels::of(targets);
        Screen { panels: Some(panels), bounds: TargetBounds::new(estimated), width: TARGETS }
    }

    pub(super) fn in_f32(targets: Rows) -> Self {
        let bounds = TargetBounds::new(Estimated::products_with(targets));
        Screen { panels: None, bounds, width: TARGETS }
    }

    /// Some queries, to be compared with the targets that the screen was made of.
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
    /// The bounds of every query when it is multiplied by a scale.
    pub(super) fn bounds(&self, scale: f64) -> Vec<QueryBound> {
        self.estimated.iter().map(|query| QueryBound::new(query, scale)).collect()
    }

    /// Estimates for the tile of this number.
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

/// A query of a block and what a score of it must reach to matter.
pub(super) struct Asked<'a> {
    /// Place in the block.
    pub(super) query: usize,
    pub(super) bound: QueryBound,
    pub(super) bias: &'a Bias,
    pub(super) threshold: f64,
}

impl Tile<'_> {
    /// How many of the first so many targets are in the tile.
    pub(super) fn width_among(&self, targets: usize) -> usize {
        self.width.min(targets.saturating_sub(self.first))
    }

    /// Finds those of some targets of the tile whose score may reach the threshold.
    pub(super) fn find(&self, candidates: &mut Candidates, asked: &Asked, targets: Range<usize>) {
        match &self.block.estimates {
            Estimates::Products { tile, .. } => {
                self.find_by(&tile[asked.query * self.width..], candidates, asked, targets);
            }
            Estimates::EightBits { tile, .. } => {
                self.find_by(&tile[asked.query * self.block.screen.width..], candidates, asked, targets);
            }
        }
    }

    fn find_by(&self, estimates: &[impl Estimate], candidates: &mut Candidates, asked: &Asked, targets: Range<usize>) {
        let (estimates, first) = (&estimates[targets.clone()], self.first + targets.start);
        let bounds = self.block.screen.bounds.slice(first..self.first + targets.end, asked.bias);
        let Candidates { reached, found } = candidates;
        reached.clear();
        found.clear();
        bounds.reaching(estimates, asked.bound, asked.threshold, reached);
        found.extend(reached.iter().map(|&at| {
            let (upper, lower) = bounds.both(at, estimates[at], asked.bound);
            Candidate { target: first + at, upper, lower }
        }));
    }
}
