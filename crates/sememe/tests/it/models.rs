//! The other models: rivals against other software, MBFA against what must hold.

use proptest::prelude::*;
use sememe::lexicon::Tuples;
use sememe::model::mbfa::{self, Solver, Start};
use sememe::model::{self, FitOptions, LatentSize, Method, Model, Shrinkage};
use sememe::moments::Moments;
use sememe::vectors::Embeddings;
use serde::Deserialize;

use crate::golden::read_json;
use crate::samples::{embeddings_of_rows, many_views, named, paired_moments};
use crate::seeds::cases;

fn maximum_likelihood(method: Method) -> FitOptions {
    FitOptions::default().with_method(Some(method)).with_shrinkage(Shrinkage::None)
}

/// MBFA to the end.
fn thorough(latent: usize) -> FitOptions {
    let mbfa = mbfa::MbfaOptions::default().with_evaluations(20_000).with_tolerance(1e-13);
    maximum_likelihood(Method::Mbfa).with_latent(LatentSize::Of(latent)).with_mbfa(mbfa)
}

/// Moments of the views over tuples; `None` for a view that a tuple lacks.
fn moments_of(views: &[Embeddings], has: impl Fn(usize, usize) -> bool) -> Moments {
    let mut tuples = Tuples::new(views.len());
    for row in 0..views[0].len() {
        let tuple: Vec<Option<usize>> = (0..views.len()).map(|view| has(row, view).then_some(row)).collect();
        if tuple.iter().flatten().count() >= 2 {
            tuples.add(&tuple);
        }
    }
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    Moments::of(&named(names, views), &tuples).unwrap()
}

fn fit(moments: &Moments, options: &FitOptions) -> Model {
    model::fit(moments, options, &()).unwrap().0
}

fn likelihood(moments: &Moments, options: &FitOptions) -> f64 {
    fit(moments, options).log_likelihood.unwrap()
}

#[test]
fn rivals_agree_with_scipy_numpy_and_scikit_learn() {
    #[derive(Deserialize)]
    struct Rivals {
        x: Vec<Vec<f64>>,
        y: Vec<Vec<f64>>,
        fitted: usize,
        svd: Vec<Vec<f64>>,
        least_squares: Vec<Vec<f64>>,
        nipals_x: Vec<Vec<f64>>,
        nipals_y: Vec<Vec<f64>>,
    }
    let expected: Rivals = read_json("rivals.json");
    let cut =
        |rows: &[Vec<f64>], width: usize| -> Vec<Vec<f64>> { rows.iter().map(|row| row[..width].to_vec()).collect() };
    let check = |method: Method, width: usize, view: usize, answers: &[Vec<f64>], tolerance: f64| {
        let (x, y) = (&expected.x, &cut(&expected.y, width));
        let fitted = expected.fitted;
        let moments = paired_moments(&embeddings_of_rows(&x[..fitted]), &embeddings_of_rows(&y[..fitted]));
        let model = fit(&moments, &maximum_likelihood(method));
        let tested = embeddings_of_rows(&[x, y][view][fitted..]);
        let found = model.views[view].project(tested.matrix()).unwrap();
        for (i, answer) in answers.iter().enumerate() {
            for (found, expected) in found.row(i).iter().zip(answer) {
                assert!((f64::from(*found) - expected).abs() < tolerance, "{method}: {found} instead of {expected}");
            }
        }
    };
    check(Method::Svd, 4, 0, &expected.svd, 1e-5);
    check(Method::LeastSquares, 5, 0, &expected.least_squares, 1e-5);
    check(Method::CcaNipals, 5, 0, &expected.nipals_x, 1e-4);
    check(Method::CcaNipals, 5, 1, &expected.nipals_y, 1e-4);
}

#[test]
fn with_views_of_one_dimension_mbfa_is_factor_analysis() {
    #[derive(Deserialize)]
    struct Factors {
        data: Vec<Vec<f64>>,
        log_likelihood: f64,
    }
    let expected: Factors = read_json("factor_analysis.json");
    let column = |j: usize| embeddings_of_rows(&expected.data.iter().map(|row| vec![row[j]]).collect::<Vec<_>>());
    let views: Vec<Embeddings> = (0..expected.data[0].len()).map(column).collect();
    let moments = moments_of(&views, |_, _| true);
    let found = likelihood(&moments, &thorough(1));
    assert!((found - expected.log_likelihood).abs() < 1e-3, "{found} instead of {}", expected.log_likelihood);
    assert!(model::fit(&moments, &thorough(2), &()).unwrap_err().to_string().contains("from 1 to 1"));
}

#[test]
fn a_direct_method_has_no_density() {
    let views = many_views(60, &[3, 3], 1);
    let model = fit(&moments_of(&views, |_, _| true), &maximum_likelihood(Method::Svd));
    let error = model.posterior_covariance(&[0]).unwrap_err().to_string();
    assert!(error.contains("svd has no density"), "{error}");
}

#[test]
fn views_that_nothing_connects_are_named() {
    let views = many_views(80, &[2, 2, 2, 2], 3);
    let moments = moments_of(&views, |row, view| if row % 2 == 0 { view < 2 } else { view >= 2 });
    let error = model::fit(&moments, &maximum_likelihood(Method::Mbfa), &()).unwrap_err().to_string();
    assert!(error.contains("{a, b}") && error.contains("{c, d}"), "{error}");
}

