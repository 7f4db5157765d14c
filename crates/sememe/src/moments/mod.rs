//! Counts, means and second moments of tuples, grouped by the views that they have: the sufficient statistics of a fit.
//!
//! Moments are small, can be shared where the vectors cannot, and can be merged. For two sets of rows with `n`, mean
//! `m` and scatter `T = Σ (x - m)(x - m)ᵀ`, Chan's formula gives `T = T₁ + T₂ + n₁n₂/(n₁+n₂) (m₁ - m₂)(m₁ - m₂)ᵀ`.

mod evidence;
mod file;
#[cfg(feature = "cuda")]
mod gpu;
mod hash_sum;
mod merge;
mod summary;

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::evidence::{Evidence, EvidenceOptions, Source, Sources};
pub use self::summary::{EvidenceSummary, TupleGroup};
use crate::error::{Error, Result};
use crate::lexicon::{Group, Tuples};
use crate::linalg::{Mat, outer_gram};
use crate::prepare::column_means;
use crate::vectors::{Matrix, View};

/// Rows summed by one thread at a time, and the number of such pieces that are summed in parallel. Fixed, so that
/// results do not depend on the number of threads.
const ROWS: usize = 2048;
const PIECES: usize = 8;

pub(crate) use self::file::{KIND, Metadata, VERSION};
#[cfg(feature = "parquet")]
pub(crate) use self::hash_sum::HashSum;

/// A view's name and dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The name.
    pub name: String,
    /// Length of its vectors.
    pub dim: usize,
    /// Dimensions without any variance that were left out: the rows are coordinates of their span.
    #[serde(skip)]
    pub(crate) outside: usize,
}

impl Shape {
    /// The name and dimension of a view.
    pub fn of(view: &View) -> Self {
        Shape { name: view.name().to_owned(), dim: view.dim(), outside: 0 }
    }
}

/// Moments of all tuples, grouped by the views that they have.
#[derive(Debug, Clone)]
pub struct Moments {
    views: Vec<Shape>,
    patterns: BTreeMap<Vec<usize>, PatternMoments>,
}

/// Moments of the tuples that have the same views, stacked in the order of the views.
#[derive(Debug, Clone)]
pub struct PatternMoments {
    /// Number of tuples, or the sum of their weights.
    pub n: f64,
    /// Their mean.
    pub mean: Vec<f64>,
    /// `Σ (x - mean)(x - mean)ᵀ`.
    pub scatter: Mat,
}

impl PatternMoments {
    /// Moments of rows stacked side by side: row `i` of `x` with row `i` of `y`, weighted by `weights[i]`.
    pub(crate) fn of_rows(x: &Matrix, y: &Matrix, weights: &[f64]) -> Self {
        let rows = u32::try_from(x.rows()).expect("a view has under 2³² rows");
        let indices: Vec<u32> = (0..rows).flat_map(|row| [row, row]).collect();
        let group = Group { indices, weights: weights.to_vec() };
        pattern_moments(&[(x, &column_means(x)), (y, &column_means(y))], &group)
    }

    /// The maximum-likelihood covariance, `scatter / n`.
    pub fn covariance(&self) -> Mat {
        let n = self.n;
        Mat::from_fn(self.scatter.nrows(), self.scatter.ncols(), |i, j| self.scatter[(i, j)] / n)
    }

    /// `Σ x xᵀ / n`, about zero instead of the mean.
    pub fn second_moment(&self) -> Mat {
        let (n, mean) = (self.n, &self.mean);
        Mat::from_fn(mean.len(), mean.len(), |i, j| self.scatter[(i, j)] / n + mean[i] * mean[j])
    }

    fn restricted(&self, kept: &[usize]) -> Self {
        PatternMoments {
            n: self.n,
            mean: kept.iter().map(|&i| self.mean[i]).collect(),
            scatter: Mat::from_fn(kept.len(), kept.len(), |i, j| self.scatter[(kept[i], kept[j])]),
        }
    }
}

