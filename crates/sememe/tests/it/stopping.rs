//! Every stage stops when its observer says so: nothing is reported after that, nothing unwinds, and the answer is
//! [`Error::Stopped`] or, where there is one, the best result so far.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use sememe::align::{AlignOptions, align, extend};
use sememe::evaluate::{Analogies, Corpus, SentenceOptions, Words, analogy, sentences};
use sememe::files::Input;
use sememe::learn::{self, LearnOptions};
use sememe::lexicon::Tuples;
use sememe::model::{self, FitOptions, FitWarning, LatentSize, Method, Shrinkage};
use sememe::observe::{Event, Observer};
use sememe::prepare::Casing;
use sememe::retrieve::{Criterion, Retriever};
use sememe::space::Space;
use sememe::translate::{InduceOptions, Induction};
use sememe::vectors::{self, Embeddings, Format, Matrix, ReadOptions, View};
use sememe::{Error, Result};

use crate::arrows::sources;
use crate::random::Random;
use crate::samples::{complete_tuples, many_views, moments_of_complete, numbered, skewed_views};

/// Lets so many events pass and wants no more from then on.
struct Patience {
    events: usize,
    seen: AtomicUsize,
}

impl Patience {
    fn of(events: usize) -> Self {
        Patience { events, seen: AtomicUsize::new(0) }
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::Relaxed)
    }
}

impl Observer for Patience {
    fn observe(&self, _event: Event) -> ControlFlow<()> {
        match self.seen.fetch_add(1, Ordering::Relaxed) < self.events {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// Runs on one thread, where the order of events is the same every time.
fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(work)
}

/// Work that ends with [`Error::Stopped`] at whatever event its observer stops it, and reports nothing after that.
fn assert_stops<T>(what: &str, work: impl Fn(&dyn Observer) -> Result<T> + Sync) {
    let run = |events: usize| {
        let patience = Patience::of(events);
        let outcome = on_one_thread(|| work(&patience).map(|_| ()));
        (outcome, patience.seen())
    };
    let (outcome, events) = run(usize::MAX);
    outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(events > 0, "{what} asks nobody");
    for passed in [0, events / 2, events - 1] {
        let (outcome, seen) = run(passed);
        assert!(matches!(outcome, Err(Error::Stopped)), "{what}: {outcome:?} after event {passed} of {events}");
        assert_eq!(seen, passed + 1, "{what} goes on after event {passed} of {events}");
    }
}

fn random_rows(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    Matrix::new((0..rows * cols).map(|_| random.normal() as f32).collect(), cols)
}

fn words(rows: &Matrix) -> Embeddings {
    View::new("words", rows.clone()).named()
}

#[test]
fn reading_vectors_of_every_format() {
    let folder = tempfile::tempdir().unwrap();
    // More than the readers of binary files take between two reports.
    let embeddings = words(&random_rows(40_000, 2, 1));
    for (name, format) in Format::ALL.into_iter().filter(|(_, format)| *format != Format::FastText) {
        let path = folder.path().join(name);
        vectors::write(&embeddings, &path, format).unwrap();
        let options = ReadOptions::default().with_format(Some(format));
        assert_stops(name, |observer| vectors::read(&path, &options, observer));
        assert_stops(name, |observer| vectors::read_matrix(&path, &options, observer));
    }
    let array = float64_array(folder.path(), 40_000);
    assert_stops("float64", |observer| vectors::read(&array, &ReadOptions::default(), observer));
    assert_stops("float64", |observer| vectors::read_matrix(&array, &ReadOptions::default(), observer));
}

/// Rows that cannot be used as they lie in the file.
fn float64_array(folder: &Path, rows: usize) -> PathBuf {
    let path = folder.join("wide.npy");
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 2), }}\n");
    let data = random_rows(rows, 2, 2).as_slice().iter().flat_map(|&x| f64::from(x).to_le_bytes()).collect::<Vec<u8>>();
    let bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &data].concat();
    std::fs::write(&path, bytes).unwrap();
    std::fs::write(folder.join("wide.txt"), (0..rows).map(|row| format!("{row}\n")).collect::<String>()).unwrap();
    path
}

#[test]
#[cfg(feature = "fasttext")]
fn reading_a_fasttext_model() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/subwords.fasttext.bin");
    assert_stops("fasttext", |observer| vectors::read(&path, &ReadOptions::default(), observer));
}

