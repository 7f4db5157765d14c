//! Views that are added to a fitted space.

use sememe::align::{AlignOptions, Aligned, Extended, align, extend};
use sememe::lexicon::Tuples;
use sememe::model::{self, LatentSize, Method, Shrinkage};
use sememe::moments::Moments;
use sememe::space::Space;
use sememe::vectors::{Embeddings, View};

use crate::samples::{complete_tuples, many_views, named, numbered};

const ROWS: usize = 400;

fn fitting(method: Option<Method>) -> model::FitOptions {
    let mut options = model::FitOptions::default().with_method(method).with_shrinkage(Shrinkage::None);
    options.mbfa.tolerance = 1e-13;
    options.mbfa.evaluations = 20_000;
    options
}

fn aligned(views: &[Embeddings], method: Option<Method>) -> Aligned {
    aligned_by(views, fitting(method))
}

fn aligned_by(views: &[Embeddings], fit: model::FitOptions) -> Aligned {
    let options = AlignOptions::default().with_fit(fit);
    align(numbered(views), &complete_tuples(views.len(), ROWS), &options, &()).unwrap()
}

fn latent(aligned: &Aligned) -> Vec<Option<View>> {
    aligned.latent.iter().map(|latent| latent.as_ref().map(|latent| latent.view.clone())).collect()
}

/// Tuples that have the given former views and the new one.
fn tuples_with(former: usize, known: &[usize]) -> Tuples {
    let mut tuples = Tuples::new(former + 1);
    for i in 0..ROWS {
        let mut tuple = vec![None; former + 1];
        known.iter().chain([&former]).for_each(|&view| tuple[view] = Some(i));
        tuples.add(&tuple);
    }
    tuples
}

#[test]
fn a_view_added_again_is_as_likely_as_the_one_it_is_a_copy_of() {
    let views = many_views(ROWS, &[4, 5], 21);
    let before = aligned(&views, None);
    let tuples = tuples_with(2, &[0]);
    let copy = View::from_embeddings("copy", views[1].clone());
    let extended = extend(&before.alignment, &latent(&before), copy.clone(), &tuples, &fitting(None), &()).unwrap();
    let model = &extended.alignment.model;
    assert_eq!(model.views[0].projection, before.alignment.model.views[0].projection);

    // The closed form is the best there is for the first view with either of the others.
    let pairs = Moments::of(&[numbered(&views), vec![copy]].concat(), &tuples).unwrap();
    let likelihood = model.log_likelihood_of(&pairs).unwrap();
    let best = before.alignment.model.log_likelihood.unwrap();
    assert!((likelihood - best).abs() < 1e-5 * best.abs(), "{likelihood} {best}");
}

#[test]
fn what_several_known_views_say_is_taken_together() {
    let views = many_views(ROWS, &[4, 5, 4, 3], 22);
    // The same latent size for both, as more dimensions would be more likely.
    let fitting = fitting(None).with_latent(LatentSize::Of(3));
    let joint = aligned_by(&views, fitting.clone()).alignment.model;
    let before = aligned_by(&views[..3], fitting.clone());
    let extension = |known: &[usize]| {
        let new = View::from_embeddings("3", views[3].clone());
        extend(&before.alignment, &latent(&before), new, &tuples_with(3, known), &fitting, &()).unwrap()
    };
    let all = Moments::of(&numbered(&views), &complete_tuples(4, ROWS)).unwrap();
    let value = |model: &sememe::model::Model| model.log_likelihood_of(&all).unwrap() / ROWS as f64;
    let (one, three) = (value(&extension(&[1]).alignment.model), value(&extension(&[0, 1, 2]).alignment.model));
    assert!(three > one && three <= value(&joint) + 1e-6, "{one} {three} {}", value(&joint));
    assert!(value(&joint) - three < 0.2, "{three} {}", value(&joint));
}

#[test]
fn direct_methods_map_the_new_view_to_their_space() {
    let views = many_views(ROWS, &[4, 4, 4], 23);
    for method in [Method::Svd, Method::LeastSquares] {
        let before = aligned(&views[..2], Some(method));
        let new = View::from_embeddings("2", views[2].clone());
        let tuples = tuples_with(2, &[1]);
        let extended = extend(&before.alignment, &latent(&before), new, &tuples, &Default::default(), &()).unwrap();
        // As if it had been there from the beginning: the pivot's latent vectors are its own.
        let moments =
            Moments::of(&named(["2", "1"], &[views[2].clone(), views[1].clone()]), &complete_tuples(2, ROWS)).unwrap();
        let (expected, _) = model::fit(&moments, &model::FitOptions::default().with_method(Some(method)), &()).unwrap();
        let found = &extended.alignment.model.views[2].projection;
        assert!((found - &expected.views[0].projection).norm_max() < 1e-6);
        assert!(extended.latent.log_density.is_none());
    }
    let cca = aligned(&views[..2], Some(Method::Cca));
    let new = View::from_embeddings("2", views[2].clone());
    let error =
        extend(&cca.alignment, &latent(&cca), new, &tuples_with(2, &[1]), &Default::default(), &()).unwrap_err();
    assert!(error.to_string().contains("only spaces of ibfa, mbfa"));
}

