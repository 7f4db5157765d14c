//! The search on the stand-in, against exhaustive search: everything but the kernels.

use proptest::prelude::*;
use sememe_cuda::{Card, Fault, HostRows, Ranking, StandIn, Wanted, means_of_both, nearest, nearest_of_host};

use crate::exhaustive::{Numbers, check, check_means, excluded, rows, unit_factors};

/// Enough for every search of these tests.
const PLENTY: usize = 1 << 30;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_found_is_what_exhaustive_search_finds(
        seed: u64, counts in [1_usize..40, 1_usize..3000], dim in 1_usize..40, k in 1_usize..60,
        among in 1_usize..4000, magnitude in prop::sample::select(vec![1.0, 1e3, 1e9]), is_biased: bool, is_cosine: bool,
        memory in prop::sample::select(vec![PLENTY, 1_500_000]),
    ) {
        let mut numbers = Numbers(seed);
        let [x, y] = counts.map(|count| rows(count, dim, &mut numbers, magnitude));
        let factors = |values: &[f32]| match is_cosine {
            true => unit_factors(values, dim),
            false => vec![1.5; values.len() / dim],
        };
        let (of_x, of_y) = (factors(&x), factors(&y));
        let [queries, targets] = [(&x, &of_x), (&y, &of_y)].map(|(values, factors)| HostRows { values, dim, factors });
        let mut bias = excluded(&of_y);
        if is_biased {
            bias.iter_mut().for_each(|bias| *bias += numbers.uniform() - 0.5);
        }
        let ranking = Ranking { scale: 2.0, bias: &bias, k, among };

        let card = StandIn::new(memory);
        match card.upload(queries).and_then(|a| Ok((a, card.upload(targets)?))) {
            Ok((resident, others)) => match nearest(&card, &resident, &others, &ranking, Wanted::Targets, &|_| true) {
                Ok(found) => check(&found, queries, targets, &ranking, 1)?,
                Err(Fault::OutOfMemory) => prop_assert!(memory < PLENTY),
                Err(other) => prop_assert!(false, "{}", other),
            },
            Err(fault) => prop_assert!(memory < PLENTY && matches!(fault, Fault::OutOfMemory)),
        }
        let pieces = nearest_of_host(&StandIn::new(memory), queries, targets, &ranking, &|_| true);
        match pieces {
            Ok(found) => check(&found, queries, targets, &ranking, 1)?,
            Err(fault) => prop_assert!(memory < PLENTY && matches!(fault, Fault::OutOfMemory), "{}", fault),
        }
    }

    #[test]
    fn both_directions_are_those_of_two_searches(
        seed: u64, counts in [1_usize..2500, 1_usize..2500], dim in 1_usize..20, k in 1_usize..12,
        memory in prop::sample::select(vec![PLENTY, 2_000_000]),
    ) {
        let mut numbers = Numbers(seed);
        let values = counts.map(|count| rows(count, dim, &mut numbers, 1e3));
        let factors = [0, 1].map(|side: usize| unit_factors(&values[side], dim));
        let bias = [0, 1].map(|side: usize| excluded(&factors[side]));
        let sides = [0, 1].map(|side| HostRows { values: &values[side], dim, factors: &factors[side] });
        let card = StandIn::new(memory);
        let (Ok(first), Ok(second)) = (card.upload(sides[0]), card.upload(sides[1])) else { return Ok(()) };
        let [forth, back] = match means_of_both(&card, [&first, &second], [&bias[0], &bias[1]], k, &|_| true) {
            Err(Fault::OutOfMemory) if memory < PLENTY => return Ok(()),
            found => found.unwrap(),
        };
        let ranking = |side: usize| Ranking { scale: 1.0, bias: &bias[side], k, among: usize::MAX };
        check_means(&forth, sides[0], sides[1], &ranking(1), 1)?;
        check_means(&back, sides[1], sides[0], &ranking(0), 1)?;
    }
}

/// Distinct rows: everything must be decided on the card.
#[test]
fn distinct_rows_are_all_resolved() {
    let (dim, mut numbers) = (24, Numbers(7));
    let mut random = |count: usize| (0..count * dim).map(|_| (numbers.uniform() - 0.5) as f32).collect::<Vec<_>>();
    let (x, y) = (random(300), random(20_000));
    let (of_x, of_y) = (unit_factors(&x, dim), unit_factors(&y, dim));
    let [queries, targets] = [(&x, &of_x), (&y, &of_y)].map(|(values, factors)| HostRows { values, dim, factors });
    let bias = vec![0.0; 20_000];
    let card = StandIn::new(PLENTY);
    let [a, b] = [queries, targets].map(|rows| card.upload(rows).unwrap());
    for k in [1, 10, 100] {
        let ranking = Ranking { scale: 1.0, bias: &bias, k, among: usize::MAX };
        let found = nearest(&card, &a, &b, &ranking, Wanted::Targets, &|_| true).unwrap();
        assert!(found.unresolved.is_empty(), "k = {k}: {:?}", found.unresolved);
        check(&found, queries, targets, &ranking, 1).unwrap();
    }
}

#[test]
fn work_that_is_stopped_says_so() {
    let (values, factors, bias) = (vec![1.0_f32; 64], vec![1.0; 16], vec![0.0; 16]);
    let rows = HostRows { values: &values, dim: 4, factors: &factors };
    let ranking = Ranking { scale: 1.0, bias: &bias, k: 2, among: 16 };
    let stopped = nearest_of_host(&StandIn::new(PLENTY), rows, rows, &ranking, &|_| false);
    assert!(matches!(stopped, Err(Fault::Stopped)));
}