#[test]
fn searching_and_preparing_to_search() {
    let (x, y) = (random_rows(1500, 8, 3), random_rows(3000, 8, 4));
    for criterion in ["nn", "dot", "l2", "csls", "isf", "isf:sample=1000", "corrected"] {
        let criterion: Criterion = criterion.parse().unwrap();
        for queries in [x.clone(), x.select(&[0, 1, 2])] {
            assert_stops(&format!("{criterion} of {} queries", queries.rows()), |observer| {
                Retriever::new(x.clone(), y.clone(), criterion, observer)?.nearest(&queries, 5, observer)
            });
        }
    }
}

/// A space of two views of so many rows.
fn space(path: &Path, rows: usize) -> Space {
    let views = numbered(&many_views(rows, &[4, 5], 5));
    let aligned = align(views, &complete_tuples(2, rows), &AlignOptions::default(), &()).unwrap();
    Space::write(path, &aligned.alignment, &aligned.latent).unwrap();
    Space::open(path).unwrap()
}

#[test]
fn inducing_a_lexicon() {
    let folder = tempfile::tempdir().unwrap();
    let space = space(&folder.path().join("space"), 400);
    let options = InduceOptions::default().with_criterion(Criterion::CSLS).with_mutual(true);
    let induction = Induction::open(&space, "0", "1", &options, &()).unwrap();
    assert!(induction.has_confidences());
    assert_stops("induction", |observer| induction.run(observer));
}

#[test]
fn terms_that_were_not_computed_to_the_end_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let space = space(&path, 400);
    let files = || std::fs::read_dir(&path).unwrap().count();
    let before = files();
    let stopped = space.retriever("0", "1", Criterion::CSLS, &Patience::of(0)).map(|_| ());
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert_eq!(files(), before);
    space.retriever("0", "1", Criterion::CSLS, &()).unwrap();
    assert_eq!(files(), before + 1);
}

#[test]
fn evaluating_sentences_and_analogies() {
    let embeddings = words(&random_rows(300, 8, 7));
    let of_view = Words { embeddings: &embeddings, casing: Casing::Kept };
    let lines: String = (0..200).map(|at| format!("{} {} {}\n", at, at + 7, at + 90)).collect();
    let input = || Input::from_bytes("sentences.txt", lines.clone().into_bytes()).unwrap();
    let inputs = [input(), input()];
    let read = |observer: &dyn Observer| Corpus::read_inputs([&inputs[0], &inputs[1]], [of_view; 2], 200, observer);
    assert_stops("reading sentences", read);
    let corpus = read(&()).unwrap();
    for criterion in [Criterion::Nn, Criterion::CSLS] {
        let options = SentenceOptions::default().with_criterion(criterion);
        assert_stops("sentences", |observer| sentences(&corpus, 0, &options, observer));
    }
    let questions: String = (0..200).map(|at| format!("{} {} {} {}\n", at, at + 1, at + 2, at + 3)).collect();
    let analogies =
        Analogies::read_input(&Input::from_bytes("questions.txt", questions.into_bytes()).unwrap()).unwrap();
    assert_stops("analogies", |observer| analogy(of_view, &analogies, observer));
}

fn mbfa(latent: LatentSize) -> FitOptions {
    FitOptions::default().with_method(Some(Method::Mbfa)).with_latent(latent).with_shrinkage(Shrinkage::None)
}

#[test]
fn a_fit_gives_the_best_model_so_far() {
    let moments = moments_of_complete(&many_views(300, &[4, 5, 6], 8));
    let (whole, _) = model::fit(&moments, &mbfa(LatentSize::Of(2)), &()).unwrap();
    let whole = whole.trace.unwrap().negative_log_likelihoods;
    for passed in [0, 1, 3, whole.len() / 2] {
        let patience = Patience::of(passed);
        let (model, warnings) = model::fit(&moments, &mbfa(LatentSize::Of(2)), &patience).unwrap();
        let trace = model.trace.as_ref().unwrap();
        assert_eq!((trace.negative_log_likelihoods.as_slice(), patience.seen()), (&whole[..=passed], passed + 1));
        assert!(warnings.iter().any(|warning| matches!(warning, FitWarning::NotConverged { .. })));
        // The model that is returned is the one that the last value is of.
        let value = -model.log_likelihood.unwrap() / moments.count();
        assert!((value - whole[passed]).abs() < 1e-6 * value.abs(), "{value} {}", whole[passed]);
    }
}

