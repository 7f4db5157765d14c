//! Held-out pairs of two views, retrieved at any shrinkage.
//!
//! Every candidate is scored without a fit of its own. In the eigenvectors of the covariance, shrinkage by `a` only
//! changes eigenvalues: `λ` becomes `(1 - a) λ + a mean(λ)`. With the whitened rows `x`, `y` and the whitened
//! cross-covariance `K = U P Vᵀ`, the latent vectors of IBFA are `P^½ Uᵀ x` and `P^½ Vᵀ y`, and their inner product is
//! `xᵀ K y`. With many dimensions the decomposition of `K` takes long; then the geometric mean of `|x|` and `|Kᵀ x|`
//! stands in for the length of a latent vector. On English with French, Russian and Finnish, with 1,000 and with 5,000
//! words, it chooses what fits choose in five cases of six, and the neighbouring candidate in the sixth.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

#[cfg(feature = "cuda")]
use super::held_out::CANDIDATES;
#[cfg(feature = "cuda")]
use super::held_out_gpu::OnGpu;
use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::{Eigen, Mat, Svd, block, low_rank_factor, product_of_rows, times, transpose_times};
use crate::model::Method;
use crate::moments::Moments;
use crate::prepare::scale_to_unit;
use crate::retrieve::kernel::dot;
use crate::vectors::{Matrix, View};

/// Up to this number of dimensions a cross-covariance is decomposed for every candidate.
const FEW_DIMENSIONS: usize = 512;
/// Maximum number of held-out queries between two views.
pub(super) const QUERIES: usize = 1000;

/// The covariance of a view in its eigenvectors, but those without variance where these are most.
struct Spectrum {
    /// Dimensions without variance that are left out.
    outside: usize,
    mean: Vec<f64>,
    values: Vec<f64>,
    vectors: Mat,
}

impl Spectrum {
    fn of(covariance: &Mat, mean: Vec<f64>, outside: usize) -> Result<Self> {
        let Eigen { values, vectors } = match low_rank_factor(covariance) {
            Some(factor) => Eigen::of_product(&factor, "a covariance")?,
            None => Eigen::new(covariance, "a covariance")?,
        };
        Ok(Spectrum { outside: outside + vectors.nrows() - vectors.ncols(), mean, values, vectors })
    }

