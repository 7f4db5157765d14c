//! Shrinkage chosen by held-out retrieval: fit to one half of the tuples, retrieve the other half.
//!
//! Formulas such as oracle approximating shrinkage estimate a covariance well, but retrieval needs much more shrinkage.
//! With 2,000 English-Russian pairs of 300 dimensions the formula gives 0.03 and 0.07. Held-out retrieval gives 0.45
//! and finds a fifth more of the held-out translations.
//!
//! Every candidate is scored without a fit of its own. In the eigenvectors of the covariance, shrinkage by `a` only
//! changes eigenvalues: `λ` becomes `(1 - a) λ + a mean(λ)`. With the whitened rows `x`, `y` and the whitened
//! cross-covariance `K = U P Vᵀ`, the latent vectors of IBFA are `P^½ Uᵀ x` and `P^½ Vᵀ y`, and their inner product is
//! `xᵀ K y`. With many dimensions the decomposition of `K` takes long; then the geometric mean of `|x|` and `|Kᵀ x|`
//! stands in for the length of a latent vector. On English with French, Russian and Finnish, with 1,000 and with 5,000
//! words, it chooses what fits choose in five cases of six, and the neighbouring candidate in the sixth.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::{Eigen, Mat, Svd, block, product_of_rows, times, transpose_times};
use crate::model::{FitOptions, LatentSize, Method, Shrinkage};
use crate::moments::Moments;
use crate::observe::{Meter, Observer, Stage};
use crate::prepare::scale_to_unit;
use crate::retrieve::kernel::dot;
use crate::vectors::{Matrix, View};

/// Candidates for the shrinkage. The search begins at index `FIRST` and moves while the score improves.
const CANDIDATES: [f64; 11] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9];
const FIRST: usize = 4;
/// Likelihood evaluations of an iterative fit to a part of the data.
const EVALUATIONS: usize = 5;
/// Up to this number of dimensions a cross-covariance is decomposed for every candidate.
const FEW_DIMENSIONS: usize = 512;
/// Maximum number of held-out queries between two views.
pub(super) const QUERIES: usize = 1000;

