//! The frequent words that self-learning uses: the first rows of a view, prepared, centred and of unit length.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::WORDS;
use crate::error::Result;
use crate::model::{Model, ViewModel};
use crate::prepare::{Normalizer, Step, norm, scale_to_unit};
use crate::vectors::Matrix;

/// Shorter vectors than this, relative to unit length, are rounding error.
const ROUNDING: f64 = 1e-5;

/// Frequent words of one view.
pub struct FrequentWords {
    /// The row of each word in the view.
    pub rows: Vec<usize>,
    /// Their vectors.
    pub vectors: Matrix,
    /// Those that the rounds compare.
    in_rounds: OnceLock<Matrix>,
}

impl FrequentWords {
    /// These rows of a view, and their vectors.
    pub fn new(rows: Vec<usize>, vectors: Matrix) -> Self {
        FrequentWords { rows, vectors, in_rounds: OnceLock::new() }
    }

    /// The first `count` words with a nonzero vector, prepared by the steps of the view. They are always centred: the
    /// mean vector of a language would make every two of its words similar.
    pub fn of(matrix: &Matrix, count: usize, steps: &[Step]) -> Self {
        let has_direction = |&row: &usize| norm(matrix.row(row)) > 0.0;
        let mut rows: Vec<usize> = (0..matrix.rows()).filter(has_direction).take(count).collect();
        let mut vectors = matrix.select(&rows);
        Normalizer::fit_apply(steps, &mut vectors);
        centre(&mut vectors);
        // Words equal to the mean have become zero.
        let kept: Vec<usize> = (0..rows.len()).filter(|&place| norm(vectors.row(place)) > 0.0).collect();
        if kept.len() < rows.len() {
            rows = kept.iter().map(|&place| rows[place]).collect();
            vectors = vectors.select(&kept);
        }
        FrequentWords::new(rows, vectors)
    }

    /// The vectors of the first `count` words. Those of all words, and those that every round needs, are not copied again.
    pub fn first(&self, count: usize) -> Matrix {
        match count {
            _ if count >= self.vectors.rows() => self.vectors.clone(),
            WORDS => self.in_rounds.get_or_init(|| self.vectors.first(WORDS)).clone(),
            _ => self.vectors.first(count),
        }
    }

    /// Unit latent vectors of the first `count` words.
    pub fn project(&self, view: &ViewModel, count: usize) -> Result<Matrix> {
        let mut latent = view.project(&self.first(count))?;
        scale_to_unit(&mut latent);
        Ok(latent)
    }
}

/// Unit latent vectors of the first `count` words of all views.
pub fn project(words: &[&FrequentWords], model: &Model, count: usize) -> Result<Vec<Matrix>> {
    words.par_iter().zip(&model.views).map(|(words, view)| words.project(view, count)).collect()
}

/// Scales rows to unit length, subtracts their mean, and scales them again. Rows equal to the mean become zero.
pub fn centre(rows: &mut Matrix) {
    Normalizer::fit_apply(&[Step::Unit, Step::Center], rows);
    let cols = rows.cols();
    rows.as_mut_slice().chunks_exact_mut(cols).filter(|row| norm(row) < ROUNDING).for_each(|row| row.fill(0.0));
    scale_to_unit(rows);
}
