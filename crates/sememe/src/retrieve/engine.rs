//! Exact nearest-neighbour search: for every query the `k` targets with the largest `<q, t> + b(t)`.
//!
//! Final scores are f64 sums in a fixed order ([`kernel::dot`](super::kernel::dot)). Most are never computed: a
//! [screen](super::screen) computes a cheap upper bound of every score, tile by tile, and only targets whose upper
//! bound reaches the `k`-th best score so far are scored. The result equals that of exhaustive search and does not
//! depend on how the work is divided.

use std::ops::Range;

use rayon::prelude::*;

use super::best::{Best, Scored};
use super::bounds::Bias;
use super::kernel::dot;
use super::rows::Rows;
use super::screen::{Candidates, QUERIES_PER_TILE, Screen, ScreenedQuery};
use super::shortlist::{Floor, Shortlist};
use super::side::Indexed;
use crate::error::Result;
use crate::observe::{Meter, Observer, Stage};

/// Up to this many queries, exhaustive search is cheaper than preparing a screen. One that is prepared already is used for
/// any number: it reads a quarter of the memory.
const MOST_QUERIES_WITHOUT_SCREEN: usize = 16;
/// Targets that one thread scores at a time in exhaustive search.
const SEGMENT: usize = 4096;

/// Targets that are scored at a time while there is no threshold yet.
const TARGETS_BEFORE_THRESHOLD: usize = 64;

/// Queries, targets, and the rankings to compute.
pub(super) struct Search<'a> {
    pub(super) queries: Rows<'a>,
    pub(super) targets: &'a Indexed,
    /// All rankings share one pass, because their inner products are the same.
    pub(super) rankings: &'a [Ranking<'a>],
    /// Distinct targets that are probably near to each query, or nothing at all. They only spare work: what is found does not
    /// depend on them.
    pub(super) known: &'a [Vec<usize>],
    /// Receives the progress, counted in queries times pieces of the targets.
    pub(super) observer: &'a dyn Observer,
    /// The stage that is reported to the observer.
    pub(super) stage: Stage,
}

/// Asks for the `k` best of the first `among` targets by `<scale q, t> + b(t)`.
#[derive(Clone, Copy)]
pub(super) struct Ranking<'a> {
    pub(super) scale: f64,
    pub(super) bias: &'a Bias,
    pub(super) k: usize,
    /// Only the first `among` targets are searched.
    pub(super) among: usize,
}

/// The result of one ranking for every query: the `k` best targets, best first, ties by lower index.
pub(super) type Found = Vec<Vec<Scored>>;

