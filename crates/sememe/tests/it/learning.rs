//! Alignment with little or no dictionary, on views whose hidden rows are as skewed as those of words.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use sememe::Error;
use sememe::align;
use sememe::learn::{self, Learned, Trust};
use sememe::lexicon::Tuples;
use sememe::model::{FitOptions, FitWarning, LatentSize, Method};
use sememe::moments::Moments;
use sememe::observe::{Event, Observer};
use sememe::retrieve::{Criterion, nearest};
use sememe::vectors::{Embeddings, View};

use crate::samples::{self, SKEWED_HIDDEN, complete_tuples, embeddings_of_rows, skewed_views, two_views};

const WORDS: usize = 1500;

fn named(views: &[Embeddings]) -> Vec<View> {
    samples::named(["v0", "v1", "v2"], views)
}

/// Rows `every` apart of two views.
fn few(views: usize, pair: [usize; 2], every: usize) -> Tuples {
    let mut tuples = Tuples::new(views);
    add_few(&mut tuples, pair, every);
    tuples
}

fn add_few(tuples: &mut Tuples, pair: [usize; 2], every: usize) {
    for row in (0..WORDS).step_by(every) {
        let mut tuple = vec![None; tuples.views()];
        pair.iter().for_each(|&view| tuple[view] = Some(row));
        tuples.add(&tuple);
    }
}

/// How many of a hundred words are found between two views.
fn precision(fitted: align::Fitted, from: usize, to: usize) -> f64 {
    let aligned = fitted.project().unwrap();
    let latent = |view: usize| aligned.latent[view].as_ref().unwrap().view.rows().clone();
    let hits = nearest(&latent(from), &latent(to), 1, Criterion::Nn).unwrap();
    let right = hits.iter().enumerate().filter(|(row, hits)| hits[0].index == *row).count();
    100.0 * right as f64 / hits.len() as f64
}

fn refined(views: &[Embeddings], given: &Tuples, trust: Trust) -> Learned {
    let options = learn::LearnOptions::default().with_trust(trust);
    learn::learn(named(views), given, &options, &()).unwrap()
}

#[test]
fn a_few_pairs_become_a_lexicon() {
    let views = skewed_views(WORDS, &[60, 56], 1);
    let given = few(2, [0, 1], 60);
    let before = align::fit(named(&views), &given, &Default::default(), &()).unwrap();
    let before = precision(before, 0, 1);
    for trust in [Trust::Keep, Trust::Doubt] {
        let learned = refined(&views, &given, trust);
        let (report, trained) = (learned.report.clone(), learned.fitted.alignment.trained.clone());
        let after = precision(learned.fitted, 0, 1);
        assert!(after > 90.0 && after > before + 20.0, "{before} became {after}");
        assert!(report.induced > WORDS / 2, "{}", report.induced);
        assert!(report.rounds.last().unwrap().objective > report.rounds[0].objective);
        // What was found is not what was told.
        let told = align::fit(named(&views), &given, &Default::default(), &()).unwrap().alignment.trained;
        assert_eq!(trained, told);
    }
}

#[test]
fn every_method_learns() {
    let views = skewed_views(WORDS, &[60, 60], 2);
    let given = few(2, [0, 1], 30);
    for method in [Method::Svd, Method::Cca, Method::LeastSquares] {
        let align = align::AlignOptions::default().with_fit(FitOptions::default().with_method(Some(method)));
        let options = learn::LearnOptions::default().with_align(align).with_trust(Trust::Doubt);
        let learned = learn::learn(named(&views), &given, &options, &()).unwrap();
        assert_eq!(learned.fitted.alignment.model.method, method);
        let found = precision(learned.fitted, 0, 1);
        assert!(found > 60.0, "{method}: {found}");
    }
}

#[test]
fn nothing_is_enough_where_views_are_alike_and_the_bits_do_not_depend_on_threads() {
    let views = skewed_views(WORDS, &[60, 56], 3);
    let options = learn::LearnOptions::default().with_unsupervised(true).with_seed(7);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learn::learn(named(&views), &Tuples::new(2), &options, &()).unwrap())
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.report.rounds, three.report.rounds);
    assert_eq!(one.fitted.alignment.model.views[1].projection, three.fitted.alignment.model.views[1].projection);
    assert!(one.report.chances[0].is_beaten());
    let found = precision(one.fitted, 0, 1);
    assert!(found > 90.0, "{found}");
}

#[test]
fn unrelated_views_are_no_result() {
    let (x, _) = two_views(WORDS, 40, 3, 4);
    let (y, _) = two_views(WORDS, 40, 3, 5);
    let options = learn::LearnOptions::default().with_unsupervised(true);
    let error = learn::learn(named(&[x, y]), &Tuples::new(2), &options, &()).unwrap_err();
    assert!(matches!(error, Error::NoBetterThanChance { .. }), "{error}");
    assert!(error.to_string().contains("no better than chance") && !error.is_bad_input());
}

