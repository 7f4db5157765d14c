//! The one engine: for every query the `k` targets with the largest `<q, t> + b(t)`, exactly.
//!
//! Scores that decide are sums in f64 in a fixed order ([`kernel::dot`](super::kernel::dot)). Most are never computed:
//! a [screen](super::screen) gives an upper bound of every score, in tiles, by cheaper arithmetic, and only targets
//! whose bound reaches the `k`-th best score so far are looked at. What comes out is what looking at all would give,
//! however the work is divided.

use std::ops::Range;

use rayon::prelude::*;

use super::best::{Best, Scored};
use super::kernel::dot;
use super::rows::Rows;
use super::screen::{Candidates, QUERIES, Screen};
use super::shortlist::Shortlist;
use crate::error::Result;
use crate::observe::{Meter, Observer, Stage};

/// For so few queries it costs less to look at all targets than to prepare a screen.
const FEW: usize = 16;
/// Targets that one thread looks at, at a time, when there are few queries.
const SEGMENT: usize = 4096;

/// Targets that are looked at before there is a threshold.
const FIRST: usize = 64;

/// Queries, targets, and `b(t)`.
pub(super) struct Search<'a> {
    pub(super) queries: &'a Rows<'a>,
    pub(super) targets: &'a Rows<'a>,
    pub(super) bias: &'a [f64],
    /// Told how many pairs of queries and pieces of the targets are done.
    pub(super) observer: &'a dyn Observer,
}

