//! Calibration of confidences: the temperature at which they are honest probabilities.
//!
//! A model is fitted to one half of the tuples, and held-out words of the other half are queries among many candidates.
//! The first candidate has the confidence `p = exp(cos/T) / Σ exp(cos/T)`. The temperature `T` maximises the likelihood
//! of right and wrong first candidates, `Σ log p` over the right ones plus `Σ log (1 - p)` over the wrong ones.
//! Maximising the likelihood of the right words instead would not calibrate the first candidate: where several words
//! are right, it shares one probability among them and doubts each.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Temperature;
use super::held_out::short_fit;
use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::product_of_rows;
use crate::model::{self, FitOptions, LatentSize, Model};
use crate::moments::Moments;
use crate::prepare::scale_to_unit;
use crate::vectors::{Matrix, View};

/// Candidates of a query: the most frequent words, and all words of tuples. More make little difference.
const CANDIDATES: usize = 20_000;
/// Maximum and minimum number of queries between two views.
const MAX_QUERIES: usize = 400;
const MIN_QUERIES: usize = 20;
/// Queries that one thread handles at a time.
const QUERIES_AT_A_TIME: usize = 32;

/// The data of a calibration.
pub(super) struct Calibration<'a> {
    /// The prepared views.
    pub(super) views: &'a [View],
    /// The tuples that the model for calibration is fitted to.
    pub(super) seen: &'a Tuples,
    /// Given entries that were held out of everything that led to `seen`.
    pub(super) held_out: &'a Tuples,
    /// All given entries: each of their translations counts as right.
    pub(super) given: &'a Tuples,
    /// Moments of monolingual rows, which are added to the fit.
    pub(super) monolingual: &'a Moments,
}

/// The temperatures of all pairs of views with enough held-out entries.
pub(super) fn temperatures(model: &Model, data: &Calibration, options: &FitOptions) -> Result<Vec<Temperature>> {
    let Calibration { views, seen, held_out, given, monolingual } = *data;
    let enough = |from: usize, to: usize| held_out.pairs_of(from, to).len() >= MIN_QUERIES;
    let mut pairs = ordered_pairs(views.len()).filter(|&(from, to)| enough(from, to)).peekable();
    if pairs.peek().is_none() {
        return Ok(Vec::new());
    }
    let options = FitOptions { latent: LatentSize::Of(model.latent()), ..short_fit(options) };
    let mut moments = Moments::of(views, seen)?;
    moments.merge(monolingual)?;
    // A half may be too small to fit a model; then nothing is calibrated.
    let Ok((fitted, _)) = model::fit(&moments, &options, &()) else { return Ok(Vec::new()) };
    let candidates = |view: usize| Candidates::of(&fitted, view, &views[view], given);
    let candidates = (0..views.len()).map(candidates).collect::<Result<Vec<_>>>()?;
    let name = |view: usize| model.views[view].name.clone();
    let temperature = |(from, to)| {
        let queries = held_out_queries(&candidates, seen, given, (from, to));
        let temperature = (queries.len() >= MIN_QUERIES).then(|| most_likely(&queries))?;
        Some(Temperature { from: name(from), to: name(to), temperature })
    };
    Ok(pairs.filter_map(temperature).collect())
}

fn ordered_pairs(views: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..views).flat_map(move |from| (0..views).filter(move |&to| to != from).map(move |to| (from, to)))
}

/// Candidate words of a view and their unit vectors in the latent space.
struct Candidates {
    rows: Vec<usize>,
    latent: Matrix,
}

impl Candidates {
    fn of(model: &Model, place: usize, view: &View, tuples: &Tuples) -> Result<Self> {
        let of_tuples = tuples.iter().filter_map(|tuple| tuple[place]);
        let rows: BTreeSet<usize> = (0..view.len().min(CANDIDATES)).chain(of_tuples).collect();
        let rows: Vec<usize> = rows.into_iter().collect();
        let mut latent = model.views[place].project(&view.rows().select(&rows))?;
        scale_to_unit(&mut latent);
        Ok(Candidates { rows, latent })
    }

    fn place(&self, row: usize) -> usize {
        self.rows.binary_search(&row).expect("all words of tuples are candidates")
    }
}

/// The result of a held-out query: whether the first candidate is right, and how far behind the others are.
struct HeldOutQuery {
    is_right: bool,
    /// Histogram of the differences of cosine to the first candidate, in bins of [`STEP`].
    behind: Vec<u32>,
}

/// Width of a histogram bin; small compared with any temperature.
const STEP: f32 = 1.0 / 1024.0;
/// Number of bins: cosines differ by at most 2.
const STEPS: usize = 2 * 1024 + 1;

