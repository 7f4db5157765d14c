//! The discriminative finish: what it changes, what it keeps, and when it is left out.

use std::ops::ControlFlow;

use sememe::align::{AlignOptions, Aligned, Alignment, align, extend, fit_evidence};
use sememe::lexicon::Tuples;
use sememe::model::{FinishSteps, FitOptions, Method, Shrinkage};
use sememe::moments::{Evidence, EvidenceOptions};
use sememe::observe::{Event, Stage};
use sememe::retrieve::{Criterion, Retriever};
use sememe::space::Space;
use sememe::vectors::{Matrix, View};

use crate::random::Random;
use crate::samples::complete_tuples;

const ROWS: usize = 1300;
const TRAINED: usize = 1000;
const DIM: usize = 16;
/// Dimensions that only tell clusters apart.
const COARSE: usize = 4;
/// So much that the coarse dimensions keep their weight, which the finish takes from them.
const MUCH: Shrinkage = Shrinkage::By(0.6);

/// Noisy images of rows in clusters. Neighbours in a cluster are hard negatives: they differ in the last dimensions
/// alone, which have less variance than the noise of the first.
fn views(names: &[&str]) -> Vec<View> {
    let mut random = Random::new(21);
    let centres: Vec<f64> = (0..60 * COARSE).map(|_| 3.0 * random.normal()).collect();
    let place = |(row, at): (usize, usize)| match at < COARSE {
        true => centres[row % 60 * COARSE + at],
        false => 0.6 * random.normal(),
    };
    let hidden: Vec<f64> = (0..ROWS).flat_map(|row| (0..DIM).map(move |at| (row, at))).map(place).collect();
    let noise = |at: usize| if at < COARSE { 1.0 } else { 0.3 };
    let view = |name: &&str| {
        let values = hidden.iter().enumerate().map(|(at, x)| (x + noise(at % DIM) * random.normal()) as f32);
        View::new(*name, Matrix::new(values.collect(), DIM))
    };
    names.iter().map(view).collect()
}

fn finished(names: &[&str], finish: FinishSteps) -> Aligned {
    let fit = FitOptions::default().with_finish(finish).with_shrinkage(MUCH);
    // Fewer tuples are enough where no number of steps is chosen.
    let trained = if finish == FinishSteps::Auto { TRAINED } else { 200 };
    align(views(names), &complete_tuples(names.len(), trained), &AlignOptions::default().with_fit(fit), &()).unwrap()
}

fn tuples(views: usize) -> Tuples {
    complete_tuples(views, TRAINED)
}

/// Held-out rows whose own image is their nearest neighbour in the other view.
fn right(aligned: &Aligned, criterion: Criterion) -> usize {
    let held_out: Vec<usize> = (TRAINED..ROWS).collect();
    let compared = |view: usize, other: usize| {
        let latent = aligned.latent[view].as_ref().unwrap().view.rows().clone();
        aligned.alignment.compared_with(view, other, latent).unwrap()
    };
    let (x, y) = (compared(0, 1), compared(1, 0));
    let found = Retriever::new(x.clone(), y, criterion, &()).unwrap().nearest(&x.select(&held_out), 1, &()).unwrap();
    held_out.iter().zip(found).filter(|(row, hits)| hits[0].index == **row).count()
}

#[test]
fn held_out_rows_choose_a_finish_that_finds_more() {
    let mut aligned = finished(&["x", "y"], FinishSteps::Auto);
    assert_eq!(aligned.alignment.model.finishes.len(), 1);
    let after = right(&aligned, Criterion::CSLS);
    aligned.alignment.model.finishes.clear();
    let before = right(&aligned, Criterion::CSLS);
    assert!(after > before + 10, "{before} and {after} of {}", ROWS - TRAINED);
}

