//! Precision of translations against gold dictionaries: which words count, and which pairs were trained on.

use sememe::align::{AlignOptions, Alignment, align, extend};
use sememe::evaluate::{Answer, Bootstrap, Oov, Overlap, compare, translation};
use sememe::lexicon::Lexicon;
use sememe::retrieve::{Criterion, Retriever};
use sememe::vectors::{Embeddings, Matrix, View};

use crate::samples::{assert_close, complete_tuples, named, two_views};

fn gold(pairs: &[(&str, &str)]) -> Lexicon {
    let mut gold = Lexicon::new(vec!["x".into(), "y".into()]);
    pairs.iter().for_each(|(x, y)| gold.add([(0, *x), (1, *y)].into_iter().collect()));
    gold
}

/// Words whose nearest neighbours are known.
pub fn line_of(words: &[&str]) -> Embeddings {
    // Words on an arc: nearest to a word is that of the same number, then the one before, which is not so far.
    let angle = |at: usize| 0.1 * at as f32 + 0.01 * (at * at) as f32;
    let rows = (0..words.len()).flat_map(|at| [angle(at).cos(), angle(at).sin()]).collect();
    Embeddings::new(words.iter().copied().collect(), Matrix::new(rows, 2))
}

#[test]
fn words_without_vectors_are_left_out_or_wrong() {
    let (x, y) = (line_of(&["a", "b", "c", "d"]), line_of(&["A", "B", "C", "D"]));
    let gold = gold(&[("a", "A"), ("b", "C"), ("b", "D"), ("c", "no"), ("no", "B")]);
    let retriever = Retriever::new(x.matrix().clone(), y.matrix().clone(), Criterion::Nn, &()).unwrap();
    let result = translation(&x, &y, &gold, &retriever, &()).unwrap();
    assert_eq!((result.queries, result.gold_words, result.unknown_words), (2, 4, 1));
    let answers: Vec<(&str, Answer)> = result.outcomes.iter().map(|one| (one.word.as_str(), one.answer)).collect();
    let expected = [("a", Answer::Found(1)), ("b", Answer::Found(3)), ("c", Answer::Unknown), ("no", Answer::Unknown)];
    assert_eq!(answers, expected);
    assert_close(result.mrr, 100.0 * (1.0 + 1.0 / 3.0) / 2.0, "MRR");
    // The translations of b are third and fourth.
    assert_close(result.map, 100.0 * (1.0 + (1.0 / 3.0 + 2.0 / 4.0) / 2.0) / 2.0, "MAP");
    assert_eq!(result.coverage, 50.0);
    let wrong = result.clone().under(Oov::Wrong);
    assert_eq!((result.precision[&1], wrong.precision[&1], wrong.precision[&5]), (50.0, 25.0, 50.0));
    assert_close(wrong.mrr, result.mrr / 2.0, "MRR");
    assert_close(wrong.map, result.map / 2.0, "MAP");
    assert_eq!(wrong.under(Oov::Skip), result);

    let backwards: Vec<usize> = (0..4).rev().collect();
    let other = Embeddings::new(x.vocabulary().clone(), x.matrix().select(&backwards));
    let retriever = Retriever::new(other.matrix().clone(), y.matrix().clone(), Criterion::Nn, &()).unwrap();
    let second = translation(&other, &y, &gold, &retriever, &()).unwrap();
    let comparison = compare(&result, &second, &Bootstrap::default()).unwrap();
    assert_eq!((comparison.queries, comparison.only_first, comparison.only_second), (2, 1, 1));
    assert_eq!((comparison.difference, comparison.p_value), (0.0, 1.0));
}

fn alignment() -> (Alignment, Vec<Option<View>>) {
    let (x, y) = two_views(120, 3, 3, 6);
    let aligned = align(named(["x", "y"], &[x, y]), &complete_tuples(2, 100), &AlignOptions::default(), &()).unwrap();
    (aligned.alignment, aligned.latent.into_iter().map(|latent| latent.map(|latent| latent.view)).collect())
}

#[test]
fn gold_pairs_that_were_trained_on_are_counted() {
    let (alignment, latent) = alignment();
    let [x, y] = [0, 1].map(|view| latent[view].as_ref().unwrap().named());
    let (x, y) = (&x, &y);
    let overlap = |alignment: &Alignment, gold: &Lexicon| {
        let trained = alignment.trained.as_ref().unwrap();
        let overlap = Overlap::of(trained, gold, x, y);
        (overlap.gold_pairs, overlap.trained_pairs, overlap.words)
    };
    // Words are numbers, of which 0 to 99 were tuples.
    let gold = gold(&[("5", "5"), ("5", "6"), ("7", "7"), ("110", "110"), ("unheard", "1")]);
    assert_eq!(overlap(&alignment, &gold), (4, 2, 2));
    let retriever = Retriever::new(x.matrix().clone(), y.matrix().clone(), Criterion::Nn, &()).unwrap();
    let result = translation(x, y, &gold, &retriever, &()).unwrap();
    let seen = Overlap::of(alignment.trained.as_ref().unwrap(), &gold, x, y);
    let unseen = result.unseen(&seen).unwrap();
    let is_found = result.outcomes.iter().any(|one| one.word == "110" && one.answer == Answer::Found(1));
    assert_eq!((result.queries, unseen.queries, unseen.precision[&1] == 100.0), (3, 1, is_found));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.safetensors");
    alignment.write(&file).unwrap();
    assert_eq!(Alignment::read(&file).unwrap().trained, alignment.trained);

    // A view that is added brings its pairs; what the space does not know of itself it does not pretend to know.
    let (new, _) = two_views(120, 3, 3, 8);
    let add = |alignment: &Alignment| {
        let new = View::from_embeddings("z", new.clone());
        extend(alignment, &latent, new, &complete_tuples(3, 90), &Default::default(), &()).unwrap().alignment
    };
    let extended = add(&alignment);
    assert_eq!(overlap(&extended, &gold), (4, 2, 2));
    let trained = extended.trained.unwrap();
    assert!(trained.contains([("z", "89"), ("x", "89")]) && !trained.contains([("z", "90"), ("x", "90")]));
    assert_eq!(trained.len(), 100 + 2 * 90);
    let mut from_moments = alignment;
    from_moments.trained = None;
    assert_eq!(add(&from_moments).trained, None);
}