#[test]
fn too_few_words_or_no_pair_of_them_is_said() {
    let views = skewed_views(50, &[60, 56], 6);
    for is_unsupervised in [false, true] {
        let options = learn::LearnOptions::default().with_unsupervised(is_unsupervised);
        let error = learn::learn(named(&views), &complete_tuples(2, 50), &options, &()).unwrap_err();
        assert!(error.to_string().contains("\"v0\" has 50 words"), "{error}");
    }
    let views = skewed_views(WORDS, &[60, 56], 6);
    let error = learn::learn(named(&views), &Tuples::new(2), &Default::default(), &()).unwrap_err();
    assert!(matches!(error, Error::NotEnoughData(_)), "{error}");
    // All words are the same.
    let alike = embeddings_of_rows(&vec![vec![1.0, 2.0]; WORDS]);
    let options = learn::LearnOptions::default().with_unsupervised(true);
    let error = learn::learn(named(&[alike, views[1].clone()]), &Tuples::new(2), &options, &()).unwrap_err();
    assert!(error.to_string().contains("\"v0\" has 0 words"), "{error}");
}

#[test]
fn wrong_entries_are_found() {
    let views = skewed_views(WORDS, &[60, 56], 8);
    let mut given = Tuples::new(2);
    for row in (0..WORDS).step_by(6) {
        let is_wrong = row % 60 == 0;
        given.add(&[Some(row), Some(if is_wrong { (row + 751) % WORDS } else { row })]);
    }
    let wrong = (0..WORDS).step_by(60).count();
    let doubtful = refined(&views, &given, Trust::Keep).report.doubtful;
    let found = doubtful.iter().filter(|entry| entry.rows[0] % 60 == 0).count();
    assert!(found >= wrong - 2 && doubtful.len() <= wrong + 5, "{found} of {wrong}, {} in all", doubtful.len());
    assert!(doubtful.windows(2).all(|two| two[0].score <= two[1].score));
}

#[test]
fn views_help_each_other() {
    let views = skewed_views(WORDS, &[60, 60, 60], 9);
    // The third view is poor: a few pairs with the second only. The first and the second have many.
    let mut given = few(3, [0, 1], 2);
    add_few(&mut given, [1, 2], 100);
    let learned = refined(&views, &given, Trust::Keep);
    let model = &learned.fitted.alignment.model;
    assert_eq!((model.method, model.views.len()), (Method::Mbfa, 3));
    let before = precision(align::fit(named(&views), &given, &Default::default(), &()).unwrap(), 0, 2);
    let after = precision(learned.fitted, 0, 2);
    assert!(after > 80.0 && after > before + 20.0, "{before} became {after}");
}

#[test]
fn a_dozen_entries_connect_a_poor_view() {
    let views = skewed_views(WORDS, &[60, 60, 60], 10);
    let mut given = few(3, [0, 1], 2);
    (0..12).map(|at| 97 * at).for_each(|row| assert!(given.add(&[None, Some(row), Some(row)])));
    let before = precision(align::fit(named(&views), &given, &Default::default(), &()).unwrap(), 2, 0);
    let after = precision(refined(&views, &given, Trust::Keep).fitted, 2, 0);
    assert!(after > 90.0 && after > before + 40.0, "{before} became {after}");
}

#[test]
fn many_entries_of_every_view_need_no_rounds_of_soft_couplings() {
    let views = skewed_views(WORDS, &[60, 60, 60], 10);
    let mut given = few(3, [0, 1], 2);
    add_few(&mut given, [1, 2], 2);
    let learned = refined(&views, &given, Trust::Keep);
    // Those that induce a lexicon of all views.
    assert_eq!(learned.report.rounds.len(), 2);
}

#[test]
fn the_fit_to_what_several_views_induce_need_not_converge_and_does_not_say_so() {
    let views = skewed_views(WORDS, &[60, 60, 60], 10);
    let mut given = few(3, [0, 1], 2);
    add_few(&mut given, [1, 2], 2);
    let mut options = learn::LearnOptions::default();
    // It would go on for as long as it may.
    options.align.fit.mbfa.tolerance = 0.0;
    let fitted = learn::learn(named(&views), &given, &options, &()).unwrap().fitted;
    assert!(fitted.alignment.model.trace.unwrap().evaluations <= 80);
    assert!(!fitted.warnings.iter().any(|warning| matches!(warning, FitWarning::NotConverged { .. })));
}