impl Moments {
    /// Weighted sums over the tuples, in f64, with the same bits for any number of threads.
    ///
    /// ```
    /// use sememe::{lexicon::Tuples, moments::Moments, vectors::{Matrix, View}};
    ///
    /// let x = View::new("x", Matrix::new(vec![1.0, 3.0], 1));
    /// let y = View::new("y", Matrix::new(vec![2.0, 6.0], 1));
    /// let mut tuples = Tuples::new(2);
    /// tuples.add(&[Some(0), Some(0)]);
    /// tuples.add(&[Some(1), Some(1)]);
    /// let moments = Moments::of(&[x, y], &tuples)?;
    /// let both = &moments.patterns()[&vec![0, 1]];
    /// assert_eq!((both.n, both.mean[1], both.scatter[(0, 1)]), (2.0, 4.0, 4.0));
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn of(views: &[View], tuples: &Tuples) -> Result<Self> {
        check_rows(views, tuples)?;
        let shifts = pilot_means(views, tuples);
        let patterns = tuples.by_pattern().into_iter().map(|(pattern, group)| {
            let rows: Vec<&Matrix> = pattern.iter().map(|&view| views[view].rows()).collect();
            let in_memory = rows.iter().any(|rows| rows.spilled_to().is_some()).then(|| group.copied_rows(&rows));
            let (rows, group) = match &in_memory {
                Some((copies, group)) => (copies.iter().collect(), group),
                None => (rows, &group),
            };
            let shifted = rows.into_iter().zip(&pattern).map(|(rows, &view)| (rows, &shifts[view][..]));
            let moments = pattern_moments(&shifted.collect::<Vec<_>>(), group);
            (pattern, moments)
        });
        let patterns = patterns.collect();
        Ok(Moments { views: views.iter().map(Shape::of).collect(), patterns })
    }

    /// Moments of every row of every view, each a tuple of that view alone.
    pub(crate) fn of_every_row(views: &[View]) -> Self {
        let of_view = |(place, view): (usize, &View)| {
            let rows = u32::try_from(view.len()).expect("a view has under 2³² rows");
            let group = Group { indices: (0..rows).collect(), weights: vec![1.0; view.len()] };
            let moments = pattern_moments(&[(view.rows(), &column_means(view.rows()))], &group);
            view.rows().release();
            (vec![place], moments)
        };
        let patterns = views.iter().enumerate().filter(|(_, view)| !view.is_empty()).map(of_view).collect();
        Moments { views: views.iter().map(Shape::of).collect(), patterns }
    }

    /// Moments of other tuples of the same views.
    pub(crate) fn of_part(&self, views: &[View], tuples: &Tuples) -> Result<Self> {
        Ok(Moments { views: self.views.clone(), ..Moments::of(views, tuples)? })
    }

    /// The same moments of views from which so many dimensions without variance were left out.
    pub(crate) fn with_outside(mut self, outside: &[usize]) -> Self {
        self.views.iter_mut().zip(outside).for_each(|(view, &outside)| view.outside = outside);
        self
    }

    /// Moments of pairs of two of the views.
    pub(crate) fn of_pairs(views: &[Shape], pair: [usize; 2], pairs: PatternMoments) -> Self {
        Moments { views: views.to_vec(), patterns: BTreeMap::from([(pair.to_vec(), pairs)]) }
    }

    /// The views.
    pub fn views(&self) -> &[Shape] {
        &self.views
    }

    /// The moments of each group; the key lists the views that its tuples have.
    pub fn patterns(&self) -> &BTreeMap<Vec<usize>, PatternMoments> {
        &self.patterns
    }

    /// Number of tuples in total, or the sum of their weights.
    pub fn count(&self) -> f64 {
        self.patterns.values().map(|pattern| pattern.n).sum()
    }

    /// Moments of the tuples that have a single view.
    pub(crate) fn of_single_views(&self) -> Self {
        let alone = self.patterns.iter().filter(|(pattern, _)| pattern.len() == 1);
        let patterns = alone.map(|(pattern, moments)| (pattern.clone(), moments.clone())).collect();
        Moments { views: self.views.clone(), patterns }
    }

    /// Moments of all tuples that have at least the given views (increasing), restricted to them.
    pub fn marginal(&self, views: &[usize]) -> Option<PatternMoments> {
        let mut merged: Option<PatternMoments> = None;
        for (pattern, moments) in &self.patterns {
            let Some(places) =
                views.iter().map(|view| pattern.iter().position(|p| p == view)).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let spans = spans(&self.views, pattern);
            let kept: Vec<usize> =
                places.iter().flat_map(|&place| spans[place].0..spans[place].0 + spans[place].1).collect();
            let restricted = moments.restricted(&kept);
            match &mut merged {
                Some(merged) => merged.merge(&restricted),
                None => merged = Some(restricted),
            }
        }
        merged
    }
}

