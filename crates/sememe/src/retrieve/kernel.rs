//! The innermost loops, compiled for several kinds of processors. All unsafe code of the engine is here.

use std::ops::Range;

use super::bounds::{Bounds, QueryBound};

/// Sums that run side by side.
const LANES: usize = 16;

/// Compiles a function for several kinds of processors, and calls the version for the one that it runs on.
macro_rules! for_every_processor {
    ($(#[$doc:meta])* fn $name:ident $([$t:ident: $bound:ident])? ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        pub(super) fn $name $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn plain $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512 $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? {
                    plain($($argument),*)
                }

                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? {
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
    /// Adds to `reached` all places where the upper bound of a score is not below the threshold. What is no number is not
    /// below.
    fn reaching[T: Estimate](estimates: &[T], bounds: Bounds, query: QueryBound, threshold: f32, reached: &mut Vec<usize>) {
        let (chunks, rest) = estimates.as_chunks::<LANES>();
        let (s, _) = bounds.s.as_chunks::<LANES>();
        let (b, _) = bounds.b.as_chunks::<LANES>();
        let (d, _) = bounds.d.as_chunks::<LANES>();
        let (m, _) = bounds.m.as_chunks::<LANES>();
        for (number, ((((of_chunk, s), b), d), m)) in chunks.iter().zip(s).zip(b).zip(d).zip(m).enumerate() {
            let mut all_below = true;
            for lane in 0..LANES {
                all_below &= query.upper(of_chunk[lane].value(), s[lane], b[lane], d[lane], m[lane]) < threshold;
            }
            if !all_below {
                reaching_within(number * LANES..(number + 1) * LANES, estimates, bounds, query, threshold, reached);
            }
        }
        reaching_within(estimates.len() - rest.len()..estimates.len(), estimates, bounds, query, threshold, reached);
    }
}

/// [`reaching`] among a few, rarely called and kept out of the loop that calls it.
#[cold]
#[inline(never)]
fn reaching_within<T: Estimate>(
    range: Range<usize>,
    estimates: &[T],
    bounds: Bounds,
    query: QueryBound,
    threshold: f32,
    reached: &mut Vec<usize>,
) {
    let Bounds { s, b, d, m } = bounds;
    for at in range {
        let is_below = query.upper(estimates[at].value(), s[at], b[at], d[at], m[at]) < threshold;
        if !is_below {
            reached.push(at);
        }
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

for_every_processor! {
    /// The larger of two numbers, for each pair.
    fn raise_to(largest: &mut [f32], numbers: &[f32]) {
        for (largest, &number) in largest.iter_mut().zip(numbers) {
            *largest = largest.max(number);
        }
    }
}

for_every_processor! {
    /// Adds `exp(x - shift)` to sums, for each `x` that is not above its shift.
    fn add_exponentials(sums: &mut [f32], numbers: &[f32], shifts: &[f32]) {
        for ((sum, &x), &shift) in sums.iter_mut().zip(numbers).zip(shifts) {
            *sum += exponential(x - shift);
        }
    }
}

/// `exp(x)` to seven digits for `x <= 0`, without a branch: 2 to a whole number, times a polynomial.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    // Below, there is no f32 of full precision.
    let x = x.max(-87.0);
    let whole = (x * std::f32::consts::LOG2_E).round_ties_even();
    // The product with the first part of ln 2 is exact.
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let terms = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let mut power = 0.0;
    for term in terms {
        power = power * rest + term;
    }
    power * f32::from_bits(((whole as i32 + 127) as u32) << 23)
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
    let mut sums = [[_mm512_set1_epi32(0); REGISTERS]; QUERIES_AT_ONCE];
    for (sums, start) in sums.iter_mut().zip(starts) {
        *sums = [_mm512_set1_epi32(start); REGISTERS];
    }
    let (mut target, mut query) = (targets.as_ptr(), queries.as_ptr().cast::<i32>());
    for _ in 0..targets.len() / (4 * TARGETS_AT_ONCE) {
        let mut columns = [_mm512_set1_epi32(0); REGISTERS];
        for (at, column) in columns.iter_mut().enumerate() {
            // SAFETY: there are as many rounds as the slice has room for.
            *column = unsafe { _mm512_loadu_si512(target.add(64 * at).cast()) };
        }
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
    for (row, sums) in sums.iter().enumerate() {
        for (column, &sum) in sums.iter().enumerate() {
            // SAFETY: the last row ends within `out`.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(row * stride + 16 * column).cast(), sum) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bit_products_are_sums_of_products() {
        for depths in [0, 1, 2, 75] {
            let targets: Vec<u8> = (0..depths * 4 * TARGETS_AT_ONCE).map(|at| (at * 89 % 256) as u8).collect();
            let queries: Vec<i8> = (0..depths * 4 * QUERIES_AT_ONCE).map(|at| (at * 57 % 255) as i8).collect();
            let starts = [0, 1, -7, 1_000_000, -1_000_000, 42];
            let stride = TARGETS_AT_ONCE + 3;
            let mut out = vec![-1; QUERIES_AT_ONCE * stride];
            eight_bit_products(&targets, &queries, starts, &mut out, stride);
            for query in 0..QUERIES_AT_ONCE {
                for target in 0..TARGETS_AT_ONCE {
                    let product = |at: usize| {
                        let place = |among: usize, which: usize| (at / 4 * among + which) * 4 + at % 4;
                        let (t, q) = (targets[place(TARGETS_AT_ONCE, target)], queries[place(QUERIES_AT_ONCE, query)]);
                        i32::from(t) * i32::from(q)
                    };
                    let expected = starts[query] + (0..4 * depths).map(product).sum::<i32>();
                    assert_eq!(out[query * stride + target], expected);
                }
            }
            let between = out.chunks(stride).flat_map(|row| &row[TARGETS_AT_ONCE..]);
            assert!(between.into_iter().all(|&untouched| untouched == -1));
        }
    }

    #[test]
    fn exponentials_are_right_to_seven_digits() {
        for at in 0..8700 {
            let x = -0.01 * at as f32;
            let expected = f64::from(x).exp();
            assert!((f64::from(exponential(x)) - expected).abs() < 3e-7 * expected, "{x}");
        }
        assert!(exponential(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn what_eight_bits_leave_out_is_known() {
        for len in [1, 15, 16, 33, 300] {
            let vector: Vec<f32> = (0..len).map(|at| ((at * 37 % 101) as f32 - 50.0) * 0.013).collect();
            let mut whole = vec![0; len];
            let (unit, length, error) = quantise(&vector, &mut whole);
            let made: Vec<f64> = whole.iter().map(|&number| unit * f64::from(number)).collect();
            let norm = |values: Vec<f64>| values.iter().map(|x| x * x).sum::<f64>().sqrt();
            let left: Vec<f64> = vector.iter().zip(&made).map(|(&x, made)| f64::from(x) - made).collect();
            assert!(
                left.iter().all(|left| left.abs() <= 0.5001 * unit) && whole.iter().any(|number| number.abs() == 127)
            );
            assert!((norm(left) - error).abs() < 1e-12 && (norm(made) - length).abs() < 1e-12);
        }
        let mut whole = [5; 3];
        assert_eq!(quantise(&[0.0; 3], &mut whole), (0.0, 0.0, 0.0));
        assert_eq!((quantise(&[1e-40, 0.0, 0.0], &mut whole).0, whole), (0.0, [0; 3]));
    }
}
