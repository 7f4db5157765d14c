//! Confidences, measured end to end: of the words that the dictionary lacks, as many are right as confidences say.

use sememe::align::{AlignOptions, align};
use sememe::learn::{self, LearnOptions};
use sememe::lexicon::Tuples;
use sememe::model::FitOptions;
use sememe::retrieve::Criterion;
use sememe::space::Space;
use sememe::translate::{TranslateOptions, Translator};
use sememe::vectors::{Embeddings, View};

use crate::random::Random;
use crate::samples::{complete_tuples, embeddings_of_rows, numbered};

const WORDS: usize = 3000;
/// The dictionary has the most frequent words; rarer ones are asked.
const KNOWN: usize = 800;
const ASKED: std::ops::Range<usize> = 800..2000;
const DIM: usize = 24;

/// Views of the same meanings. Rarer words have noisier vectors.
fn views(count: usize, noise_level: f64) -> Vec<Embeddings> {
    let mut random = Random::new(8);
    let mut rows =
        |dim: usize| -> Vec<Vec<f64>> { (0..WORDS).map(|_| (0..dim).map(|_| random.normal()).collect()).collect() };
    let meanings = rows(DIM);
    let view = |_| {
        let (mix, noise) = (rows(DIM), rows(DIM));
        let entry = |word: usize, j: usize| {
            let noise_level = noise_level + 0.1 * (1.0 + word as f64).ln();
            (0..DIM).map(|k| meanings[word][k] * mix[j][k]).sum::<f64>() + noise_level * noise[word][j]
        };
        let rows: Vec<Vec<f64>> = (0..WORDS).map(|word| (0..DIM).map(|j| entry(word, j)).collect()).collect();
        embeddings_of_rows(&rows)
    };
    (0..count).map(view).collect()
}

/// The mean confidence of first candidates, and the share that is right.
fn said_and_right(space: &Space, [from, to]: [&str; 2], criterion: Criterion) -> (f64, f64) {
    let options = TranslateOptions::default().with_criterion(criterion).with_candidates(5);
    let translator = Translator::open(space, from, &[to], &options, &()).unwrap();
    assert!(translator.has_confidences());
    let words: Vec<String> = ASKED.map(|word| word.to_string()).collect();
    let (mut said, mut right) = (0.0, 0.0);
    for found in translator.translate(&words, &()).unwrap().translations {
        let confidences: Vec<f64> = found.candidates.iter().map(|candidate| candidate.confidence.unwrap()).collect();
        assert!(confidences.is_sorted_by(|a, b| a >= b), "{confidences:?}");
        said += confidences[0] / words.len() as f64;
        right += f64::from(u8::from(found.candidates[0].word == found.word)) / words.len() as f64;
    }
    (said, right)
}

fn assert_calibrated(space: &Space, views: [&str; 2], what: &str) {
    for criterion in [Criterion::Nn, Criterion::CSLS, Criterion::ISF, Criterion::Pmi] {
        let (said, right) = said_and_right(space, views, criterion);
        assert!((0.2..0.95).contains(&right), "{what}, {criterion}: {right} right, which shows little");
        assert!((said - right).abs() < 0.06, "{what}, {criterion}: said {said}, right {right}");
    }
}

fn space_of(views: Vec<View>, tuples: &Tuples) -> (tempfile::TempDir, Space) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let aligned = align(views, tuples, &AlignOptions::default(), &()).unwrap();
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    let space = Space::open(&path).unwrap();
    (folder, space)
}

#[test]
fn two_views() {
    let (_folder, space) = space_of(numbered(&views(2, 1.3)), &complete_tuples(2, KNOWN));
    assert_calibrated(&space, ["0", "1"], "two views");
    assert_calibrated(&space, ["1", "0"], "two views");
}

#[test]
fn three_views_and_one_that_is_added() {
    let all = views(4, 1.3);
    let (folder, space) = space_of(numbered(&all[..3]), &complete_tuples(3, KNOWN));
    assert_calibrated(&space, ["2", "0"], "three views");
    let new = View::from_embeddings("3", all[3].clone());
    let path = folder.path().join("space");
    let latent = space.latent_views().unwrap();
    let extended = sememe::align::extend(
        space.alignment(),
        &latent,
        new,
        &complete_tuples(4, KNOWN),
        &FitOptions::for_new_view(),
        &(),
    );
    let extended = extended.unwrap();
    space.extend(&extended.alignment, &extended.latent, space.reserve("3", None).unwrap()).unwrap();
    let space = Space::open(&path).unwrap();
    assert_calibrated(&space, ["0", "3"], "an added view");
    assert_calibrated(&space, ["3", "1"], "an added view");
}

#[test]
fn after_self_learning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let learned =
        learn::learn(numbered(&views(2, 0.9)), &complete_tuples(2, KNOWN), &LearnOptions::default(), &()).unwrap();
    assert!(learned.report.induced > 0, "it learned nothing, which shows little");
    let aligned = learned.fitted.project().unwrap();
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    assert_calibrated(&Space::open(&path).unwrap(), ["0", "1"], "self-learning");
}