/// The mean row of the first tuples that have a view, for each view. Subtracting it first avoids cancellation.
fn pilot_means(views: &[View], tuples: &Tuples) -> Vec<Vec<f64>> {
    let mut first: Vec<Vec<usize>> = vec![Vec::new(); views.len()];
    for (view, row) in tuples.cells().flat_map(|cells| cells.iter()) {
        if first[view].len() < ROWS {
            first[view].push(row);
        }
    }
    views.iter().zip(first).map(|(view, rows)| column_means(&view.rows().select(&rows))).collect()
}

/// Checks that tuples refer to existing views and rows.
fn check_rows(views: &[View], tuples: &Tuples) -> Result<()> {
    if tuples.views() != views.len() {
        let expected = format!("there are {} views", views.len());
        return Err(Error::argument("number of views of the tuples", tuples.views(), expected));
    }
    let is_beyond = |&(view, row): &(usize, usize)| row >= views[view].len();
    match tuples.cells().find_map(|cells| cells.iter().find(is_beyond)) {
        None => Ok(()),
        Some((view, row)) => {
            let expected = format!("view {:?} has {} rows, counted from 0", views[view].name(), views[view].len());
            Err(Error::argument("row of a tuple", row, expected))
        }
    }
}

/// Moments of the tuples of a group.
fn pattern_moments(views: &[(&Matrix, &[f64])], group: &Group) -> PatternMoments {
    #[cfg(feature = "cuda")]
    if let Some(sums) = gpu::sums(views, group) {
        return moments_of_sums(views, group, sums);
    }
    moments_of_sums(views, group, sums_on_cpu(views, group))
}

/// Moments from `Σ w x` and `Σ w x xᵀ`, where `x` are rows less the shift of their view.
fn moments_of_sums(views: &[(&Matrix, &[f64])], group: &Group, (sum, products): (Vec<f64>, Mat)) -> PatternMoments {
    let n: f64 = group.weights.iter().sum();
    let shift = views.iter().flat_map(|(_, shift)| shift.iter());
    let mean = shift.zip(&sum).map(|(shift, sum)| shift + sum / n).collect();
    let scatter = Mat::from_fn(sum.len(), sum.len(), |i, j| products[(i, j)] - sum[i] * sum[j] / n);
    PatternMoments { n, mean, scatter }
}

fn sums_on_cpu(views: &[(&Matrix, &[f64])], group: &Group) -> (Vec<f64>, Mat) {
    let dim: usize = views.iter().map(|(matrix, _)| matrix.cols()).sum();
    let mut sum = vec![0.0; dim];
    let mut scatter = Mat::zeros(dim, dim);
    let pieces: Vec<(&[u32], &[f64])> =
        group.indices.chunks(ROWS * views.len()).zip(group.weights.chunks(ROWS)).collect();
    for wave in pieces.chunks(PIECES) {
        let parts: Vec<(Vec<f64>, Mat)> = wave.par_iter().map(|&piece| piece_sums(views, piece, dim)).collect();
        for (part_sum, part_scatter) in parts {
            sum.iter_mut().zip(part_sum).for_each(|(sum, part)| *sum += part);
            scatter += part_scatter;
        }
    }
    (sum, scatter)
}

/// `Σ w x` and `Σ w x xᵀ`, from rows `w^½ x`.
fn piece_sums(views: &[(&Matrix, &[f64])], (piece, weights): (&[u32], &[f64]), dim: usize) -> (Vec<f64>, Mat) {
    let mut sum = vec![0.0; dim];
    let mut rows = Mat::zeros(dim, weights.len());
    for (col, (tuple, weight)) in piece.chunks_exact(views.len()).zip(weights).enumerate() {
        let root = weight.sqrt();
        let mut rest = rows.col_as_slice_mut(col);
        for (&index, (matrix, shift)) in tuple.iter().zip(views) {
            let (part, others) = rest.split_at_mut(shift.len());
            let vector = matrix.row(index as usize).iter().zip(*shift);
            part.iter_mut().zip(vector).for_each(|(value, (&x, shift))| *value = root * (f64::from(x) - shift));
            rest = others;
        }
        sum.iter_mut().zip(rows.col_as_slice(col)).for_each(|(sum, value)| *sum += root * value);
    }
    (sum, outer_gram(&rows))
}

