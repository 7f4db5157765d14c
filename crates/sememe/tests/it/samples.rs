//! Small problems that several tests use.

use sememe::lexicon::Tuples;
use sememe::linalg::Mat;
use sememe::model::Model;
use sememe::moments::Moments;
use sememe::vectors::{Embeddings, Matrix, Vocabulary};

/// Words `0`, `1`, … with the given rows.
pub fn embeddings_of_rows(rows: &[Vec<f64>]) -> Embeddings {
    let words: Vec<String> = (0..rows.len()).map(|i| i.to_string()).collect();
    let words: Vocabulary = words.iter().map(String::as_str).collect();
    let values = rows.iter().flatten().map(|&x| x as f32).collect();
    Embeddings::new(words, Matrix::new(values, rows[0].len()))
}

/// Moments of two views whose rows belong together one by one.
pub fn paired_moments(x: &Embeddings, y: &Embeddings) -> Moments {
    let mut tuples = Tuples::new(2);
    for i in 0..x.len() {
        tuples.add(&[Some(i), Some(i)]);
    }
    Moments::of(&[("x", x), ("y", y)], &tuples)
}

/// `Sigma = W Wᵀ + Psi`, stacked.
pub fn sigma(model: &Model) -> Mat {
    let starts: Vec<usize> =
        model.views.iter().scan(0, |at, view| Some(std::mem::replace(at, *at + view.dim()))).collect();
    let dim = model.views.iter().map(|view| view.dim()).sum();
    let mut sigma = Mat::zeros(dim, dim);
    for (a, &row) in model.views.iter().zip(&starts) {
        for (b, &col) in model.views.iter().zip(&starts) {
            let mut block = &a.w * b.w.transpose();
            if row == col {
                block += &a.psi;
            }
            sigma.submatrix_mut(row, col, a.dim(), b.dim()).copy_from(&block);
        }
    }
    sigma
}

/// Two views of the same hidden rows with noise, from a seed.
pub fn two_views(rows: usize, x_dim: usize, y_dim: usize, seed: u64) -> (Embeddings, Embeddings) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = || {
        // The sum of a few uniform numbers is normal enough.
        let uniform = |state: &mut u64| {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            (*state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..6).map(|_| uniform(&mut state)).sum::<f64>()
    };
    let hidden = 3;
    let mut random =
        |rows: usize, cols: usize| (0..rows).map(|_| (0..cols).map(|_| next()).collect()).collect::<Vec<Vec<f64>>>();
    let z = random(rows, hidden);
    let mut view = |dim: usize| {
        let (w, noise) = (random(hidden, dim), random(rows, dim));
        let entry = |i: usize, j: usize| (0..hidden).map(|k| z[i][k] * w[k][j]).sum::<f64>() + 0.5 * noise[i][j] + 2.0;
        let rows: Vec<Vec<f64>> = (0..rows).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect();
        embeddings_of_rows(&rows)
    };
    (view(x_dim), view(y_dim))
}
