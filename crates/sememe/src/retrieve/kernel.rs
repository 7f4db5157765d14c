//! The innermost loops, compiled for several kinds of processors. All unsafe code of the engine is here.

use super::bounds::{Bounds, QueryBound};

/// Sums that run side by side.
const LANES: usize = 16;

/// Compiles a function for several kinds of processors, and calls the version for the one that it runs on.
macro_rules! for_every_processor {
    ($(#[$doc:meta])* fn $name:ident $([$t:ident: $bound:ident])? ($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$doc])*
        pub(super) fn $name $(<$t: $bound>)? ($($argument: $type),*) -> $result {
            #[inline(always)]
            fn plain $(<$t: $bound>)? ($($argument: $type),*) -> $result $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512 $(<$t: $bound>)? ($($argument: $type),*) -> $result {
                    plain($($argument),*)
                }

                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$t: $bound>)? ($($argument: $type),*) -> $result {
                    plain($($argument),*)
                }

                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the processor has what the function is compiled for.
                    return unsafe { avx512($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has what the function is compiled for.
                    return unsafe { avx2($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}

for_every_processor! {
    /// `Σ a_i b_i` in f64.
    ///
    /// Products of two f32 are exact in f64, whether or not multiplication and addition are fused, and the order of the
    /// additions is fixed: every processor gives the same bits.
    fn dot(a: &[f32], b: &[f32]) -> f64 {
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
}

/// An estimate of an inner product.
pub(super) trait Estimate: Copy {
    fn value(self) -> f32;
}

impl Estimate for f32 {
    #[inline(always)]
    fn value(self) -> f32 {
        self
    }
}

impl Estimate for i32 {
    #[inline(always)]
    fn value(self) -> f32 {
        self as f32
    }
}

for_every_processor! {
    /// The first place where the bound of a score is not below the threshold. What is no number is not below.
    fn first_reaching[T: Estimate](estimates: &[T], bounds: Bounds, query: QueryBound, threshold: f32) -> Option<usize> {
        let len = estimates.len();
        assert!([bounds.s, bounds.b, bounds.d, bounds.m].iter().all(|of_targets| of_targets.len() == len));
        let is_below = |at: usize| bounds.bound(at, estimates[at].value(), query) < threshold;
        let whole = len - len % LANES;
        for first in (0..whole).step_by(LANES) {
            let below = (first..first + LANES).fold(true, |below, at| below & is_below(at));
            if !below {
                return (first..first + LANES).find(|&at| !is_below(at));
            }
        }
        (whole..len).find(|&at| !is_below(at))
    }
}

for_every_processor! {
    /// Writes a vector as whole numbers from -127 to 127 and returns their unit, the length of the vector that they make,
    /// and the length of what they leave out.
    fn quantise(vector: &[f32], whole: &mut [i8]) -> (f64, f64, f64) {
        let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let unit = largest / 127.0;
        if unit < f32::MIN_POSITIVE {
            whole.fill(0);
            return (0.0, 0.0, dot(vector, vector).sqrt());
        }
        let (inverse, unit) = (1.0 / unit, f64::from(unit));
        let (mut kept, mut lost) = ([0.0_f64; LANES], [0.0_f64; LANES]);
        for (vector, whole) in vector.chunks(LANES).zip(whole.chunks_mut(LANES)) {
            for (lane, (&x, whole)) in vector.iter().zip(whole).enumerate() {
                let nearest = (x * inverse).round_ties_even().clamp(-127.0, 127.0);
                *whole = nearest as i8;
                let made = unit * f64::from(nearest);
                kept[lane] += made * made;
                lost[lane] += (f64::from(x) - made) * (f64::from(x) - made);
            }
        }
        (unit, kept.iter().sum::<f64>().sqrt(), lost.iter().sum::<f64>().sqrt())
    }
}

/// Queries and targets whose products are computed together: their sums fill the registers.
pub(super) const QUERIES_AT_ONCE: usize = 6;
pub(super) const TARGETS_AT_ONCE: usize = 64;

/// Whether there are instructions for products of eight bits.
pub(super) fn has_eight_bit_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has
}

/// Inner products of [`TARGETS_AT_ONCE`] targets and [`QUERIES_AT_ONCE`] queries, each added to what its query starts with.
/// For four coordinates at a time, `targets` holds those of every target and `queries` those of every query. The sums of a
/// query go to a row of `out`; rows are `stride` apart.
pub(super) fn eight_bit_products(
    targets: &[u8],
    queries: &[i8],
    starts: [i32; QUERIES_AT_ONCE],
    out: &mut [i32],
    stride: usize,
) {
    let depths = targets.len() / (4 * TARGETS_AT_ONCE);
    assert_eq!(targets.len(), depths * 4 * TARGETS_AT_ONCE);
    assert_eq!(queries.len(), depths * 4 * QUERIES_AT_ONCE);
    assert!(out.len() >= (QUERIES_AT_ONCE - 1) * stride + TARGETS_AT_ONCE);
    #[cfg(target_arch = "x86_64")]
    if has_eight_bit_products() {
        // SAFETY: the processor has the instructions, and the lengths were checked above.
        return unsafe { eight_bit_products_vnni(targets, queries, starts, out, stride) };
    }
    for (query, start) in starts.into_iter().enumerate() {
        for target in 0..TARGETS_AT_ONCE {
            let product = |at: usize| {
                let (depth, within) = (at / 4, at % 4);
                let target = targets[(depth * TARGETS_AT_ONCE + target) * 4 + within];
                i32::from(target) * i32::from(queries[(depth * QUERIES_AT_ONCE + query) * 4 + within])
            };
            out[query * stride + target] = start + (0..4 * depths).map(product).sum::<i32>();
        }
    }
}

/// # Safety
/// The lengths must be as [`eight_bit_products`] checks them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn eight_bit_products_vnni(
    targets: &[u8],
    queries: &[i8],
    starts: [i32; QUERIES_AT_ONCE],
    out: &mut [i32],
    stride: usize,
) {
    use std::arch::x86_64::{_mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_storeu_si512};
    const REGISTERS: usize = TARGETS_AT_ONCE / 16;
    let mut sums = starts.map(|start| [_mm512_set1_epi32(start); REGISTERS]);
    let (mut target, mut query) = (targets.as_ptr(), queries.as_ptr().cast::<i32>());
    for _ in 0..targets.len() / (4 * TARGETS_AT_ONCE) {
        // SAFETY: each round reads as many bytes as there are rounds for.
        let columns: [_; REGISTERS] =
            std::array::from_fn(|at| unsafe { _mm512_loadu_si512(target.add(64 * at).cast()) });
        for (at, sums) in sums.iter_mut().enumerate() {
            // SAFETY: as above.
            let row = _mm512_set1_epi32(unsafe { query.add(at).read_unaligned() });
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum = _mm512_dpbusd_epi32(*sum, column, row);
            }
        }
        // SAFETY: at most one past the end, after the last round.
        (target, query) = unsafe { (target.add(4 * TARGETS_AT_ONCE), query.add(QUERIES_AT_ONCE)) };
    }
    for (row, sums) in sums.into_iter().enumerate() {
        for (column, sum) in sums.into_iter().enumerate() {
            // SAFETY: the last row ends within `out`.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(row * stride + 16 * column).cast(), sum) };
        }
    }
}
