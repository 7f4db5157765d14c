//! Vectors quantised to eight bits, for fast approximate inner products.
//!
//! `x = s (x^ + e)` with integers `x^` from -127 to 127 and a scale `s` per vector. The quantisation error is bounded
//! exactly, because the length of `s e` is stored with the vector: `|<q, t> - s_q s_t <q^, t^>| = |<q, s_t e_t> + <s_q
//! e_q, s_t t^>| <= |q| |s_t e_t| + |s_q e_q| |s_t t^|`.

use rayon::prelude::*;

use super::bounds::Estimated;
use super::eight_bit::{self, QUERIES_AT_ONCE, TARGETS_AT_ONCE};
use super::kernel;
use super::rows::Rows;

/// Coordinates that one instruction multiplies and sums.
const DEPTH: usize = 4;

/// All targets in eight bits, a quarter of their size in f32.
pub(super) struct Panels {
    /// The coordinates plus 128, grouped by [`TARGETS_AT_ONCE`] targets and within these by [`DEPTH`] coordinates.
    bytes: Vec<u8>,
    depths: usize,
}

/// A block of queries in eight bits.
pub(super) struct PackedQueries {
    /// The coordinates, grouped by [`QUERIES_AT_ONCE`] queries and within these by [`DEPTH`] coordinates.
    bytes: Vec<i8>,
    /// Start values of the sums, which cancel the offset of 128 of the targets.
    starts: Vec<i32>,
}

impl Panels {
    /// Whether this processor has fast 8-bit products.
    pub(super) fn are_fast() -> bool {
        eight_bit::has_instructions()
    }

    /// Quantises the targets and returns their quantisation errors.
    pub(super) fn of(targets: Rows) -> (Self, Vec<Estimated>) {
        let depths = targets.dim().div_ceil(DEPTH);
        let panel = TARGETS_AT_ONCE * depths * DEPTH;
        let mut bytes = vec![0; targets.len().div_ceil(TARGETS_AT_ONCE) * panel];
        let estimated = bytes
            .par_chunks_exact_mut(panel)
            .enumerate()
            .flat_map_iter(|(number, bytes)| {
                let first = number * TARGETS_AT_ONCE;
                let last = targets.len().min(first + TARGETS_AT_ONCE);
                let mut whole = vec![0; targets.dim()];
                (first..last)
                    .map(|target| {
                        let estimated = quantise(targets, target, &mut whole);
                        let start = (target - first) * DEPTH;
                        for (numbers, bytes) in
                            whole.chunks(DEPTH).zip(bytes[start..].chunks_mut(TARGETS_AT_ONCE * DEPTH))
                        {
                            numbers.iter().zip(bytes).for_each(|(&number, byte)| *byte = (number as u8) ^ 128);
                        }
                        estimated
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        (Panels { bytes, depths }, estimated)
    }

    /// `<q^, t^>` of all queries with `columns` targets from number `first` on. `out` has a row for each query. Both
    /// numbers are multiples of [`TARGETS_AT_ONCE`].
    pub(super) fn products(&self, queries: &PackedQueries, first: usize, columns: usize, out: &mut [i32]) {
        let depth = self.depths * DEPTH;
        let panels = self.bytes[first * depth..].chunks_exact(TARGETS_AT_ONCE * depth);
        for (panel, column) in panels.zip((0..columns).step_by(TARGETS_AT_ONCE)) {
            let blocks = queries.bytes.chunks_exact(QUERIES_AT_ONCE * depth);
            for (number, block) in blocks.enumerate() {
                let row = number * QUERIES_AT_ONCE;
                let starts = queries.starts[row..row + QUERIES_AT_ONCE].try_into().expect("padded when packed");
                eight_bit::products(panel, block, starts, &mut out[row * columns + column..], columns);
            }
        }
    }
}

impl PackedQueries {
    /// Quantises a range of queries and returns their quantisation errors.
    pub(super) fn of(queries: Rows, range: std::ops::Range<usize>) -> (Self, Vec<Estimated>) {
        let depths = queries.dim().div_ceil(DEPTH);
        let blocks = range.len().div_ceil(QUERIES_AT_ONCE);
        let mut bytes = vec![0; blocks * QUERIES_AT_ONCE * depths * DEPTH];
        let mut starts = vec![0; blocks * QUERIES_AT_ONCE];
        let mut whole = vec![0; queries.dim()];
        let mut estimated = Vec::with_capacity(range.len());
        for (at, query) in range.enumerate() {
            estimated.push(quantise(queries, query, &mut whole));
            starts[at] = -128 * whole.iter().map(|&number| i32::from(number)).sum::<i32>();
            let (block, within) = (at / QUERIES_AT_ONCE, at % QUERIES_AT_ONCE);
            let start = (block * depths * QUERIES_AT_ONCE + within) * DEPTH;
            for (numbers, bytes) in whole.chunks(DEPTH).zip(bytes[start..].chunks_mut(QUERIES_AT_ONCE * DEPTH)) {
                bytes[..numbers.len()].copy_from_slice(numbers);
            }
        }
        (PackedQueries { bytes, starts }, estimated)
    }

    /// The number of queries, padded to whole blocks.
    pub(super) fn rows(&self) -> usize {
        self.starts.len()
    }
}

/// Quantises one vector into `whole`.
fn quantise(rows: Rows, index: usize, whole: &mut [i8]) -> Estimated {
    let (scale, length, error) = kernel::quantise(rows.row(index), whole);
    let factor = rows.factor(index);
    Estimated { factor: factor * scale, length: factor.abs() * length, error: factor.abs() * error }
}
