//! The whole way: align, write, open, project.

use sememe::align::Alignment;
use sememe::align::{AlignOptions, Aligned, align};
use sememe::lexicon::Tuples;
use sememe::moments;
use sememe::prepare::Casing;
use sememe::prepare::Step;
use sememe::retrieve::{Calibration, Criterion, Hit};
use sememe::space::Space;
use sememe::vectors::{Embeddings, Matrix, View};

use crate::samples::{complete_tuples, named, two_views};

fn aligned(options: &AlignOptions) -> (Aligned, Embeddings) {
    let (x, y) = two_views(120, 3, 4, 5);
    let views = named(["x/1", "Ключ"], &[x.clone(), y]);
    (align(views, &complete_tuples(2, 100), options, &()).unwrap(), x)
}

fn options() -> AlignOptions {
    let normalize = vec![Step::Unit, Step::Center, Step::Standardize];
    AlignOptions::default()
        .with_evidence(moments::EvidenceOptions::default().with_casing(Casing::Lower).with_normalize(normalize))
}

#[test]
fn a_space_opens_as_it_was_written_and_projects_the_same_vectors_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, x) = aligned(&options());
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();

    let space = Space::open(&path).unwrap();
    for (view, latent) in aligned.alignment.model.views.iter().zip(&aligned.latent) {
        let latent = latent.as_ref().unwrap().view.rows();
        assert_eq!(space.view(&view.name).unwrap().matrix().as_slice(), latent.as_slice());
    }
    let again = space.alignment().project(0, x).unwrap();
    let before = aligned.latent[0].as_ref().unwrap();
    assert_eq!(again.view.rows().as_slice(), before.view.rows().as_slice());
    assert_eq!(again.log_density, before.log_density);
    assert_eq!(space.alignment().model.log_likelihood, aligned.alignment.model.log_likelihood);
    assert_eq!(space.alignment().sources, aligned.alignment.sources);
    assert_eq!(space.alignment().calibrations, aligned.alignment.calibrations);
    assert!(space.view("z").unwrap_err().to_string().contains("there are \"x/1\", \"Ключ\""));
}

#[test]
fn files_are_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let files = [1, 2, 5].map(|threads| {
        let path = folder.path().join(threads.to_string());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (aligned, _) = aligned(&options());
            Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
        });
        ["model.safetensors", "x%2F1.safetensors"].map(|name| std::fs::read(path.join(name)).unwrap())
    });
    assert!(files[0] == files[1] && files[1] == files[2]);
}

#[test]
fn pairs_of_views_without_a_calibration_borrow_one() {
    let (mut aligned, _) = aligned(&options());
    let alignment = &mut aligned.alignment;
    let criteria: Vec<String> = alignment.calibrations.iter().map(|pair| pair.criterion.to_string()).collect();
    assert_eq!(criteria, ["nn", "nn", "csls", "csls", "isf", "isf", "pmi", "pmi"], "one for each direction");
    let own = alignment.calibration(0, 1, Criterion::CSLS).unwrap();
    let back = alignment.calibration(1, 0, Criterion::CSLS).unwrap();
    let of_scores = |one: Calibration| (one.temperature, one.slope, one.offset, one.rarity);
    assert_eq!(of_scores(own), of_scores(back), "directions differ by the rows that are usual alone");
    assert_ne!(alignment.calibration(0, 1, Criterion::Nn), Some(own), "each criterion has its own");
    assert_eq!(alignment.calibration(0, 1, Criterion::Dot), None);
    assert_eq!(alignment.calibration(0, 1, Criterion::Csls { k: 3, words: None }), None);
    let mut other = alignment.calibrations[2].clone();
    (other.views[0], other.calibration.temperature) = ("another".to_owned(), 4.0 * own.temperature);
    alignment.calibrations.push(other);
    assert_eq!(alignment.calibration(0, 1, Criterion::CSLS), Some(own));
    // Spaces of earlier versions have one entry for both directions.
    alignment.calibrations.remove(2);
    assert_eq!(alignment.calibration(0, 1, Criterion::CSLS), Some(back));
    alignment.calibrations[2].views[0] = "a third".to_owned();
    let borrowed = alignment.calibration(0, 1, Criterion::CSLS).unwrap();
    assert!((borrowed.temperature / own.temperature - 2.0).abs() < 1e-12, "the geometric mean");
    alignment.calibrations.clear();
    assert_eq!(alignment.calibration(0, 1, Criterion::CSLS), None);
}