#[test]
fn the_generative_model_stays_as_it_is() {
    let (without, with) = (finished(&["x", "y"], FinishSteps::None), finished(&["x", "y"], FinishSteps::Of(3)));
    assert_eq!(with.alignment.model.log_likelihood, without.alignment.model.log_likelihood);
    for (a, b) in with.latent.iter().flatten().zip(without.latent.iter().flatten()) {
        assert_eq!(a.view.rows().as_slice(), b.view.rows().as_slice());
        assert_eq!(a.log_density, b.log_density);
    }
    let folder = tempfile::tempdir().unwrap();
    let spaces = [("with", &with), ("without", &without)].map(|(name, aligned)| {
        let path = folder.path().join(name);
        Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
        Space::open(&path).unwrap()
    });
    assert_eq!(spaces[0].alignment().model.finishes[0].steps, 3);
    let queries = with.latent[0].as_ref().unwrap().view.rows().clone();
    let scores = |criterion: Criterion| {
        spaces.each_ref().map(|space| {
            let hits = space.retriever("x", "y", criterion, &()).unwrap().nearest(&queries, 3, &()).unwrap();
            hits.into_iter().flatten().map(|hit| (hit.index, hit.score)).collect::<Vec<_>>()
        })
    };
    for criterion in [Criterion::Pmi, Criterion::Logp] {
        let [with, without] = scores(criterion);
        assert!(with == without, "{criterion}");
    }
    for criterion in [Criterion::Nn, Criterion::CSLS, Criterion::ISF] {
        let [with, without] = scores(criterion);
        assert!(with != without, "{criterion}");
    }
}

#[test]
fn a_file_keeps_the_maps_to_the_bit_and_backwards_they_change_sides() {
    let aligned = finished(&["x", "y"], FinishSteps::Of(2));
    let folder = tempfile::tempdir().unwrap();
    Space::write(&folder.path().join("space"), &aligned.alignment, &aligned.latent).unwrap();
    let space = Space::open(&folder.path().join("space")).unwrap();
    let (read, written) = (&space.alignment().model.finishes[0], &aligned.alignment.model.finishes[0]);
    assert_eq!((read.views, &read.maps), (written.views, &written.maps));
    let latent = |view: &str| space.view(view).unwrap().matrix().select(&[0, 1, 2]);
    let (x, y) = (latent("x"), latent("y"));
    let there = space.retriever("x", "y", Criterion::Nn, &()).unwrap().nearest(&x, ROWS, &()).unwrap();
    let back = space.retriever("y", "x", Criterion::Nn, &()).unwrap().nearest(&y, ROWS, &()).unwrap();
    let score = |hits: &[sememe::retrieve::Hit], row: usize| hits.iter().find(|hit| hit.index == row).unwrap().score;
    for (row, other) in [(0, 1), (1, 2), (2, 0)] {
        assert!((score(&there[row], other) - score(&back[other], row)).abs() < 1e-6);
    }
}

#[test]
fn a_finish_of_views_that_are_not_there_is_refused() {
    let mut alignment = finished(&["x", "y"], FinishSteps::Of(1)).alignment;
    let folder = tempfile::tempdir().unwrap();
    for views in [[0, 2], [1, 0], [1, 1]] {
        alignment.model.finishes[0].views = views;
        let path = folder.path().join("model.safetensors");
        alignment.write(&path).unwrap();
        let refused = Alignment::read(&path).unwrap_err().to_string();
        assert!(refused.contains("a finish of views that are none of its own"), "{refused}");
    }
}

#[test]
fn every_pair_of_views_with_tuples_is_finished_and_a_new_view_too() {
    let names = ["a", "b", "c", "new"];
    let aligned = finished(&names[..3], FinishSteps::Of(2));
    let pairs = |aligned: &Alignment| aligned.model.finishes.iter().map(|finish| finish.views).collect::<Vec<_>>();
    assert_eq!(pairs(&aligned.alignment), [[0, 1], [0, 2], [1, 2]]);
    let latent: Vec<Option<View>> =
        aligned.latent.iter().map(|latent| latent.as_ref().map(|one| one.view.clone())).collect();
    let mut entries = Tuples::new(4);
    (0..300).for_each(|row| assert!(entries.add(&[Some(row), None, None, Some(row)])));
    let options = FitOptions::for_new_view().with_finish(FinishSteps::Of(2)).with_shrinkage(MUCH);
    let new = views(&names).pop().unwrap();
    let extended = extend(&aligned.alignment, &latent, new, &entries, &options, &()).unwrap();
    assert_eq!(pairs(&extended.alignment), [[0, 1], [0, 2], [1, 2], [0, 3]]);
    let kept = extended.alignment.model.finishes.iter().zip(&aligned.alignment.model.finishes);
    kept.for_each(|(after, before)| assert_eq!(after.maps, before.maps));
}

