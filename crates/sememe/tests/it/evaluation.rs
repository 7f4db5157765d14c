//! Evaluations: numbers of scipy and numpy, what must hold whatever the data are, and files that are wrong.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sememe::evaluate::{
    Analogies, Bootstrap, Corpus, Probabilities, ScoredPairs, SentenceOptions, SentencePairs, TranslationEvaluation,
    TranslationTask, Weighting, Words, analogy, pearson, sentences, similarity, spearman, sts, sts_years,
};
use sememe::files::Input;
use sememe::lexicon::Lexicon;
use sememe::prepare::Casing;
use sememe::retrieve::Criterion;
use sememe::vectors::{Embeddings, Matrix};
use serde::Deserialize;

use crate::gold::line_of;
use crate::golden::read_json;
use crate::samples::assert_close;
use crate::seeds::cases;

#[derive(Deserialize)]
struct Problem {
    correlations: Vec<Correlation>,
    words: Vec<String>,
    x: Vec<Vec<f32>>,
    y: Vec<Vec<f32>>,
    left: Vec<Vec<String>>,
    right: Vec<Vec<String>>,
    scores: Vec<f64>,
    counts: BTreeMap<String, u32>,
    uncounted: u32,
    sts: BTreeMap<String, Agreement>,
    questions: Vec<[usize; 3]>,
    answers: Vec<usize>,
    corpus: Vec<Vec<String>>,
    sentences: BTreeMap<String, Ranked>,
}

#[derive(Deserialize)]
struct Correlation {
    x: Vec<f64>,
    y: Vec<f64>,
    #[serde(flatten)]
    expected: Agreement,
}

#[derive(Deserialize)]
struct Agreement {
    spearman: f64,
    pearson: f64,
}

#[derive(Deserialize)]
struct Ranked {
    precision: [f64; 3],
    mrr: f64,
}

impl Problem {
    fn read() -> Self {
        read_json("evaluation.json")
    }

    fn embeddings(&self, rows: &[Vec<f32>]) -> Embeddings {
        Embeddings::new(self.words.iter().map(String::as_str).collect(), Matrix::new(rows.concat(), rows[0].len()))
    }
}

fn kept(embeddings: &Embeddings) -> Words<'_> {
    Words { embeddings, casing: Casing::Kept }
}

fn input(name: &str, text: &str) -> Input {
    Input::from_bytes(name, text.as_bytes().to_vec()).unwrap()
}

#[test]
fn correlations_are_those_of_scipy() {
    for Correlation { x, y, expected } in Problem::read().correlations {
        assert_close(spearman(&x, &y).unwrap(), expected.spearman, "Spearman");
        assert_close(pearson(&x, &y).unwrap(), expected.pearson, "Pearson");
    }
    assert_eq!((spearman(&[1.0], &[1.0]), pearson(&[1.0, 1.0], &[1.0, 2.0])), (None, None));
}

#[test]
fn sentence_similarity_is_that_of_numpy() {
    let problem = Problem::read();
    let embeddings = problem.embeddings(&problem.x);
    let words = kept(&embeddings);
    // Unknown words, capitals and punctuation make no difference.
    let written = |words: &[String]| format!("Unheard, {}!", words.join(" ").to_uppercase());
    let lines: Vec<String> = (problem.scores.iter().zip(&problem.left).zip(&problem.right))
        .map(|((score, left), right)| format!("{score}\t{}\t{}\n", written(left), written(right)))
        .collect();
    let set = SentencePairs::read_input(&input("STS12.random.tsv", &lines.concat())).unwrap();
    assert_eq!((set.year.as_str(), set.name.as_str(), set.pairs.len()), ("STS12", "random", 30));
    let counts: String = problem.counts.iter().map(|(word, count)| format!("{word}\t{count}\n")).collect();
    let counts = input("counts.tsv", &format!("{counts}unheard\t{}\n", problem.uncounted));
    let counted = Probabilities::read_input(&counts, words).unwrap();
    for (name, weighting) in [
        ("tfidf", Weighting::TfIdf),
        ("sif_rank", Weighting::Sif { a: 1e-3, probabilities: Probabilities::of_ranks(words) }),
        ("sif_count", Weighting::Sif { a: 0.01, probabilities: counted }),
    ] {
        let result = sts(words, &set, &weighting).unwrap();
        assert_close(result.spearman, problem.sts[name].spearman, name);
        assert_close(result.pearson, problem.sts[name].pearson, name);
        let years = sts_years(&[result.clone(), result.clone()]);
        assert_eq!((years.len(), years[0].sets, years[0].pairs), (1, 2, 60));
        assert_close(years[0].weighted_spearman, result.spearman, name);
    }
}

