//! Exponents and criteria that held-out translations choose.

use sememe::align::{AlignOptions, Aligned, align, fit_evidence};
use sememe::lexicon::Tuples;
use sememe::model::{Exponent, FinishSteps, FitOptions, Method, Shrinkage};
use sememe::moments::{Evidence, EvidenceOptions};
use sememe::retrieve::{Criterion, TunedCriterion};
use sememe::space::Space;
use sememe::vectors::{Matrix, View};

use crate::random::Random;
use crate::samples::complete_tuples;

const ROWS: usize = 900;
const TRAINED: usize = 700;
const DIM: usize = 12;

/// Noisy images of hidden rows. Half of the dimensions are mostly noise, so that the others should have more weight.
fn views(names: &[&str]) -> Vec<View> {
    let mut random = Random::new(5);
    let hidden: Vec<f64> = (0..ROWS * DIM).map(|_| random.normal()).collect();
    let noise = |at: usize| if at < DIM / 2 { 0.3 } else { 6.0 };
    let view = |name: &&str| {
        let values = hidden.iter().enumerate().map(|(at, x)| (x + noise(at % DIM) * random.normal()) as f32);
        View::new(*name, Matrix::new(values.collect(), DIM))
    };
    names.iter().map(view).collect()
}

fn options() -> FitOptions {
    FitOptions::default().with_shrinkage(Shrinkage::By(0.05)).with_finish(FinishSteps::None)
}

fn aligned(names: &[&str], options: &AlignOptions) -> Aligned {
    align(views(names), &complete_tuples(names.len(), TRAINED), options, &()).unwrap()
}

fn exponents(aligned: &Aligned) -> Vec<Option<f64>> {
    aligned.alignment.model.finishes.iter().map(|finish| finish.exponent).collect()
}

#[test]
fn an_exponent_is_chosen_for_each_pair_of_views_and_the_model_stays_as_it_is() {
    for names in [&["x", "y"][..], &["x", "y", "z"]] {
        let fit = options().with_exponent(Exponent::Auto);
        let weighted = aligned(names, &AlignOptions::default().with_fit(fit));
        let usual = aligned(names, &AlignOptions::default().with_fit(options()));
        let chosen = exponents(&weighted);
        assert_eq!(chosen.len(), names.len() * (names.len() - 1) / 2);
        assert!(chosen.iter().all(|exponent| exponent.is_some_and(|exponent| (0.0..=1.0).contains(&exponent))));
        for (a, b) in weighted.latent.iter().flatten().zip(usual.latent.iter().flatten()) {
            assert_eq!(a.view.rows().as_slice(), b.view.rows().as_slice());
        }
    }
}

#[test]
fn coordinates_of_an_exponent_are_those_of_latent_vectors_that_are_weighted_by_it() {
    let tuples = complete_tuples(2, TRAINED);
    let by = |exponent| {
        let fit = options().with_exponent(exponent);
        align(views(&["x", "y"]), &tuples, &AlignOptions::default().with_fit(fit), &()).unwrap()
    };
    let automatic = by(Exponent::Auto);
    let chosen = exponents(&automatic)[0].unwrap();
    let given = by(Exponent::Of(chosen));
    let cosines = |aligned: &Aligned| {
        let compared = |view: usize, other: usize| {
            let latent = aligned.latent[view].as_ref().unwrap().view.rows().clone();
            aligned.alignment.compared_with(view, other, latent).unwrap()
        };
        let (x, y) = (compared(0, 1), compared(1, 0));
        let cosine = |row: usize| {
            let inner = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            let (a, b) = (x.row(row), y.row(row + 1));
            inner(a, b) / (inner(a, a) * inner(b, b)).sqrt()
        };
        (0..20).map(cosine).collect::<Vec<f64>>()
    };
    for (a, b) in cosines(&automatic).into_iter().zip(cosines(&given)) {
        assert!((a - b).abs() < 1e-4, "{a} and {b} by the exponent {chosen}");
    }
}

#[test]
fn a_finish_starts_at_the_chosen_exponent_and_a_file_keeps_both() {
    let fit = options().with_exponent(Exponent::Auto).with_finish(FinishSteps::Of(2));
    let aligned = aligned(&["x", "y"], &AlignOptions::default().with_fit(fit));
    let finish = &aligned.alignment.model.finishes[0];
    assert!(finish.steps == 2 && finish.exponent.is_some());
    assert!(aligned.summary().finishes[0].to_string().contains("exponent"));
    let folder = tempfile::tempdir().unwrap();
    Space::write(&folder.path().join("space"), &aligned.alignment, &aligned.latent).unwrap();
    let read = Space::open(&folder.path().join("space")).unwrap();
    assert_eq!(read.alignment().model.finishes[0].exponent, finish.exponent);
}

#[test]
fn exponents_that_a_method_does_not_have_are_refused() {
    let refused = |fit: FitOptions, names: &[&str]| {
        AlignOptions::default().with_fit(fit).check(names, &[]).unwrap_err().to_string()
    };
    let automatic = || options().with_exponent(Exponent::Auto);
    assert!(refused(automatic().with_method(Some(Method::Svd)), &["x", "y"]).contains("no such option"));
    assert!(refused(automatic().with_dewhiten(true), &["x", "y"]).contains("dewhitening"));
    assert!(refused(options().with_exponent(Exponent::Of(0.7)), &["x", "y", "z"]).contains("auto alone"));
    assert!(refused(options().with_exponent(Exponent::Of(f64::NAN)), &["x", "y"]).contains("from 0 to 4"));
}

#[test]
fn a_chosen_criterion_is_that_of_the_space_and_has_confidences() {
    for tuned in [TunedCriterion::Csls, TunedCriterion::Isf] {
        let options = AlignOptions::default().with_fit(options()).with_criterion(Some(tuned));
        let aligned = aligned(&["x", "y"], &options);
        let chosen = aligned.summary().criterion.unwrap();
        assert!(tuned.candidates().contains(&chosen), "{chosen}");
        assert!(aligned.alignment.calibration(0, 1, chosen).is_some());
        let folder = tempfile::tempdir().unwrap();
        Space::write(&folder.path().join("space"), &aligned.alignment, &aligned.latent).unwrap();
        let space = Space::open(&folder.path().join("space")).unwrap();
        assert_eq!(space.alignment().criterion_called("auto").unwrap(), chosen);
        assert_eq!(space.alignment().criterion_called("nn").unwrap(), Criterion::Nn);
        assert_eq!(space.summary().unwrap().criterion, chosen);
    }
    let usual = aligned(&["x", "y"], &AlignOptions::default().with_fit(options()));
    assert_eq!((usual.alignment.criterion, usual.alignment.usual_criterion()), (None, Criterion::AUTO));
}

#[test]
fn moments_alone_choose_nothing() {
    let tuples: Tuples = complete_tuples(2, TRAINED);
    let evidence = || Evidence::gather(views(&["x", "y"]), &tuples, &EvidenceOptions::default()).unwrap().0;
    let options = AlignOptions::default().with_criterion(Some(TunedCriterion::Csls));
    let refused = |options: &AlignOptions| fit_evidence(evidence(), options, &()).unwrap_err().to_string();
    assert!(refused(&options).contains("csls:k=auto"));
    let automatic = options.clone().with_criterion(None).with_fit(FitOptions::default().with_exponent(Exponent::Auto));
    assert!(refused(&automatic).contains("exponent"));
}
