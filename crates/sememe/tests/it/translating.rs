//! Words as people write them, translated in a space.

use std::collections::BTreeSet;

use sememe::align::{AlignOptions, Aligned, align};
use sememe::prepare::Casing;
use sememe::space::Space;
use sememe::translate::{InduceOptions, Induction, TranslateOptions, Translations, Translator};
use sememe::vectors::{Embeddings, Matrix, View, Vocabulary};
use serde_json::json;
use tempfile::TempDir;

use crate::samples::{complete_tuples, many_views, named};

const ROWS: usize = 120;

/// Words of a view: expressions of two words, and others with a letter in upper case.
fn spelled(row: usize) -> String {
    match row % 2 {
        0 => format!("New_word{row}"),
        _ => format!("Word{row}"),
    }
}

fn with_words(rows: &Embeddings) -> Embeddings {
    let words: Vec<String> = (0..rows.len()).map(spelled).collect();
    Embeddings::new(words.iter().map(String::as_str).collect(), rows.matrix().clone())
}

/// A space of three views that does not tell words apart by their case, and the first view as it was before. The last vector
/// of the last view is zero.
fn space() -> (TempDir, Space, Embeddings) {
    space_after(|_| ())
}

/// The same after a change to what is written.
fn space_after(change: impl Fn(&mut Aligned)) -> (TempDir, Space, Embeddings) {
    let views: Vec<Embeddings> = many_views(ROWS, &[3, 4, 5], 7).iter().map(with_words).collect();
    let mut options = AlignOptions::default();
    options.evidence.casing = Casing::Lower;
    let tuples = complete_tuples(3, 100);
    let lowercased: Vec<Embeddings> = views.iter().cloned().map(Embeddings::lowercased).collect();
    let mut aligned = align(named(["x", "y", "z"], &lowercased), &tuples, &options, &()).unwrap();
    let last = aligned.latent[2].as_mut().unwrap();
    let mut rows = last.view.rows().clone();
    let dim = rows.cols();
    rows.as_mut_slice()[(ROWS - 1) * dim..].fill(0.0);
    last.view = View::from_embeddings("z", last.view.named().with_matrix(rows));
    change(&mut aligned);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    (folder, Space::open(&path).unwrap(), views[0].clone())
}

fn translate(translator: &Translator, words: &[&str]) -> Translations {
    translator.translate(words, &()).unwrap()
}

#[test]
fn words_are_found_however_they_are_written() {
    let (_folder, space, _) = space();
    let options = TranslateOptions::default().with_candidates(3);
    let translator = Translator::open(&space, "x", &["y", "z"], &options, &()).unwrap();
    let answer = translate(&translator, &["new_word8", "NEW WORD8", "New Word8", "word9"]);
    assert!(answer.unknown.is_empty());
    // Both views in the order that was asked for, for each word.
    let asked: Vec<(&str, &str)> = answer.translations.iter().map(|found| (&*found.word, &*found.to)).collect();
    assert_eq!(asked[..3], [("new_word8", "y"), ("new_word8", "z"), ("NEW WORD8", "y")]);
    for other in [2, 4] {
        assert_eq!(answer.translations[0].candidates, answer.translations[other].candidates);
        assert_eq!(answer.translations[1].candidates, answer.translations[other + 1].candidates);
    }
    assert!(answer.translations.iter().all(|found| found.candidates.len() == 3));
    // The zero vector is skipped and counted.
    assert_eq!(translator.zero_targets().collect::<Vec<_>>(), [("y", 0), ("z", 1)]);
    let all = Translator::open(&space, "x", &["z"], &options.with_candidates(ROWS), &()).unwrap();
    let found = &translate(&all, &["word9"]).translations[0].candidates;
    assert!(found.len() == ROWS - 1 && found.iter().all(|candidate| candidate.word != "word119"));
    let back = Translator::open(&space, "z", &["x"], &TranslateOptions::default(), &()).unwrap();
    let nothing = &translate(&back, &["word119"]).translations[0];
    assert!(nothing.candidates.is_empty() && !nothing.known);
}

