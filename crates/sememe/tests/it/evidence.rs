//! What models are fitted to: gathered, written, merged, continued.

use sememe::align::{AlignOptions, align, fit_evidence};
use sememe::lexicon::Tuples;
use sememe::linalg::transpose_times;
use sememe::model::{self, FitWarning, Method, Shrinkage};
use sememe::moments::{self, Evidence};
use sememe::prepare::Casing;
use sememe::prepare::Step;
use sememe::vectors::{Embeddings, View};

use crate::samples::{complete_tuples, many_views, named};

const NAMES: [&str; 3] = ["x", "y", "z"];

fn views() -> Vec<Embeddings> {
    many_views(90, &[4, 5, 3], 11)
}

/// Tuples of two of the three views: `i` with `i`.
fn pairs(a: usize, b: usize, rows: std::ops::Range<usize>) -> Tuples {
    let mut tuples = Tuples::new(3);
    for i in rows {
        let mut tuple = [None; 3];
        (tuple[a], tuple[b]) = (Some(i), Some(i));
        tuples.add(&tuple);
    }
    tuples
}

fn all_pairs() -> Tuples {
    let mut all = pairs(0, 1, 0..60);
    for (a, b, rows) in [(1, 2, 30..90), (0, 2, 10..40)] {
        pairs(a, b, rows).iter().for_each(|tuple| assert!(all.add(&tuple)));
    }
    all
}

/// The evidence that somebody has who knows only some of the views.
fn part(known: &[usize], tuples: &Tuples, options: &moments::EvidenceOptions) -> Evidence {
    let views = views();
    let mut own = Tuples::new(known.len());
    for tuple in tuples.iter() {
        own.add(&known.iter().map(|&view| tuple[view]).collect::<Vec<_>>());
    }
    let known = known.iter().map(|&view| View::from_embeddings(NAMES[view], views[view].clone())).collect();
    Evidence::gather(known, &own, options).unwrap().0
}

fn options(normalize: Vec<Step>) -> moments::EvidenceOptions {
    moments::EvidenceOptions::default().with_normalize(normalize)
}

fn fitting() -> model::FitOptions {
    model::FitOptions::default().with_method(Some(Method::Mbfa)).with_shrinkage(Shrinkage::None)
}

#[test]
fn parts_of_several_owners_make_the_whole_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let unit = options(vec![Step::Unit]);
    let parts = || {
        vec![
            part(&[0, 1], &pairs(0, 1, 0..60), &unit),
            part(&[2, 1], &pairs(1, 2, 30..90), &unit),
            part(&[0, 1, 2], &pairs(0, 2, 10..40), &unit),
        ]
    };
    let write = |order: [usize; 3]| {
        let parts = parts();
        let evidence = Evidence::merged(order.iter().map(|&at| parts[at].clone()).collect()).unwrap();
        let path = folder.path().join("merged.safetensors");
        evidence.write(&path).unwrap();
        (std::fs::read(&path).unwrap(), Evidence::read(&path).unwrap())
    };
    let (bytes, merged) = write([0, 1, 2]);
    assert_eq!(merged.moments.views().iter().map(|view| view.name.as_str()).collect::<Vec<_>>(), NAMES);
    assert!(bytes == write([0, 2, 1]).0, "the order of the files does not matter");

    let whole = part(&[0, 1, 2], &all_pairs(), &unit);
    for (pattern, expected) in whole.moments.patterns() {
        let found = &merged.moments.patterns()[pattern];
        assert_eq!(found.n, expected.n);
        assert!((&found.scatter - &expected.scatter).norm_max() < 1e-9);
    }
    // Moments differ in their last bits. Without shrinkage the likelihood of so few rows has no clear maximum.
    let shrunk = fitting().with_shrinkage(Shrinkage::By(0.3));
    let fit =
        |evidence: Evidence| fit_evidence(evidence, &AlignOptions::default().with_fit(shrunk.clone()), &()).unwrap().0;
    let (together, apart) = (fit(whole), fit(merged));
    for (a, b) in together.model.views.iter().zip(&apart.model.views) {
        // Inner products of latent vectors do not change if the latent space is rotated, as far as the last bits of moments
        // may turn it.
        let inner_products = |view: &model::ViewModel| transpose_times(&view.projection, &view.projection);
        let (together, apart) = (inner_products(a), inner_products(b));
        let difference = (&together - &apart).norm_max() / together.norm_max();
        assert!(difference < 1e-3, "{difference}");
    }
}

