//! How far from a score its estimate can be.

use std::ops::Range;

use rayon::prelude::*;

use super::kernel::{self, Estimate};
use super::rows::Rows;

/// Roundings in f32 from an estimate to its bound, taken together, relative to the largest number involved; there are
/// fewer than ten of at most 2^-24 each.
const ROUNDING: f64 = 1.0 / (1 << 20) as f64;
/// Makes up for numbers so small that f32 has fewer digits for them.
const SMALLEST: f64 = 1e-34;
/// Rows of other lengths are not screened: products could leave the range of f32.
const USUAL: Range<f64> = 1e-12..1e12;

/// Of every target: the factor `s` of its estimates, by how much (for a query of length 1) estimates can err because of the
/// target, `d`, and (for a query that itself errs by 1) because of the query, `m`.
#[derive(Default)]
pub(super) struct TargetBounds {
    s: Vec<f32>,
    d: Vec<f32>,
    m: Vec<f32>,
}

/// `b(t)` of every target, and what it is at most in f32. Minus infinity leaves a target out.
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

/// Some of the targets' bounds.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) s: &'a [f32],
    pub(super) b: &'a [f32],
    pub(super) d: &'a [f32],
    pub(super) m: &'a [f32],
}

/// Of a query: the factor of its estimates, its length, and by how much it errs.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryBound {
    pub(super) s: f32,
    pub(super) n: f32,
    pub(super) d: f32,
}

/// The least f32 that is not below.
pub(super) fn up(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) < value { rounded.next_up() } else { rounded }
}

/// The largest f32 that is not above.
fn down(value: f64) -> f32 {
    -up(-value)
}

/// A target as it is estimated: its factor, its length as estimated, and the length of what the estimate leaves out.
pub(super) struct Estimated {
    pub(super) factor: f64,
    pub(super) length: f64,
    pub(super) error: f64,
}

impl Estimated {
    /// A vector for products in f32, the errors of which are counted with the other side.
    pub(super) fn unchanged(rows: Rows, index: usize) -> Self {
        Estimated { factor: rows.factor(index), length: rows.length(index), error: 0.0 }
    }

    /// Vectors for products in f32: a sum of `dim` products errs by less than `dim` roundings.
    pub(super) fn products_with(rows: Rows) -> Vec<Self> {
        let rounding = rows.dim() as f64 * f64::from(f32::EPSILON);
        let estimated = (0..rows.len()).into_par_iter().map(|index| {
            let unchanged = Self::unchanged(rows, index);
            Estimated { error: rounding * unchanged.length, ..unchanged }
        });
        estimated.collect()
    }

    fn is_usual(&self) -> bool {
        let is_zero = self.factor == 0.0 || (self.length == 0.0 && self.error == 0.0);
        let factor = self.factor.abs();
        is_zero || [factor, self.length, self.length / factor].iter().all(|length| USUAL.contains(length))
    }
}

impl TargetBounds {
    pub(super) fn new(estimated: Vec<Estimated>) -> Self {
        let mut bounds = TargetBounds::default();
        for target in estimated {
            let Estimated { factor, length, error } = target;
            let error = if target.is_usual() { error + ROUNDING * (length + error) } else { f64::INFINITY };
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
    /// Of a query that is multiplied by a scale.
    pub(super) fn new(query: &Estimated, scale: f64) -> Self {
        let Estimated { factor, length, error } = *query;
        let query = Estimated { factor: scale * factor, length: scale * length, error: scale * error };
        let length = if query.is_usual() { query.length + query.error } else { f64::INFINITY };
        QueryBound { s: query.factor as f32, n: up(length), d: up(query.error) }
    }

    /// What the score for a target is at most.
    #[inline(always)]
    pub(super) fn upper(&self, estimate: f32, s: f32, b: f32, d: f32, m: f32) -> f32 {
        self.s * estimate * s + b + self.n * d + self.d * m
    }
}

impl Bounds<'_> {
    /// Adds the places of all targets whose upper bound is not below the threshold.
    pub(super) fn reaching(
        self,
        estimates: &[impl Estimate],
        query: QueryBound,
        threshold: f64,
        reached: &mut Vec<usize>,
    ) {
        kernel::reaching(estimates, self, query, down(threshold), reached);
    }

    /// The upper bound of a target's score, and a lower one.
    pub(super) fn both(self, at: usize, estimate: impl Estimate, query: QueryBound) -> (f32, f64) {
        let [e, s, b, d, m] = [estimate.value(), self.s[at], self.b[at], self.d[at], self.m[at]];
        let upper = query.upper(e, s, b, d, m);
        let [e, s, b, d, m, s_q, n_q, d_q] = [e, s, b, d, m, query.s, query.n, query.d].map(f64::from);
        // `b` was rounded up.
        let b = b - 4.0 * (ROUNDING * b.abs() + SMALLEST);
        let lower = s_q * e * s + b - n_q * d - d_q * m;
        // What is no number, for vectors of unusual length, bounds nothing.
        (if upper.is_nan() { f32::INFINITY } else { upper }, lower.max(f64::NEG_INFINITY))
    }
}
