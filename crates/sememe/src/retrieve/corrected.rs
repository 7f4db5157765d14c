//! Globally corrected retrieval (Dinu et al. 2015): targets rank the queries, which corrects for hubs, the targets that
//! are near to many queries.

use rayon::prelude::*;

use super::best::{Best, Scored};
use super::rows::{Rows, Scaled};
use crate::error::{Error, Result};
use crate::linalg::product_of_rows;
use crate::observe::{Meter, Observer, Stage};

/// Targets that one thread processes at a time.
const TARGETS: usize = 64;

/// The `k` best targets of every query. The score is the cosine minus the rank, counted from 1, of the query among all
/// queries and the pool by cosine to that target. Zero targets are excluded.
pub(super) fn nearest(
    queries: Rows,
    pool: Rows,
    targets: &Scaled,
    k: usize,
    observer: &dyn Observer,
) -> Result<Vec<Vec<Scored>>> {
    let rows = targets.rows();
    let firsts: Vec<usize> = (0..rows.len()).step_by(TARGETS).collect();
    let meter = Meter::new(observer, Stage::Searching, rows.len());
    let none = || vec![Best::new(k); queries.len()];
    let best = firsts.into_par_iter().try_fold(none, |mut best, first| {
        meter.check()?;
        let range = first..rows.len().min(first + TARGETS);
        let [of_queries, of_pool] = [queries, pool].map(|others| cosines(rows, range.clone(), others));
        for (at, index) in range.clone().enumerate().filter(|&(_, index)| !targets.is_zero(index)) {
            let of_queries = &of_queries[at * queries.len()..(at + 1) * queries.len()];
            let of_pool = &of_pool[at * pool.len()..(at + 1) * pool.len()];
            let mut all: Vec<f32> = of_queries.iter().chain(of_pool).copied().collect();
            all.sort_unstable_by(|a, b| b.total_cmp(a));
            for (best, &cosine) in best.iter_mut().zip(of_queries) {
                let rank = 1 + all.partition_point(|&other| other > cosine);
                best.offer(Scored { score: f64::from(cosine) - rank as f64, index });
            }
        }
        meter.advance(range.len())?;
        Ok::<_, Error>(best)
    });
    let best = best.try_reduce(none, |mut all, part| {
        all.iter_mut().zip(&part).for_each(|(all, part)| all.merge(part));
        Ok(all)
    });
    Ok(best?.into_iter().map(Best::into_found).collect())
}

/// Cosines of a range of targets (rows) with all vectors of a side (columns).
fn cosines(targets: Rows, range: std::ops::Range<usize>, others: Rows) -> Vec<f32> {
    let mut products = vec![0.0; range.len() * others.len()];
    product_of_rows(targets.rows(range.clone()), others.rows(0..others.len()), targets.dim(), &mut products);
    for (products, target) in products.chunks_exact_mut(others.len().max(1)).zip(range) {
        for (product, other) in products.iter_mut().zip(0..) {
            *product = (f64::from(*product) * targets.factor(target) * others.factor(other)) as f32;
        }
    }
    products
}