#[test]
fn how_rare_a_word_is_is_relative_to_the_words_of_its_own_view() {
    let (x, y) = two_views(120, 3, 4, 5);
    let backwards: Vec<usize> = (0..120).rev().collect();
    let views = vec![View::from_embeddings("x", x), View::new("y", y.matrix().select(&backwards))];
    let mut tuples = Tuples::new(2);
    (0..100).for_each(|row| assert!(tuples.add(&[Some(row), Some(119 - row)])));
    let alignment = align(views, &tuples, &AlignOptions::default(), &()).unwrap().alignment;
    let [x, y] = [[0, 1], [1, 0]].map(|[from, to]| alignment.calibration(from, to, Criterion::CSLS).unwrap());
    assert_eq!(x.range.map(|end| end.exp().round()), [1.0, 100.0]);
    assert_eq!(y.range.map(|end| end.exp().round()), [21.0, 120.0]);
    assert!(x.usual + 0.3 < y.usual, "{x:?} {y:?}");
}

#[test]
fn an_impossible_calibration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (mut aligned, _) = aligned(&options());
    aligned.alignment.calibrations[0].calibration.temperature = 0.0;
    aligned.alignment.write(&path).unwrap();
    let error = Alignment::read(&path).unwrap_err().to_string();
    assert!(error.contains("calibration"), "{error}");
}

#[test]
fn a_space_replaces_a_space_but_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, _) = aligned(&AlignOptions::default());
    let write = || Space::write(&path, &aligned.alignment, &aligned.latent);
    write().unwrap();
    write().unwrap();
    std::fs::remove_file(path.join("model.safetensors")).unwrap();
    assert!(write().unwrap_err().to_string().contains("not replaced"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary folder is left behind");
}

#[test]
fn vectors_of_another_dimension_are_refused() {
    let (aligned, _) = aligned(&options());
    let other = Embeddings::new(["a"].into_iter().collect(), Matrix::new(vec![1.0, 2.0], 2));
    let error = aligned.alignment.project(0, other).unwrap_err().to_string();
    assert!(error.contains("dimension is 2") && error.contains("dimension 3"), "{error}");
}

#[test]
fn a_model_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (aligned, _) = aligned(&AlignOptions::default());
    aligned.alignment.write(&path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let version = b"\\\"version\\\":2";
    let at = bytes.windows(version.len()).position(|window| window == version).unwrap();
    bytes[at + version.len() - 1] = b'7';
    std::fs::write(&path, bytes).unwrap();
    let error = Alignment::read(&path).unwrap_err().to_string();
    assert!(error.contains("format version 7"), "{error}");
}

#[test]
fn a_folder_with_anything_of_somebody_else_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (aligned, _) = aligned(&AlignOptions::default());
    let write = |path: &std::path::Path| Space::write(path, &aligned.alignment, &aligned.latent);
    let refused = |path: &std::path::Path| {
        let error = write(path).unwrap_err().to_string();
        assert_eq!(Space::check_writable(path).unwrap_err().to_string(), error);
        assert!(error.contains("not replaced"), "{error}");
        error
    };
    // A model of another program under the usual name.
    let foreign = folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("model.safetensors"), b"\x02\0\0\0\0\0\0\0{}").unwrap();
    assert!(refused(&foreign).contains("is no model written by sememe"));
    // A space in which somebody keeps something else.
    let space = folder.path().join("space");
    write(&space).unwrap();
    std::fs::write(space.join("notes.txt"), "keep").unwrap();
    assert!(refused(&space).contains("notes.txt"));
    std::fs::write(folder.path().join("file"), "keep").unwrap();
    assert!(refused(&folder.path().join("file")).contains("no folder"));
    assert!(foreign.join("model.safetensors").exists() && space.join("notes.txt").exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary folder is left behind");
}

