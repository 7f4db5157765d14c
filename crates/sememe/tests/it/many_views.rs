//! More pairs of views than are looked at one by one: what is left out, and what still holds.

use sememe::align::{AlignOptions, Aligned, align, extend};
use sememe::lexicon::Tuples;
use sememe::model::{FitOptions, Shrinkage};
use sememe::retrieve::Criterion;
use sememe::space::Space;
use sememe::translate::{TranslateOptions, Translator};
use sememe::vectors::{Embeddings, Matrix, View, Vocabulary};

use crate::random::Random;

/// One more pair with the first view than are retrieved from.
const VIEWS: usize = 14;
const ROWS: usize = 1500;
/// Entries of the first view with each other one.
const KNOWN: usize = 500;
const ASKED: std::ops::Range<usize> = KNOWN..ROWS;
const DIM: usize = 8;

/// The same random words in an alphabet for each view, with noisy images of the same vectors.
fn views() -> Vec<View> {
    let mut random = Random::new(8);
    let spelled: Vec<Vec<usize>> =
        (0..ROWS).map(|_| (0..7 + random.below(3)).map(|_| random.below(12)).collect()).collect();
    let meanings: Vec<f64> = (0..ROWS * DIM).map(|_| random.normal()).collect();
    let view = |view: usize| {
        let letter = |&at: &usize| char::from_u32(0x4E00 + (20 * view + at) as u32).unwrap();
        let words: Vec<String> = spelled.iter().map(|word| word.iter().map(letter).collect()).collect();
        let words: Vocabulary = words.iter().map(String::as_str).collect();
        let mix: Vec<f64> = (0..DIM * DIM).map(|_| random.normal()).collect();
        let value = |row: usize, col: usize| -> f64 {
            (0..DIM).map(|k| meanings[row * DIM + k] * mix[k * DIM + col]).sum::<f64>()
        };
        let cells = (0..ROWS).flat_map(|row| (0..DIM).map(move |col| (row, col)));
        let rows = cells.map(|(row, col)| (value(row, col) + 0.5 * random.normal()) as f32).collect();
        View::from_embeddings(view.to_string(), Embeddings::new(words, Matrix::new(rows, DIM)))
    };
    (0..=VIEWS).map(view).collect()
}

/// Entries of the first view with some others.
fn entries(views: usize, others: std::ops::Range<usize>) -> Tuples {
    let mut tuples = Tuples::new(views);
    for other in others {
        for row in 0..KNOWN {
            let mut tuple = vec![None; views];
            (tuple[0], tuple[other]) = (Some(row), Some(row));
            assert!(tuples.add(&tuple));
        }
    }
    tuples
}

fn aligned(views: Vec<View>) -> Aligned {
    let tuples = entries(views.len(), 1..views.len());
    let fit = FitOptions::default().with_shrinkage(Shrinkage::By(0.1));
    align(views, &tuples, &AlignOptions::default().with_fit(fit), &()).unwrap()
}

/// The mean confidence of first candidates, and the share that is right.
fn said_and_right(space: &Space, [from, to]: [&str; 2]) -> (f64, f64) {
    let options = TranslateOptions::default().with_criterion(Criterion::CSLS).with_candidates(5);
    let translator = Translator::open(space, from, &[to], &options, &()).unwrap();
    let (source, target) = (space.view(from).unwrap(), space.view(to).unwrap());
    let words: Vec<&str> = ASKED.map(|row| source.vocabulary().word(row)).collect();
    let found = translator.translate(&words, &()).unwrap().translations;
    let said: f64 = found.iter().map(|found| found.candidates[0].confidence.unwrap()).sum();
    let right =
        found.iter().zip(ASKED).filter(|(found, row)| found.candidates[0].word == target.vocabulary().word(*row));
    (said / words.len() as f64, right.count() as f64 / words.len() as f64)
}

#[test]
fn very_many_pairs_are_compared_as_they_are_and_so_is_a_view_that_is_added() {
    let mut all = views();
    let few = aligned(all[..3].to_vec());
    assert!(few.alignment.model.spelling_columns() > 0, "there is nothing to leave out");
    let new = all.pop().unwrap();
    let many = aligned(all);
    assert!(many.alignment.model.finishes.is_empty() && many.alignment.model.spelling_columns() == 0);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    Space::write(&path, &many.alignment, &many.latent).unwrap();
    let space = Space::open(&path).unwrap();
    let latent = space.latent_views().unwrap();
    let fit = FitOptions::for_new_view().with_shrinkage(Shrinkage::By(0.1));
    let extended = extend(space.alignment(), &latent, new, &entries(VIEWS + 1, VIEWS..VIEWS + 1), &fit, &()).unwrap();
    assert!(extended.alignment.model.finishes.is_empty());
    space.extend(&extended.alignment, &extended.latent, space.reserve("14", None).unwrap()).unwrap();

    let space = Space::open(&path).unwrap();
    // The views of the last two pairs share no entry, and have the mean of other calibrations.
    for (pair, tolerance) in [(["0", "5"], 0.08), (["0", "14"], 0.08), (["3", "12"], 0.15), (["14", "7"], 0.15)] {
        let (said, right) = said_and_right(&space, pair);
        assert!((0.1..0.97).contains(&right), "{pair:?}: {right} right, which shows little");
        assert!((said - right).abs() < tolerance, "{pair:?}: said {said}, right {right}");
    }
}
