//! The innermost loops, in as many versions as there are kinds of processors; each version gives the same result.

use super::bounds::{Bounds, QueryBound};

/// Sums that run side by side.
const LANES: usize = 16;

/// `Σ a_i b_i` in f64.
///
/// Products of two f32 are exact in f64, whether or not multiplication and addition are fused, and the order of the
/// additions is fixed: every processor gives the same bits.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { dot_avx512(a, b) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { dot_avx2(a, b) };
        }
    }
    dot_in_lanes(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn dot_avx512(a: &[f32], b: &[f32]) -> f64 {
    dot_in_lanes(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn dot_avx2(a: &[f32], b: &[f32]) -> f64 {
    dot_in_lanes(a, b)
}

#[inline(always)]
fn dot_in_lanes(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0_f64; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (a_rest, b_rest) = (a_chunks.remainder(), b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    for (sum, (&a, &b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *sum += f64::from(a) * f64::from(b);
    }
    sums.iter().sum()
}

/// The first place where the bound of a score is not below the threshold. What is no number counts as not below.
pub(super) fn first_reaching(estimates: &[f32], bounds: Bounds, query: QueryBound, threshold: f32) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { first_reaching_avx512(estimates, bounds, query, threshold) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { first_reaching_avx2(estimates, bounds, query, threshold) };
        }
    }
    first_reaching_in_lanes(estimates, bounds, query, threshold)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn first_reaching_avx512(estimates: &[f32], bounds: Bounds, query: QueryBound, threshold: f32) -> Option<usize> {
    first_reaching_in_lanes(estimates, bounds, query, threshold)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn first_reaching_avx2(estimates: &[f32], bounds: Bounds, query: QueryBound, threshold: f32) -> Option<usize> {
    first_reaching_in_lanes(estimates, bounds, query, threshold)
}

#[inline(always)]
fn first_reaching_in_lanes(estimates: &[f32], bounds: Bounds, query: QueryBound, threshold: f32) -> Option<usize> {
    let len = estimates.len();
    assert!([bounds.s, bounds.b, bounds.d, bounds.m].iter().all(|of_targets| of_targets.len() == len));
    let is_below = |at: usize| bounds.bound(at, estimates[at], query) < threshold;
    let whole = len - len % LANES;
    for first in (0..whole).step_by(LANES) {
        let below = (first..first + LANES).fold(true, |below, at| below & is_below(at));
        if !below {
            return (first..first + LANES).find(|&at| !is_below(at));
        }
    }
    (whole..len).find(|&at| !is_below(at))
}