/// The shrinkage with the best retrieval of held-out tuples, which [`align`](super::align()) fits with. The fallback for
/// too few tuples is [`Shrinkage::Auto`]. `moments` are those of all tuples; both halves keep its monolingual rows, which
/// are no translations.
pub fn shrinkage(
    moments: &Moments,
    views: &[View],
    tuples: &Tuples,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Shrinkage> {
    let method = options.method_for(views.len());
    if !method.shrinks() {
        return Ok(Shrinkage::Auto);
    }
    HeldOut::new(moments, views, tuples, options, observer)?.best_shrinkage(observer)
}

/// Held-out tuples of a two-fold cross-validation, prepared for retrieval at any shrinkage.
#[derive(Default)]
pub(super) struct HeldOut {
    pairs: Vec<Pair>,
}

impl HeldOut {
    /// Methods that need no shrinkage are content with a single split.
    pub(super) fn new(
        moments: &Moments,
        views: &[View],
        tuples: &Tuples,
        options: &FitOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let method = options.method_for(views.len());
        let latent = match options.latent {
            LatentSize::Of(latent) => latent.max(1),
            _ => usize::MAX,
        };
        let meter = Meter::new(observer, Stage::Shrinking, 1);
        meter.check()?;
        let monolingual = moments.of_single_views();
        let halves = tuples.halves();
        let splits = [(&halves[0], &halves[1]), (&halves[1], &halves[0])];
        let of_split = |&(seen, held_out): &(&Tuples, &Tuples)| -> Result<Vec<Pair>> {
            let mut moments = monolingual.of_part(views, seen)?;
            moments.merge(&monolingual)?;
            pairs(&moments, (method, latent), views, held_out)
        };
        let splits = if method.shrinks() { &splits[..] } else { &splits[..1] };
        let pairs = splits.par_iter().map(of_split).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        meter.advance(1)?;
        Ok(HeldOut { pairs })
    }

    /// The candidate with the lowest mean log-rank.
    pub(super) fn best_shrinkage(&self, observer: &dyn Observer) -> Result<Shrinkage> {
        let queries = self.pairs.iter().map(|pair| pair.queries.len()).sum::<usize>();
        if queries == 0 {
            return Ok(Shrinkage::Auto);
        }
        let meter = Meter::new(observer, Stage::Shrinking, CANDIDATES.len());
        let mean_log_rank = |by: f64| -> Result<f64> {
            meter.check()?;
            let ranks = self.pairs.par_iter().map(|pair| pair.ranks(by).iter().map(|rank| rank.log).sum::<f64>());
            let mean = ranks.collect::<Vec<f64>>().iter().sum::<f64>() / (2 * queries) as f64;
            meter.advance(1)?;
            Ok(mean)
        };
        Ok(best(mean_log_rank)?.map_or(Shrinkage::Auto, Shrinkage::By))
    }

    /// The pairs of views whose held-out entries are retrieved no better than chance by a model of the others, and the
    /// number of these entries.
    pub(super) fn at_chance(&self) -> Vec<([usize; 2], usize)> {
        let mut gains: BTreeMap<[usize; 2], Vec<f64>> = BTreeMap::new();
        for pair in &self.pairs {
            let of_pair = pair.ranks(SHRINKAGE_FOR_CHANCE).into_iter().map(|rank| rank.log_at_random - rank.log);
            gains.entry(pair.views).or_default().extend(of_pair);
        }
        let is_chance = |gains: &Vec<f64>| gains.len() >= MIN_FOR_CHANCE && !is_clearly_positive(gains);
        let at_chance = gains.into_iter().filter(|(_, gains)| is_chance(gains));
        at_chance.map(|(views, gains)| (views, gains.len())).collect()
    }
}

/// Held-out entries that a test of chance needs, and the shrinkage that it fits with: what matters is whether anything
/// is found at all.
const MIN_FOR_CHANCE: usize = 10;
const SHRINKAGE_FOR_CHANCE: f64 = 0.45;
/// Standard errors above chance that count as better than chance: one worthless dictionary in 700 passes.
const CLEARLY: f64 = 3.0;

fn is_clearly_positive(values: &[f64]) -> bool {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    mean > 0.0 && mean >= CLEARLY * (variance / n).sqrt()
}

/// The same options with early stopping, enough for retrieval, and with the largest latent size: a part of the data
/// cannot choose the latent size of the whole.
pub(crate) fn short_fit(options: &FitOptions) -> FitOptions {
    let mut options = options.clone();
    if options.latent == LatentSize::Auto {
        options.latent = LatentSize::Largest;
    }
    options.mbfa.evaluations = options.mbfa.evaluations.min(EVALUATIONS);
    options
}

/// Hill climbing from the first candidate to the lowest score; `None` if there is no finite one.
pub(super) fn best(score: impl Fn(f64) -> Result<f64>) -> Result<Option<f64>> {
    let (mut at, mut lowest) = (FIRST, score(CANDIDATES[FIRST])?);
    let mut walk = |step: isize| -> Result<bool> {
        let start = at;
        while let Some(next) = at.checked_add_signed(step).filter(|&next| next < CANDIDATES.len()) {
            let value = score(CANDIDATES[next])?;
            // Equality is not enough: it may be rounding.
            if value >= lowest {
                break;
            }
            (at, lowest) = (next, value);
        }
        Ok(at != start)
    };
    // If more shrinkage was better, less is not tried.
    let _ = walk(1)? || walk(-1)?;
    Ok(lowest.is_finite().then_some(CANDIDATES[at]))
}

/// The covariance of a view in its eigenvectors.
struct Spectrum {
    /// Dimensions without variance that the covariance does not have.
    outside: usize,
    mean: Vec<f64>,
    values: Vec<f64>,
    vectors: Mat,
}

impl Spectrum {
    fn of(covariance: &Mat, mean: Vec<f64>, outside: usize) -> Result<Self> {
        let Eigen { values, vectors } = Eigen::new(covariance, "a covariance")?;
        Ok(Spectrum { outside, mean, values, vectors })
    }

    /// Rows of the view in the eigenvectors.
    fn coordinates(&self, rows: &Matrix) -> Matrix {
        let centred = Mat::from_fn(rows.cols(), rows.rows(), |i, row| f64::from(rows.row(row)[i]) - self.mean[i]);
        let coordinates = transpose_times(&self.vectors, &centred);
        Matrix::new(coordinates.col_iter().flatten().map(|&x| x as f32).collect(), rows.cols())
    }

    /// The factors of the coordinates that whiten them, for a covariance shrunk by `by`.
    fn whitening(&self, by: f64) -> Vec<f32> {
        let mean = self.values.iter().sum::<f64>() / (self.values.len() + self.outside) as f64;
        // Rounding can make the smallest eigenvalues negative.
        let shrunk = |&value: &f64| (1.0 - by) * value.max(0.0) + by * mean;
        self.values.iter().map(|value| (1.0 / shrunk(value).max(f64::MIN_POSITIVE).sqrt()) as f32).collect()
    }
}

/// Two views of one part of the tuples, and held-out pairs to retrieve.
struct Pair {
    views: [usize; 2],
    /// Maximum length of the latent vectors.
    latent: usize,
    spectra: [Arc<Spectrum>; 2],
    /// The cross-covariance, in the eigenvectors of both views.
    cross: Mat,
    /// The rows of the held-out pairs, and their coordinates.
    queries: Vec<(usize, usize)>,
    coordinates: [Matrix; 2],
}

/// All pairs of views that have tuples in both parts.
fn pairs(moments: &Moments, (method, latent): (Method, usize), views: &[View], held_out: &Tuples) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    let mut spectra: BTreeMap<usize, Arc<Spectrum>> = BTreeMap::new();
    for a in 0..views.len() {
        for b in a + 1..views.len() {
            let queries = some_of(&held_out.pairs_of(a, b));
            let Some(both) = moments.marginal(&[a, b]).filter(|both| both.n >= 2.0 && !queries.is_empty()) else {
                continue;
            };
            for view in [a, b] {
                if let Entry::Vacant(entry) = spectra.entry(view) {
                    // MBFA whitens by all rows of a view, the methods of two views by those of pairs.
                    let marginal = if method == Method::Mbfa { moments.marginal(&[view]) } else { None };
                    let place = if view == a { (0, views[a].dim()) } else { (views[a].dim(), views[b].dim()) };
                    let (covariance, mean) = match marginal {
                        Some(all) => (all.covariance(), all.mean),
                        None => {
                            let mean = both.mean[place.0..place.0 + place.1].to_vec();
                            (block(&both.covariance(), place, place), mean)
                        }
                    };
                    entry.insert(Arc::new(Spectrum::of(&covariance, mean, moments.views()[view].outside)?));
                }
            }
            let spectra = [a, b].map(|view| spectra[&view].clone());
            let cross = block(&both.covariance(), (0, views[a].dim()), (views[a].dim(), views[b].dim()));
            let cross = transpose_times(&spectra[0].vectors, &times(&cross, &spectra[1].vectors));
            let rows = |view: usize, rows: Vec<usize>| views[view].rows().select(&rows);
            let coordinates = [
                spectra[0].coordinates(&rows(a, queries.iter().map(|pair| pair.0).collect())),
                spectra[1].coordinates(&rows(b, queries.iter().map(|pair| pair.1).collect())),
            ];
            pairs.push(Pair { views: [a, b], latent, spectra, cross, queries, coordinates });
        }
    }
    Ok(pairs)
}