#[test]
fn fingerprints_of_merges_do_not_show_order_or_nesting() {
    let unit = options(vec![Step::Unit]);
    let [a, b, c] = [0..60, 60..75, 75..90].map(|range| part(&[0, 1], &pairs(0, 1, range), &unit));
    let merged = |parts: &[&Evidence]| Evidence::merged(parts.iter().map(|&part| part.clone()).collect()).unwrap();
    let flat = merged(&[&a, &b, &c]);
    for nested in [merged(&[&merged(&[&a, &b]), &c]), merged(&[&merged(&[&c, &b]), &a])] {
        assert_eq!(nested.sources, flat.sources);
    }
    // Different rows may have equal vectors.
    let twice = merged(&[&a, &a]);
    assert_eq!(twice.moments.count(), 2.0 * a.moments.count());
    assert_ne!(twice.sources, a.sources);
    assert_ne!(merged(&[&a, &b]).sources, merged(&[&a, &c]).sources);
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let unit = options(vec![Step::Unit]);
    let first = || part(&[0, 1], &pairs(0, 1, 0..60), &unit);
    let refused = |other: Evidence| Evidence::merged(vec![first(), other]).unwrap_err().to_string();
    assert!(Evidence::check_distinct(&[first(), first()]).unwrap_err().to_string().contains("given twice"));
    assert!(Evidence::check_distinct(&[first(), part(&[0, 1], &pairs(0, 1, 60..90), &unit)]).is_ok());
    let lower = unit.clone().with_casing(Casing::Lower);
    assert!(refused(part(&[0, 1], &pairs(0, 1, 60..90), &lower)).contains("lower-cased"));
    assert!(refused(part(&[0, 1], &pairs(0, 1, 60..90), &options(vec![]))).contains("normalized by unit"));
    let renamed = |dim: usize| {
        let views = named(["x", "y"], &many_views(20, &[dim, 5], 3));
        Evidence::gather(views, &complete_tuples(2, 20), &unit).unwrap().0
    };
    assert!(refused(renamed(7)).contains("for the view \"x\""));
    let centred = options(vec![Step::Center]);
    let mut other = part(&[0, 1], &pairs(0, 1, 60..90), &centred);
    other.sources = renamed(4).sources;
    let learned = Evidence::merged(vec![part(&[0, 1], &pairs(0, 1, 0..60), &centred), other]);
    assert!(learned.is_ok(), "the same vocabulary learns the same mean");
    assert!(Evidence::merged(Vec::new()).is_err());
}

#[test]
fn monolingual_words_count_by_their_weight() {
    let views = named(NAMES, &views());
    let gather = |monolingual| {
        let options = moments::EvidenceOptions::default().with_monolingual(monolingual);
        Evidence::gather(views.clone(), &all_pairs(), &options)
    };
    let (with, _) = gather(Some(0.1)).unwrap();
    let alone = &with.moments.patterns()[&vec![1]];
    assert!((alone.n - 9.0).abs() < 1e-12, "90 words of weight 0.1");
    let fit = |evidence: &Evidence| model::fit(&evidence.moments, &fitting(), &()).unwrap().0.log_likelihood.unwrap();
    assert!(fit(&with) < fit(&gather(None).unwrap().0), "there is more to explain");
    assert!(gather(Some(-1.0)).unwrap_err().to_string().contains("positive"));
}

#[test]
fn a_fit_goes_on_where_it_ended_and_only_with_the_same_data() {
    let views = named(NAMES, &views());
    let tuples = all_pairs();
    let mut first = AlignOptions::default().with_fit(fitting());
    first.fit.mbfa.evaluations = 4;
    let stopped = align(views.clone(), &tuples, &first, &()).unwrap();
    assert!(
        matches!(stopped.warnings[..], [.., FitWarning::NotConverged { evaluations: 4 }]),
        "{:?}",
        stopped.warnings
    );

    let resume = AlignOptions::default().with_fit(fitting()).with_resume(Some(stopped.alignment.clone()));
    let resumed = align(views.clone(), &tuples, &resume, &()).unwrap().alignment.model;
    let uninterrupted = align(views.clone(), &tuples, &AlignOptions::default().with_fit(fitting()), &()).unwrap();
    let (resumed_value, expected) =
        (resumed.log_likelihood.unwrap(), uninterrupted.alignment.model.log_likelihood.unwrap());
    assert!((resumed_value - expected).abs() < 1e-4 * expected.abs(), "{resumed_value} {expected}");
    let (trace, before) = (resumed.trace.unwrap(), stopped.alignment.model.trace.unwrap());
    assert!(trace.evaluations > before.evaluations);
    let begun = before.negative_log_likelihoods.len();
    assert_eq!(trace.negative_log_likelihoods[..begun], before.negative_log_likelihoods);
    assert!(trace.negative_log_likelihoods.windows(2).all(|two| two[1] <= two[0] + 1e-9));

    let error = align(views.clone(), &pairs(0, 1, 0..50), &resume, &()).unwrap_err().to_string();
    assert!(error.contains("the dictionaries"), "{error}");
    let mut changed = views.clone();
    changed[1] = View::from_embeddings("y", many_views(90, &[4, 5, 3], 12).swap_remove(1));
    let error = align(changed, &tuples, &resume, &()).unwrap_err().to_string();
    assert!(error.contains("the vectors of view \"y\""), "{error}");
    let two = || (views[..2].to_vec(), complete_tuples(2, 90));
    let mbfa = || model::FitOptions::default().with_method(Some(Method::Mbfa));
    let mut stopped = AlignOptions::default().with_fit(mbfa());
    stopped.fit.mbfa.evaluations = 3;
    let (of_two, tuples_of_two) = two();
    let stopped = align(of_two, &tuples_of_two, &stopped, &()).unwrap().alignment;
    let again = |fit: model::FitOptions| {
        align(two().0, &two().1, &AlignOptions::default().with_fit(fit).with_resume(Some(stopped.clone())), &())
    };
    let by_itself = again(model::FitOptions::default()).unwrap().alignment.model;
    assert_eq!((by_itself.method, &by_itself.shrinkage), (Method::Mbfa, &stopped.model.shrinkage));
    let values = by_itself.trace.unwrap().negative_log_likelihoods;
    assert!(values.windows(2).all(|two| two[1] <= two[0] + 1e-9), "{values:?}");
    let error = again(mbfa().with_shrinkage(Shrinkage::By(0.9))).unwrap_err().to_string();
    assert!(error.contains("shrunk"), "{error}");

    let ibfa = align(views[..2].to_vec(), &complete_tuples(2, 90), &AlignOptions::default(), &()).unwrap().alignment;
    let error =
        align(views[..2].to_vec(), &complete_tuples(2, 90), &AlignOptions::default().with_resume(Some(ibfa)), &());
    assert!(error.unwrap_err().to_string().contains("ibfa"));
}
