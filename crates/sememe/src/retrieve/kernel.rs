//! The innermost loops, compiled for several instruction sets. Unsafe code of the search engine is only here and in
//! [`eight_bit`](super::eight_bit).

use std::ops::Range;

use super::bounds::{Bounds, QueryBound};
use super::instructions::{Instructions, Set};

/// Number of sums that run in parallel.
const LANES: usize = 16;
/// The same, where sums are of f32.
const WIDE_LANES: usize = 64;

/// Compiles a function for several instruction sets and calls the best version for the processor it runs on. A module
/// of the same name has all versions, so that tests can compare them.
macro_rules! for_every_processor {
    ($(#[$doc:meta])* $visible:vis fn $name:ident $([$t:ident: $bound:ident])? ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[inline(always)]
        $visible fn $name $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? {
            $name::on(Instructions::best(), $($argument),*)
        }

        mod $name {
            use super::*;

            #[inline(always)]
            fn plain $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            fn avx512 $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? {
                plain($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2 $(<$t: $bound>)? ($($argument: $type),*) $(-> $result)? {
                plain($($argument),*)
            }

            #[inline]
            pub(super) fn on $(<$t: $bound>)? (instructions: Instructions, $($argument: $type),*) $(-> $result)? {
                match instructions.set() {
                    // SAFETY: an `Instructions` value exists only if the processor supports the instructions.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512 => unsafe { avx512($($argument),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2 => unsafe { avx2($($argument),*) },
                    Set::Plain => plain($($argument),*),
                }
            }
        }
    };
}

for_every_processor! {
    /// `Σ a_i b_i` in f64.
    ///
    /// Products of two f32 are exact in f64, with or without fused multiply-add, and the order of the additions is
    /// fixed: every processor gives the same bits.
    pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
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

for_every_processor! {
    /// The inner products of the rows of a matrix with one vector, in f32 and in a fixed order: faster than [`dot`] of
    /// every row, and less exact.
    pub(crate) fn rows_times_vector(rows: &[f32], vector: &[f32], products: &mut [f32]) {
        for (product, row) in products.iter_mut().zip(rows.chunks_exact(vector.len())) {
            let mut sums = [0.0_f32; WIDE_LANES];
            let (a_chunks, b_chunks) = (row.chunks_exact(WIDE_LANES), vector.chunks_exact(WIDE_LANES));
            let (a_rest, b_rest) = (a_chunks.remainder(), b_chunks.remainder());
            for (a, b) in a_chunks.zip(b_chunks) {
                for lane in 0..WIDE_LANES {
                    sums[lane] += a[lane] * b[lane];
                }
            }
            for (sum, (&a, &b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
                *sum += a * b;
            }
            // Halves are added to halves, which keeps the lanes.
            let mut width = WIDE_LANES;
            while width > 1 {
                width /= 2;
                for lane in 0..width {
                    sums[lane] += sums[lane + width];
                }
            }
            *product = sums[0];
        }
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
    /// Appends to `reached` all positions whose upper bound is not below the threshold. NaN is not below it.
    pub(super) fn reaching[T: Estimate](estimates: &[T], bounds: Bounds, query: QueryBound, threshold: f32, reached: &mut Vec<usize>) {
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

/// [`reaching`] for a few positions; rarely called and kept out of the hot loop.
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
    /// Quantises a vector to integers from -127 to 127. Returns the quantisation step, the length of the quantised
    /// vector, and the length of the residual.
    pub(super) fn quantise(vector: &[f32], whole: &mut [i8]) -> (f64, f64, f64) {
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
    /// The elementwise maximum.
    pub(super) fn raise_to(largest: &mut [f32], numbers: &[f32]) {
        for (largest, &number) in largest.iter_mut().zip(numbers) {
            *largest = largest.max(number);
        }
    }
}

for_every_processor! {
    /// Adds `exp(x - shift)` to every sum; no `x` may exceed its shift.
    pub(super) fn add_exponentials(sums: &mut [f32], numbers: &[f32], shifts: &[f32]) {
        for ((sum, &x), &shift) in sums.iter_mut().zip(numbers).zip(shifts) {
            *sum += exp(x - shift);
        }
    }
}

/// `exp(x)` to seven digits for `x` from -87 to 0, and about 0 below: a power of two times a polynomial.
///
/// It has no branches and no calls, so that it vectorises, and only operations that all processors round alike: the
/// bits are the same everywhere.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// Adding it rounds to the nearest integer, which is left in the last bits.
    const ROUND: f32 = 12_582_912.0;
    /// `ln 2` in two parts. The product with the first part is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    /// Below it, `exp` is no normal f32.
    const SMALLEST: f32 = -87.0;
    let x = if x > SMALLEST { x } else { SMALLEST };
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = x - whole * LN_2[0] - whole * LN_2[1];
    let mut power = 0.0;
    for term in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        power = power * rest + term;
    }
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127);
    power * f32::from_bits(exponent << 23)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bounds::{Bias, Estimated, TargetBounds};
    use super::*;
    use crate::seeds::cases;

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|x| x.to_bits()).collect()
    }

    /// Numbers of all magnitudes and special values.
    fn numbers(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
        let number = prop_oneof![
            8 => -10.0_f32..10.0,
            1 => prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL,
            1 => prop::sample::select(vec![0.0, -0.0, f32::MIN_POSITIVE, 1e-40]),
        ];
        prop::collection::vec(number, len)
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn every_set_of_instructions_gives_the_same_bits(a in numbers(1..100), seed: u64) {
            let b: Vec<f32> = a.iter().enumerate().map(|(at, x)| x * (((at as u64 ^ seed) % 17) as f32 - 8.0)).collect();
            let b: Vec<f32> = b.into_iter().map(|x| if x.is_finite() { x } else { 1.0 }).collect();
            let shifts: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a.max(*b)).collect();
            let estimated = a.iter().zip(&b).map(|(&x, &y)| {
                Estimated { factor: f64::from(x), length: f64::from(y.abs()), error: f64::from(y.abs()) / 256.0 }
            });
            let bounds = TargetBounds::new(estimated.collect());
            let bias = Bias::new(b.iter().map(|&x| f64::from(x)).collect());
            let query = QueryBound { s: 0.7, n: 1.5, d: 0.01 };
            let whole: Vec<i32> = a.iter().map(|&x| x.clamp(-1e6, 1e6) as i32).collect();
            let of = |instructions: Instructions| {
                let mut largest = a.clone();
                raise_to::on(instructions, &mut largest, &b);
                let mut sums = vec![0.0; a.len()];
                add_exponentials::on(instructions, &mut sums, &a, &shifts);
                let mut products = [0.0];
                // Sums of f32 that overflow in both directions are no numbers.
                let [a_small, b_small] = [&a, &b].map(|x| x.iter().map(|x| x.clamp(-1e6, 1e6)).collect::<Vec<f32>>());
                rows_times_vector::on(instructions, &a_small, &b_small, &mut products);
                let mut quantised = vec![0; a.len()];
                let lengths = quantise::on(instructions, &a, &mut quantised);
                let slice = bounds.slice(0..a.len(), &bias);
                let (mut by_f32, mut by_i32) = (Vec::new(), Vec::new());
                reaching::on(instructions, &a, slice, query, 0.3, &mut by_f32);
                reaching::on(instructions, &whole, slice, query, 0.3, &mut by_i32);
                let lengths = [lengths.0, lengths.1, lengths.2].map(f64::to_bits);
                let dot = dot::on(instructions, &a, &b).to_bits();
                (dot, bits(&products), bits(&largest), bits(&sums), quantised, lengths, by_f32, by_i32)
            };
            let all = Instructions::all();
            let plain = of(all[0]);
            for &instructions in &all[1..] {
                prop_assert_eq!(&of(instructions), &plain, "{:?}", instructions);
            }
        }
    }

    #[test]
    fn exponentials_are_right_to_seven_digits() {
        for step in 0..100_000 {
            let x = -87.0 * step as f32 / 100_000.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) - expected).abs() < 3e-7 * expected, "{x}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e6) > 0.0 && exp(-1e6) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
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