#[test]
fn the_files_of_a_space_keep_their_bits_when_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let views = many_views(ROWS, &[4, 5, 3], 24);
    let before = aligned(&views[..2], None);
    Space::write(&path, &before.alignment, &before.latent).unwrap();
    let files = || {
        let entries = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
        let read = |file: std::path::PathBuf| (file.file_name().unwrap().to_owned(), std::fs::read(file).unwrap());
        entries.map(read).collect::<std::collections::BTreeMap<_, _>>()
    };
    let then = files();
    let space = Space::open(&path).unwrap();
    space.reserve("fr", None).unwrap();
    std::fs::write(path.join("fr.safetensors"), "mine").unwrap();
    assert!(space.reserve("fr", None).unwrap_err().to_string().contains("no part of the space"));
    std::fs::remove_file(path.join("fr.safetensors")).unwrap();
    // A name that a model's file would have.
    let new = || View::from_embeddings("model.1", views[2].clone());
    let tuples = tuples_with(2, &[0, 1]);
    let grown = extend(space.alignment(), &space.latent_views().unwrap(), new(), &tuples, &fitting(None), &()).unwrap();
    let copy = space.reserve("model.1", Some(&folder.path().join("copy"))).unwrap();
    space.extend(&grown.alignment, &grown.latent, copy).unwrap();
    assert_eq!(files(), then, "a copy leaves the space alone");
    space.extend(&grown.alignment, &grown.latent, space.reserve("model.1", None).unwrap()).unwrap();
    let now = files();
    assert!(then.iter().all(|(name, bytes)| now[name] == *bytes) && now.len() == then.len() + 2);

    for path in [path.clone(), folder.path().join("copy")] {
        let space = Space::open(&path).unwrap();
        assert_eq!(space.view("model.1").unwrap().matrix().as_slice(), grown.latent.view.rows().as_slice());
        assert_eq!(space.log_density("model.1").unwrap().as_deref(), grown.latent.log_density.as_deref());
        let error = extend(space.alignment(), &space.latent_views().unwrap(), new(), &tuples, &fitting(None), &());
        assert!(error.unwrap_err().to_string().contains("already"));
        Space::check_writable(&path).unwrap();
    }
}

/// A space of two views in a folder, and an extension of it that is not written yet.
fn space_and_extension(path: &std::path::Path) -> (Space, Extended) {
    let views = many_views(ROWS, &[4, 5, 3], 24);
    let before = aligned(&views[..2], None);
    Space::write(path, &before.alignment, &before.latent).unwrap();
    let space = Space::open(path).unwrap();
    let (new, tuples) = (View::from_embeddings("new", views[2].clone()), tuples_with(2, &[0, 1]));
    let grown = extend(space.alignment(), &space.latent_views().unwrap(), new, &tuples, &fitting(None), &()).unwrap();
    (space, grown)
}

#[test]
fn one_view_is_added_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (space, grown) = space_and_extension(&path);
    let reservation = space.reserve("new", None).unwrap();
    let also_open = Space::open(&path).unwrap();
    let busy = also_open.reserve("other", None).unwrap_err().to_string();
    assert!(busy.contains("cannot write"), "{busy}");
    let replaced = Space::write(&path, space.alignment(), &[None, None]).unwrap_err();
    assert!(replaced.to_string().contains("cannot write"), "{replaced}");
    assert!(also_open.reserve("other", Some(&folder.path().join("copy"))).is_ok(), "a copy changes nothing");
    space.extend(&grown.alignment, &grown.latent, reservation).unwrap();

    // It was opened before the view was added: what it would write has no such view.
    let error = std::error::Error::source(&also_open.reserve("other", None).unwrap_err()).unwrap().to_string();
    assert!(error.contains("changed since it was opened"), "{error}");
    let larger = Space::open(&path).unwrap();
    assert_eq!(larger.alignment().model.views.len(), 3);
    assert!(larger.reserve("other", None).is_ok());
    Space::check_writable(&path).unwrap();
}

#[test]
fn what_a_killed_extension_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space");
    let (space, grown) = space_and_extension(&path);
    space.extend(&grown.alignment, &grown.latent, space.reserve("new", None).unwrap()).unwrap();
    let written = std::fs::read(path.join("new.safetensors")).unwrap();
    // Killed before the model was there, with half of it in a temporary file.
    std::fs::rename(path.join("model.1.safetensors"), path.join(".model.1.safetensors.sememe-1-abc")).unwrap();
    let reservation = space.reserve("new", None).unwrap();
    assert_eq!(reservation.left_behind(), Some(&*path.join("new.safetensors")));
    space.extend(&grown.alignment, &grown.latent, reservation).unwrap();
    assert_eq!(std::fs::read(path.join("new.safetensors")).unwrap(), written);
    assert_eq!(Space::open(&path).unwrap().view("new").unwrap().len(), ROWS);
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 5, "two models, three views, and no temporary file");

    // Projected vectors are somebody's own.
    let path = folder.path().join("another");
    let (space, grown) = space_and_extension(&path);
    let projected = grown.latent.view.named();
    sememe::vectors::write(&projected, &path.join("new.safetensors"), sememe::vectors::Format::Safetensors).unwrap();
    assert!(space.reserve("new", None).unwrap_err().to_string().contains("no part of the space"));
}