#[test]
fn unknown_words_get_suggestions_or_further_vectors_under_the_casing_of_the_space() {
    let (_folder, space, before) = space();
    let translator = Translator::open(&space, "x", &["y"], &TranslateOptions::default(), &()).unwrap();
    let answer = translate(&translator, &["Wörd9", "zzzzzzzz"]);
    assert_eq!(answer.unknown, ["Wörd9", "zzzzzzzz"]);
    assert_eq!(answer.suggestions["Wörd9"][0], "word9");
    assert!(answer.about_unknown("Wörd9").contains("not in the vocabulary of x; did you mean \"word9\""));
    assert_eq!(answer.about_unknown("zzzzzzzz"), "\"zzzzzzzz\" is not in the vocabulary of x");
    // Suggestions for each of very many words would take minutes.
    let many: Vec<String> = (0..150).map(|number| format!("wörd{number}")).collect();
    let answer = translator.translate(&many, &()).unwrap();
    assert_eq!((answer.unknown.len(), answer.suggestions.len()), (150, 100));

    // A word with the vector of a word that the space has is translated like it.
    let words: Vocabulary = ["unheard"].into_iter().collect();
    let further = Embeddings::new(words, before.matrix().select(&[9]));
    let with_vectors = translator.clone().with_vectors(further).unwrap();
    let answer = translate(&with_vectors, &["UnHeard", "word9"]);
    let [first, second] = [0, 1].map(|at| &answer.translations[at].candidates);
    assert_eq!(first[0].word, second[0].word);
    assert!((first[0].score - second[0].score).abs() < 1e-5);
    let wrong = Embeddings::new(["other"].into_iter().collect(), Matrix::new(vec![1.0; 9], 9));
    assert!(translator.with_vectors(wrong).is_err());
}

#[test]
fn what_is_found_serialises_with_the_keys_of_the_command() {
    let (_folder, space, _) = space();
    let options = TranslateOptions::default().with_criterion("csls".parse().unwrap());
    let options = options.with_candidates(1).with_min_confidence(1.0);
    let translator = Translator::open(&space, "x", &["y"], &options, &()).unwrap();
    let found = json!(translate(&translator, &["word9", "zzzzzzzz"]));
    let candidate = &found["translations"][0]["candidates"][0];
    let expected = json!({
        "from": "x",
        "to": ["y"],
        "criterion": "csls",
        "min_confidence": 1.0,
        "translations": [{ "word": "word9", "to": "y", "known": false, "candidates": [candidate] }],
        "unknown": ["zzzzzzzz"],
        "suggestions": { "zzzzzzzz": [] },
    });
    assert_eq!(found, expected);
    let keys: BTreeSet<&str> = candidate.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, BTreeSet::from(["confidence", "score", "word"]));
    let confidence = candidate["confidence"].as_f64().unwrap();
    assert!(confidence > 0.0 && confidence < 1.0);
}

#[test]
fn an_induced_dictionary_has_the_first_translation_of_every_word() {
    let (_folder, space, _) = space();
    let options = InduceOptions::default().with_criterion("csls".parse().unwrap()).with_max_words(Some(40));
    let induction = Induction::open(&space, "x", "y", &options, &()).unwrap();
    let induced = induction.run(&()).unwrap();
    assert_eq!((induced.len(), induction.words()), (40, 40));
    let [source, target] = induction.views();
    let options = TranslateOptions::default().with_criterion("csls".parse().unwrap()).with_candidates(1);
    let translator = Translator::open(&space, "x", &["y"], &options, &()).unwrap();
    for pair in &induced {
        let answer = translate(&translator, &[source.word(pair.from)]);
        let candidate = &answer.translations[0].candidates[0];
        assert_eq!((candidate.word.as_str(), candidate.score), (target.word(pair.to), pair.score));
        assert!((candidate.confidence.unwrap() - pair.confidence.unwrap()).abs() < 1e-6);
    }
    // A zero vector has no translation.
    let induction = Induction::open(&space, "z", "x", &InduceOptions::default().with_mutual(true), &()).unwrap();
    assert!(induction.run(&()).unwrap().iter().all(|pair| pair.from != ROWS - 1));
}

#[test]
fn a_space_that_was_not_calibrated_has_no_confidences() {
    let (_folder, space, _) = space_after(|aligned| aligned.alignment.calibrations.clear());
    let translator = Translator::open(&space, "x", &["y"], &TranslateOptions::default(), &()).unwrap();
    assert!(!translator.has_confidences());
    let found = &translate(&translator, &["word9"]).translations[0];
    assert!(found.known && found.candidates.iter().all(|candidate| candidate.confidence.is_none()));
    let induce = |least| Induction::open(&space, "x", "y", &InduceOptions::default().with_min_confidence(least), &());
    assert!(induce(None).unwrap().run(&()).unwrap().iter().all(|pair| pair.confidence.is_none()));
    assert!(induce(Some(0.5)).is_err_and(|error| error.to_string().contains("no confidences")));
}
