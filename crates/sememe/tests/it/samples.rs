//! Small problems that several tests use.

use sememe::lexicon::Tuples;
use sememe::linalg::{Mat, times_transpose};
use sememe::model::Model;
use sememe::moments::Moments;
use sememe::vectors::{Embeddings, Matrix, View, Vocabulary};

use crate::random::Random;

/// Words `0`, `1`, … with the given rows.
pub fn embeddings_of_rows(rows: &[Vec<f64>]) -> Embeddings {
    let words: Vec<String> = (0..rows.len()).map(|i| i.to_string()).collect();
    let words: Vocabulary = words.iter().map(String::as_str).collect();
    let values = rows.iter().flatten().map(|&x| x as f32).collect();
    Embeddings::new(words, Matrix::new(values, rows[0].len()))
}

/// The same words and vectors as views of these names.
pub fn named<'a>(names: impl IntoIterator<Item = &'a str>, views: &[Embeddings]) -> Vec<View> {
    names.into_iter().zip(views).map(|(name, view)| View::from_embeddings(name, view.clone())).collect()
}

/// Views `0`, `1`, ….
pub fn numbered(views: &[Embeddings]) -> Vec<View> {
    views.iter().enumerate().map(|(at, view)| View::from_embeddings(at.to_string(), view.clone())).collect()
}

/// Tuples of which the views' rows belong together one by one.
pub fn complete_tuples(views: usize, rows: usize) -> Tuples {
    let mut tuples = Tuples::new(views);
    (0..rows).for_each(|row| assert!(tuples.add(&vec![Some(row); views])));
    tuples
}

/// Moments of two views whose rows belong together one by one.
pub fn paired_moments(x: &Embeddings, y: &Embeddings) -> Moments {
    Moments::of(&named(["x", "y"], &[x.clone(), y.clone()]), &complete_tuples(2, x.len())).unwrap()
}

/// Moments of views `0`, `1`, … whose rows belong together one by one.
pub fn moments_of_complete(views: &[Embeddings]) -> Moments {
    Moments::of(&numbered(views), &complete_tuples(views.len(), views[0].len())).unwrap()
}

/// `Sigma = W Wᵀ + Psi`, stacked.
pub fn sigma(model: &Model) -> Mat {
    let starts: Vec<usize> =
        model.views.iter().scan(0, |at, view| Some(std::mem::replace(at, *at + view.dim()))).collect();
    let dim = model.views.iter().map(|view| view.dim()).sum();
    let mut sigma = Mat::zeros(dim, dim);
    for (a, &row) in model.views.iter().zip(&starts) {
        for (b, &col) in model.views.iter().zip(&starts) {
            let (a_emission, b_emission) = (a.emission.as_ref().unwrap(), b.emission.as_ref().unwrap());
            let mut block = times_transpose(&a_emission.w, &b_emission.w);
            if row == col {
                block += &a_emission.psi;
            }
            sigma.submatrix_mut(row, col, a.dim(), b.dim()).copy_from(&block);
        }
    }
    sigma
}

/// Two views of the same hidden rows with noise, from a seed.
pub fn two_views(rows: usize, x_dim: usize, y_dim: usize, seed: u64) -> (Embeddings, Embeddings) {
    let mut views = many_views(rows, &[x_dim, y_dim], seed).into_iter();
    (views.next().unwrap(), views.next().unwrap())
}

/// Views of the same three-dimensional hidden rows with noise, from a seed.
pub fn many_views(rows: usize, dims: &[usize], seed: u64) -> Vec<Embeddings> {
    const HIDDEN: usize = 3;
    let mut random = Random::new(seed);
    let z = normal_rows(&mut random, rows, HIDDEN);
    let view = |&dim: &usize| {
        let (w, noise) = (normal_rows(&mut random, HIDDEN, dim), normal_rows(&mut random, rows, dim));
        let entry = |i: usize, j: usize| (0..HIDDEN).map(|k| z[i][k] * w[k][j]).sum::<f64>() + 0.5 * noise[i][j] + 2.0;
        let rows: Vec<Vec<f64>> = (0..rows).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect();
        embeddings_of_rows(&rows)
    };
    dims.iter().map(view).collect()
}

/// Hidden dimensions of [`skewed_views`].
pub const SKEWED_HIDDEN: usize = 50;

/// Views of the same hidden rows with little noise, from a seed. A hidden number is mostly small and seldom large, as what
/// a word has to do with a subject is.
pub fn skewed_views(rows: usize, dims: &[usize], seed: u64) -> Vec<Embeddings> {
    let mut random = Random::new(seed);
    let mut skewed = || random.uniform().ln().powi(2) - 2.0;
    let z: Vec<Vec<f64>> = (0..rows).map(|_| (0..SKEWED_HIDDEN).map(|_| skewed()).collect()).collect();
    let view = |&dim: &usize| {
        let (w, noise) = (normal_rows(&mut random, SKEWED_HIDDEN, dim), normal_rows(&mut random, rows, dim));
        let entry = |i: usize, j: usize| (0..SKEWED_HIDDEN).map(|k| z[i][k] * w[k][j]).sum::<f64>() + 0.5 * noise[i][j];
        let rows: Vec<Vec<f64>> = (0..rows).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect();
        embeddings_of_rows(&rows)
    };
    dims.iter().map(view).collect()
}

/// Rows of normal numbers of variance 1/2.
fn normal_rows(random: &mut Random, rows: usize, cols: usize) -> Vec<Vec<f64>> {
    let mut number = || std::f64::consts::FRAC_1_SQRT_2 * random.normal();
    (0..rows).map(|_| (0..cols).map(|_| number()).collect()).collect()
}

/// Equal but for rounding.
pub fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found} instead of {expected}");
}