#[test]
fn a_space_that_cannot_be_written_is_known_before() {
    let folder = tempfile::tempdir().unwrap();
    let error = Space::check_writable(&folder.path().join("no/space")).unwrap_err();
    assert!(!error.is_bad_input());
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("there is no folder"), "{source}");
    for unmovable in [".", "..", "/", "src/.."] {
        let error = Space::check_writable(unmovable.as_ref()).unwrap_err().to_string();
        assert!(error.contains("cannot be replaced"), "{unmovable}: {error}");
    }
    Space::check_writable(&folder.path().join("space")).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_view_of_another_space_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, _) = aligned(&AlignOptions::default());
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    let latent = aligned.latent[0].as_ref().unwrap().view.named();
    let words: Vec<&str> = latent.vocabulary().iter().skip(1).collect();
    let (fewer, _) = latent.select(words);
    let file = path.join("x%2F1.safetensors");
    sememe::vectors::write(&fewer, &file, sememe::vectors::Format::Safetensors).unwrap();
    let error = Space::open(&path).unwrap().view("x/1").unwrap_err().to_string();
    assert!(error.contains("has 119 words") && error.contains("another space"), "{error}");
}

/// Makes a space look as if it had been written before hashes of its files were recorded.
fn forget_hashes(path: &std::path::Path) {
    let model = path.join("model.safetensors");
    let mut alignment = Alignment::read(&model).unwrap();
    assert!(alignment.file_hashes.iter().all(Option::is_some));
    alignment.file_hashes = vec![None; 2];
    alignment.write(&model).unwrap();
    assert!(!String::from_utf8_lossy(&std::fs::read(&model).unwrap()).contains("file_hash"));
}

/// The files of a space with as many words, but other vectors.
#[test]
fn a_view_file_that_was_replaced_or_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("space"), folder.path().join("other"));
    let (first, _) = aligned(&AlignOptions::default());
    let (second, _) = aligned(&options());
    Space::write(&path, &first.alignment, &first.latent).unwrap();
    Space::write(&other, &second.alignment, &second.latent).unwrap();
    let file = path.join("x%2F1.safetensors");
    let own = std::fs::read(&file).unwrap();
    std::fs::copy(other.join("x%2F1.safetensors"), &file).unwrap();
    let refused = || {
        let space = Space::open(&path).unwrap();
        let error = space.view("x/1").unwrap_err().to_string();
        assert!(error.contains("x%2F1.safetensors: is not the file that this space was written with"), "{error}");
        assert!(space.log_density("x/1").is_err() && space.summary().is_err());
        assert!(space.retriever("Ключ", "x/1", Criterion::Nn, &()).is_err());
        assert!(space.view("Ключ").is_ok());
    };
    refused();
    // A single number.
    let mut edited = own.clone();
    let at = edited.len() / 2;
    edited[at] ^= 1;
    std::fs::write(&file, edited).unwrap();
    refused();
    // Spaces that were written before hashes were recorded open as they did.
    forget_hashes(&path);
    assert!(Space::open(&path).unwrap().view("x/1").is_ok());
    std::fs::write(&file, own).unwrap();
    assert!(Space::open(&path).unwrap().view("x/1").is_ok());
}

#[test]
fn float64_input_gives_the_same_bits_as_the_same_numbers_in_float32() {
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = two_views(120, 3, 4, 6);
    let npy = |name: &str, kind: &str, data: Vec<u8>| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (120, 3), }}");
        let header = format!("{header:<117}\n");
        let bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &data].concat();
        let path = folder.path().join(name);
        std::fs::write(path.with_extension("txt"), (0..120).map(|i| format!("{i}\n")).collect::<String>()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let read = sememe::vectors::read(
            &path,
            &sememe::vectors::ReadOptions::default().with_words(Some(path.with_extension("txt"))),
            &(),
        );
        read.unwrap().embeddings
    };
    // Digits that float32 does not have: they are rounded to it when they are read.
    let wide = |value: &f32| f64::from(*value) * (1.0 + 1e-9);
    let values = x.matrix().as_slice();
    let narrow = npy("narrow.npy", "<f4", values.iter().flat_map(|v| (wide(v) as f32).to_le_bytes()).collect());
    let wide = npy("wide.npy", "<f8", values.iter().flat_map(|v| wide(v).to_le_bytes()).collect());
    let fit = |x: Embeddings| {
        align(named(["x", "y"], &[x, y.clone()]), &complete_tuples(2, 120), &options(), &()).unwrap().alignment
    };
    let (narrow, wide) = (fit(narrow), fit(wide));
    assert_eq!(narrow.model.views[0].projection, wide.model.views[0].projection);
    assert_eq!(narrow.sources, wide.sources);
}

