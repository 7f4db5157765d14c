//! Words drawn from models.

use sememe::model::{Exponent, FitOptions, LatentSize, Method, Model, Shrinkage, fit};
use sememe::sample::{Vocabularies, draw};
use sememe::vectors::{Embeddings, Matrix};

use crate::samples::{many_views, moments_of_complete, numbered};

/// A model of views of these dimensions, and the views.
fn fitted(dims: &[usize]) -> (Model, Vec<Embeddings>) {
    let views = many_views(120, dims, 5);
    let options = FitOptions::default()
        .with_method(Some(if dims.len() == 2 { Method::Ibfa } else { Method::Mbfa }))
        .with_latent(LatentSize::Of(2))
        .with_shrinkage(Shrinkage::By(0.1));
    (fit(&moments_of_complete(&views), &options, &()).unwrap().0, views)
}

#[test]
fn tuples_are_ranked_by_the_joint_density_of_their_words() {
    for dims in [&[3, 4][..], &[3, 4, 5], &[4, 3, 5, 3]] {
        let (model, views) = fitted(dims);
        let vectors: Vec<&Matrix> = views.iter().map(Embeddings::matrix).collect();
        let drawn = draw(&model, &Vocabularies::Vectors(vectors.clone()), 300, 7).unwrap();
        assert!(drawn.len() > 100 && drawn.is_sorted_by(|a, b| a.log_density >= b.log_density));
        let all: Vec<usize> = (0..dims.len()).collect();
        let density = model.density(&all).unwrap();
        for drawn in &drawn {
            let rows: Vec<&[f32]> = drawn.words.iter().zip(&vectors).map(|(&row, words)| words.row(row)).collect();
            assert!((density.log(&rows).unwrap() - drawn.log_density).abs() < 1e-9);
        }
        // No tuple twice, the same for the same seed, others for another.
        let mut words: Vec<&Vec<usize>> = drawn.iter().map(|drawn| &drawn.words).collect();
        words.sort();
        assert!(words.windows(2).all(|two| two[0] != two[1]));
        assert_eq!(drawn, draw(&model, &Vocabularies::Vectors(vectors.clone()), 300, 7).unwrap());
        assert_ne!(drawn, draw(&model, &Vocabularies::Vectors(vectors), 300, 8).unwrap());
    }
}

#[test]
fn latent_vectors_and_densities_are_enough_for_the_joint_density() {
    for dims in [&[3, 4][..], &[3, 4, 5]] {
        let (model, views) = fitted(dims);
        let latent: Vec<_> =
            numbered(&views).into_iter().enumerate().map(|(at, view)| model.latent_view(at, view).unwrap()).collect();
        let words = latent.iter().map(|latent| (latent.view.rows(), latent.log_density.as_deref().unwrap())).collect();
        let all: Vec<usize> = (0..dims.len()).collect();
        let density = model.density(&all).unwrap();
        for drawn in draw(&model, &Vocabularies::Latent(words), 200, 3).unwrap() {
            let rows: Vec<&[f32]> = drawn.words.iter().zip(&views).map(|(&row, words)| words.vector(row)).collect();
            let expected = density.log(&rows).unwrap();
            // Latent vectors are stored as f32.
            assert!((expected - drawn.log_density).abs() < 1e-4, "{expected} {}", drawn.log_density);
        }
    }
}

#[test]
fn what_cannot_be_drawn_from_is_refused() {
    let (model, views) = fitted(&[3, 4]);
    let vectors = || Vocabularies::Vectors(views.iter().map(Embeddings::matrix).collect());
    assert!(draw(&model, &vectors(), 0, 1).unwrap_err().to_string().contains("at least one"));
    let moments = moments_of_complete(&views);
    let direct = fit(&moments, &FitOptions::default().with_method(Some(Method::Cca)), &()).unwrap().0;
    assert!(draw(&direct, &vectors(), 5, 1).unwrap_err().to_string().contains("no density"));
    let weighted = FitOptions::default().with_exponent(Exponent::Of(1.0)).with_shrinkage(Shrinkage::By(0.1));
    let weighted = fit(&moments, &weighted, &()).unwrap().0;
    let latent: Vec<_> =
        numbered(&views).into_iter().enumerate().map(|(at, view)| weighted.latent_view(at, view).unwrap()).collect();
    let words = latent.iter().map(|latent| (latent.view.rows(), latent.log_density.as_deref().unwrap())).collect();
    assert!(draw(&weighted, &Vocabularies::Latent(words), 5, 1).unwrap_err().to_string().contains("exponent"));
}
