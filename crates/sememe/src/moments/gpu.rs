//! Moments of many rows on a GPU. Sums are in another order than on the CPU, so that the last digits differ.

use std::ops::Range;

use rayon::prelude::*;
use sememe_cuda::{Fault, SecondMoments, second_moments};

use crate::device::{card_for_doubles, fell_back};
use crate::lexicon::Group;
use crate::linalg::Mat;
use crate::vectors::Matrix;

/// `Σ w x` and `Σ w x xᵀ` of the tuples of a group, of which each view has a shift that is subtracted first; none if the CPU
/// has to compute them.
pub(super) fn sums(views: &[(&Matrix, &[f64])], group: &Group) -> Option<(Vec<f64>, Mat)> {
    let dim: usize = views.iter().map(|(matrix, _)| matrix.cols()).sum();
    let card = card_for_doubles(group.weights.len() * dim * dim / 2)?;
    sums_on(&card, views, group).map_err(fell_back).ok()
}

/// [`sums`] on a card.
pub(super) fn sums_on<C: SecondMoments>(
    card: &C,
    views: &[(&Matrix, &[f64])],
    group: &Group,
) -> Result<(Vec<f64>, Mat), Fault> {
    let shift: Vec<f64> = views.iter().flat_map(|(_, shift)| shift.iter().copied()).collect();
    let dim = shift.len();
    let rows = |tile: Range<usize>| {
        let mut rows = vec![0.0_f32; tile.len() * dim];
        let tuples = &group.indices[tile.start * views.len()..tile.end * views.len()];
        rows.par_chunks_exact_mut(dim).zip(tuples.par_chunks_exact(views.len())).for_each(|(mut rest, tuple)| {
            for (&index, (matrix, _)) in tuple.iter().zip(views) {
                let (own, others) = rest.split_at_mut(matrix.cols());
                own.copy_from_slice(matrix.row(index as usize));
                rest = others;
            }
        });
        rows
    };
    let summed = second_moments(card, &shift, &group.weights, &rows)?;
    let products = Mat::from_fn(dim, dim, |i, j| summed.of_products[i.max(j) * (dim + 1) + i.min(j)]);
    Ok((summed.of_rows, products))
}

#[cfg(test)]
mod tests {
    use sememe_cuda::StandIn;

    use super::super::{pilot_means, sums_on_cpu};
    use super::*;
    use crate::lexicon::Tuples;
    use crate::random::Random;
    use crate::vectors::View;

    #[test]
    fn sums_on_a_card_are_those_of_the_cpu() {
        let mut random = Random::new(3);
        let views = [5, 3].map(|dim| {
            View::new("", Matrix::new((0..4000 * dim).map(|_| 2.0 + 2.0 * random.uniform() as f32).collect(), dim))
        });
        let mut tuples = Tuples::new(2);
        for row in 0..4000 {
            assert!(tuples.add_weighted(&[Some(row), Some(row * 7 % 4000)], random.uniform()).unwrap());
        }
        let group = &tuples.by_pattern()[&vec![0, 1]];
        let shifts = pilot_means(&views, &tuples);
        let shifted: Vec<_> = views.iter().zip(&shifts).map(|(view, shift)| (view.rows(), &shift[..])).collect();
        let (sum, products) = sums_on_cpu(&shifted, group);
        let largest = products.norm_max();
        // All rows at a time, and tiles of 2,048.
        for bytes in [1 << 20, 100_000] {
            let (found, of_products) = sums_on(&StandIn::new(bytes), &shifted, group).unwrap();
            assert!((&of_products - &products).norm_max() < 1e-9 * largest);
            assert!(found.iter().zip(&sum).all(|(x, y)| (x - y).abs() < 1e-9 * largest));
        }
    }
}