/// The first candidates of the first words of `x/1` in a space that is opened for them.
fn found(path: &std::path::Path, criterion: Criterion) -> Vec<Vec<Hit>> {
    let space = Space::open(path).unwrap();
    let queries = space.view("x/1").unwrap().matrix().select(&[0, 1, 2]);
    space.retriever("x/1", "Ключ", criterion, &()).unwrap().nearest(&queries, 4, &()).unwrap()
}

#[test]
fn a_space_keeps_what_it_opened_and_can_be_shared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, _) = aligned(&AlignOptions::default());
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    let space = std::sync::Arc::new(Space::open(&path).unwrap());
    let open = || {
        let (view, density) = (space.view("x/1").unwrap(), space.log_density("x/1").unwrap().unwrap());
        let retriever = space.retriever("x/1", "Ключ", Criterion::CSLS, &()).unwrap();
        let word = std::ptr::from_ref(view.vocabulary());
        (view.matrix().as_slice().as_ptr() as usize, word as usize, density.as_ptr() as usize, retriever)
    };
    let first = open();
    let second = std::thread::scope(|scope| scope.spawn(open).join().unwrap());
    assert_eq!((first.0, first.1, first.2), (second.0, second.1, second.2));
    assert_eq!(first.3.terms().as_ptr(), second.3.terms().as_ptr());
    // Another criterion is another retriever.
    let other = space.retriever("x/1", "Ключ", "csls:k=3".parse().unwrap(), &()).unwrap();
    assert_ne!(first.3.terms(), other.terms());
}

fn terms_in(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut terms: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "terms")).collect();
    terms.sort();
    terms
}

#[test]
fn terms_of_retrieval_are_kept_in_the_space_as_long_as_they_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, _) = aligned(&AlignOptions::default());
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    found(&path, Criterion::Nn);
    assert!(terms_in(&path).is_empty());
    for criterion in [Criterion::CSLS, "csls:k=3".parse().unwrap(), Criterion::ISF, Criterion::Pmi] {
        let before = terms_in(&path).len();
        let first = found(&path, criterion);
        assert_eq!(terms_in(&path).len(), before + 1, "{criterion}");
        assert_eq!(found(&path, criterion), first, "{criterion}");
    }

    // Terms that are there are used; damaged ones, and those of other vectors, are computed again.
    let (csls, pmi) =
        (path.join("csls.x%2F1+%D0%9A%D0%BB%D1%8E%D1%87.terms"), "pmi.x%2F1+%D0%9A%D0%BB%D1%8E%D1%87.terms");
    let expected = found(&path, Criterion::CSLS);
    let bytes = std::fs::read(&csls).unwrap();
    let read_again = |content: &[u8]| {
        std::fs::write(&csls, content).unwrap();
        found(&path, Criterion::CSLS)
    };
    let other_terms = [&bytes[..bytes.len() - 8], &(-7.0_f64).to_le_bytes()].concat();
    read_again(&other_terms);
    assert_eq!(std::fs::read(&csls).unwrap(), other_terms);
    assert_eq!(read_again(&bytes[..bytes.len() / 2]), expected);
    assert_eq!(std::fs::read(&csls).unwrap(), bytes);
    let file = path.join("x%2F1.safetensors");
    let latent = aligned.latent[0].as_ref().unwrap().view.named();
    let turned: Vec<f32> = latent.matrix().as_slice().iter().map(|x| -x).collect();
    let turned = Embeddings::new(latent.vocabulary().clone(), Matrix::new(turned, 3));
    sememe::vectors::write(&turned, &file, sememe::vectors::Format::Safetensors).unwrap();
    forget_hashes(&path);
    assert_ne!(found(&path, Criterion::CSLS), expected);
    assert_ne!(std::fs::read(&csls).unwrap(), bytes);

    // They do not keep a space from being replaced, unless they are something else.
    assert!(path.join(pmi).is_file());
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    assert!(terms_in(&path).is_empty());
    std::fs::write(path.join("search.terms"), "house\n").unwrap();
    let error = Space::check_writable(&path).unwrap_err().to_string();
    assert!(error.contains("search.terms"), "{error}");
}

#[test]
fn log_densities_are_read_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, _) = aligned(&AlignOptions::default());
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();
    let space = Space::open(&path).unwrap();
    let expected = &aligned.latent[0].as_ref().unwrap().log_density;
    assert!(expected.is_some() && space.log_density("x/1").unwrap().as_deref() == expected.as_deref());
    assert!(space.log_density("z").is_err());
}
