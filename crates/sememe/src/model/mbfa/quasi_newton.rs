//! Where to go from a point, given its gradient and former steps: limited-memory BFGS.

use rayon::prelude::*;

use crate::linalg::{Mat, MatMut, add_product, transpose_times};

/// How many former steps are remembered.
const MEMORY: usize = 6;
/// Coordinates that one thread handles at a time. Fixed, so that the bits do not depend on the threads.
const CHUNK: usize = 1 << 12;
/// A step along which the gradient hardly changes says nothing reliable about the curvature.
const LEAST_COSINE: f64 = 1e-10;

const GRADIENT: usize = 2 * MEMORY;

/// The last steps, what they changed the gradient by, and the gradient: `MEMORY` steps, as many changes, and it.
pub(super) struct History {
    /// Chunks of coordinates; what is listed above is a column each.
    chunks: Vec<Mat>,
    /// Inner products of the columns.
    products: Mat,
    /// Which steps are in use, the latest last.
    used: Vec<usize>,
}

/// A way down, and how steeply it goes down at first.
pub(super) struct Direction {
    pub(super) by: Vec<f64>,
    pub(super) slope: f64,
}

impl Direction {
    /// The point so far along it.
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

    /// `-H g`, with `H` an estimate of the inverse of the second derivative. The usual two loops need nothing but inner
    /// products, so that former steps are read only twice: once for these, once to combine them.
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

    /// Remembers a step of the given length in a direction, and the gradient it led to.
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

    /// Brings the inner products with these columns up to date.
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
