//! Spelling: where words are compared by it, what it finds, and what stays as it is.

use sememe::align::{AlignOptions, Aligned, align, extend};
use sememe::lexicon::Tuples;
use sememe::model::{Exponent, FinishSteps, FitOptions, Method, Shrinkage, SpellingUse};
use sememe::retrieve::Criterion;
use sememe::space::Space;
use sememe::vectors::{Embeddings, Matrix, View, Vocabulary};

use crate::random::Random;
use crate::samples::complete_tuples;

const ROWS: usize = 900;
const TRAINED: usize = 700;
const DIM: usize = 12;
const ALPHABETS: [&str; 3] = ["abcdefghijkl", "абвгдежзийкл", "αβγδεζηθικλμ"];

/// Words of random letters in several alphabets, with vectors that say little of which is which.
fn views(alphabets: &[&str]) -> Vec<View> {
    let mut random = Random::new(8);
    let words: Vec<Vec<usize>> =
        (0..ROWS).map(|_| (0..7 + random.below(3)).map(|_| random.below(12)).collect()).collect();
    let meanings: Vec<f64> = (0..ROWS * DIM).map(|_| random.normal()).collect();
    let view = |(number, alphabet): (usize, &&str)| {
        let letters: Vec<char> = alphabet.chars().collect();
        let spelled: Vec<String> = words.iter().map(|word| word.iter().map(|&at| letters[at]).collect()).collect();
        let rows = meanings.iter().map(|x| (x + 0.8 * random.normal()) as f32).collect();
        let words: Vocabulary = spelled.iter().map(String::as_str).collect();
        View::from_embeddings(number.to_string(), Embeddings::new(words, Matrix::new(rows, DIM)))
    };
    alphabets.iter().enumerate().map(view).collect()
}

fn options() -> FitOptions {
    let fit = FitOptions::default().with_spelling(SpellingUse::Auto);
    fit.with_shrinkage(Shrinkage::By(0.1)).with_finish(FinishSteps::None)
}

fn aligned(views: Vec<View>, fit: FitOptions) -> Aligned {
    let tuples = complete_tuples(views.len(), TRAINED);
    align(views, &tuples, &AlignOptions::default().with_fit(fit), &()).unwrap()
}

fn written(aligned: &Aligned) -> (tempfile::TempDir, Space) {
    let folder = tempfile::tempdir().unwrap();
    Space::write(&folder.path().join("space"), &aligned.alignment, &aligned.latent).unwrap();
    let space = Space::open(&folder.path().join("space")).unwrap();
    (folder, space)
}

/// The first hits of words that the model was not fitted to.
fn hits(space: &Space, criterion: Criterion) -> Vec<(usize, f32)> {
    let held_out: Vec<usize> = (TRAINED..ROWS).collect();
    let queries = space.view("0").unwrap().matrix().select(&held_out);
    let found = space.retriever("0", "1", criterion, &()).unwrap().nearest(&queries, 1, &()).unwrap();
    found.into_iter().map(|hits| (hits[0].index, hits[0].score)).collect()
}

fn right(space: &Space, criterion: Criterion) -> usize {
    hits(space, criterion).iter().zip(TRAINED..).filter(|((found, _), row)| found == row).count()
}

#[test]
fn words_are_found_by_their_spelling_in_another_script_and_the_model_stays_as_it_is() {
    let with = aligned(views(&ALPHABETS[..2]), options());
    let without = aligned(views(&ALPHABETS[..2]), options().with_spelling(SpellingUse::None));
    let (model, plain) = (&with.alignment.model, &without.alignment.model);
    assert!(model.finishes[0].spelling > 0.0 && plain.finishes.is_empty() && plain.spelling_columns() == 0);
    assert_eq!(model.latent(), plain.latent() + model.spelling_columns());
    assert_eq!(model.log_likelihood, plain.log_likelihood);
    let (_folder, spelled) = written(&with);
    let (_other, unspelled) = written(&without);
    let (more, fewer) = (right(&spelled, Criterion::CSLS), right(&unspelled, Criterion::CSLS));
    assert!(more > fewer + 40, "{fewer} became {more} of {}", ROWS - TRAINED);
    // PMI is of the generative model, and so are cosines within a view.
    for (a, b) in hits(&spelled, Criterion::Pmi).iter().zip(hits(&unspelled, Criterion::Pmi)) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() <= 1e-5 * b.1.abs().max(1.0), "{a:?} and {b:?}");
    }
    let cosine = |space: &Space| {
        let words = space.view("0").unwrap();
        let product = |a: usize, b: usize| -> f64 {
            words.vector(a).iter().zip(words.vector(b)).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
        };
        product(3, 5) / (product(3, 3) * product(5, 5)).sqrt()
    };
    assert!((cosine(&spelled) - cosine(&unspelled)).abs() < 1e-6);
}

