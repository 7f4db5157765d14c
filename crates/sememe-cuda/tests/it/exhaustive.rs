//! Data that are hard to search, and exhaustive search.

use proptest::prelude::*;
use sememe_cuda::{Found, HostRows, Ranking};

/// Numbers that look random, from a linear congruential generator.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Rows that are hard to rank: equal, opposite and zero rows, one large coordinate, lengths of many magnitudes.
pub fn rows(count: usize, dim: usize, numbers: &mut Numbers, magnitude: f64) -> Vec<f32> {
    let mut values: Vec<f32> = Vec::with_capacity(count * dim);
    for row in 0..count {
        let copied = (numbers.uniform() * row as f64) as usize * dim;
        match (numbers.uniform() * 8.0) as usize {
            0 if row > 0 => values.extend_from_within(copied..copied + dim),
            1 if row > 0 => values.extend(values[copied..copied + dim].to_vec().iter().map(|x| -x)),
            2 => values.extend(std::iter::repeat_n(0.0, dim)),
            3 => values.extend((0..dim).map(|at| if at == row % dim { 100.0 } else { numbers.uniform() as f32 })),
            _ => {
                let length = magnitude.powf(numbers.uniform() - 0.5);
                values.extend((0..dim).map(|_| (length * (numbers.uniform() - 0.5)) as f32));
            }
        }
    }
    values
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 16];
    a.iter().zip(b).enumerate().for_each(|(at, (&x, &y))| sums[at % 16] += f64::from(x) * f64::from(y));
    sums.iter().sum()
}

pub fn unit_factors(values: &[f32], dim: usize) -> Vec<f64> {
    let factor = |square: f64| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
    values.chunks_exact(dim).map(|row| factor(product(row, row))).collect()
}

fn exhaustive(queries: HostRows, targets: HostRows, ranking: &Ranking, query: usize) -> Vec<(usize, f64)> {
    let dim = queries.dim;
    let row = |rows: HostRows, at: usize| rows.values[at * dim..(at + 1) * dim].to_vec();
    let score = |target: usize| {
        let factor = ranking.scale * queries.factors[query] * targets.factors[target];
        factor * product(&row(queries, query), &row(targets, target)) + ranking.bias[target]
    };
    let among = ranking.among.min(targets.factors.len());
    let mut all: Vec<(usize, f64)> = (0..among).map(|target| (target, score(target))).collect();
    all.retain(|(_, score)| *score > f64::NEG_INFINITY);
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(ranking.k);
    all
}

/// Biases that exclude rows without a direction.
pub fn excluded(factors: &[f64]) -> Vec<f64> {
    factors.iter().map(|&factor| if factor == 0.0 { f64::NEG_INFINITY } else { 0.0 }).collect()
}

/// Every `step`-th query that has a result, and what exhaustive search finds for it.
fn expected<'a>(
    found: &'a Found,
    queries: HostRows<'a>,
    targets: HostRows<'a>,
    ranking: &'a Ranking,
    step: usize,
) -> impl Iterator<Item = (usize, Vec<(usize, f64)>)> + 'a {
    let has_result = |query: &usize| !found.unresolved.contains(&(*query as u32));
    let all = (0..queries.factors.len()).step_by(step).filter(has_result);
    all.map(move |query| (query, exhaustive(queries, targets, ranking, query)))
}

/// Compares what was found for every `step`-th query with exhaustive search, to the bit.
pub fn check(
    found: &Found,
    queries: HostRows,
    targets: HostRows,
    ranking: &Ranking,
    step: usize,
) -> Result<(), TestCaseError> {
    let bits = |(target, score): (usize, f64)| (target, score.to_bits());
    for (query, expected) in expected(found, queries, targets, ranking, step) {
        let ours: Vec<_> = found.of(query).map(bits).collect();
        prop_assert_eq!(ours, expected.into_iter().map(bits).collect::<Vec<_>>(), "query {}", query);
    }
    Ok(())
}

/// Compares means with those of exhaustive search, to the bit.
pub fn check_means(
    found: &Found,
    queries: HostRows,
    targets: HostRows,
    ranking: &Ranking,
    step: usize,
) -> Result<(), TestCaseError> {
    for (query, best) in expected(found, queries, targets, ranking, step) {
        let mean = best.iter().map(|best| best.1).sum::<f64>() / best.len().max(1) as f64;
        prop_assert_eq!(found.means()[query].to_bits(), mean.to_bits(), "query {}", query);
    }
    Ok(())
}