#[test]
fn without_being_asked_only_shrunk_generative_models_are_finished() {
    let steps = |method: Method, shrinkage: Shrinkage, finish: FinishSteps| {
        let fit = FitOptions::default().with_method(Some(method)).with_shrinkage(shrinkage).with_finish(finish);
        let options = AlignOptions::default().with_fit(fit);
        let aligned = align(views(&["x", "y"]), &tuples(2), &options, &()).unwrap();
        aligned.alignment.model.finishes.iter().map(|finish| finish.steps).sum::<usize>()
    };
    assert!(steps(Method::Ibfa, MUCH, FinishSteps::Auto) > 0);
    assert_eq!(steps(Method::Ibfa, Shrinkage::None, FinishSteps::Auto), 0);
    assert_eq!(steps(Method::Svd, Shrinkage::Auto, FinishSteps::Auto), 0);
    assert_eq!(steps(Method::Svd, Shrinkage::Auto, FinishSteps::Of(1)), 1);
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let maps = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| finished(&["x", "y"], FinishSteps::Auto).alignment.model.finishes.remove(0).maps)
    });
    assert_eq!(maps[0], maps[1]);
}

#[test]
fn a_finish_that_is_stopped_leaves_the_fit() {
    let stop = |event: Event| match event {
        Event::Progress { stage: Stage::Finishing, .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let fit = FitOptions::default().with_shrinkage(MUCH);
    let aligned = align(views(&["x", "y"]), &tuples(2), &AlignOptions::default().with_fit(fit), &stop).unwrap();
    assert!(aligned.alignment.model.finishes.is_empty() && aligned.alignment.calibrations.is_empty());
    assert!(aligned.latent[0].is_some());
}

#[test]
fn moments_alone_cannot_be_tuned() {
    let evidence = || Evidence::gather(views(&["x", "y"]), &tuples(2), &Default::default()).unwrap().0;
    for fit in
        [FitOptions::default().with_finish(FinishSteps::Of(2)), FitOptions::default().with_method(Some(Method::Rcsls))]
    {
        let refused = fit_evidence(evidence(), &AlignOptions::default().with_fit(fit), &()).unwrap_err().to_string();
        assert!(refused.contains("moments do not have"), "{refused}");
    }
    assert!(fit_evidence(evidence(), &AlignOptions::default(), &()).is_ok());
}

#[test]
fn rcsls_finds_more_than_procrustes_and_maps_to_the_pivot() {
    let fitted = |method: Method| {
        let fit = FitOptions::default().with_method(Some(method));
        let options = AlignOptions::default().with_fit(fit).with_evidence(EvidenceOptions::usual());
        align(views(&["x", "y"]), &tuples(2), &options, &()).unwrap()
    };
    let (svd, rcsls) = (fitted(Method::Svd), fitted(Method::Rcsls));
    assert_eq!(rcsls.alignment.model.views[1].projection, svd.alignment.model.views[1].projection);
    let (before, after) = (right(&svd, Criterion::CSLS), right(&rcsls, Criterion::CSLS));
    assert!(after > before, "{before} and {after}");
}

#[test]
fn rcsls_that_is_stopped_keeps_the_best_map_so_far() {
    let (views, tuples) = (views(&["x", "y"]), tuples(2));
    let projection = |method: Method, steps: u64| {
        let stop = |event: Event| match event {
            Event::Progress { stage: Stage::Finishing, done, .. } if done >= steps => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let fit = FitOptions::default().with_method(Some(method));
        let options = AlignOptions::default().with_fit(fit).with_evidence(EvidenceOptions::usual());
        let aligned = align(views.clone(), &tuples, &options, &stop).unwrap();
        aligned.alignment.model.views[0].projection.clone()
    };
    let procrustes = projection(Method::Svd, 0);
    assert!(projection(Method::Rcsls, 0) == procrustes);
    let [few, more] = [2, 8].map(|steps| projection(Method::Rcsls, steps));
    assert!(few != procrustes && more != few);
}