#[test]
fn pairs_with_one_view_in_common_align_the_other_two() {
    let views = many_views(600, &[12, 14, 12], 9);
    let found_among_ten = |moments: &Moments| {
        let model = fit(moments, &thorough(3));
        let first = model.views[0].project(views[0].matrix()).unwrap();
        let last = model.views[2].project(views[2].matrix()).unwrap();
        let found = sememe::retrieve::nearest(&first, &last, 10, Default::default()).unwrap();
        found.iter().enumerate().filter(|(row, hits)| hits.iter().any(|hit| hit.index == *row)).count()
    };
    // No tuple has both the first and the last view.
    let pairs = moments_of(&views, |row, view| if row % 2 == 0 { view != 2 } else { view != 0 });
    let (from_pairs, from_triples) = (found_among_ten(&pairs), found_among_ten(&moments_of(&views, |_, _| true)));
    assert!(from_pairs > 100 && 5 * from_pairs > 4 * from_triples, "{from_pairs} and {from_triples} of 600");
}

#[test]
fn the_data_choose_the_latent_size() {
    // Three hidden dimensions, as the samples are made.
    let views = many_views(2000, &[8, 9, 7], 11);
    let auto = |method: Method| maximum_likelihood(method).with_latent(LatentSize::Auto);
    let pairs = paired_moments(&views[0], &views[1]);
    assert_eq!(fit(&pairs, &auto(Method::Ibfa)).latent(), 3);
    let triples = moments_of(&views, |row, view| row % 7 != view);
    assert_eq!(fit(&triples, &auto(Method::Mbfa)).latent(), 3);
    assert!(model::fit(&pairs, &auto(Method::CcaNipals), &()).unwrap_err().to_string().contains("no likelihood"));
}

#[test]
fn mbfa_gives_the_same_bits_on_any_number_of_threads() {
    // Wide enough for matrix products to be split among threads.
    let views = many_views(300, &[70, 80, 70], 4);
    let moments = moments_of(&views, |row, view| row % 3 != view || row % 2 == 0);
    let options = FitOptions::default().with_mbfa(mbfa::MbfaOptions::default().with_evaluations(8));
    let models = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&moments, &options))
    });
    for other in &models[1..] {
        assert_eq!(other.trace, models[0].trace);
        for (view, same) in models[0].views.iter().zip(&other.views) {
            assert_eq!((&view.projection, &view.emission), (&same.projection, &same.emission));
        }
    }
}

#[test]
fn a_fit_ends_where_nothing_changes_any_more() {
    // As many latent dimensions as the samples have: fewer can lead along a plateau.
    let views = many_views(400, &[5, 6, 5], 21);
    for complete in [true, false] {
        let moments = moments_of(&views, |row, view| complete || row % 4 != view);
        let options = maximum_likelihood(Method::Mbfa).with_latent(LatentSize::Of(3));
        let trace = fit(&moments, &options).trace.unwrap();
        assert!(trace.converged && trace.rise.unwrap() < 1e-8 && trace.residual < 1e-4, "{trace:?}");
        assert_eq!(trace.certificate.is_some(), complete);
        assert!(trace.certificate.is_none_or(|certificate| certificate < 1e-4) && trace.evaluations < 100, "{trace:?}");
    }
}

#[test]
fn random_starts_lead_to_the_same_likelihood() {
    let views = many_views(400, &[4, 4, 4], 17);
    let moments = moments_of(&views, |_, _| true);
    let informed = likelihood(&moments, &thorough(3));
    for seed in 0..8 {
        let mut options = thorough(3);
        options.mbfa.start = Start::Random(seed);
        let random = likelihood(&moments, &options);
        assert!((informed - random).abs() < 1e-4 * informed.abs(), "{informed} and {random} from seed {seed}");
    }
}

#[test]
fn the_order_of_views_does_not_matter() {
    for seed in 0..6 {
        let views = many_views(400, &[4, 5, 4], seed);
        let permuted: Vec<Embeddings> = [2, 0, 1].iter().map(|&view| views[view].clone()).collect();
        let straight = likelihood(&moments_of(&views, |_, _| true), &thorough(3));
        let turned = likelihood(&moments_of(&permuted, |_, _| true), &thorough(3));
        assert!((straight - turned).abs() < 1e-5 * straight.abs(), "{straight} and {turned} from seed {seed}");
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn em_on_two_views_reaches_the_closed_form(seed: u64, latent in 1_usize..=3) {
        let views = many_views(100, &[3, 4], seed);
        let moments = moments_of(&views, |_, _| true);
        let closed = likelihood(&moments, &maximum_likelihood(Method::Ibfa).with_latent(LatentSize::Of(latent)));
        let iterated = likelihood(&moments, &thorough(latent));
        prop_assert!((closed - iterated).abs() < 1e-4 * closed.abs().max(1.0), "{closed} {iterated}");
    }

    #[test]
    fn no_accepted_step_lowers_the_likelihood(seed: u64, holes in any::<bool>(), plain in any::<bool>()) {
        let views = many_views(90, &[3, 2, 4], seed);
        let moments = moments_of(&views, |row, view| !holes || row % 4 == 3 || row % 4 != view);
        let solver = if plain { Solver::Em } else { Solver::Accelerated };
        let mbfa = mbfa::MbfaOptions::default().with_solver(solver).with_start(Start::Random(seed)).with_evaluations(200);
        let model = fit(&moments, &maximum_likelihood(Method::Mbfa).with_latent(LatentSize::Of(2)).with_mbfa(mbfa));
        let values = model.trace.unwrap().negative_log_likelihoods;
        prop_assert!(values.len() > 3);
        prop_assert!(values.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9 * pair[0].abs()), "{values:?}");
        // The trace and the general likelihood agree.
        let total = -values.last().unwrap() * moments.count();
        prop_assert!((model.log_likelihood.unwrap() - total).abs() < 1e-6 * total.abs());
    }
}