impl Search<'_> {
    /// Returns the result of each ranking.
    pub(super) fn run(&self) -> Result<Vec<Found>> {
        #[cfg(feature = "cuda")]
        if let Some(found) = self.run_on_gpu()? {
            return Ok(found);
        }
        self.run_on_cpu()
    }

    pub(super) fn run_on_cpu(&self) -> Result<Vec<Found>> {
        let is_screened = match self.queries.len() {
            0 => false,
            1..=MOST_QUERIES_WITHOUT_SCREEN => self.targets.has_screen(),
            _ => true,
        };
        if is_screened { self.screened() } else { self.scan() }
    }

    /// The exact score.
    fn score(&self, targets: Rows, ranking: &Ranking, query: usize, target: usize) -> Scored {
        self.score_of_product(targets, ranking, query, target, dot(self.queries.row(query), targets.row(target)))
    }

    fn score_of_product(&self, targets: Rows, ranking: &Ranking, query: usize, target: usize, product: f64) -> Scored {
        let factor = ranking.scale * self.queries.factor(query) * targets.factor(target);
        Scored { score: factor * product + ranking.bias.exact()[target], index: target }
    }

    /// An empty list for each ranking and query.
    fn nothing(&self, queries: usize) -> Vec<Vec<Best>> {
        self.rankings.iter().map(|ranking| vec![Best::new(ranking.k); queries]).collect()
    }

    /// Exhaustive search: scores every target.
    fn scan(&self) -> Result<Vec<Found>> {
        Meter::new(self.observer, self.stage, self.queries.len()).check()?;
        let targets = self.targets.rows();
        let segments: Vec<usize> = (0..self.among()).step_by(SEGMENT).collect();
        let found: Vec<Vec<Vec<Best>>> = segments
            .into_par_iter()
            .map(|first| {
                let mut best = self.nothing(self.queries.len());
                for target in first..self.among().min(first + SEGMENT) {
                    for query in 0..self.queries.len() {
                        let product = dot(self.queries.row(query), targets.row(target));
                        for (ranking, best) in self.rankings.iter().zip(&mut best) {
                            if target < ranking.among {
                                let scored = self.score_of_product(targets, ranking, query, target, product);
                                best[query].offer(scored);
                            }
                        }
                    }
                }
                best
            })
            .collect();
        Ok(self.merge(found, self.queries.len()))
    }

    /// The score of every target for every query by the first ranking.
    pub(super) fn all(&self) -> Result<Vec<Vec<f64>>> {
        let meter = Meter::new(self.observer, self.stage, self.queries.len());
        let targets = self.targets.rows();
        let scores = |query: usize| {
            meter.check()?;
            let score = |target| self.score(targets, &self.rankings[0], query, target).score;
            let scores = (0..targets.len()).into_par_iter().with_min_len(SEGMENT).map(score).collect();
            meter.advance(1)?;
            Ok(scores)
        };
        (0..self.queries.len()).map(scores).collect()
    }

    /// How many targets are searched.
    pub(super) fn among(&self) -> usize {
        let most = self.rankings.iter().map(|ranking| ranking.among).max().unwrap_or(0);
        most.min(self.targets.rows().len())
    }

    /// Screened search: scores only the targets that may be among the best.
    fn screened(&self) -> Result<Vec<Found>> {
        let screen = self.targets.screen(self.observer)?;
        let blocks = self.queries.len().div_ceil(QUERIES_PER_TILE);
        // Enough pieces to keep all threads busy until the end. Targets are divided only where queries are few.
        let pieces = (8 * rayon::current_num_threads()).div_ceil(blocks);
        self.search_with(screen, pieces)
    }

    /// Searches with a given screen; the targets are divided into `pieces`.
    fn search_with(&self, screen: &Screen, pieces: usize) -> Result<Vec<Found>> {
        let tiles = self.among().div_ceil(screen.width);
        let pieces = pieces.clamp(1, tiles.max(1));
        let firsts: Vec<usize> = (0..self.queries.len()).step_by(QUERIES_PER_TILE).collect();
        let meter = Meter::new(self.observer, self.stage, self.queries.len() * pieces);
        let of_blocks = firsts.into_par_iter().map(|first| {
            let block = first..self.queries.len().min(first + QUERIES_PER_TILE);
            let floors_of = |ranking| block.clone().map(|query| self.floor_of_known(ranking, query)).collect();
            let floors: Vec<Vec<Floor>> = self.rankings.iter().map(floors_of).collect();
            let of_piece = |piece: usize| -> Result<Vec<Vec<Best>>> {
                meter.check()?;
                let tiles = piece * tiles / pieces..(piece + 1) * tiles / pieces;
                let found = self.best_of_tiles(screen, block.clone(), tiles, &floors);
                meter.advance(block.len())?;
                Ok(found)
            };
            let found: Vec<Vec<Vec<Best>>> = match pieces {
                1 => vec![of_piece(0)?],
                _ => (0..pieces).into_par_iter().map(of_piece).collect::<Result<_>>()?,
            };
            Ok(self.merge(found, block.len()))
        });
        let mut found: Vec<Found> = vec![Vec::with_capacity(self.queries.len()); self.rankings.len()];
        for of_block in of_blocks.collect::<Result<Vec<_>>>()? {
            found.iter_mut().zip(of_block).for_each(|(found, of_block)| found.extend(of_block));
        }
        Ok(found)
    }

    /// A score that the `k` best targets of a query reach at least, by those that are known.
    fn floor_of_known(&self, ranking: &Ranking, query: usize) -> Floor {
        let floor = Floor::new();
        if let Some(known) = self.known.get(query).filter(|known| known.len() >= ranking.k) {
            let mut best = Best::new(ranking.k);
            for &target in known.iter().filter(|&&target| target < ranking.among) {
                best.offer(self.score(self.targets.rows(), ranking, query, target));
            }
            floor.raise(best.threshold());
        }
        floor
    }

    fn best_of_tiles(
        &self,
        screen: &Screen,
        block: Range<usize>,
        tiles: Range<usize>,
        floors: &[Vec<Floor>],
    ) -> Vec<Vec<Best>> {
        let targets = self.targets.rows();
        let mut screening = screen.block(targets, self.queries, block.clone());
        let bounds: Vec<_> = self.rankings.iter().map(|ranking| screening.bounds(ranking.scale)).collect();
        let mut shortlists: Vec<Vec<Shortlist>> =
            self.rankings.iter().map(|ranking| vec![Shortlist::new(ranking.k); block.len()]).collect();
        let mut candidates = Candidates::default();
        for tile in tiles {
            let tile = screening.tile(tile);
            let rankings = self.rankings.iter().zip(&bounds).zip(&mut shortlists).zip(floors);
            for (((ranking, bounds), shortlists), floors) in rankings {
                let width = tile.width_among(ranking.among);
                for (query, shortlist) in shortlists.iter_mut().enumerate() {
                    shortlist.exchange(&floors[query]);
                    let mut from = 0;
                    while from < width {
                        // The first targets set a threshold for the others.
                        let to =
                            if shortlist.has_threshold() { width } else { width.min(from + TARGETS_BEFORE_THRESHOLD) };
                        let threshold = shortlist.threshold();
                        let screened =
                            ScreenedQuery { position: query, bound: bounds[query], bias: ranking.bias, threshold };
                        tile.find(&mut candidates, &screened, from..to);
                        let score = |target| self.score(targets, ranking, block.start + query, target);
                        shortlist.add(candidates.found(), score);
                        from = to;
                    }
                }
            }
        }
        let settled = self.rankings.iter().zip(shortlists).map(|(ranking, shortlists)| {
            let settle = |(query, shortlist): (usize, Shortlist)| {
                shortlist.finish(|target| self.score(targets, ranking, query, target))
            };
            block.clone().zip(shortlists).map(settle).collect()
        });
        settled.collect()
    }

    /// Merges the results of several parts of the targets.
    fn merge(&self, parts: Vec<Vec<Vec<Best>>>, queries: usize) -> Vec<Found> {
        let mut all = self.nothing(queries);
        for part in parts {
            for (all, part) in all.iter_mut().flatten().zip(part.iter().flatten()) {
                all.merge(part);
            }
        }
        all.into_iter().map(|of_ranking| of_ranking.into_iter().map(Best::into_found).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rows::{Role, Scaled};
    use super::*;
    use crate::random::Random;
    use crate::seeds::cases;
    use crate::vectors::Matrix;

    /// Rows that are hard to rank: equal rows, opposite rows, zero rows, one large coordinate, and lengths that differ
    /// by orders of magnitude.
    fn rows(count: usize, dim: usize, random: &mut Random, magnitude: f64) -> Matrix {
        let mut values: Vec<f32> = Vec::with_capacity(count * dim);
        for row in 0..count {
            let copied = (random.uniform() * row as f64) as usize * dim;
            match (random.uniform() * 9.0) as usize {
                0 if row > 0 => values.extend_from_within(copied..copied + dim),
                1 if row > 0 => values.extend(values[copied..copied + dim].to_vec().iter().map(|x| -x)),
                2 => values.extend(std::iter::repeat_n(0.0, dim)),
                3 => values.extend(std::iter::repeat_n(f32::MIN_POSITIVE, dim)),
                4 => values.extend((0..dim).map(|at| if at == row % dim { 100.0 } else { random.normal() as f32 })),
                _ => {
                    let length = magnitude.powf(random.uniform() - 0.5);
                    values.extend((0..dim).map(|_| (length * random.normal()) as f32));
                }
            }
        }
        Matrix::new(values, dim)
    }

    fn all_scores(search: &Search) -> Vec<Found> {
        let of_query = |ranking: &Ranking, query| {
            let among = ranking.among.min(search.targets.rows().len());
            let mut best: Vec<Scored> =
                (0..among).map(|target| search.score(search.targets.rows(), ranking, query, target)).collect();
            best.retain(|scored| scored.score > f64::NEG_INFINITY);
            best.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
            best.truncate(ranking.k);
            best
        };
        let of_ranking = |ranking| (0..search.queries.len()).map(|query| of_query(ranking, query)).collect();
        search.rankings.iter().map(of_ranking).collect()
    }

    proptest! {
        #![proptest_config(cases(60))]

        #[test]
        fn every_way_finds_what_looking_at_all_scores_finds(
            seed: u64, queries in 1_usize..40, targets in 1_usize..700, dim in 1_usize..70, k in 1_usize..40,
            among in 1_usize..900, magnitude in prop::sample::select(vec![1.0, 1e3, 1e30, 1e60]),
            is_biased: bool, is_cosine: bool,
        ) {
            let mut random = Random::new(seed);
            let [x, y] = [queries, targets].map(|count| rows(count, dim, &mut random, magnitude));
            let bias: Vec<f64> = (0..targets).map(|_| if is_biased { random.normal() } else { 0.0 }).collect();
            let (x, y) = match is_cosine {
                true => (Scaled::directions(x, 2.0, Role::Queries), Scaled::directions(y, 1.0, Role::Targets)),
                false => (Scaled::times(x, -0.5, Role::Queries), Scaled::times(y, 1.0, Role::Targets)),
            };
            let (x, y) = (x.unwrap(), Indexed::new(y.unwrap()));
            let bias = y.biased(bias);
            let rankings = [
                Ranking { scale: 1.0, bias: &bias, k, among: usize::MAX },
                Ranking { scale: 0.5, bias: y.unbiased(), k: 10, among },
            ];
            let search =
                Search { queries: x.rows(), targets: &y, rankings: &rankings, known: &[], observer: &(), stage: Stage::Searching };
            let expected = all_scores(&search);
            // Any targets may be known, near or not.
            let all: Vec<usize> = (0..targets).collect();
            let known: Vec<Vec<usize>> = (0..queries)
                .map(|query| all.iter().copied().cycle().skip(query).take((2 * k).min(targets)).collect())
                .collect();
            prop_assert_eq!(&Search { known: &known, ..search }.screened().unwrap(), &expected);
            prop_assert_eq!(&search.scan().unwrap(), &expected);
            prop_assert_eq!(&search.screened().unwrap(), &expected);
            for mut screen in [Screen::in_eight_bits(y.rows()), Screen::in_f32(y.rows())] {
                for (width, pieces) in [(64, 1), (128, 3), (512, 2)] {
                    screen.width = width;
                    prop_assert_eq!(&search.search_with(&screen, pieces).unwrap(), &expected, "width {}", width);
                }
            }
            // On a card, which leaves to the CPU what it cannot decide; searches that are none for it, altogether.
            #[cfg(feature = "cuda")]
            for card in [sememe_cuda::StandIn::new(1 << 30), sememe_cuda::StandIn::new(1 << 16)] {
                if let Some(found) = search.run_on(&card, None).unwrap() {
                    prop_assert_eq!(&found, &expected);
                }
            }
            // Each ranking alone gives the same result.
            for (ranking, expected) in rankings.iter().zip(expected) {
                let alone = Search { rankings: std::slice::from_ref(ranking), ..search };
                prop_assert_eq!(alone.screened().unwrap(), vec![expected]);
            }
        }
    }
}
