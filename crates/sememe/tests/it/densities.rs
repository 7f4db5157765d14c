//! Densities against the stacked covariance, which the library never forms.

use proptest::prelude::*;
use sememe::linalg::{Cholesky, Mat, times};
use sememe::model::{FitOptions, LatentSize, Method, Model, Shrinkage, fit};
use sememe::vectors::Embeddings;

use crate::samples::{many_views, paired_moments, sigma};
use crate::seeds::cases;

/// A model of two views with fewer latent dimensions than would reproduce the data, and the data.
fn fitted(seed: u64) -> (Model, Vec<Embeddings>) {
    let views = many_views(80, &[3, 4], seed);
    let options = FitOptions::default().with_latent(LatentSize::Of(2)).with_shrinkage(Shrinkage::By(0.1));
    (fit(&paired_moments(&views[0], &views[1]), &options, &()).unwrap().0, views)
}

/// `log N(x; mu, Sigma)` from the matrix itself.
fn gaussian(x: &[f64], mu: &[f64], covariance: &Mat) -> f64 {
    let factor = Cholesky::new(covariance, "a covariance").unwrap();
    let offset = Mat::from_fn(x.len(), 1, |i, _| x[i] - mu[i]);
    let whitened = factor.solve_lower(&offset);
    let distance: f64 = (0..x.len()).map(|i| whitened[(i, 0)].powi(2)).sum();
    -0.5 * (x.len() as f64 * (2.0 * std::f64::consts::PI).ln() + factor.log_det() + distance)
}

fn as_f64(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn block(a: &Mat, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Mat {
    a.submatrix(rows.start, cols.start, rows.len(), cols.len()).to_owned()
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn densities_pmi_and_reconstruction_agree_with_the_stacked_covariance(seed: u64, row in 0_usize..80) {
        let (model, views) = fitted(seed);
        let (x, y) = (views[0].vector(row), views[1].vector(row));
        let of_rows = model.log_densities(0, views[0].matrix()).unwrap();
        prop_assert!((of_rows[row] - model.density(&[0]).unwrap().log(&[x]).unwrap()).abs() < 1e-9);
        let whole = sigma(&model);
        let mu: Vec<f64> = model.views.iter().flat_map(|view| view.mu.clone()).collect();
        let joint = gaussian(&[as_f64(x), as_f64(y)].concat(), &mu, &whole);
        let of_x = gaussian(&as_f64(x), &mu[..3], &block(&whole, 0..3, 0..3));
        let of_y = gaussian(&as_f64(y), &mu[3..], &block(&whole, 3..7, 3..7));
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-8 * expected.abs().max(1.0);

        let both = model.density(&[0, 1]).unwrap();
        prop_assert!(close(both.log(&[x, y]).unwrap(), joint));
        let rows = [views[0].matrix(), views[1].matrix()];
        prop_assert!(close(both.logs(&rows).unwrap()[row], joint));
        let mean = both.posterior_mean(&[x, y]).unwrap();
        let means = both.posterior_means(&rows).unwrap();
        prop_assert!(means.row(row).iter().zip(&mean).all(|(&found, &mean)| (f64::from(found) - mean).abs() < 1e-5));
        prop_assert!(both.logs(&rows[..1]).is_err() && both.logs(&[rows[0], rows[0]]).is_err());
        prop_assert!(close(model.density(&[1]).unwrap().log(&[y]).unwrap(), of_y));
        prop_assert!(close(model.pmi((0, x), (1, y)).unwrap(), joint - of_x - of_y));
        prop_assert!(close(model.pmi((1, y), (0, x)).unwrap(), joint - of_x - of_y));
        let parts = model.reconstruction((0, x), (1, y)).unwrap();
        prop_assert!(close(parts.sum(), joint));
        prop_assert!(parts.of_own <= 0.0 && parts.of_other <= 0.0);
    }

    #[test]
    fn the_conditional_is_the_regression_of_one_view_on_the_other(seed: u64) {
        let (model, _) = fitted(seed);
        let whole = sigma(&model);
        let of_x = Cholesky::new(&block(&whole, 0..3, 0..3), "x").unwrap();
        let cross = block(&whole, 0..3, 3..7);
        let regression = of_x.solve(&cross).transpose().to_owned();
        let conditional = model.conditional(0, 1).unwrap();
        prop_assert!((&conditional.map - &regression).norm_max() < 1e-9);
        let open = block(&whole, 3..7, 3..7) - times(&regression, &cross);
        prop_assert!((&conditional.covariance - open).norm_max() < 1e-9);
    }

    #[test]
    fn one_view_alone_gives_its_projection_and_both_say_more(seed: u64, row in 0_usize..80) {
        let (model, views) = fitted(seed);
        let alone = model.density(&[0]).unwrap().posterior_mean(&[views[0].vector(row)]).unwrap();
        let projected = model.views[0].project(views[0].matrix()).unwrap();
        for (alone, projected) in alone.iter().zip(projected.row(row)) {
            prop_assert!((alone - f64::from(*projected)).abs() < 1e-5);
        }
        let variance = |views: &[usize]| {
            let covariance = model.posterior_covariance(views).unwrap();
            (0..covariance.nrows()).map(|i| covariance[(i, i)]).sum::<f64>()
        };
        prop_assert!(variance(&[0, 1]) < variance(&[0]) && variance(&[0, 1]) < variance(&[1]));
    }
}

#[test]
fn samples_have_the_covariance_of_the_model_and_repeat_with_their_seed() {
    let (model, _) = fitted(3);
    let n = 40_000;
    let drawn = model.sample(n, 7).unwrap();
    assert_eq!(drawn[1].as_slice(), model.sample(n, 7).unwrap()[1].as_slice());
    let row = |i: usize| [as_f64(drawn[0].row(i)), as_f64(drawn[1].row(i))].concat();
    let mu: Vec<f64> = model.views.iter().flat_map(|view| view.mu.clone()).collect();
    let mut covariance = Mat::zeros(7, 7);
    for i in 0..n {
        let row = row(i);
        for a in 0..7 {
            (0..7).for_each(|b| covariance[(a, b)] += (row[a] - mu[a]) * (row[b] - mu[b]) / n as f64);
        }
    }
    let whole = sigma(&model);
    let largest = (0..7).map(|i| whole[(i, i)]).fold(0.0, f64::max);
    assert!((covariance - whole).norm_max() < 0.03 * largest);
}

#[test]
fn wrong_questions_are_refused() {
    let (model, views) = fitted(1);
    let both = model.density(&[0, 1]).unwrap();
    assert!(both.log(&[views[0].vector(0)]).unwrap_err().to_string().contains("each of the 2 views"));
    let error = both.log(&[views[1].vector(0), views[0].vector(0)]).unwrap_err().to_string();
    assert!(error.contains("dimension is 4"), "{error}");
    let options = FitOptions::default().with_method(Some(Method::Cca));
    let (cca, _) = fit(&paired_moments(&views[0], &views[1]), &options, &()).unwrap();
    assert!(cca.pmi((0, views[0].vector(0)), (1, views[1].vector(0))).unwrap_err().to_string().contains("no density"));
}