/// At most [`QUERIES`] of the pairs, evenly spaced.
pub(super) fn some_of(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    pairs.iter().step_by(pairs.len().div_ceil(QUERIES).max(1)).copied().collect()
}

impl Pair {
    /// The ranks of the held-out pairs.
    fn ranks(&self, by: f64) -> Vec<Rank> {
        let whitening = [0, 1].map(|side: usize| self.spectra[side].whitening(by));
        let [x, y] = [0, 1].map(|side: usize| {
            let mut rows = self.coordinates[side].clone();
            let dim = rows.cols();
            for row in rows.as_mut_slice().chunks_exact_mut(dim) {
                row.iter_mut().zip(&whitening[side]).for_each(|(value, factor)| *value *= factor);
            }
            rows
        });
        let whitened = |i: usize, j: usize| self.cross[(i, j)] as f32 * whitening[0][i] * whitening[1][j];
        let (rows, cols) = (x.cols(), y.cols());
        if rows.max(cols) <= FEW_DIMENSIONS {
            let cross = Mat::from_fn(rows, cols, |i, j| f64::from(whitened(i, j)));
            // Without convergence there are no latent vectors, and the lengths are estimated as for many dimensions.
            if let Ok(svd) = Svd::new(&cross, "a whitened cross-covariance") {
                let latent = svd.s.len().min(self.latent);
                let map = |directions: &Mat| {
                    let dim = directions.nrows();
                    let entry = |at: usize| (directions[(at % dim, at / dim)] * svd.s[at / dim].sqrt()) as f32;
                    Matrix::new((0..latent * dim).map(entry).collect(), dim)
                };
                let [mut x, mut y] = [mapped(&x, &map(&svd.u)), mapped(&y, &map(&svd.v))];
                scale_to_unit(&mut x);
                scale_to_unit(&mut y);
                return ranks_by_product(&x, &y, &self.queries);
            }
        }
        let forth = Matrix::new(
            (0..cols).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| whitened(i, j)).collect(),
            rows,
        );
        let back = Matrix::new(
            (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| whitened(i, j)).collect(),
            cols,
        );
        let (x_mapped, y_mapped) = (mapped(&x, &forth), mapped(&y, &back));
        let x = scaled(x_mapped.clone(), &x, &x_mapped);
        let y = scaled(y.clone(), &y, &y_mapped);
        ranks_by_product(&x, &y, &self.queries)
    }
}

