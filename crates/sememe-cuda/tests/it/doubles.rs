//! Projections, moments and ranks, against their definition: on the stand-in, and the kernels on a GPU.

use sememe_cuda::{
    Card, Cuda, Fault, LinearMap, PairRank, Projections, Projector, SecondMoments, StandIn, Vectors, second_moments,
};

use crate::exhaustive::Numbers;
use crate::gpu::gpus;

/// Largest difference of sums in double precision, as a part of the largest sum.
const TOLERANCE: f64 = 1e-9;

fn numbers_of(count: usize, numbers: &mut Numbers) -> Vec<f32> {
    (0..count).map(|_| (numbers.uniform() - 0.3) as f32).collect()
}

fn doubles(count: usize, numbers: &mut Numbers) -> Vec<f64> {
    (0..count).map(|_| numbers.uniform() - 0.5).collect()
}

/// Projects rows in tiles of any size.
fn check_projection<C: Projections>(card: C, [count, dim, latent]: [usize; 3]) -> Result<(), Fault> {
    let mut numbers = Numbers(11);
    let rows = numbers_of(count * dim, &mut numbers);
    let (shift, map) = (doubles(dim, &mut numbers), doubles(latent * dim, &mut numbers));
    let projector = Projector::new(card, LinearMap { shift: &shift, map: &map })?;
    let (mut images, mut squares) = (vec![f32::NAN; count * latent], vec![f64::NAN; count]);
    projector.project(&rows, &mut images)?;
    projector.squares(&rows, &mut squares)?;
    for (row, (image, square)) in rows.chunks_exact(dim).zip(images.chunks_exact(latent).zip(squares)) {
        let number = |map: &[f64]| -> f64 { (0..dim).map(|at| map[at] * (f64::from(row[at]) - shift[at])).sum() };
        let exact: Vec<f64> = map.chunks_exact(dim).map(number).collect();
        let largest = exact.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (found, exact) in image.iter().zip(&exact) {
            // Half a unit in the last place, and the roundings of the sum.
            let error = 0.51 * f64::from(f32::EPSILON) * exact.abs() + 1e-13 * largest;
            assert!((f64::from(*found) - exact).abs() <= error, "{found} {exact}");
        }
        let exact: f64 = exact.iter().map(|x| x * x).sum();
        assert!((square - exact).abs() <= 1e-12 * exact, "{square} {exact}");
    }
    Ok(())
}

/// Sums up rows, and returns the sums.
fn check_moments<C: SecondMoments>(card: &C, [count, dim]: [usize; 2]) -> Result<Vec<f64>, Fault> {
    let mut numbers = Numbers(13);
    let rows = numbers_of(count * dim, &mut numbers);
    let (shift, weights) = (doubles(dim, &mut numbers), (0..count).map(|_| numbers.uniform()).collect::<Vec<_>>());
    let found = second_moments(card, &shift, &weights, &|tile| rows[tile.start * dim..tile.end * dim].to_vec())?;
    let mut expected = vec![0.0; dim * (dim + 1)];
    let mut sums = vec![0.0; dim];
    for (row, weight) in rows.chunks_exact(dim).zip(&weights) {
        let number = |at: usize| f64::from(row[at]) - shift[at];
        for i in 0..dim {
            sums[i] += weight * number(i);
            (0..=i).for_each(|j| expected[i * (dim + 1) + j] += weight * number(i) * number(j));
        }
    }
    let largest = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let lower = |products: &[f64]| (0..dim).flat_map(|i| products[i * (dim + 1)..][..=i].to_vec()).collect::<Vec<_>>();
    let (found, expected) = ([found.of_rows, lower(&found.of_products)].concat(), [sums, lower(&expected)].concat());
    for (at, (ours, theirs)) in found.iter().zip(&expected).enumerate() {
        assert!((ours - theirs).abs() <= TOLERANCE * largest.max(count as f64), "{at}: {ours} {theirs}");
    }
    Ok(found)
}

#[test]
fn rows_are_projected_in_tiles_that_fit() {
    for bytes in [1 << 20, 9_000, 7_000] {
        for sizes in [[500, 7, 5], [70, 5, 9], [1, 1, 1]] {
            check_projection(StandIn::new(bytes), sizes).unwrap();
        }
    }
    // The map alone has 336 bytes.
    let too_small = check_projection(StandIn::new(300), [500, 7, 5]);
    assert!(matches!(too_small, Err(Fault::OutOfMemory)));
}

