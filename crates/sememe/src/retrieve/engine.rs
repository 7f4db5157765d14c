//! Exact search: tiles of inner products, of each of which only the best few per query are kept.

use rayon::prelude::*;

use super::Hit;
use crate::linalg::product_of_rows;
use crate::normalize::norm;
use crate::vectors::Matrix;

/// Queries and targets per tile: the tile of scores stays in a core's cache. Fixed, so that nothing depends on threads.
const QUERIES: usize = 128;
const TARGETS: usize = 1024;

/// Targets with the factor that each of their inner products is multiplied by.
pub(super) struct Targets<'a> {
    vectors: &'a Matrix,
    factors: Vec<f32>,
}

impl<'a> Targets<'a> {
    /// For unit queries the score is the cosine. A zero vector has cosine 0 with everything.
    pub(super) fn cosine(vectors: &'a Matrix) -> Self {
        let factor = |row: &[f32]| match norm(row) {
            0.0 => 0.0,
            norm => (1.0 / norm) as f32,
        };
        let factors = vectors.as_slice().par_chunks_exact(vectors.cols()).map(factor).collect();
        Targets { vectors, factors }
    }

    /// The `k` best targets of every query.
    pub(super) fn nearest(&self, queries: &Matrix, k: usize) -> Vec<Vec<Hit>> {
        let dim = queries.cols();
        queries
            .as_slice()
            .par_chunks(QUERIES * dim)
            .flat_map_iter(|queries| {
                let mut best: Vec<Best> = queries.chunks_exact(dim).map(|_| Best::new(k)).collect();
                let mut scores = vec![0.0; QUERIES * TARGETS];
                for (tile, targets) in self.vectors.as_slice().chunks(TARGETS * dim).enumerate() {
                    let first = tile * TARGETS;
                    let width = targets.len() / dim;
                    let factors = &self.factors[first..first + width];
                    let scores = &mut scores[..best.len() * width];
                    product_of_rows(queries, targets, dim, scores);
                    for (best, scores) in best.iter_mut().zip(scores.chunks_exact(width)) {
                        for (offset, (score, factor)) in scores.iter().zip(factors).enumerate() {
                            best.offer(Hit { index: first + offset, score: score * factor });
                        }
                    }
                }
                best.into_iter().map(|best| best.hits)
            })
            .collect()
    }
}

/// The best hits so far, best first. Targets are offered in order, so among equals the first stays ahead.
struct Best {
    k: usize,
    hits: Vec<Hit>,
}

impl Best {
    fn new(k: usize) -> Self {
        // `k` may be more than there are targets: let the list grow.
        Best { k, hits: Vec::with_capacity(k.min(64)) }
    }

    fn offer(&mut self, hit: Hit) {
        if self.hits.len() == self.k {
            if hit.score <= self.hits[self.k - 1].score {
                return;
            }
            self.hits.pop();
        }
        let at = self.hits.partition_point(|better| better.score >= hit.score);
        self.hits.insert(at, hit);
    }
}

/// The rows scaled to length 1; zero rows stay zero.
pub(super) fn unit_rows(matrix: &Matrix) -> Matrix {
    let scaled = matrix.as_slice().par_chunks_exact(matrix.cols()).flat_map_iter(|row| {
        let norm = norm(row);
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        row.iter().map(move |&x| (f64::from(x) * scale) as f32)
    });
    Matrix::new(scaled.collect(), matrix.cols())
}

#[cfg(test)]
mod tests {
    use super::super::{Criterion, nearest};
    use super::*;

    fn pseudo_random(rows: usize, cols: usize, mut state: u64) -> Matrix {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
        };
        Matrix::new((0..rows * cols).map(|_| next()).collect(), cols)
    }

    #[test]
    fn agrees_with_f64_brute_force() {
        let (queries, targets) = (pseudo_random(300, 7, 1), pseudo_random(2500, 7, 2));
        let found = nearest(&queries, &targets, 5, Criterion::Nn).unwrap();
        for (q, hits) in found.iter().enumerate() {
            let cosine = |t: usize| {
                let dot: f64 =
                    queries.row(q).iter().zip(targets.row(t)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
                dot / norm(queries.row(q)) / norm(targets.row(t))
            };
            let mut order: Vec<usize> = (0..targets.rows()).collect();
            order.sort_by(|&a, &b| cosine(b).total_cmp(&cosine(a)));
            for (hit, expected) in hits.iter().zip(order) {
                assert!((f64::from(hit.score) - cosine(expected)).abs() < 1e-6);
            }
            assert_eq!(hits.len(), 5);
        }
    }

    #[test]
    fn equal_scores_go_to_the_lower_row_and_zero_vectors_do_no_harm() {
        let targets = Matrix::new(vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0, 0.0], 2);
        let hits = nearest(&Matrix::new(vec![3.0, 3.0], 2), &targets, 9, Criterion::Nn).unwrap();
        assert_eq!(hits[0].iter().map(|hit| hit.index).collect::<Vec<_>>(), [1, 2, 3, 0]);
        let hits = nearest(&Matrix::new(vec![0.0, 0.0], 2), &targets, 2, Criterion::Nn).unwrap();
        assert_eq!(hits[0].iter().map(|hit| hit.index).collect::<Vec<_>>(), [0, 1]);
    }
}