/// The product of every row with every row of `map`.
fn mapped(rows: &Matrix, map: &Matrix) -> Matrix {
    let mut products = vec![0.0; rows.rows() * map.rows()];
    product_of_rows(rows.as_slice(), map.as_slice(), map.cols(), &mut products);
    Matrix::new(products, map.rows())
}

/// Rows divided by the geometric mean of the lengths of two others.
fn scaled(mut rows: Matrix, one: &Matrix, other: &Matrix) -> Matrix {
    let dim = rows.cols();
    let length = |row: &[f32]| dot(row, row).sqrt();
    for (index, row) in rows.as_mut_slice().chunks_exact_mut(dim).enumerate() {
        let length = (length(one.row(index)) * length(other.row(index))).sqrt();
        let factor = if length > 0.0 { (1.0 / length) as f32 } else { 0.0 };
        row.iter_mut().for_each(|value| *value *= factor);
    }
    rows
}

/// How well a held-out pair is retrieved.
struct Rank {
    /// The log-rank of the right row among all rows of the other side, summed over both directions.
    log: f64,
    /// The expectation of this for a model that knows nothing.
    log_at_random: f64,
}

/// For every pair, the log-rank by cosine of the right row among all rows of the other side, summed over both
/// directions. Row `i` of `x` and of `y` belong together and are the words `pairs[i]`.
pub(super) fn log_ranks_of(mut x: Matrix, mut y: Matrix, pairs: &[(usize, usize)]) -> Vec<f64> {
    scale_to_unit(&mut x);
    scale_to_unit(&mut y);
    ranks_by_product(&x, &y, pairs).into_iter().map(|rank| rank.log).collect()
}

