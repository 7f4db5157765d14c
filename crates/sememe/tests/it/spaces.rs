//! The whole way: align, write, open, project.

use sememe::align::{Aligned, Options, align};
use sememe::lexicon::Tuples;
use sememe::model::{Alignment, Casing};
use sememe::normalize::Step;
use sememe::space::Space;
use sememe::vectors::{Embeddings, Matrix};

use crate::samples::two_views;

fn aligned(options: &Options) -> (Aligned, Embeddings) {
    let (x, y) = two_views(120, 3, 4, 5);
    let mut tuples = Tuples::new(2);
    for i in 0..100 {
        tuples.add(&[Some(i), Some(i)]);
    }
    (align(vec![("x/1".into(), x.clone()), ("Ключ".into(), y)], &tuples, options).unwrap(), x)
}

fn options() -> Options {
    Options {
        casing: Casing::Lower,
        normalize: vec![Step::Unit, Step::Center, Step::Standardize],
        ..Options::default()
    }
}

#[test]
fn a_space_opens_as_it_was_written_and_projects_the_same_vectors_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, x) = aligned(&options());
    Space::write(&path, &aligned.alignment, &aligned.latent).unwrap();

    let space = Space::open(&path).unwrap();
    for (view, latent) in aligned.alignment.model.views.iter().zip(&aligned.latent) {
        assert_eq!(space.view(&view.name).unwrap().matrix().as_slice(), latent.matrix().as_slice());
    }
    let again = space.alignment().project(0, x).unwrap();
    assert_eq!(again.matrix().as_slice(), aligned.latent[0].matrix().as_slice());
    assert_eq!(space.alignment().model.log_likelihood, aligned.alignment.model.log_likelihood);
    assert_eq!(space.alignment().sources, aligned.alignment.sources);
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
fn a_space_replaces_a_space_but_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (aligned, _) = aligned(&Options::default());
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
    let (aligned, _) = aligned(&Options::default());
    aligned.alignment.write(&path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let version = b"\\\"version\\\":1";
    let at = bytes.windows(version.len()).position(|window| window == version).unwrap();
    bytes[at + version.len() - 1] = b'7';
    std::fs::write(&path, bytes).unwrap();
    let error = Alignment::read(&path).unwrap_err().to_string();
    assert!(error.contains("format version 7"), "{error}");
}