#[test]
fn a_model_of_few_entries_says_nothing_about_what_was_learned_from_them() {
    let views = skewed_views(WORDS, &[60, 56], 1);
    let is_at_chance =
        |fitted: &align::Fitted| fitted.warnings.iter().any(|warning| matches!(warning, FitWarning::Chance { .. }));
    let mut few = Tuples::new(2);
    (0..10).map(|at| 37 * at).for_each(|row| assert!(few.add(&[Some(row), Some(row)])));
    assert!(is_at_chance(&align::fit(named(&views), &few, &Default::default(), &()).unwrap()));
    let learned = refined(&views, &few, Trust::Keep).fitted;
    assert!(!is_at_chance(&learned) && precision(learned, 0, 1) > 90.0);
    // Many entries do say something.
    let mut worthless = Tuples::new(2);
    (0..250).for_each(|row| assert!(worthless.add(&[Some(row), Some((row * 7 + 400) % WORDS)])));
    assert!(is_at_chance(&refined(&views, &worthless, Trust::Keep).fitted));
}

#[test]
fn a_few_worthless_entries_are_noticed() {
    let views = skewed_views(WORDS, &[60, 56], 1);
    let mut worthless = Tuples::new(2);
    (0..40).for_each(|row| assert!(worthless.add(&[Some(row), Some((row * 7 + 400) % WORDS)])));
    let warnings = refined(&views, &worthless, Trust::Keep).fitted.warnings;
    let of_chance = warnings.iter().filter(|warning| matches!(warning, FitWarning::Chance { .. }));
    assert_eq!(of_chance.count(), 1, "{warnings:?}");
}

struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn observe(&self, event: Event) -> ControlFlow<()> {
        match event {
            Event::Round(_) if self.0.fetch_add(1, Ordering::Relaxed) > 0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn learning_that_is_stopped_keeps_what_it_has() {
    let views = skewed_views(WORDS, &[60, 56], 1);
    let observer = Impatient(AtomicUsize::new(0));
    let learned = learn::learn(named(&views), &few(2, [0, 1], 30), &Default::default(), &observer).unwrap();
    assert_eq!(learned.report.rounds.len(), 2, "the round in which it is stopped is the last");
    assert!(precision(learned.fitted, 0, 1) > 50.0);
}

#[test]
fn the_size_of_the_hidden_vector_is_chosen_at_last() {
    for dims in [&[60, 56][..], &[60, 60, 60]] {
        let views = skewed_views(WORDS, dims, 4);
        let mut options = learn::LearnOptions::default();
        options.align.fit.latent = LatentSize::Auto;
        let observer = Impatient(AtomicUsize::new(0));
        let learned =
            learn::learn(named(&views), &complete_tuples(dims.len(), WORDS / 2), &options, &observer).unwrap();
        // Nearly that of the samples, in all of which rounds fit; the criterion leaves out the weakest dimensions.
        let latent = learned.fitted.alignment.model.latent();
        assert!((SKEWED_HIDDEN * 4 / 5..=SKEWED_HIDDEN).contains(&latent), "{latent}");
        options.align.fit.latent = LatentSize::Of(61);
        assert!(learn::learn(named(&views), &Tuples::new(dims.len()), &options, &()).unwrap_err().is_bad_input());
    }
}

#[test]
fn three_entries_are_enough_to_begin_among_several_views() {
    let views = skewed_views(WORDS, &[60, 60, 60], 9);
    let mut given = few(3, [0, 1], 2);
    for row in [1, 5, 9] {
        given.add(&[None, Some(row), Some(row)]);
    }
    // Half of so few entries is too little to fit anything to, so nothing can be compared with it.
    let observer = Impatient(AtomicUsize::new(0));
    let learned = learn::learn(named(&views), &given, &Default::default(), &observer).unwrap();
    assert!(learned.report.has_helped && precision(learned.fitted, 0, 1) > 90.0);
}

#[test]
fn a_search_that_is_stopped_is_no_result() {
    let views = skewed_views(WORDS, &[60, 56], 3);
    let options = learn::LearnOptions::default().with_unsupervised(true);
    let observer = Impatient(AtomicUsize::new(0));
    let error = learn::learn(named(&views), &Tuples::new(2), &options, &observer).unwrap_err();
    assert!(matches!(error, Error::StoppedEarly(_)) && !error.is_bad_input(), "{error}");
}

#[test]
fn a_tuple_of_weight_two_counts_like_two() {
    let (x, y) = two_views(6, 3, 2, 1);
    let views = samples::named(["x", "y"], &[x, y]);
    let mut weighted = complete_tuples(2, 5);
    weighted.add_weighted(&[Some(5), Some(5)], 2.0).unwrap();
    let mut twice = Moments::of(&views, &complete_tuples(2, 6)).unwrap();
    let mut once = Tuples::new(2);
    once.add(&[Some(5), Some(5)]);
    twice.merge(&Moments::of(&views, &once).unwrap()).unwrap();
    let (weighted, twice) = (Moments::of(&views, &weighted).unwrap(), twice);
    let pattern = vec![0, 1];
    assert_eq!(weighted.count(), 7.0);
    assert!((&weighted.patterns()[&pattern].scatter - &twice.patterns()[&pattern].scatter).norm_max() < 1e-12);
}
