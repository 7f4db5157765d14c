//! The words that are learned from: the most frequent ones of a view, prepared, centred and of length 1.

use crate::error::Result;
use crate::model::{Model, ViewModel};
use crate::prepare::{Normalizer, Step, norm, scale_to_unit};
use crate::vectors::Matrix;

/// What is shorter than this beside vectors of length 1 is left by rounding.
const ROUNDING: f64 = 1e-5;

/// FrequentWords of one view.
pub struct FrequentWords {
    /// Where each was in the view.
    pub rows: Vec<usize>,
    /// Their vectors.
    pub vectors: Matrix,
}

impl FrequentWords {
    /// The first so many, less those without a direction, after the steps that the view goes through anyway. Centring is
    /// no choice here: what all words of a language have in common would make every two of them similar.
    pub fn of(matrix: &Matrix, count: usize, steps: &[Step]) -> Self {
        let has_direction = |&row: &usize| norm(matrix.row(row)) > 0.0;
        let mut rows: Vec<usize> = (0..matrix.rows()).filter(has_direction).take(count).collect();
        let mut vectors = matrix.select(&rows);
        Normalizer::fit_apply(steps, &mut vectors);
        centre(&mut vectors);
        // Those that are the mean have none left.
        let kept: Vec<usize> = (0..rows.len()).filter(|&place| norm(vectors.row(place)) > 0.0).collect();
        if kept.len() < rows.len() {
            rows = kept.iter().map(|&place| rows[place]).collect();
            vectors = vectors.select(&kept);
        }
        FrequentWords { rows, vectors }
    }

    /// The vectors of the first so many.
    pub fn first(&self, count: usize) -> Matrix {
        self.vectors.first(count)
    }

    /// Directions of the first so many in the latent space of a model.
    pub fn project(&self, view: &ViewModel, count: usize) -> Result<Matrix> {
        let mut latent = view.project(&self.first(count))?;
        scale_to_unit(&mut latent);
        Ok(latent)
    }
}

/// Directions of the first so many words of all views.
pub fn project(words: &[&FrequentWords], model: &Model, count: usize) -> Result<Vec<Matrix>> {
    words.iter().zip(&model.views).map(|(words, view)| words.project(view, count)).collect()
}

/// Makes rows of length 1, subtracts their mean, and makes them of length 1 again; those that are the mean become zero.
pub fn centre(rows: &mut Matrix) {
    Normalizer::fit_apply(&[Step::Unit, Step::Center], rows);
    let cols = rows.cols();
    rows.as_mut_slice().chunks_exact_mut(cols).filter(|row| norm(row) < ROUNDING).for_each(|row| row.fill(0.0));
    scale_to_unit(rows);
}
