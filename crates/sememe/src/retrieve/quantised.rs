//! Vectors in eight bits, for products of four at a time.
//!
//! `x = s (x^ + e)` with whole numbers `x^` from -127 to 127 and a scale `s` of its own for every vector. What is lost is known
//! exactly: the length of `s e` is kept with the vector, so that
//! `|<q, t> - s_q s_t <q^, t^>| = |<q, s_t e_t> + <s_q e_q, s_t t^>| <= |q| |s_t e_t| + |s_q e_q| |s_t t^|`.

use rayon::prelude::*;

use super::bounds::Estimated;
use super::kernel::{self, QUERIES_AT_ONCE, TARGETS_AT_ONCE};
use super::rows::Rows;

/// Numbers that one instruction multiplies and adds up.
const DEPTH: usize = 4;

/// All targets, a quarter of the size of the vectors themselves.
pub(super) struct Panels {
    /// For [`TARGETS_AT_ONCE`] targets at a time, and for [`DEPTH`] coordinates at a time: the coordinates of each target,
    /// plus 128.
    bytes: Vec<u8>,
    depths: usize,
}

/// Some queries.
pub(super) struct PackedQueries {
    /// For [`QUERIES_AT_ONCE`] queries at a time, and for [`DEPTH`] coordinates at a time: the coordinates of each query.
    bytes: Vec<i8>,
    /// What undoes the 128 of the targets.
    starts: Vec<i32>,
}

impl Panels {
    /// Whether this processor is fast at products of eight bits.
    pub(super) fn are_fast() -> bool {
        kernel::has_eight_bit_products()
    }

    /// The targets in eight bits, and what that takes from them.
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

    /// `<q^, t^>` of all the queries with the targets from number `first` on, as many as there are columns in `out`, which
    /// has a row for each query. Both numbers are multiples of [`TARGETS_AT_ONCE`].
    pub(super) fn products(&self, queries: &PackedQueries, first: usize, columns: usize, out: &mut [i32]) {
        let depth = self.depths * DEPTH;
        let panels = self.bytes[first * depth..].chunks_exact(TARGETS_AT_ONCE * depth);
        for (panel, column) in panels.zip((0..columns).step_by(TARGETS_AT_ONCE)) {
            let blocks = queries.bytes.chunks_exact(QUERIES_AT_ONCE * depth);
            for (number, block) in blocks.enumerate() {
                let row = number * QUERIES_AT_ONCE;
                let starts = queries.starts[row..row + QUERIES_AT_ONCE].try_into().expect("padded when packed");
                kernel::eight_bit_products(panel, block, starts, &mut out[row * columns + column..], columns);
            }
        }
    }
}

impl PackedQueries {
    /// Some queries in eight bits, and what that takes from them.
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

    /// How many queries there is room for.
    pub(super) fn rows(&self) -> usize {
        self.starts.len()
    }
}

/// Fills in the whole numbers of one vector.
fn quantise(rows: Rows, index: usize, whole: &mut [i8]) -> Estimated {
    let (scale, length, error) = kernel::quantise(rows.row(index), whole);
    let factor = rows.factor(index);
    Estimated { factor: factor * scale, length: factor.abs() * length, error: factor.abs() * error }
}