#[test]
fn moments_have_the_same_bits_in_tiles_of_any_size() {
    // The sums of eight parts of 7 x 7 numbers, and tiles of 4,096 and of 2,048 rows of 32 bytes.
    let of = |bytes: usize| check_moments(&StandIn::new(bytes), [9_000, 6]);
    let whole = of(1 << 24).unwrap();
    assert_eq!(of(300_000).unwrap(), whole);
    assert_eq!(of(100_000).unwrap(), whole);
    assert!(matches!(of(50_000), Err(Fault::OutOfMemory)));
    check_moments(&StandIn::new(1 << 20), [3, 2]).unwrap();
}

#[test]
fn gpu_projections_and_moments_are_those_of_double_precision() {
    for card in gpus().iter().take(1) {
        for sizes in [[1000, 300, 300], [129, 65, 64], [64, 64, 65], [63, 17, 130], [1, 1, 1]] {
            check_projection(card.clone(), sizes).unwrap();
        }
        // Several tiles of rows, more dimensions than have parts, and less than a block.
        for sizes in [[40_000, 430], [700, 1100], [2049, 64], [257, 63], [1, 1]] {
            check_moments(card, sizes).unwrap();
        }
        assert_eq!(check_moments(card, [5_000, 100]).unwrap(), check_moments(card, [5_000, 100]).unwrap());
    }
}

#[test]
fn gpu_memory_that_is_nearly_full_is_enough_for_smaller_tiles() {
    for card in gpus().iter().take(1) {
        let whole = check_moments(card, [40_000, 430]).unwrap();
        for left in [200 << 20, 40 << 20, 20 << 20, 1 << 20] {
            // What is free may be in pieces.
            let hogs: Vec<_> = std::iter::from_fn(|| {
                let wanted = card.free_bytes().unwrap().checked_sub(left).filter(|&wanted| wanted > left / 8)?;
                [1, 2, 4, 8, 16].into_iter().find_map(|part| card.lists(1, wanted / part / 8).ok())
            })
            .take(100)
            .collect();
            match check_moments(card, [40_000, 430]) {
                Ok(found) => assert_eq!(found, whole),
                Err(fault) => assert!(matches!(fault, Fault::OutOfMemory), "{fault}"),
            }
            match check_projection(card.clone(), [100_000, 300, 300]) {
                Ok(()) | Err(Fault::OutOfMemory) => {}
                Err(fault) => panic!("{fault}"),
            }
            drop(hogs);
        }
        assert_eq!(check_moments(card, [40_000, 430]).unwrap(), whole);
    }
}

#[test]
fn gpu_ranks_of_pairs_leave_out_other_pairs_of_the_same_words() {
    gpus().iter().take(1).for_each(check_ranks);
}

fn check_ranks(card: &Cuda) {
    let (count, dim, mut numbers) = (300, 20, Numbers(3));
    let [x, y] = [(); 2].map(|()| numbers_of(count * dim, &mut numbers));
    let words: Vec<[u32; 2]> = (0..count as u32).map(|pair| [pair / 2, pair % 250]).collect();
    let [of_x, of_y] = [&x, &y].map(|values| Vectors { values, dim });
    let products = card.products_of_rows(of_x, of_y).unwrap();
    for (at, product) in products.iter().enumerate() {
        let [a, b] = [&x[at / count * dim..][..dim], &y[at % count * dim..][..dim]];
        let exact: f64 = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        assert!((f64::from(*product) - exact).abs() < 1e-5);
    }
    let expected = |pair: usize| {
        let others = || (0..count).filter(|&at| (0..2).all(|side| words[at][side] != words[pair][side]));
        let own = products[pair * count + pair];
        PairRank {
            in_row: others().filter(|&at| products[pair * count + at] > own).count(),
            in_column: others().filter(|&at| products[at * count + pair] > own).count(),
            compared: others().count(),
        }
    };
    let found = card.ranks_of_pairs(of_x, of_y, &words).unwrap();
    assert_eq!(found, (0..count).map(expected).collect::<Vec<_>>());
}