#[test]
fn a_file_knows_how_words_are_spelled() {
    let aligned = aligned(views(&ALPHABETS[..2]), options());
    let (_folder, space) = written(&aligned);
    let (read, fitted) = (space.alignment(), &aligned.alignment.model);
    assert_eq!(read.model.finishes[0].spelling, fitted.finishes[0].spelling);
    assert_eq!(read.model.finishes[0].maps, fitted.finishes[0].maps);
    // Words that are projected later have the coordinates of those in the space.
    let view = &views(&ALPHABETS[..2])[1];
    let projected = read.project(1, view.named()).unwrap().view;
    let columns = read.model.latent() - read.model.spelling_columns()..;
    assert_eq!(projected.rows().as_slice(), space.view("1").unwrap().matrix().as_slice());
    assert!(projected.rows().row(TRAINED)[columns.clone()].iter().any(|&x| x != 0.0));
    // Rows without words have none.
    let rows = read.project(1, View::new("1", view.rows().clone()).named()).unwrap().view;
    assert!(rows.rows().row(TRAINED)[columns].iter().all(|&x| x == 0.0));
}

#[test]
fn without_reason_words_are_not_compared_by_spelling() {
    let is_spelled = |views: Vec<View>, fit: FitOptions| aligned(views, fit).alignment.model.spelling_columns() > 0;
    let pair = || views(&ALPHABETS[..2]);
    assert!(!is_spelled(pair(), options().with_shrinkage(Shrinkage::None)), "the paper's estimates");
    assert!(!is_spelled(pair(), options().with_exponent(Exponent::Of(1.0))), "no posterior means");
    assert!(!is_spelled(pair(), options().with_method(Some(Method::Svd)).with_shrinkage(Shrinkage::Auto)));
    let rows = pair().iter().map(|view| View::new(view.name(), view.rows().clone())).collect();
    assert!(!is_spelled(rows, options()), "no words");
    let identical = views(&[ALPHABETS[0], ALPHABETS[0]]);
    assert!(!is_spelled(identical, options()), "identical strings teach nothing of other words");
    let mut shuffled = pair();
    let turned: Vec<usize> = (0..ROWS).map(|row| (row + 100) % ROWS).collect();
    let words: Vocabulary = turned.iter().map(|&row| shuffled[1].words().unwrap().word(row)).collect();
    shuffled[1] = View::from_embeddings("1", Embeddings::new(words, shuffled[1].rows().clone()));
    assert!(!is_spelled(shuffled, options()), "spelling that says nothing");
}

#[test]
fn several_views_share_columns_and_a_new_view_keeps_those_of_the_others() {
    let aligned = aligned(views(&ALPHABETS), options());
    let model = &aligned.alignment.model;
    assert_eq!(model.finishes.iter().filter(|finish| finish.spelling > 0.0).count(), 3);
    let latent: Vec<Option<View>> =
        aligned.latent.iter().map(|latent| latent.as_ref().map(|one| one.view.clone())).collect();
    let mut entries = Tuples::new(4);
    (0..TRAINED).for_each(|row| assert!(entries.add(&[Some(row), None, None, Some(row)])));
    let new = View::from_embeddings("new", views(&ALPHABETS).pop().unwrap().named());
    let fit = FitOptions::for_new_view().with_shrinkage(Shrinkage::By(0.1));
    let extended = extend(&aligned.alignment, &latent, new, &entries, &fit, &()).unwrap();
    assert_eq!(extended.latent.view.dim(), model.latent());
    for (after, before) in extended.alignment.model.finishes.iter().zip(&model.finishes) {
        assert!(after.maps == before.maps && after.spelling == before.spelling);
    }
}

#[test]
fn a_fit_goes_on_from_a_model_with_spelling() {
    let fit = options().with_method(Some(Method::Mbfa));
    let before = aligned(views(&ALPHABETS[..2]), fit.clone()).alignment;
    assert!(before.model.spelling_columns() > 0);
    let resumed = AlignOptions::default().with_fit(fit).with_resume(Some(before.clone()));
    let after = align(views(&ALPHABETS[..2]), &complete_tuples(2, TRAINED), &resumed, &()).unwrap();
    assert_eq!(after.alignment.model.latent(), before.model.latent());
}
