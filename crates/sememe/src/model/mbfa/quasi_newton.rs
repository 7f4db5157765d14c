//! Limited-memory BFGS: the search direction from the gradient and earlier steps.

use rayon::prelude::*;

use crate::linalg::{Mat, MatMut, add_product, transpose_times};

/// Number of earlier steps in memory.
const MEMORY: usize = 6;
/// Coordinates that one thread handles at a time. Fixed, so that results do not depend on the number of threads.
const CHUNK: usize = 1 << 12;
/// Minimum cosine between a step and the change of the gradient: below it the curvature is unreliable, and the step is
/// not used.
const LEAST_COSINE: f64 = 1e-10;

const GRADIENT: usize = 2 * MEMORY;

/// The last `MEMORY` steps, the changes of the gradient along them, and the gradient.
pub(super) struct History {
    /// Chunks of coordinates, with these vectors as columns.
    chunks: Vec<Mat>,
    /// Inner products of the columns.
    products: Mat,
    /// Slots of the steps in use, the latest last.
    used: Vec<usize>,
}

/// A descent direction and its initial slope.
pub(super) struct Direction {
    pub(super) by: Vec<f64>,
    pub(super) slope: f64,
}

impl Direction {
    /// The point at step length `length`.
    pub(super) fn point_at(&self, start: &[f64], length: f64) -> Vec<f64> {
        start.par_iter().zip(&self.by).with_min_len(CHUNK).map(|(start, by)| start + length * by).collect()
    }
}

impl History {
    pub(super) fn new(gradient: &[f64]) -> Self {
        let chunk = |gradient: &[f64]| {
            let mut chunk = Mat::zeros(gradient.len(), GRADIENT + 1);
            chunk.col_as_slice_mut(GRADIENT).copy_from_slice(gradient);
            chunk
        };
        let chunks = gradient.par_chunks(CHUNK).map(chunk).collect();
        let mut history = History { chunks, products: Mat::zeros(GRADIENT + 1, GRADIENT + 1), used: Vec::new() };
        history.multiply(&[GRADIENT]);
        history
    }

    pub(super) fn forget(&mut self) {
        self.used.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// `-H g`, with `H` an estimate of the inverse Hessian. The two-loop recursion needs only inner products, so
    /// earlier steps are read only twice: for the inner products, and for the final combination.
    pub(super) fn direction(&self) -> Direction {
        let gram = &self.products;
        let along = |row: usize, weights: &[f64]| -> f64 {
            weights.iter().enumerate().map(|(column, weight)| gram[(row, column)] * weight).sum()
        };
        let mut weights = vec![0.0; GRADIENT + 1];
        weights[GRADIENT] = 1.0;
        let mut kept = Vec::new();
        for &step in self.used.iter().rev() {
            let alpha = along(step, &weights) / gram[(step, MEMORY + step)];
            weights[MEMORY + step] -= alpha;
            kept.push(alpha);
        }
        if let Some(&last) = self.used.last() {
            let scale = gram[(last, MEMORY + last)] / gram[(MEMORY + last, MEMORY + last)];
            weights.iter_mut().for_each(|weight| *weight *= scale);
        }
        for (&step, alpha) in self.used.iter().zip(kept.into_iter().rev()) {
            weights[step] += alpha - along(MEMORY + step, &weights) / gram[(step, MEMORY + step)];
        }
        let weights = Mat::from_fn(GRADIENT + 1, 1, |i, _| -weights[i]);
        let slope = (0..=GRADIENT).map(|i| gram[(GRADIENT, i)] * weights[(i, 0)]).sum();
        Direction { by: self.combination(&weights), slope }
    }

    /// Stores a step of the given length along `direction`, and the gradient at its end.
    pub(super) fn remember(&mut self, direction: &[f64], length: f64, gradient: &[f64]) {
        let slot = match self.used.len() {
            MEMORY => self.used.remove(0),
            _ => (0..MEMORY).find(|slot| !self.used.contains(slot)).expect("there is room for one more"),
        };
        let news = direction.par_chunks(CHUNK).zip(gradient.par_chunks(CHUNK));
        self.chunks.par_iter_mut().zip(news).for_each(|(chunk, (direction, gradient))| {
            let step = chunk.col_as_slice_mut(slot).iter_mut().zip(direction);
            step.for_each(|(step, direction)| *step = length * direction);
            let mut change = gradient.to_vec();
            let former = chunk.col_as_slice_mut(GRADIENT);
            change.iter_mut().zip(&*former).for_each(|(change, former)| *change -= former);
            former.copy_from_slice(gradient);
            chunk.col_as_slice_mut(MEMORY + slot).copy_from_slice(&change);
        });
        self.multiply(&[slot, MEMORY + slot, GRADIENT]);
        let product = |a: usize, b: usize| self.products[(a, b)];
        let lengths = product(slot, slot) * product(MEMORY + slot, MEMORY + slot);
        if product(slot, MEMORY + slot) > LEAST_COSINE * lengths.sqrt() {
            self.used.push(slot);
        }
    }

    /// Updates the inner products with these columns.
    fn multiply(&mut self, columns: &[usize]) {
        let of_chunk = |chunk: &Mat| {
            let mut chosen = Mat::zeros(chunk.nrows(), columns.len());
            for (j, &column) in columns.iter().enumerate() {
                chosen.col_as_slice_mut(j).copy_from_slice(chunk.col_as_slice(column));
            }
            transpose_times(chunk, &chosen)
        };
        let parts: Vec<Mat> = self.chunks.par_iter().map(of_chunk).collect();
        let sums = parts.iter().fold(Mat::zeros(GRADIENT + 1, columns.len()), |sums, part| sums + part);
        for (j, &column) in columns.iter().enumerate() {
            for i in 0..=GRADIENT {
                self.products[(i, column)] = sums[(i, j)];
                self.products[(column, i)] = sums[(i, j)];
            }
        }
    }

    fn combination(&self, weights: &Mat) -> Vec<f64> {
        let mut combination = vec![0.0; self.chunks.iter().map(Mat::nrows).sum()];
        combination.par_chunks_mut(CHUNK).zip(&self.chunks).for_each(|(part, chunk)| {
            let rows = part.len();
            let part = MatMut::from_column_major_slice_mut(part, rows, 1);
            add_product(part, 1.0, chunk.as_ref(), weights.as_ref());
        });
        combination
    }
}
