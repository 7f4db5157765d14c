//! Self-learning on the queries' own vectors, which need no labels.
//!
//! Where the texts of queries are of another domain than the pairs, the queries themselves tell about it: rows of the
//! index that are the mutual best answers of queries are taken for pairs, and the latent space is fitted again to both.

use rayon::prelude::*;

use super::fit::ways_back;
use super::hubs::{WEIGHT, evenly_spaced, mask, mean_of_largest, nearness};
use super::pair_moments::{PairMoments, covariance_of};
use super::pairs::check_directions;
use super::{Affine, MigrationMap, Route};
use crate::error::Result;
use crate::linalg::product_of_rows;
use crate::observe::{Meter, Observer, Stage};
use crate::prepare::scale_to_unit;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// Rounds of learning, at most. They end when the pairs grow by less than this share. From 5,000 pairs the first round has
/// three quarters of the gain; from 1,000 the others add more.
const ROUNDS: usize = 6;
const GROWTH: f64 = 0.005;
/// Queries and rows of the index that are learned from, at most.
const MOST_QUERIES: usize = 10_000;
const MOST_ROWS: usize = 200_000;

/// Queries that are compared with all rows at a time.
const QUERIES_AT_A_TIME: usize = 64;

/// A latent space that was adapted to queries, and the term of CSLS in it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Adapted {
    /// Old and new vectors → the latent space.
    pub latent: [Affine; 2],
    /// Latent vectors of the queries, by which the nearness of rows is measured.
    queries: Matrix,
    own: Option<Vec<usize>>,
    /// Pairs of queries and rows that were learned in the last round.
    pub learned: usize,
}

impl Adapted {
    /// The rows of an index: the latent vector, and minus one half of its mean cosine with its nearest queries. With
    /// [queries](Adapted::queries) the inner product is CSLS, but for a term of the query.
    pub fn index(&self, old: &Matrix) -> Result<Matrix> {
        Route::of_index(&self.latent[0], &self.queries, self.own.as_deref()).apply(old)
    }

    /// Queries for such an index: the latent vector, and 1.
    pub fn queries(&self, new: &Matrix) -> Result<Matrix> {
        Route::of_queries(&self.latent[1]).apply(new)
    }
}

impl MigrationMap {
    /// Adapts the latent space to an index of old vectors and a sample of queries of the new model. `own` are the rows of
    /// the queries in the index, if they are the vectors of such rows: nothing is learned from a query's own row, as in
    /// production there is none.
    pub fn adapt(
        &self,
        index: &Matrix,
        queries: &Matrix,
        own: Option<&[usize]>,
        observer: &dyn Observer,
    ) -> Result<Adapted> {
        let unit = |rows: &Matrix| {
            let mut rows = rows.clone();
            scale_to_unit(&mut rows);
            rows
        };
        // Rows have to keep their numbers where queries name them.
        let (index, queries) = match own {
            Some(_) => (unit(index), unit(queries)),
            None => (unit(&evenly_spaced(index, MOST_ROWS)), unit(&evenly_spaced(queries, MOST_QUERIES))),
        };
        let mut latent = self.moments.under(&covariance_of(&index))?.latent(self.shrinkage)?;
        let meter = Meter::new(observer, Stage::Learning, ROUNDS);
        let mut learned = 0;
        for _ in 0..ROUNDS {
            let (rows, asked) = (latent[0].apply(&index)?, latent[1].apply(&queries)?);
            let pairs = mutual_best(&rows, &asked, own);
            let before = std::mem::replace(&mut learned, pairs.len());
            meter.advance(1)?;
            let is_settled = learned as f64 <= (1.0 + GROWTH) * before as f64;
            if learned < 2 || is_settled {
                break;
            }
            let [of_queries, of_rows]: [Vec<usize>; 2] =
                [0, 1].map(|side| pairs.iter().map(|&(query, row)| if side == 0 { query } else { row }).collect());
            let pseudo = PairMoments::of(&index.select(&of_rows), &queries.select(&of_queries));
            latent = self.moments.pooled(&pseudo).latent(self.shrinkage)?;
        }
        let queries = latent[1].apply(&queries)?;
        Ok(Adapted { latent, queries, own: own.map(<[usize]>::to_vec), learned })
    }