    /// Rows of the view in the eigenvectors.
    fn coordinates(&self, rows: &Matrix) -> Matrix {
        let centred = Mat::from_fn(rows.cols(), rows.rows(), |i, row| f64::from(rows.row(row)[i]) - self.mean[i]);
        let coordinates = transpose_times(&self.vectors, &centred);
        Matrix::new(coordinates.col_iter().flatten().map(|&x| x as f32).collect(), self.vectors.ncols())
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
pub(super) struct HeldOutPair {
    pub(super) views: [usize; 2],
    /// Maximum length of the latent vectors.
    latent: usize,
    spectra: [Arc<Spectrum>; 2],
    /// The cross-covariance, in the eigenvectors of both views.
    cross: Mat,
    /// The rows of the held-out pairs, and their coordinates.
    pub(super) queries: Vec<(usize, usize)>,
    coordinates: [Matrix; 2],
    #[cfg(feature = "cuda")]
    on_gpu: OnGpu,
}

/// What `of_pair` returns for each pair of views that has tuples in both parts, in parallel; the number tells the pairs apart. A
/// pair is in memory no longer than `of_pair` keeps it.
pub(super) fn for_held_out_pairs<T: Send>(
    moments: &Moments,
    (method, latent): (Method, usize),
    views: &[View],
    held_out: &Tuples,
    of_pair: impl Fn(usize, HeldOutPair) -> T + Sync,
) -> Result<Vec<T>> {
    let connected = held_out.connected_views();
    let spectra = spectra(moments, method, views, &connected)?;
    let prepared = |(number, &[a, b]): (usize, &[usize; 2])| {
        let queries = some_of(&held_out.pairs_of(a, b));
        let both = moments.marginal(&[a, b]).filter(|_| !queries.is_empty() && has_pairs(moments, [a, b]))?;
        let spectra = [a, b].map(|view| spectra[&view].clone());
        let cross = block(&both.covariance(), (0, views[a].dim()), (views[a].dim(), views[b].dim()));
        let cross = transpose_times(&spectra[0].vectors, &times(&cross, &spectra[1].vectors));
        let rows = |view: usize, rows: Vec<usize>| views[view].rows().select(&rows);
        let coordinates = [
            spectra[0].coordinates(&rows(a, queries.iter().map(|pair| pair.0).collect())),
            spectra[1].coordinates(&rows(b, queries.iter().map(|pair| pair.1).collect())),
        ];
        #[cfg(feature = "cuda")]
        let on_gpu = OnGpu::of(CANDIDATES.len() * queries.len() * cross.ncols() * (queries.len() + 2 * cross.nrows()));
        let pair = HeldOutPair {
            views: [a, b],
            latent,
            spectra,
            cross,
            queries,
            coordinates,
            #[cfg(feature = "cuda")]
            on_gpu,
        };
        Some(of_pair(number, pair))
    };
    Ok(connected.par_iter().enumerate().filter_map(prepared).collect())
}

/// Whether enough tuples have both views.
fn has_pairs(moments: &Moments, pair: [usize; 2]) -> bool {
    let have_both = moments.patterns().iter().filter(|(pattern, _)| pair.iter().all(|view| pattern.contains(view)));
    have_both.map(|(_, moments)| moments.n).sum::<f64>() >= 2.0
}

/// The spectra of all views of the pairs. MBFA whitens by all rows of a view, the methods of two views by those of pairs.
fn spectra(
    moments: &Moments,
    method: Method,
    views: &[View],
    pairs: &[[usize; 2]],
) -> Result<BTreeMap<usize, Arc<Spectrum>>> {
    let mut first_pairs: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
    for &pair in pairs.iter().filter(|&&pair| has_pairs(moments, pair)) {
        for view in pair {
            first_pairs.entry(view).or_insert(pair);
        }
    }
    let of_view = |(view, [a, b]): (usize, [usize; 2])| {
        let marginal = if method == Method::Mbfa { moments.marginal(&[view]) } else { None };
        let place = if view == a { (0, views[a].dim()) } else { (views[a].dim(), views[b].dim()) };
        let (covariance, mean) = match marginal {
            Some(all) => (all.covariance(), all.mean),
            None => {
                let both = moments.marginal(&[a, b]).expect("the pair has tuples");
                (block(&both.covariance(), place, place), both.mean[place.0..place.0 + place.1].to_vec())
            }
        };
        Ok((view, Arc::new(Spectrum::of(&covariance, mean, moments.views()[view].outside)?)))
    };
    first_pairs.into_par_iter().map(of_view).collect()
}

/// At most [`QUERIES`] of the pairs, evenly spaced.
pub(super) fn some_of(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    pairs.iter().step_by(pairs.len().div_ceil(QUERIES).max(1)).copied().collect()
}

impl HeldOutPair {
    /// The ranks of the held-out pairs.
    pub(super) fn ranks(&self, by: f64) -> Vec<Rank> {
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
                let [mut x, mut y] = [self.mapped(&x, &map(&svd.u)), self.mapped(&y, &map(&svd.v))];
                scale_to_unit(&mut x);
                scale_to_unit(&mut y);
                return self.ranks_by_product(&x, &y);
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
        let (x_mapped, y_mapped) = (self.mapped(&x, &forth), self.mapped(&y, &back));
        let x = scaled(x_mapped.clone(), &x, &x_mapped);
        let y = scaled(y.clone(), &y, &y_mapped);
        self.ranks_by_product(&x, &y)
    }

    fn mapped(&self, rows: &Matrix, map: &Matrix) -> Matrix {
        #[cfg(feature = "cuda")]
        if let Some(products) = self.on_gpu.mapped(rows, map) {
            return products;
        }
        mapped(rows, map)
    }

    fn ranks_by_product(&self, x: &Matrix, y: &Matrix) -> Vec<Rank> {
        #[cfg(feature = "cuda")]
        if let Some(counted) = self.on_gpu.counted(x, y, &self.queries) {
            return ranks(&counted);
        }
        ranks(&counted(x, y, &self.queries))
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
pub(super) struct Rank {
    /// The log-rank of the right row among all rows of the other side, summed over both directions.
    pub(super) log: f64,
    /// The expectation of this for a model that knows nothing.
    log_at_random: f64,
}

impl Rank {
    /// How much better it is than what a model that knows nothing has.
    pub(super) fn gain(&self) -> f64 {
        self.log_at_random - self.log
    }
}

/// For every pair, the rank by cosine of the right row among all rows of the other side. Row `i` of `x` and of `y` belong
/// together and are the words `pairs[i]`.
pub(super) fn ranks_of(mut x: Matrix, mut y: Matrix, pairs: &[(usize, usize)]) -> Vec<Rank> {
    scale_to_unit(&mut x);
    scale_to_unit(&mut y);
    ranks(&counted(&x, &y, pairs))
}

/// How a right row compares with the rows of other words.
pub(super) struct Counted {
    /// Those with a larger product, on the second and on the first side.
    pub(super) better: [usize; 2],
    /// Those that were compared, on each side.
    pub(super) compared: usize,
}

/// What is counted for every pair, by inner products.
fn counted(x: &Matrix, y: &Matrix, pairs: &[(usize, usize)]) -> Vec<Counted> {
    let mut products = vec![0.0; pairs.len() * pairs.len()];
    product_of_rows(x.as_slice(), y.as_slice(), x.cols(), &mut products);
    let product = |i: usize, j: usize| products[i * pairs.len() + j];
    let count = |i: usize| {
        // Other translations of the same word are not wrong.
        let others = || (0..pairs.len()).filter(|&j| pairs[j].0 != pairs[i].0 && pairs[j].1 != pairs[i].1);
        let mut counted = Counted { better: [0, 0], compared: 0 };
        for j in others() {
            counted.better[0] += usize::from(product(i, j) > product(i, i));
            counted.better[1] += usize::from(product(j, i) > product(i, i));
            counted.compared += 1;
        }
        counted
    };
    (0..pairs.len()).into_par_iter().map(count).collect()
}

fn ranks(all: &[Counted]) -> Vec<Rank> {
    // The sums of the first logarithms: the mean log-rank of a random rank from 1 to `n` is `log(n!) / n`.
    let log_factorials: Vec<f64> = (1..=all.len())
        .scan(0.0, |sum, n| {
            *sum += (n as f64).ln();
            Some(*sum)
        })
        .collect();
    let rank = |&Counted { better: [forth, back], compared }: &Counted| Rank {
        log: ((1 + forth) as f64).ln() + ((1 + back) as f64).ln(),
        log_at_random: 2.0 * log_factorials[compared] / (1 + compared) as f64,
    };
    all.iter().map(rank).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{self, FitOptions, Shrinkage};
    use crate::random::Random;

    /// Two noisy images of hidden meanings, with spectra that fall off as those of word vectors do.
    pub fn two_views(rows: usize, dim: usize) -> [View; 2] {
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
        let pairs =
            for_held_out_pairs(&moments, (Method::Ibfa, usize::MAX), &views, &held_out, |_, pair| pair).unwrap();
        let pair = &pairs[0];
        let mean = |ranks: Vec<Rank>| ranks.iter().map(|rank| rank.log).sum::<f64>() / ranks.len() as f64;
        for by in [0.01, 0.2, 0.6] {
            let options = FitOptions::default().with_shrinkage(Shrinkage::By(by));
            let (model, _) = model::fit(&moments, &options, &()).unwrap();
            let latent = |view: usize| {
                let rows: Vec<usize> = pair.queries.iter().map(|pair| [pair.0, pair.1][view]).collect();
                model.views[view].project(&views[view].rows().select(&rows)).unwrap()
            };
            let (fitted, quick) = (mean(ranks_of(latent(0), latent(1), &pair.queries)), mean(pair.ranks(by)));
            assert!((fitted - quick).abs() < 1e-3 * fitted, "{by}: {fitted} by a fit, {quick} without one");
        }
    }
}