#[test]
fn a_fit_that_is_stopped_does_not_look_for_a_better_size() {
    let moments = moments_of_complete(&many_views(300, &[4, 5, 6], 8));
    let first = Patience::of(0);
    let (model, _) = model::fit(&moments, &mbfa(LatentSize::Auto), &first).unwrap();
    assert_eq!((model.latent(), first.seen()), (4, 1));
    // Stopped while it tries the first smaller size.
    let (longest, _) = model::fit(&moments, &mbfa(LatentSize::Largest), &()).unwrap();
    let passed = longest.trace.unwrap().negative_log_likelihoods.len();
    let second = Patience::of(passed);
    let (model, _) = model::fit(&moments, &mbfa(LatentSize::Auto), &second).unwrap();
    assert_eq!((model.latent(), second.seen()), (4, passed + 1));
}

#[test]
fn a_view_is_added_as_well_as_it_is_known_so_far() {
    let views = many_views(300, &[4, 5, 6], 9);
    let options = AlignOptions::default();
    let before = align(numbered(&views[..2]), &complete_tuples(2, 300), &options, &()).unwrap();
    let latent: Vec<Option<View>> = before.latent.into_iter().map(|latent| latent.map(|latent| latent.view)).collect();
    let new = View::from_embeddings("new", views[2].clone());
    let add = |observer: &dyn Observer| {
        extend(&before.alignment, &latent, new.clone(), &complete_tuples(3, 300), &FitOptions::default(), observer)
    };
    let whole = Patience::of(usize::MAX);
    add(&whole).unwrap();
    assert!(whole.seen() > 2, "{}", whole.seen());
    let known = before.alignment.calibrations.len();
    let mut is_cut_short = Vec::new();
    for passed in [0, 1, whole.seen() / 2, whole.seen() - 1] {
        let patience = Patience::of(passed);
        let extended = add(&patience).unwrap();
        assert_eq!(patience.seen(), passed + 1);
        assert_eq!(extended.alignment.calibrations.len(), known, "no confidences without held-out words");
        is_cut_short.push(extended.warnings.iter().any(|warning| matches!(warning, FitWarning::NotConverged { .. })));
    }
    assert_eq!((is_cut_short[0], is_cut_short[3]), (true, false), "the fit comes before the calibration");
}

#[test]
fn learning_gives_what_it_has_after_the_round_that_it_is_in() {
    let views = numbered(&skewed_views(600, &[30, 28], 10));
    let options = LearnOptions::default();
    let learn = |observer: &dyn Observer| learn::learn(views.clone(), &complete_tuples(2, 60), &options, observer);
    let whole = learn(&()).unwrap().report.rounds;
    for passed in [0, 2, whole.len() / 2] {
        let learned = learn(&Patience::of(passed)).unwrap();
        assert_eq!(learned.report.rounds, whole[..=passed]);
    }
    let unsupervised = LearnOptions::default().with_unsupervised(true);
    for passed in [0, 5] {
        let patience = Patience::of(passed);
        let error = learn::learn(views.clone(), &Tuples::new(2), &unsupervised, &patience).unwrap_err();
        assert!(matches!(error, Error::StoppedEarly(_)), "{error}");
        assert_eq!(patience.seen(), passed + 1);
    }
}

/// What follows the rounds takes longer than a round, so that it is left out.
#[test]
fn learning_that_is_stopped_skips_what_it_would_judge_by() {
    let views = numbered(&skewed_views(600, &[30, 28], 10));
    let learn = |observer: &dyn Observer| {
        let learned =
            learn::learn(views.clone(), &complete_tuples(2, 300), &LearnOptions::default(), observer).unwrap();
        (!learned.fitted.alignment.calibrations.is_empty(), learned.report.induced)
    };
    assert!(learn(&()).0, "held-out entries calibrate confidences");
    let (is_calibrated, induced) = learn(&Patience::of(2));
    assert!(!is_calibrated && induced > 100, "{induced} pairs");
}

/// With `panic = "abort"` a stop by unwinding would end the process, and every test here would still pass without it. Only
/// decoders of tables, which are others' code, are guarded against panics on damaged files.
#[test]
fn the_library_never_unwinds_to_stop() {
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let source = std::fs::read_to_string(&file).unwrap();
        for way in ["resume_unwind", "catch_unwind", "panic_any"] {
            let is_guard = way == "catch_unwind" && file.ends_with("tables/mod.rs");
            assert!(is_guard || !source.contains(way), "{} has {way}", file.display());
        }
    }
}
