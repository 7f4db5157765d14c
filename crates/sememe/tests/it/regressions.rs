//! What broke once, named after how it broke.

use sememe::align::{AlignOptions, align};
use sememe::lexicon::Tuples;
use sememe::model::mbfa::{MbfaOptions, Solver};
use sememe::model::{self, FitOptions, FitWarning, LatentSize, Method, Shrinkage};
use sememe::moments::Moments;
use sememe::vectors::{Matrix, View};

use crate::samples::{complete_tuples, many_views, moments_of_complete, numbered};

#[test]
fn four_views_with_a_full_latent_size_are_warned_of_as_three_are() {
    for dims in [&[4, 4, 4][..], &[4, 5, 4, 6]] {
        let options = FitOptions::default()
            .with_latent(LatentSize::Of(4))
            .with_shrinkage(Shrinkage::By(0.1))
            .with_mbfa(MbfaOptions::default().with_evaluations(5));
        let (_, warnings) = model::fit(&moments_of_complete(&many_views(80, dims, 3)), &options, &()).unwrap();
        assert!(warnings.contains(&FitWarning::FullLatent { latent: 4 }), "{dims:?}: {warnings:?}");
    }
}

#[test]
fn methods_without_shrinkage_may_be_told_not_to_shrink() {
    let check = |shrinkage: Shrinkage| {
        let fit = FitOptions::default().with_method(Some(Method::Svd)).with_shrinkage(shrinkage);
        AlignOptions::default().with_fit(fit).check(&["x", "y"], &["shrinkage"])
    };
    assert!(check(Shrinkage::None).is_ok());
    assert!(check(Shrinkage::Auto).is_err() && check(Shrinkage::By(0.1)).is_err());
}

#[test]
fn much_shrinkage_does_not_hide_latent_dimensions() {
    let views = numbered(&many_views(400, &[12, 10], 3));
    let size = |shrinkage: Shrinkage| {
        let fit = FitOptions::default().with_latent(LatentSize::Auto).with_shrinkage(shrinkage);
        let options = AlignOptions::default().with_fit(fit);
        align(views.clone(), &complete_tuples(2, 400), &options, &()).unwrap().alignment.model.latent()
    };
    let expected = size(Shrinkage::Oas);
    assert!(expected > 1);
    assert_eq!([size(Shrinkage::Auto), size(Shrinkage::By(0.9))], [expected; 2]);
}

#[test]
fn resuming_with_other_weights_blames_the_dictionaries() {
    let views = numbered(&many_views(60, &[4, 5, 3], 8));
    let weighted = |weight: f64| {
        let mut tuples = Tuples::new(3);
        (0..60).for_each(|row| assert!(tuples.add_weighted(&[Some(row); 3], weight).unwrap()));
        tuples
    };
    let options = AlignOptions::default().with_fit(
        FitOptions::default()
            .with_method(Some(Method::Mbfa))
            .with_shrinkage(Shrinkage::By(0.1))
            .with_mbfa(MbfaOptions::default().with_evaluations(8)),
    );
    let before = align(views.clone(), &weighted(1.0), &options, &()).unwrap().alignment;
    let options = options.with_resume(Some(before));
    assert!(align(views.clone(), &weighted(1.0), &options, &()).is_ok());
    let error = align(views, &weighted(0.5), &options, &()).unwrap_err().to_string();
    assert!(error.contains("the dictionaries") && !error.contains("monolingual"), "{error}");
}

#[test]
fn plain_em_survives_noise_that_vanishes() {
    // Three invertible pictures of the same rows: the best noise is none, and EM computes it as a difference.
    let hidden = &many_views(90, &[3], 4)[0];
    let picture = |name: &str, seed: usize| {
        let turned = |row: usize, col: usize| -> f32 {
            let weight = |k: usize| ((seed * 7 + col * 3 + k) as f32).sin() + if k == col { 2.0 } else { 0.0 };
            hidden.vector(row).iter().enumerate().map(|(k, x)| weight(k) * x).sum()
        };
        let values = (0..hidden.len()).flat_map(|row| (0..3).map(move |col| (row, col)));
        View::new(name, Matrix::new(values.map(|(row, col)| turned(row, col)).collect(), 3))
    };
    let views = [picture("a", 1), picture("b", 2), picture("c", 3)];
    let moments = Moments::of(&views, &complete_tuples(3, hidden.len())).unwrap();
    let options = FitOptions::default()
        .with_shrinkage(Shrinkage::None)
        .with_mbfa(MbfaOptions::default().with_solver(Solver::Em).with_evaluations(3000).with_tolerance(0.0));
    let (model, warnings) = model::fit(&moments, &options, &()).unwrap();
    assert!(model.log_likelihood.unwrap().is_finite());
    assert!(warnings.iter().any(|warning| matches!(warning, FitWarning::Heywood { .. })), "{warnings:?}");
}

#[test]
fn calibration_keeps_the_monolingual_rows_that_the_fit_keeps() {
    let views = numbered(&many_views(400, &[6, 6], 9));
    let calibrations = |monolingual: Option<f64>| {
        let mut options = AlignOptions::default();
        options.fit.shrinkage = Shrinkage::By(0.1);
        options.fit.method = Some(Method::Mbfa);
        options.evidence.monolingual = monolingual;
        align(views.clone(), &complete_tuples(2, 120), &options, &()).unwrap().alignment.calibrations
    };
    let (without, with) = (calibrations(None), calibrations(Some(5.0)));
    assert!(!without.is_empty() && without.len() == with.len());
    assert_ne!(without, with, "monolingual rows make another model, which is calibrated otherwise");
}