impl Search<'_> {
    /// For every query the best `k`, best first, equal scores by the lower index.
    pub(super) fn nearest(&self, k: usize) -> Result<Vec<Vec<Scored>>> {
        if self.queries.len() <= FEW { Ok(self.scan(k)) } else { self.screened(k) }
    }

    /// The score that decides.
    fn score(&self, query: usize, target: usize) -> Scored {
        let product = dot(self.queries.row(query), self.targets.row(target));
        let factor = self.queries.factor(query) * self.targets.factor(target);
        Scored { score: factor * product + self.bias[target], index: target }
    }

    /// Looks at every target.
    fn scan(&self, k: usize) -> Vec<Vec<Scored>> {
        let segments: Vec<usize> = (0..self.targets.len()).step_by(SEGMENT).collect();
        let found: Vec<Vec<Best>> = segments
            .into_par_iter()
            .map(|first| {
                let mut best = vec![Best::new(k); self.queries.len()];
                for target in first..self.targets.len().min(first + SEGMENT) {
                    best.iter_mut().enumerate().for_each(|(query, best)| best.offer(self.score(query, target)));
                }
                best
            })
            .collect();
        merge(found, self.queries.len(), k)
    }

    /// Looks at those that may be among the best.
    fn screened(&self, k: usize) -> Result<Vec<Vec<Scored>>> {
        let screen = Screen::of(self.targets, self.bias);
        let blocks = self.queries.len().div_ceil(QUERIES);
        // Enough pieces for all threads to be busy until the end; the targets are divided only where queries are few.
        let pieces = (8 * rayon::current_num_threads()).div_ceil(blocks);
        self.through(&screen, pieces, k)
    }

    /// Looks at what a screen lets through, the targets divided into so many pieces.
    fn through(&self, screen: &Screen, pieces: usize, k: usize) -> Result<Vec<Vec<Scored>>> {
        let tiles = screen.tiles();
        let pieces = pieces.clamp(1, tiles.max(1));
        let firsts: Vec<usize> = (0..self.queries.len()).step_by(QUERIES).collect();
        let meter = Meter::new(self.observer, Stage::Searching, self.queries.len() * pieces);
        let found = firsts.into_par_iter().map(|first| {
            let block = first..self.queries.len().min(first + QUERIES);
            let of_piece = |piece: usize| -> Result<Vec<Best>> {
                meter.check()?;
                let tiles = piece * tiles / pieces..(piece + 1) * tiles / pieces;
                let found = self.best_of_tiles(screen, block.clone(), tiles, k);
                meter.advance(block.len())?;
                Ok(found)
            };
            let found: Vec<Vec<Best>> = match pieces {
                1 => vec![of_piece(0)?],
                _ => (0..pieces).into_par_iter().map(of_piece).collect::<Result<_>>()?,
            };
            Ok(merge(found, block.len(), k))
        });
        Ok(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn best_of_tiles(&self, screen: &Screen, block: Range<usize>, tiles: Range<usize>, k: usize) -> Vec<Best> {
        let mut shortlists = vec![Shortlist::new(k); block.len()];
        let mut screening = screen.block(self.queries, block.clone());
        let mut candidates = Candidates::default();
        for tile in tiles {
            let tile = screening.tile(tile);
            for (at, shortlist) in shortlists.iter_mut().enumerate() {
                let mut from = 0;
                while from < tile.width() {
                    // The first few give a threshold for the others.
                    let to = if shortlist.is_full() { tile.width() } else { tile.width().min(from + FIRST) };
                    tile.find(&mut candidates, at, from..to, shortlist.threshold());
                    shortlist.add(candidates.found(), |target| self.score(block.start + at, target));
                    from = to;
                }
            }
        }
        let settle = |(query, shortlist): (usize, Shortlist)| shortlist.finish(|target| self.score(query, target));
        block.zip(shortlists).map(settle).collect()
    }
}

/// Joins what was found in several parts of the targets.
fn merge(parts: Vec<Vec<Best>>, queries: usize, k: usize) -> Vec<Vec<Scored>> {
    let mut all = vec![Best::new(k); queries];
    for part in parts {
        all.iter_mut().zip(&part).for_each(|(all, part)| all.merge(part));
    }
    all.into_iter().map(Best::into_found).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::rows::Vectors;
    use super::*;
    use crate::random::Random;
    use crate::vectors::Matrix;

    /// Rows with all that is hard to rank: equal ones, opposite ones, nearly or wholly zero ones, one large coordinate, and
    /// lengths that differ by orders of magnitude.
    fn rows(count: usize, dim: usize, random: &mut Random, magnitude: f64, least: f32) -> Matrix {
        let mut values: Vec<f32> = Vec::with_capacity(count * dim);
        for row in 0..count {
            let copied = (random.uniform() * row as f64) as usize * dim;
            match (random.uniform() * 8.0) as usize {
                0 if row > 0 => values.extend_from_within(copied..copied + dim),
                1 if row > 0 => values.extend(values[copied..copied + dim].to_vec().iter().map(|x| -x)),
                2 => values.extend(std::iter::repeat_n(least, dim)),
                3 => values.extend((0..dim).map(|at| if at == row % dim { 100.0 } else { random.normal() as f32 })),
                _ => {
                    let length = magnitude.powf(random.uniform() - 0.5);
                    values.extend((0..dim).map(|_| (length * random.normal()) as f32));
                }
            }
        }
        Matrix::new(values, dim)
    }

    fn all_scores(search: &Search, k: usize) -> Vec<Vec<Scored>> {
        let of_query = |query| {
            let mut best: Vec<Scored> = (0..search.targets.len()).map(|target| search.score(query, target)).collect();
            best.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
            best.truncate(k);
            best
        };
        (0..search.queries.len()).map(of_query).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 60, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn every_way_finds_what_looking_at_all_scores_finds(
            seed in 0_u64..1000, queries in 1_usize..40, targets in 1_usize..700, dim in 1_usize..70, k in 1_usize..40,
            magnitude in prop::sample::select(vec![1.0, 1e3, 1e30, 1e60]), is_biased: bool, is_cosine: bool,
        ) {
            let mut random = Random::new(seed);
            let least = if is_cosine { f32::MIN_POSITIVE } else { 0.0 };
            let [x, y] = [queries, targets].map(|count| rows(count, dim, &mut random, magnitude, least));
            let bias: Vec<f64> = (0..targets).map(|_| if is_biased { random.normal() } else { 0.0 }).collect();
            let (x, y) = match is_cosine {
                true => (Vectors::queries(&x).of_length(1.0), Vectors::targets(&y).of_length(1.0)),
                false => (Vectors::queries(&x).times(-0.5), Vectors::targets(&y).times(1.0)),
            };
            let (x, y) = (x.unwrap(), y.unwrap());
            let search = Search { queries: &x, targets: &y, bias: &bias, observer: &() };
            let expected = all_scores(&search, k);
            prop_assert_eq!(&search.scan(k), &expected);
            prop_assert_eq!(&search.screened(k).unwrap(), &expected);
            for mut screen in [Screen::in_eight_bits(&y, &bias), Screen::in_f32(&y, &bias)] {
                for (width, pieces) in [(64, 1), (128, 3), (512, 2)] {
                    screen.width = width;
                    prop_assert_eq!(&search.through(&screen, pieces, k).unwrap(), &expected, "width {}", width);
                }
            }
        }
    }
}