#[test]
fn analogies_are_answered_as_by_numpy() {
    let problem = Problem::read();
    let embeddings = problem.embeddings(&problem.x);
    let line = |(question, answer): (&[usize; 3], &usize)| {
        let [a, b, c] = question.map(|index| problem.words[index].as_str());
        format!("{a} {b} {c} {}\n", problem.words[*answer])
    };
    let lines: Vec<String> = problem.questions.iter().zip(&problem.answers).map(line).collect();
    let wrong = problem.questions.iter().map(|[a, b, c]| format!("word{a} word{b} word{c} word{c}\n"));
    let text = format!(": right\n{}: gram1-wrong\n{}a b c d\n", lines.concat(), wrong.collect::<String>());
    let result = analogy(kept(&embeddings), &Analogies::read_input(&input("q.txt", &text)).unwrap(), &()).unwrap();
    assert_eq!((result.semantic.accuracy, result.syntactic.accuracy), (Some(100.0), Some(0.0)));
    assert_eq!((result.sections[1].questions, result.sections[1].known), (201, 200));
    assert_eq!((result.total.right, result.total.questions, result.total.accuracy), (200, 401, Some(50.0)));
}

fn corpus(problem: &Problem) -> Corpus {
    let (x, y) = (problem.embeddings(&problem.x), problem.embeddings(&problem.y));
    let text: String = problem.corpus.iter().map(|words| words.join(" ") + "\n").collect();
    let (source, target) = (input("a.txt", &text), input("b.txt", &text));
    Corpus::read_inputs([&source, &target], [kept(&x), kept(&y)], 1000, &()).unwrap()
}

#[test]
fn sentences_are_found_as_by_numpy() {
    let problem = Problem::read();
    let corpus = corpus(&problem);
    for (name, expected) in &problem.sentences {
        let options = SentenceOptions::default().with_criterion(name.parse().unwrap());
        let result = sentences(&corpus, 0, &options, &()).unwrap();
        assert_eq!((result.queries, result.candidates), (60, 60));
        for (found, expected) in result.precision.values().zip(expected.precision) {
            assert_close(*found, expected, name);
        }
        assert_close(result.mrr, expected.mrr, name);
    }
}

#[test]
fn the_same_queries_are_drawn_for_a_seed_and_intervals_do_not_depend_on_threads() {
    let corpus = corpus(&Problem::read());
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = SentenceOptions::default().with_queries(20).with_seed(seed).with_criterion(Criterion::CSLS);
        pool.install(|| {
            let result = sentences(&corpus, 1, &options, &()).unwrap();
            let intervals = result.intervals(&Bootstrap { seed, ..Default::default() });
            (result, intervals)
        })
    };
    assert_eq!(run(1, 5), run(3, 5));
    assert_ne!(run(1, 5), run(1, 6));
    let (result, intervals) = run(2, 5);
    for (rank, value) in &result.precision {
        let [low, high] = intervals.precision[rank];
        assert!(low <= *value && *value <= high && low < high, "{low} {value} {high}");
    }
}

#[test]
fn sentences_without_known_words_are_never_found() {
    let problem = Problem::read();
    let x = problem.embeddings(&problem.x);
    let text = "word1 word2\nunheard\nword3 word4 word5\n\nword6";
    let (source, target) = (input("a.txt", text), input("b.txt", text));
    let read = |source: &Input, target: &Input| Corpus::read_inputs([source, target], [kept(&x), kept(&x)], 9, &());
    let result = sentences(&read(&source, &target).unwrap(), 0, &Default::default(), &()).unwrap();
    assert_eq!((result.queries, result.candidates, result.source_without_words), (5, 3, 2));
    assert_close(result.precision[&1], 60.0, "three of five");

    let error =
        |source: &str, target: &str| read(&input("a.txt", source), &input("b.txt", target)).err().unwrap().to_string();
    assert!(error("word1\nword2\nword3\n", "word1\nword2\n").contains("b.txt, line 3: has 2 lines, but a.txt has 3"));
    assert!(error("word1\nword2\n", "unheard\n\n").contains("b.txt: none of its words has a vector"));
}

#[test]
fn text_of_another_language_is_refused() {
    let x = line_of(&["one", "two"]);
    let lines = |known: usize| -> Input {
        let line = |i: usize| {
            if i >= known {
                "неизвестно\n"
            } else if i.is_multiple_of(2) {
                "one\n"
            } else {
                "two\n"
            }
        };
        Input::from_bytes("text", (0..1000).map(line).collect::<String>().into_bytes()).unwrap()
    };
    let read = |known| Corpus::read_inputs([&lines(1000), &lines(known)], [kept(&x), kept(&x)], 1000, &());
    let message = read(2).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("998 of its 1000 sentences have no word with a vector"), "{message}");
    assert!(read(200).is_ok());
}

#[test]
fn bad_sets_are_named_with_line_and_cause() {
    let sts = |text: &str| SentencePairs::read_input(&input("STS12.x.tsv", text)).unwrap_err().to_string();
    assert!(sts("1.0\tone\ttwo\n2.0\tone two\n").contains("STS12.x.tsv, line 2: has 2 of 3 columns"));
    assert!(sts("score\tone\ttwo\n").contains("line 1: \"score\" is no score"));
    let analogies = |text: &str| Analogies::read_input(&input("q.txt", text)).unwrap_err().to_string();
    assert!(analogies(": a\none two three\n").contains("q.txt, line 2: has 3 words"));
    assert!(analogies(": a\n").contains("no questions"));

    let embeddings = Embeddings::new(["a", "b"].into_iter().collect(), Matrix::new(vec![1.0, 2.0], 1));
    let set = |text: &str| {
        let set = ScoredPairs::read_input(&input("s.txt", text)).unwrap();
        similarity([kept(&embeddings); 2], &set).unwrap_err().to_string()
    };
    assert!(set("one two 3\n").contains("no pair has a vector for both words"));
    assert!(set("a b 3\nb a 4\n").contains("are equal"));
    let counts = Probabilities::read_input(&input("c.txt", "a 3\nb x\n"), kept(&embeddings)).unwrap_err().to_string();
    assert!(counts.contains("c.txt, line 2: \"x\" is no count"), "{counts}");
}