/// Offset and length of each view of a pattern in its stacked moments.
pub(crate) fn spans(views: &[Shape], pattern: &[usize]) -> Vec<(usize, usize)> {
    let mut start = 0;
    let span = |&view: &usize| {
        let span = (start, views[view].dim);
        start += views[view].dim;
        span
    };
    pattern.iter().map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn sample(name: &str, rows: usize, dim: usize, seed: u64) -> View {
        let mut random = Random::new(seed);
        View::new(name, Matrix::new((0..rows * dim).map(|_| 2.0 + 2.0 * random.uniform() as f32).collect(), dim))
    }

    fn tuples(range: std::ops::Range<usize>) -> Tuples {
        let mut tuples = Tuples::new(2);
        for i in range {
            tuples.add(&[Some(i), if i % 5 == 0 { None } else { Some((i * 7) % 4000) }]);
        }
        tuples
    }

    #[test]
    fn same_bits_for_any_number_of_threads() {
        let views = [sample("x", 4000, 5, 1), sample("y", 4000, 3, 2)];
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Moments::of(&views, &tuples(0..4000)).unwrap())
        };
        let (one, four) = (on(1), on(4));
        for (pattern, moments) in one.patterns() {
            assert_eq!(moments.mean, four.patterns()[pattern].mean);
            assert_eq!(moments.scatter, four.patterns()[pattern].scatter);
        }
    }

    #[test]
    fn merged_parts_equal_the_whole_and_survive_a_file() {
        let views = [sample("x", 4000, 5, 1), sample("y", 4000, 3, 2)];
        let of = |range| Moments::of(&views, &tuples(range)).unwrap();
        let (whole, mut merged) = (of(0..4000), of(0..1300));
        merged.merge(&of(1300..4000)).unwrap();

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.safetensors");
        merged.write(&path).unwrap();
        let read = Moments::read(&path).unwrap();
        for (pattern, expected) in whole.patterns() {
            let found = &read.patterns()[pattern];
            assert_eq!(found.n, expected.n);
            assert!((&found.scatter - &expected.scatter).norm_max() < 1e-9);
            assert_eq!(found.scatter, merged.patterns()[pattern].scatter);
        }
    }

    #[test]
    fn other_views_do_not_merge() {
        let of = |dim: usize| Moments::of(&[sample("x", 50, dim, 1), sample("y", 50, 3, 2)], &tuples(0..7)).unwrap();
        assert!(of(5).merge(&of(3)).is_err());
    }

    #[test]
    fn tuples_that_say_nothing_or_name_no_row_do_no_harm() {
        let views = [sample("x", 50, 5, 1), sample("y", 50, 3, 2)];
        let mut tuples = Tuples::new(2);
        assert!(!tuples.add(&[None, None]));
        for weight in [f64::NAN, f64::INFINITY, -0.5] {
            assert!(tuples.add_weighted(&[Some(1), Some(2)], weight).is_err(), "{weight}");
        }
        assert!(tuples.add_weighted(&[Some(1), None], 0.0).unwrap());
        assert!(Moments::of(&views, &tuples).unwrap().patterns().is_empty());
        tuples.add(&[Some(1), Some(50)]);
        let error = Moments::of(&views, &tuples).unwrap_err().to_string();
        assert!(error.contains("50") && error.contains("\"y\""), "{error}");
        assert!(Moments::of(&views[..1], &tuples).is_err());
    }

    #[test]
    fn weights_count_as_so_many_tuples() {
        let views = [sample("x", 50, 5, 1), sample("y", 50, 3, 2)];
        let mut weighted = Tuples::new(2);
        (0..20).for_each(|i| assert!(weighted.add_weighted(&[Some(i), Some(i)], 1.0 + (i % 2) as f64).unwrap()));
        let mut all = Moments::of(&views, &weighted).unwrap();
        let [once, twice] = [0, 1].map(|odd| {
            let mut tuples = Tuples::new(2);
            (0..20).filter(|i| i % 2 == odd).for_each(|i| assert!(tuples.add(&[Some(i), Some(i)])));
            Moments::of(&views, &tuples).unwrap()
        });
        let mut expected = once;
        expected.merge(&twice.weighted(2.0)).unwrap();
        let (all, expected) = (all.patterns.remove(&vec![0, 1]).unwrap(), &expected.patterns()[&vec![0, 1]]);
        assert!((all.n - expected.n).abs() < 1e-12 && (&all.scatter - &expected.scatter).norm_max() < 1e-9);
    }
}
