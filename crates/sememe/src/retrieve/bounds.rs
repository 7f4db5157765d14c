//! Upper and lower bounds of scores, from estimates and their largest possible errors.

use std::ops::Range;

use rayon::prelude::*;

use super::kernel::{self, Estimate};
use super::rows::Rows;

/// Upper bound of the rounding errors in f32 between an estimate and its bound, relative to the largest number
/// involved. There are fewer than ten roundings of at most 2^-24 each.
const ROUNDING: f64 = 1.0 / (1 << 20) as f64;
/// Absolute error that covers subnormal f32 numbers, which have fewer digits.
const SMALLEST: f64 = 1e-34;
/// Range of lengths that are screened. With others, products could overflow or underflow f32.
const SCREENED_LENGTHS: Range<f64> = 1e-12..1e12;

/// Error bounds of every target. `s` is the factor of its estimates. `d` bounds the error caused by the target, for a
/// query of length 1. `m` is the target's length: it bounds the error caused by a query whose own error is 1.
#[derive(Default)]
pub(super) struct TargetBounds {
    s: Vec<f32>,
    d: Vec<f32>,
    m: Vec<f32>,
}

/// The bias `b(t)` of every target, and an upper bound of it in f32. Minus infinity excludes a target.
pub(super) struct Bias {
    exact: Vec<f64>,
    upper: Vec<f32>,
}

impl Bias {
    pub(super) fn new(exact: Vec<f64>) -> Self {
        let upper = |&bias: &f64| match bias {
            f64::NEG_INFINITY => f32::NEG_INFINITY,
            _ => up(bias + ROUNDING * bias.abs() + SMALLEST),
        };
        let upper = exact.iter().map(upper).collect();
        Bias { exact, upper }
    }

    pub(super) fn exact(&self) -> &[f64] {
        &self.exact
    }
}

/// Bounds of a range of targets.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) s: &'a [f32],
    pub(super) b: &'a [f32],
    pub(super) d: &'a [f32],
    pub(super) m: &'a [f32],
}

/// Error bounds of a query: the factor `s` of its estimates, its length `n`, and its own error `d`.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryBound {
    pub(super) s: f32,
    pub(super) n: f32,
    pub(super) d: f32,
}

/// Rounds up to f32.
pub(super) fn up(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) < value { rounded.next_up() } else { rounded }
}

/// Rounds down to f32.
fn down(value: f64) -> f32 {
    -up(-value)
}

/// The estimate of a vector: its factor, the length of the estimate, and the length of the residual.
pub(super) struct Estimated {
    pub(super) factor: f64,
    pub(super) length: f64,
    pub(super) error: f64,
}

impl Estimated {
    /// A vector for products in f32. Their rounding errors are attributed to the other side.
    pub(super) fn unchanged(rows: Rows, index: usize) -> Self {
        Estimated { factor: rows.factor(index), length: rows.length(index), error: 0.0 }
    }

    /// Vectors for products in f32. The error of a sum of `dim` products is less than `dim` roundings.
    pub(super) fn products_with(rows: Rows) -> Vec<Self> {
        let rounding = rows.dim() as f64 * f64::from(f32::EPSILON);
        let estimated = (0..rows.len()).into_par_iter().map(|index| {
            let unchanged = Self::unchanged(rows, index);
            Estimated { error: rounding * unchanged.length, ..unchanged }
        });
        estimated.collect()
    }

    fn can_be_screened(&self) -> bool {
        let is_zero = self.factor == 0.0 || (self.length == 0.0 && self.error == 0.0);
        let factor = self.factor.abs();
        is_zero || [factor, self.length, self.length / factor].iter().all(|length| SCREENED_LENGTHS.contains(length))
    }
}

impl TargetBounds {
    pub(super) fn new(estimated: Vec<Estimated>) -> Self {
        let mut bounds = TargetBounds::default();
        for target in estimated {
            let Estimated { factor, length, error } = target;
            let error = if target.can_be_screened() { error + ROUNDING * (length + error) } else { f64::INFINITY };
            bounds.s.push(factor as f32);
            bounds.d.push(up(error));
            bounds.m.push(up(length * (1.0 + ROUNDING)));
        }
        bounds
    }

    pub(super) fn slice<'a>(&'a self, range: Range<usize>, bias: &'a Bias) -> Bounds<'a> {
        let Range { start, end } = range;
        Bounds { s: &self.s[start..end], b: &bias.upper[start..end], d: &self.d[start..end], m: &self.m[start..end] }
    }
}

impl QueryBound {
    /// Error bounds of a query multiplied by `scale`.
    pub(super) fn new(query: &Estimated, scale: f64) -> Self {
        let Estimated { factor, length, error } = *query;
        let query = Estimated { factor: scale * factor, length: scale * length, error: scale * error };
        let length = if query.can_be_screened() { query.length + query.error } else { f64::INFINITY };
        QueryBound { s: query.factor as f32, n: up(length), d: up(query.error) }
    }

    /// An upper bound of the score of a target.
    #[inline(always)]
    pub(super) fn upper(&self, estimate: f32, s: f32, b: f32, d: f32, m: f32) -> f32 {
        self.s * estimate * s + b + self.n * d + self.d * m
    }
}

impl Bounds<'_> {
    /// Appends the positions of all targets whose upper bound reaches the threshold.
    pub(super) fn reaching(
        self,
        estimates: &[impl Estimate],
        query: QueryBound,
        threshold: f64,
        reached: &mut Vec<usize>,
    ) {
        kernel::reaching(estimates, self, query, down(threshold), reached);
    }

    /// An upper and a lower bound of a target's score.
    pub(super) fn both(self, at: usize, estimate: impl Estimate, query: QueryBound) -> (f32, f64) {
        let [e, s, b, d, m] = [estimate.value(), self.s[at], self.b[at], self.d[at], self.m[at]];
        let upper = query.upper(e, s, b, d, m);
        let [e, s, b, d, m, s_q, n_q, d_q] = [e, s, b, d, m, query.s, query.n, query.d].map(f64::from);
        // `b` was rounded up.
        let b = b - 4.0 * (ROUNDING * b.abs() + SMALLEST);
        let lower = s_q * e * s + b - n_q * d - d_q * m;
        // Vectors of extreme length give NaN; their bounds are infinite.
        (if upper.is_nan() { f32::INFINITY } else { upper }, lower.max(f64::NEG_INFINITY))
    }
}