#[test]
fn releases_are_read_with_their_scores_beside() {
    let folder = tempfile::tempdir().unwrap();
    let year = folder.path().join("STS15-en-test");
    std::fs::create_dir(&year).unwrap();
    std::fs::write(year.join("STS.input.belief.txt"), "one\ttwo\textra\nthree\tfour\nfive\tsix\n").unwrap();
    std::fs::write(year.join("STS.gs.belief.txt"), "3.5\n\n4\n").unwrap();
    let files = SentencePairs::files_in(folder.path()).unwrap();
    let set = SentencePairs::read(&files[0]).unwrap();
    assert_eq!((files.len(), set.year.as_str(), set.name.as_str()), (1, "STS15", "belief"));
    assert_eq!((set.pairs.len(), set.without_score, set.pairs[1].sentences[0].as_str()), (2, 1, "five"));
    std::fs::write(year.join("STS.gs.belief.txt"), "3.5\n4\n").unwrap();
    let error = SentencePairs::read(&files[0]).unwrap_err().to_string();
    assert!(error.contains("has 2 scores for 3 pairs"), "{error}");
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn spearman_looks_at_nothing_but_the_order(values in prop::collection::vec((-50_i32..50, -9_i32..9), 3..60)) {
        let (x, y): (Vec<f64>, Vec<f64>) = values.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).unzip();
        let Some(expected) = spearman(&x, &y) else { return Ok(()) };
        prop_assert!((-1.0..=1.0).contains(&expected));
        let bent: Vec<f64> = x.iter().map(|x| (x / 20.0).exp()).collect();
        prop_assert!((spearman(&bent, &y).unwrap() - expected).abs() < 1e-12);
        let negated: Vec<f64> = x.iter().map(|x| -x).collect();
        prop_assert!((spearman(&negated, &y).unwrap() + expected).abs() < 1e-12);
        prop_assert!((spearman(&y, &x).unwrap() - expected).abs() < 1e-12);
        prop_assert!((spearman(&x, &x).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn any_sentence_is_cut_into_words_of_the_vocabulary(sentence in "\\PC{0,60}") {
        let embeddings = Embeddings::new(["a", "l'", "n't", "é"].into_iter().collect(), Matrix::new(vec![1.0; 4], 1));
        for casing in [Casing::Kept, Casing::Lower] {
            let found = Words { embeddings: &embeddings, casing }.of_sentence(&sentence);
            prop_assert!(found.iter().all(|&index| index < 4) && found.len() <= sentence.chars().count());
        }
    }

    #[test]
    fn an_interval_holds_the_mean_and_narrows_with_more_values(share in 0.1_f64..0.9, seed: u64) {
        let values = |count: usize| -> Vec<f64> { (0..count).map(|i| f64::from((i as f64 * 0.618_034).fract() < share)).collect() };
        let width = |count: usize| {
            let values = values(count);
            let [low, high] = Bootstrap { seed, resamples: 400 }.interval(&values);
            let mean = values.iter().sum::<f64>() / count as f64;
            assert!(low <= mean && mean <= high);
            high - low
        };
        prop_assert!(width(1600) < width(100));
    }
}

#[test]
fn zero_vectors_are_counted() {
    let words = |letter: &str, rows: Vec<f32>| {
        let names: Vec<String> = (0..rows.len() / 2).map(|i| format!("{letter}{i}")).collect();
        Embeddings::new(names.iter().map(String::as_str).collect(), Matrix::new(rows, 2))
    };
    let x = words("x", vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let y = words("y", vec![1.0, 0.1, 1.0, 1.0, 0.0, 0.0]);
    let mut gold = Lexicon::new(vec!["x".to_owned(), "y".to_owned()]);
    for i in 0..3 {
        gold.add([(0, format!("x{i}").as_str()), (1, format!("y{i}").as_str())].into_iter().collect());
    }
    let task = TranslationTask::new("x", "y", &gold);
    let result = TranslationEvaluation::of_vectors([&x, &y], Casing::Kept, &task, &()).unwrap();
    assert_eq!((result.translation.zero_queries, result.translation.zero_targets), (1, 1));
    assert_eq!((result.translation.queries, result.translation.precision[&1]), (3, 100.0 / 3.0));
    let questions = Analogies::read_input(&input(
        "questions.txt",
        ": section
x0 x2 x0 x2
",
    ))
    .unwrap();
    assert_eq!(analogy(kept(&x), &questions, &()).unwrap().zero_words, 1);
}