/// Queries words that are in no tuple of `seen`. Every translation in `all` is right.
fn held_out_queries(
    candidates: &[Candidates],
    seen: &Tuples,
    all: &Tuples,
    (from, to): (usize, usize),
) -> Vec<HeldOutQuery> {
    let known: BTreeSet<usize> = seen.iter().filter_map(|tuple| tuple[from]).collect();
    let mut right: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (word, translation) in all.pairs_of(from, to) {
        if !known.contains(&word) {
            right.entry(word).or_default().push(candidates[to].place(translation));
        }
    }
    let spacing = right.len().div_ceil(MAX_QUERIES).max(1);
    let queries: Vec<(usize, &Vec<usize>)> =
        right.iter().step_by(spacing).map(|(&word, right)| (word, right)).collect();
    let (sources, targets) = (&candidates[from], &candidates[to].latent);
    let look = |queries: &[(usize, &Vec<usize>)]| {
        let places: Vec<usize> = queries.iter().map(|(word, _)| sources.place(*word)).collect();
        let rows = sources.latent.select(&places);
        let mut cosines = vec![0.0; queries.len() * targets.rows()];
        product_of_rows(rows.as_slice(), targets.as_slice(), targets.cols(), &mut cosines);
        let of_query = |((_, right), cosines): (&(usize, &Vec<usize>), &[f32])| HeldOutQuery::of(cosines, right);
        queries.iter().zip(cosines.chunks_exact(targets.rows())).map(of_query).collect::<Vec<_>>()
    };
    queries.par_chunks(QUERIES_AT_A_TIME).flat_map_iter(look).collect()
}

impl HeldOutQuery {
    fn of(cosines: &[f32], right: &[usize]) -> Self {
        // The first of equal candidates wins, as in retrieval.
        let is_better = |best: usize, other: usize| cosines[other] > cosines[best];
        let first = (0..cosines.len()).reduce(|best, other| if is_better(best, other) { other } else { best });
        let first = first.expect("the right words are candidates");
        let mut behind = vec![0; STEPS];
        for (place, cosine) in cosines.iter().enumerate() {
            if place != first {
                behind[(((cosines[first] - cosine) / STEP) as usize).min(STEPS - 1)] += 1;
            }
        }
        HeldOutQuery { is_right: right.contains(&first), behind }
    }
}

const MIN_TEMPERATURE: f64 = 0.005;
const MAX_TEMPERATURE: f64 = 1.0;
const GRID: usize = 32;
const REFINEMENTS: usize = 24;

/// The maximum-likelihood temperature.
fn most_likely(queries: &[HeldOutQuery]) -> f64 {
    let rights = queries.iter().filter(|queries| queries.is_right).count();
    // As in Platt scaling, one more query of each kind is imagined: a sample without errors does not prove certainty.
    let (sure, unsure) = ((rights + 1) as f64 / (rights + 2) as f64, 1.0 / (queries.len() - rights + 2) as f64);
    let log_likelihood = |log_temperature: f64| -> f64 {
        let temperature = log_temperature.exp();
        let weights: Vec<f64> =
            (0..STEPS).map(|step| (-(step as f64 + 0.5) * f64::from(STEP) / temperature).exp()).collect();
        let of_word = |queries: &HeldOutQuery| {
            let others: f64 =
                queries.behind.iter().zip(&weights).map(|(&count, weight)| f64::from(count) * weight).sum();
            let (log_p, log_not_p) = (-others.ln_1p(), others.max(f64::MIN_POSITIVE).ln() - others.ln_1p());
            let p = if queries.is_right { sure } else { unsure };
            p * log_p + (1.0 - p) * log_not_p
        };
        queries.iter().map(of_word).sum()
    };
    maximum(log_likelihood, (MIN_TEMPERATURE.ln(), MAX_TEMPERATURE.ln())).exp()
}

/// Maximises a function of one variable: the best point of a grid, refined by golden-section search.
fn maximum(function: impl Fn(f64) -> f64, (low, high): (f64, f64)) -> f64 {
    let at = |step: usize| low + (high - low) * step as f64 / GRID as f64;
    let values: Vec<f64> = (0..=GRID).map(|step| function(at(step))).collect();
    let best = (0..=GRID).fold(0, |best, step| if values[step] > values[best] { step } else { best });
    let (mut a, mut b) = (at(best.saturating_sub(1)), at((best + 1).min(GRID)));
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..REFINEMENTS {
        let (left, right) = (b - golden * (b - a), a + golden * (b - a));
        if function(left) >= function(right) { b = right } else { a = left }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_maximum_inside_and_at_the_ends() {
        for top in [-2.0, -0.3, 1.234, 5.0] {
            assert!((maximum(|x| -(x - top).powi(2), (-2.0, 5.0)) - top).abs() < 1e-4, "{top}");
        }
    }

    #[test]
    fn temperatures_grow_with_the_share_of_wrong_words() {
        let queries = |is_right| HeldOutQuery::of(&[0.1, 0.6, 0.5, 0.2], if is_right { &[1] } else { &[2] });
        let of = |rights: usize| most_likely(&(0..100).map(|i| queries(i < rights)).collect::<Vec<_>>());
        let temperatures = [95, 80, 60, 40].map(of);
        assert!(temperatures.is_sorted(), "{temperatures:?}");
        // With p = 0.8, the other candidates weigh a quarter of the first.
        let p = |temperature: f64| {
            1.0 / [0.0, 0.1, 0.4, 0.5].map(|behind: f64| (-behind / temperature).exp()).iter().sum::<f64>()
        };
        assert!((p(of(80)) - 0.8).abs() < 0.02, "{}", p(of(80)));
        // All are right, but the confidence stays below 1.
        assert!(of(100) > MIN_TEMPERATURE * 1.5 && p(of(100)) < 0.9999);
    }
}
