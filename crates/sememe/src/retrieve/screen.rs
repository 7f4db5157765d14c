//! Upper bounds of all scores, a tile at a time.
//!
//! Estimates of `<q, t>` are products in eight bits where the processor has instructions for them, else in f32. Either way the
//! [bounds](super::bounds) hold for certain; only how many candidates are left depends on the precision.

use std::ops::Range;

use super::bounds::{Estimated, QueryBound, TargetBounds};
use super::quantised::{PackedQueries, Panels};
use super::rows::Rows;
use crate::linalg::product_of_rows;

/// Queries and targets of a tile: its estimates stay in a core's cache.
pub(super) const QUERIES: usize = 120;
pub(super) const TARGETS: usize = 512;

/// Targets prepared for screening.
pub(super) struct Screen<'a> {
    targets: &'a Rows<'a>,
    panels: Option<Panels>,
    bounds: TargetBounds,
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

    fn in_eight_bits(targets: &'a Rows<'a>, bias: &[f64]) -> Self {
        let (panels, estimated) = Panels::of(targets);
        Screen { targets, panels: Some(panels), bounds: TargetBounds::new(estimated, bias) }
    }

    fn in_f32(targets: &'a Rows<'a>, bias: &[f64]) -> Self {
        Screen { targets, panels: None, bounds: TargetBounds::new(Estimated::products_with(targets), bias) }
    }

    pub(super) fn block(&'a self, queries: &'a Rows<'a>, range: Range<usize>) -> Block<'a> {
        let (estimates, estimated) = match &self.panels {
            Some(panels) => {
                let (queries, estimated) = PackedQueries::of(queries, range);
                let tile = vec![0; queries.rows() * TARGETS];
                (Estimates::EightBits { panels, queries, tile }, estimated)
            }
            None => {
                let tile = vec![0.0; range.len() * TARGETS];
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
        let first = number * TARGETS;
        let width = TARGETS.min(targets.len() - first);
        match &mut self.estimates {
            Estimates::EightBits { panels, queries, tile } => panels.products(queries, first, TARGETS, tile),
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
    pub(super) fn next_candidate(&self, query: usize, threshold: f64, from: usize) -> Option<usize> {
        let bounds = self.block.screen.bounds.slice(from..self.first + self.width);
        let of_query = self.block.bounds[query];
        let range = from - self.first..self.width;
        let at = match &self.block.estimates {
            Estimates::Products { tile, .. } => {
                bounds.first_reaching(&tile[query * self.width..][range], of_query, threshold)
            }
            Estimates::EightBits { tile, .. } => {
                bounds.first_reaching(&tile[query * TARGETS..][range], of_query, threshold)
            }
        };
        at.map(|at| from + at)
    }

    /// The `k` targets with the largest bounds for a query of the block, in no order; all if there are fewer.
    pub(super) fn most_promising(&self, query: usize, k: usize) -> Vec<usize> {
        let bounds = self.block.screen.bounds.slice(self.targets());
        let of_query = self.block.bounds[query];
        let upper = match &self.block.estimates {
            Estimates::Products { tile, .. } => bounds.all(&tile[query * self.width..][..self.width], of_query),
            Estimates::EightBits { tile, .. } => bounds.all(&tile[query * TARGETS..][..self.width], of_query),
        };
        let mut promising: Vec<(f32, usize)> = upper.into_iter().zip(self.targets()).collect();
        if k < promising.len() {
            promising.select_nth_unstable_by(k, |a, b| b.0.total_cmp(&a.0));
            promising.truncate(k);
        }
        promising.into_iter().map(|(_, target)| target).collect()
    }
}
