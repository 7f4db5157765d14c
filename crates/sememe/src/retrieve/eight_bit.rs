//! Inner products of vectors of 8-bit integers, with AVX-512 VNNI instructions where the processor has them.

/// Queries and targets whose products are computed together, so that their sums fill the registers.
pub(super) const QUERIES_AT_ONCE: usize = 6;
pub(super) const TARGETS_AT_ONCE: usize = 64;

/// Whether the processor has instructions for 8-bit products (AVX-512 VNNI).
pub(super) fn has_instructions() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has
}

/// Inner products of [`TARGETS_AT_ONCE`] targets with [`QUERIES_AT_ONCE`] queries, each added to the start value of its
/// query. Both inputs are interleaved: the first four coordinates of every vector, then the next four, and so on. The
/// sums of a query form a row of `out`; rows are `stride` apart.
pub(super) fn products(targets: &[u8], queries: &[i8], starts: [i32; QUERIES_AT_ONCE], out: &mut [i32], stride: usize) {
    let depths = targets.len() / (4 * TARGETS_AT_ONCE);
    assert_eq!(targets.len(), depths * 4 * TARGETS_AT_ONCE);
    assert_eq!(queries.len(), depths * 4 * QUERIES_AT_ONCE);
    assert!(out.len() >= (QUERIES_AT_ONCE - 1) * stride + TARGETS_AT_ONCE);
    #[cfg(target_arch = "x86_64")]
    if has_instructions() {
        // SAFETY: the processor has the instructions, and the lengths were checked above.
        return unsafe { products_vnni(targets, queries, starts, out, stride) };
    }
    products_plain(targets, queries, starts, out, stride);
}

fn products_plain(targets: &[u8], queries: &[i8], starts: [i32; QUERIES_AT_ONCE], out: &mut [i32], stride: usize) {
    let depths = targets.len() / (4 * TARGETS_AT_ONCE);
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
/// The lengths must be as [`products`] checks them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn products_vnni(
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
            // SAFETY: the number of rounds follows from the length of the slice.
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
            let check = |out: &[i32]| {
                for query in 0..QUERIES_AT_ONCE {
                    for target in 0..TARGETS_AT_ONCE {
                        let product = |at: usize| {
                            let place = |among: usize, which: usize| (at / 4 * among + which) * 4 + at % 4;
                            let target = targets[place(TARGETS_AT_ONCE, target)];
                            i32::from(target) * i32::from(queries[place(QUERIES_AT_ONCE, query)])
                        };
                        let expected = starts[query] + (0..4 * depths).map(product).sum::<i32>();
                        assert_eq!(out[query * stride + target], expected);
                    }
                }
                let between = out.chunks(stride).flat_map(|row| &row[TARGETS_AT_ONCE..]);
                assert!(between.into_iter().all(|&untouched| untouched == -1));
            };
            let mut out = vec![-1; QUERIES_AT_ONCE * stride];
            products_plain(&targets, &queries, starts, &mut out, stride);
            check(&out);
            if !has_instructions() {
                eprintln!("NOT TESTED: this processor has no AVX-512 VNNI; run this test on one that has it");
            }
            out.fill(-1);
            products(&targets, &queries, starts, &mut out, stride);
            check(&out);
        }
    }
}
