//! Where to go from a point, given its gradient and former steps: limited-memory BFGS.

use rayon::prelude::*;

use crate::linalg::{Mat, add_product, transpose_times};

/// How many former steps are remembered.
const MEMORY: usize = 6;
/// Coordinates that one thread handles at a time. Fixed, so that the bits do not depend on the threads.
const CHUNK: usize = 1 << 12;
/// A step along which the gradient hardly changes says nothing reliable about the curvature.
const LEAST_COSINE: f64 = 1e-10;

const GRADIENT: usize = 2 * MEMORY;

/// The last steps, what they changed the gradient by, and the gradient.
pub(super) struct History {
    /// In chunks of coordinates, `MEMORY` steps, as many changes of the gradient, and the gradient; one a column.
    chunks: Vec<Mat>,
    /// Which columns are in use, the latest last.
    used: Vec<usize>,
}

/// A way down, and how steeply it goes down at first.
pub(super) struct Direction {
    pub(super) by: Vec<f64>,
    pub(super) slope: f64,
}

impl History {
    pub(super) fn new(gradient: &[f64]) -> Self {
        let chunk = |gradient: &[f64]| {
            let mut chunk = Mat::zeros(gradient.len(), GRADIENT + 1);
            chunk.col_mut(GRADIENT).iter_mut().zip(gradient).for_each(|(kept, value)| *kept = *value);
            chunk
        };
        History { chunks: gradient.par_chunks(CHUNK).map(chunk).collect(), used: Vec::new() }
    }

    pub(super) fn forget(&mut self) {
        self.used.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// `-H g`, with `H` an estimate of the inverse of the second derivative. All that the usual two loops need are
    /// inner products, so that former steps are read only twice: once for these, once to combine them.
    pub(super) fn direction(&self) -> Direction {
        let gram = self.inner_products();
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
        let products: Vec<[f64; 3]> = self
            .chunks
            .par_iter_mut()
            .zip(news)
            .map(|(chunk, (direction, gradient))| {
                let mut products = [0.0; 3];
                for (i, (direction, gradient)) in direction.iter().zip(gradient).enumerate() {
                    let (step, change) = (length * direction, gradient - chunk[(i, GRADIENT)]);
                    chunk[(i, slot)] = step;
                    chunk[(i, MEMORY + slot)] = change;
                    chunk[(i, GRADIENT)] = *gradient;
                    products[0] += step * change;
                    products[1] += step * step;
                    products[2] += change * change;
                }
                products
            })
            .collect();
        let [curvature, step, change] =
            [0, 1, 2].map(|which| products.iter().map(|products| products[which]).sum::<f64>());
        if curvature > LEAST_COSINE * (step * change).sqrt() {
            self.used.push(slot);
        }
    }

    fn inner_products(&self) -> Mat {
        let parts: Vec<Mat> = self.chunks.par_iter().map(|chunk| transpose_times(chunk, chunk)).collect();
        parts.iter().fold(Mat::zeros(GRADIENT + 1, GRADIENT + 1), |sum, part| sum + part)
    }

    fn combination(&self, weights: &Mat) -> Vec<f64> {
        let mut combination = vec![0.0; self.chunks.iter().map(Mat::nrows).sum()];
        combination.par_chunks_mut(CHUNK).zip(&self.chunks).for_each(|(part, chunk)| {
            let rows = part.len();
            let part = crate::linalg::MatMut::from_column_major_slice_mut(part, rows, 1);
            add_product(part, 1.0, chunk.as_ref(), weights.as_ref());
        });
        combination
    }
}
