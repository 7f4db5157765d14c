//! What must hold whatever the data are.

use proptest::prelude::*;
use sememe::model::{FitOptions, LatentSize, Model, Shrinkage, ibfa};
use sememe::vectors::{Embeddings, Matrix};

use crate::random::Random;
use crate::samples::{paired_moments, sigma, two_views};
use crate::seeds::cases;

fn maximum_likelihood(latent: LatentSize) -> FitOptions {
    FitOptions::default().with_latent(latent).with_shrinkage(Shrinkage::None)
}

fn fit(x: &Embeddings, y: &Embeddings) -> Model {
    ibfa::fit(&paired_moments(x, y), &maximum_likelihood(LatentSize::Largest)).unwrap().0
}

/// Inner products of the latent vectors of the first rows, which no rotation of the latent space changes.
fn inner_products(model: &Model, x: &Embeddings, y: &Embeddings) -> Vec<f64> {
    let (zx, zy) = (model.views[0].project(x.matrix()).unwrap(), model.views[1].project(y.matrix()).unwrap());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
    (0..5).flat_map(|i| (0..5).map(move |j| (i, j))).map(|(i, j)| dot(zx.row(i), zy.row(j))).collect()
}

fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<(), TestCaseError> {
    for (found, expected) in found.iter().zip(expected) {
        prop_assert!((found - expected).abs() < tolerance, "{found} instead of {expected}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn an_affine_map_of_one_view_changes_nothing_that_matters(seed: u64, scale in 0.5_f32..3.0, turn in 0.0_f32..6.3) {
        let (x, y) = two_views(80, 3, 4, seed);
        // Scale and shift every coordinate, and turn the first two against each other.
        let moved: Vec<f32> = x.matrix().as_slice().chunks_exact(3).flat_map(|row| {
            let (sin, cos) = turn.sin_cos();
            [scale * (cos * row[0] - sin * row[1]) + 1.0, 0.5 * (sin * row[0] + cos * row[1]), 2.0 * row[2] - 7.0]
        }).collect();
        let moved = Embeddings::new(x.vocabulary().clone(), Matrix::new(moved, 3));
        let (before, after) = (fit(&x, &y), fit(&moved, &y));
        assert_all_close(&after.rho, &before.rho, 1e-4)?;
        assert_all_close(&inner_products(&after, &moved, &y), &inner_products(&before, &x, &y), 1e-3)?;
        // The density is divided by the determinant of the map, once per pair.
        let shift = 80.0 * f64::from(scale * 0.5 * 2.0).ln();
        prop_assert!((before.log_likelihood.unwrap() - shift - after.log_likelihood.unwrap()).abs() < 0.05);
    }

    #[test]
    fn exchanging_the_views_exchanges_the_model(seed: u64) {
        let (x, y) = two_views(80, 3, 4, seed);
        let (forth, back) = (fit(&x, &y), fit(&y, &x));
        assert_all_close(&back.rho, &forth.rho, 1e-10)?;
        prop_assert!((back.log_likelihood.unwrap() - forth.log_likelihood.unwrap()).abs() < 1e-7);
        let mut exchanged = inner_products(&back, &y, &x);
        exchanged = (0..25).map(|at| exchanged[at % 5 * 5 + at / 5]).collect();
        assert_all_close(&exchanged, &inner_products(&forth, &x, &y), 1e-5)?;
    }

    #[test]
    fn full_model_reproduces_the_covariances(seed: u64) {
        let (x, y) = two_views(80, 3, 4, seed);
        let moments = paired_moments(&x, &y);
        let covariance = moments.patterns()[&vec![0, 1]].covariance();
        prop_assert!((sigma(&fit(&x, &y)) - covariance).norm_max() < 1e-9);
    }

    #[test]
    fn automatic_shrinkage_leaves_well_determined_correlations_alone(seed: u64) {
        // Nearly white views: the best target for shrinkage, and no reason to shrink what they share.
        let (x, _) = two_views(4000, 3, 3, seed);
        let mut random = Random::new(!seed);
        let white: Vec<f32> = (0..3 * 4000).map(|_| (2.0 * random.uniform() - 1.0) as f32).collect();
        let noisy: Vec<f32> = white.iter().zip(x.matrix().as_slice()).map(|(w, n)| w + 0.05 * n).collect();
        let words = x.vocabulary().clone();
        let (a, b) = (Embeddings::new(words.clone(), Matrix::new(white, 3)), Embeddings::new(words, Matrix::new(noisy, 3)));
        let (auto, _) = ibfa::fit(&paired_moments(&a, &b), &FitOptions::default()).unwrap();
        // Of white numbers the variances of a sample of 4000 are up to a twentieth from their mean, and shrinkage takes as much.
        assert_all_close(&auto.rho, &fit(&a, &b).rho, 0.1)?;
    }

    #[test]
    fn likelihood_rises_with_the_latent_size(seed: u64) {
        let (x, y) = two_views(80, 3, 4, seed);
        let moments = paired_moments(&x, &y);
        let likelihoods: Vec<f64> = (1..=3)
            .map(|k| ibfa::fit(&moments, &maximum_likelihood(LatentSize::Of(k))).unwrap().0.log_likelihood.unwrap())
            .collect();
        prop_assert!(likelihoods.is_sorted(), "{likelihoods:?}");
    }

    #[test]
    fn few_constant_or_repeated_rows_never_give_nan(seed: u64, rows in 2_usize..8, constant in any::<bool>()) {
        let (x, y) = two_views(rows, 5, 4, seed);
        let values = x.matrix().as_slice().iter().enumerate().map(|(at, &v)| if constant && at % 5 == 2 { 1.0 } else { v });
        let x = Embeddings::new(x.vocabulary().clone(), Matrix::new(values.collect(), 5));
        for shrinkage in [Shrinkage::Auto, Shrinkage::None, Shrinkage::By(0.3)] {
            let (model, warnings) = ibfa::fit(&paired_moments(&x, &y), &FitOptions::default().with_shrinkage(shrinkage)).unwrap();
            prop_assert!(rows > 5 || !warnings.is_empty());
            prop_assert!(model.log_likelihood.unwrap().is_finite());
            let projected = model.views[0].project(x.matrix()).unwrap();
            prop_assert!(projected.as_slice().iter().all(|z| z.is_finite()));
        }
    }
}