    /// The same map with a latent space that is adapted to an index of old vectors and a sample of queries of the new model, and the number
    /// of pairs that were learned from. With it whole indexes are mapped to [`Side::Indexed`](super::Side::Indexed).
    pub fn adapted(&self, index: &Matrix, queries: &Matrix, observer: &dyn Observer) -> Result<(Self, usize)> {
        check_directions(index, "old")?;
        check_directions(queries, "new")?;
        let Adapted { latent, queries, learned, .. } = self.adapt(index, queries, None, observer)?;
        let back = ways_back(&latent, &self.moments)?;
        Ok((MigrationMap { latent, back, asked: Some(queries), ..self.clone() }, learned))
    }
}

/// Queries and rows of which each is the best of the other by CSLS.
pub(super) fn mutual_best(rows: &Matrix, queries: &Matrix, own: Option<&[usize]>) -> Vec<(usize, usize)> {
    let of_rows = nearness(rows, queries, own);
    let of_queries = nearness_of_queries(rows, queries, own);
    // For every block of rows: the best query of each row, and the best row of each query.
    let of_block = |(number, block): (usize, &[f32])| {
        let (first, count) = (number * ROWS_AT_A_TIME, block.len() / rows.cols());
        let mut cosines = vec![0.0; count * queries.rows()];
        product_of_rows(block, queries.as_slice(), rows.cols(), &mut cosines);
        mask(&mut cosines, queries.rows(), first, own);
        let mut best_rows = vec![(f64::NEG_INFINITY, usize::MAX); queries.rows()];
        let mut best_queries = Vec::with_capacity(count);
        for (row, cosines) in cosines.chunks_exact(queries.rows()).enumerate() {
            let mut best = (f64::NEG_INFINITY, usize::MAX);
            for (query, &cosine) in cosines.iter().enumerate() {
                let score = f64::from(cosine) - WEIGHT * (of_rows[first + row] + of_queries[query]);
                if score > best.0 {
                    best = (score, query);
                }
                if score > best_rows[query].0 {
                    best_rows[query] = (score, first + row);
                }
            }
            best_queries.push(best.1);
        }
        (best_queries, best_rows)
    };
    let blocks = rows.as_slice().par_chunks(ROWS_AT_A_TIME * rows.cols()).enumerate();
    let mut best_queries = Vec::with_capacity(rows.rows());
    let mut best_rows = vec![(f64::NEG_INFINITY, usize::MAX); queries.rows()];
    for (of_rows, of_queries) in blocks.map(of_block).collect::<Vec<_>>() {
        best_queries.extend(of_rows);
        let better = best_rows.iter_mut().zip(of_queries).filter(|(best, other)| other.0 > best.0);
        better.for_each(|(best, other)| *best = other);
    }
    let is_mutual = |&(query, &(_, row)): &(usize, &(f64, usize))| best_queries.get(row) == Some(&query);
    best_rows.iter().enumerate().filter(is_mutual).map(|(query, &(_, row))| (query, row)).collect()
}

/// For every query, the mean of its largest cosines with the rows.
fn nearness_of_queries(rows: &Matrix, queries: &Matrix, own: Option<&[usize]>) -> Vec<f64> {
    let of_block = |(number, block): (usize, &[f32])| -> Vec<f64> {
        let (first, count) = (number * QUERIES_AT_A_TIME, block.len() / rows.cols());
        let mut cosines = vec![0.0; count * rows.rows()];
        product_of_rows(block, rows.as_slice(), rows.cols(), &mut cosines);
        for (query, cosines) in cosines.chunks_exact_mut(rows.rows()).enumerate() {
            if let Some(own) = own.map(|own| own[first + query]) {
                cosines[own] = f32::NEG_INFINITY;
            }
        }
        cosines.chunks_exact_mut(rows.rows()).map(mean_of_largest).collect()
    };
    let blocks = queries.as_slice().par_chunks(QUERIES_AT_A_TIME * queries.cols()).enumerate();
    blocks.flat_map_iter(of_block).collect()
}