fn ranks_by_product(x: &Matrix, y: &Matrix, pairs: &[(usize, usize)]) -> Vec<Rank> {
    let mut products = vec![0.0; pairs.len() * pairs.len()];
    product_of_rows(x.as_slice(), y.as_slice(), x.cols(), &mut products);
    let product = |i: usize, j: usize| products[i * pairs.len() + j];
    // The sums of the first logarithms: the mean log-rank of a random rank from 1 to `n` is `log(n!) / n`.
    let log_factorials: Vec<f64> = (1..=pairs.len())
        .scan(0.0, |sum, n| {
            *sum += (n as f64).ln();
            Some(*sum)
        })
        .collect();
    let rank = |i: usize| {
        // Other translations of the same word are not wrong.
        let others = || (0..pairs.len()).filter(|&j| pairs[j].0 != pairs[i].0 && pairs[j].1 != pairs[i].1);
        let (mut forth, mut back, mut count) = (1, 1, 1);
        for j in others() {
            forth += usize::from(product(i, j) > product(i, i));
            back += usize::from(product(j, i) > product(i, i));
            count += 1;
        }
        let log_at_random = 2.0 * log_factorials[count - 1] / count as f64;
        Rank { log: (forth as f64).ln() + (back as f64).ln(), log_at_random }
    };
    (0..pairs.len()).into_par_iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::model;
    use crate::random::Random;

    #[test]
    fn walks_to_the_lowest_score_and_gives_up_where_there_is_none() {
        for lowest in [0.001, 0.01, 0.03, 0.1, 0.2, 0.6, 0.9] {
            assert_eq!(best(|by| Ok((by - lowest).abs())).unwrap(), Some(lowest));
        }
        assert_eq!(best(|_| Ok(f64::INFINITY)).unwrap(), None);
        assert!(matches!(best(|_| Err(Error::Stopped)), Err(Error::Stopped)));
    }

    /// Two noisy images of hidden meanings, with spectra that fall off as those of word vectors do.
    fn two_views(rows: usize, dim: usize) -> [View; 2] {
        let mut random = Random::new(5);
        let meanings: Vec<f32> = (0..rows * dim).map(|_| random.normal() as f32).collect();
        ["x", "y"].map(|name| {
            let mix: Vec<f32> = (0..dim * dim).map(|_| random.normal() as f32).collect();
            let mut values = vec![0.0; rows * dim];
            product_of_rows(&meanings, &mix, dim, &mut values);
            for (at, value) in values.iter_mut().enumerate() {
                *value = (*value + 3.0 * random.normal() as f32) / (1.0 + (at % dim) as f32);
            }
            View::new(name, Matrix::new(values, dim))
        })
    }

    #[test]
    fn scores_of_candidates_are_near_those_of_fits() {
        let views = two_views(400, 20);
        let mut tuples = Tuples::new(2);
        (0..400).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
        let [seen, held_out] = tuples.halves();
        let moments = Moments::of(&views, &seen).unwrap();
        let pair = &pairs(&moments, (Method::Ibfa, usize::MAX), &views, &held_out).unwrap()[0];
        let mean = |ranks: Vec<f64>| ranks.iter().sum::<f64>() / ranks.len() as f64;
        for by in [0.01, 0.2, 0.6] {
            let options = FitOptions::default().with_shrinkage(Shrinkage::By(by));
            let (model, _) = model::fit(&moments, &options, &()).unwrap();
            let latent = |view: usize| {
                let rows: Vec<usize> = pair.queries.iter().map(|pair| [pair.0, pair.1][view]).collect();
                model.views[view].project(&views[view].rows().select(&rows)).unwrap()
            };
            let (fitted, quick) = (
                mean(log_ranks_of(latent(0), latent(1), &pair.queries)),
                mean(pair.ranks(by).iter().map(|rank| rank.log).collect()),
            );
            assert!((fitted - quick).abs() < 1e-3 * fitted, "{by}: {fitted} by a fit, {quick} without one");
        }
    }

    #[test]
    fn a_dictionary_of_random_pairs_is_noticed() {
        let views = two_views(400, 20);
        let at_chance = |partner: &dyn Fn(usize) -> usize| {
            let mut tuples = Tuples::new(2);
            (0..400).for_each(|row| assert!(tuples.add(&[Some(row), Some(partner(row))])));
            let moments = Moments::of(&views, &tuples).unwrap();
            HeldOut::new(&moments, &views, &tuples, &FitOptions::default(), &()).unwrap().at_chance()
        };
        assert_eq!(at_chance(&|row| row), []);
        assert_eq!(at_chance(&|row| (row * 7 + 13) % 400), [([0, 1], 400)]);
    }

    #[test]
    fn many_tuples_are_held_out_as_well() {
        let views = two_views(3000, 4);
        let mut tuples = Tuples::new(2);
        (0..3000).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
        let moments = Moments::of(&views, &tuples).unwrap();
        let found = shrinkage(&moments, &views, &tuples, &FitOptions::default(), &()).unwrap();
        assert!(matches!(found, Shrinkage::By(_)), "{found}");
    }
}
