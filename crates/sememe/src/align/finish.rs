//! Training of the discriminative finish.
//!
//! A generative fit explains vectors; it is used to find translations. The finish starts from the coordinates in which
//! two views are compared, with one map for each view, at first the identity. Gradient steps raise the probability of
//! each training pair in a softmax of cosines over the pair and its hardest negatives, in both directions. Other known
//! translations of a word are no negatives. Few steps are taken, which keeps the maps near the generative ones.
//!
//! Measured by cross-validation on XLING's and MUSE's dictionaries: a temperature of the softmax, a margin, a linear
//! loss, negatives by CSLS or searched again after each step, momentum, mini-batches and weight decay find as many
//! translations or fewer.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::row_products::{add, add_outer_products, map_of, row_major, rows_for_all_threads};
use crate::error::Result;
use crate::linalg::{Mat, times};
use crate::model::{Finish, Model};
use crate::observe::{Meter, Observer};
use crate::prepare::scale_to_unit;
use crate::retrieve::kernel::dot;
use crate::retrieve::{Criterion, PairCoordinates, Retriever};
use crate::vectors::Matrix;

/// Hardest negatives of a word.
const NEGATIVES: usize = 10;
/// Words whose negatives are searched at a time.
const QUERIES_AT_A_TIME: usize = 4096;
/// The length of the first step of a map, relative to the length of the identity, and the factor of each next one. The
/// length of the gradient depends on the dimension; steps that followed it would be too long in few dimensions.
const FIRST_STEP: f64 = 0.025;
const DECAY: f64 = 0.96;

/// A training pair: the rows of both words and its weight.
pub(super) struct TrainingPair {
    pub(super) rows: [usize; 2],
    pub(super) weight: f64,
}

/// The training pairs of two views with their negatives.
pub(super) struct Finisher {
    views: [usize; 2],
    /// Maps from latent vectors to the coordinates that the finish starts from.
    start: Option<PairCoordinates>,
    /// The exponent of these, where it was chosen.
    exponent: Option<f64>,
    /// The words of both views that take part, as unit vectors.
    pub(super) words: [Matrix; 2],
    /// Distinct pairs of words that are compared, ascending.
    pub(super) compared: Vec<[usize; 2]>,
    /// The comparisons of each word of the second view.
    of_second: Vec<Vec<usize>>,
    softmaxes: Vec<Softmax>,
}

/// A training pair and the negatives of one of its words, as indices of comparisons.
struct Softmax {
    right: usize,
    wrong: Vec<usize>,
    weight: f64,
}

/// The map of each view, row-major.
pub(super) type Maps = [Vec<f32>; 2];

impl Finisher {
    /// Searches the negatives. `latent` are the latent vectors of the candidates of both views, the pairs are over
    /// their rows. `None` if no pair has a direction in both views.
    pub(super) fn new(
        model: &Model,
        views: [usize; 2],
        latent: [Matrix; 2],
        pairs: &[TrainingPair],
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let start = PairCoordinates::of(model, views[0], views[1])?;
        let exponent = model.finish(views).and_then(|finish| finish.exponent);
        let mut words = match &start {
            Some(pair) => {
                // The latent vectors of one view are freed before the other view is mapped.
                let mapped = |latent: Matrix, map: fn(&PairCoordinates, &Matrix) -> Matrix| map(pair, &latent);
                let [first, second] = latent;
                [mapped(first, PairCoordinates::of_queries), mapped(second, PairCoordinates::of_targets)]
            }
            None => latent,
        };
        words.iter_mut().for_each(scale_to_unit);
        let has_direction = |side: usize, row: usize| words[side].row(row).iter().any(|&x| x != 0.0);
        let pairs: Vec<&TrainingPair> = (pairs.iter())
            .filter(|pair| pair.weight > 0.0 && (0..2).all(|side| has_direction(side, pair.rows[side])))
            .collect();
        if pairs.is_empty() {
            return Ok(None);
        }
        let negatives = [negatives(&words, &pairs, 0, observer)?, negatives(&words, &pairs, 1, observer)?];

        let total: f64 = pairs.iter().map(|pair| pair.weight).sum();
        let of_pair = |rows: [usize; 2], side: usize| {
            let negatives = negatives[side].of(rows[side]).iter();
            negatives.map(move |&other| if side == 0 { [rows[0], other] } else { [other, rows[1]] })
        };
        let all = pairs.iter().flat_map(|pair| of_pair(pair.rows, 0).chain(of_pair(pair.rows, 1)).chain([pair.rows]));
        let compared: BTreeSet<[usize; 2]> = all.collect();
        let compared: Vec<[usize; 2]> = compared.into_iter().collect();
        let place = |rows: [usize; 2]| compared.binary_search(&rows).expect("all comparisons are listed");
        let softmax = |(pair, side): (&&TrainingPair, usize)| Softmax {
            right: place(pair.rows),
            wrong: of_pair(pair.rows, side).map(place).collect(),
            weight: pair.weight / total,
        };
        let softmaxes = pairs.iter().flat_map(|pair| [(pair, 0), (pair, 1)]).map(softmax).collect();

        // Only words that are compared take part.
        let used = [0, 1].map(|side| compared.iter().map(|rows| rows[side]).collect::<BTreeSet<_>>());
        let used = used.map(|rows| rows.into_iter().collect::<Vec<_>>());
        let index = |side: usize, row: usize| used[side].binary_search(&row).expect("all compared words are listed");
        let compared: Vec<[usize; 2]> =
            compared.iter().map(|rows| [0, 1].map(|side| index(side, rows[side]))).collect();
        let mut of_second = vec![Vec::new(); used[1].len()];
        compared.iter().enumerate().for_each(|(comparison, rows)| of_second[rows[1]].push(comparison));
        words.iter_mut().zip(&used).for_each(|(words, used)| words.keep(used));
        Ok(Some(Finisher { views, start, exponent, words, compared, of_second, softmaxes }))
    }

    /// The finishes after these numbers of steps, ascending. If the observer stops the work, the last one has the steps
    /// so far.
    pub(super) fn train(&self, numbers: &[usize], meter: &Meter) -> Vec<Finish> {
        let dim = self.words[0].cols();
        let mut maps = [0, 1].map(|_| row_major(&Mat::identity(dim, dim)));
        let mut finishes = Vec::new();
        let last = numbers.last().copied().unwrap_or(0);
        #[cfg(feature = "cuda")]
        let mut on_gpu = super::finish_gpu::OnGpu::of(self, last);
        for step in 0..=last {
            if numbers.contains(&step) {
                finishes.push(self.finish(&maps, step));
            }
            if step == last {
                break;
            }
            if meter.check().is_err() {
                finishes.push(self.finish(&maps, step));
                break;
            }
            let length = FIRST_STEP * DECAY.powi(step as i32) * (dim as f64).sqrt();
            #[cfg(feature = "cuda")]
            let gradients = on_gpu.gradients(self, &maps).unwrap_or_else(|| self.gradients(&maps));
            #[cfg(not(feature = "cuda"))]
            let gradients = self.gradients(&maps);
            for (map, gradient) in maps.iter_mut().zip(&gradients) {
                let norm = dot(gradient, gradient).sqrt();
                if norm > 0.0 {
                    add(map, -(length / norm) as f32, gradient);
                }
            }
        }
        finishes
    }

    fn finish(&self, maps: &Maps, steps: usize) -> Finish {
        let dim = self.words[0].cols();
        let maps = [0, 1].map(|side| {
            let map = map_of(&maps[side], dim);
            Arc::new(match &self.start {
                Some(pair) => times(&map, pair.maps()[side]),
                None => map,
            })
        });
        Finish { views: self.views, maps, steps, exponent: self.exponent, spelling: 0.0 }
    }

    /// The gradient of the mean loss for both maps.
    fn gradients(&self, maps: &Maps) -> Maps {
        let images = [0, 1].map(|side| Images::of(&self.words[side], &maps[side]));
        let cosine = |rows: &[usize; 2]| dot(images[0].unit.row(rows[0]), images[1].unit.row(rows[1]));
        let slopes = self.slopes(&self.compared.par_iter().map(cosine).collect::<Vec<f64>>());
        let of_first = |word: usize| {
            let start = self.compared.partition_point(|rows| rows[0] < word);
            let end = self.compared.partition_point(|rows| rows[0] <= word);
            start..end
        };
        let first = images[0].gradient(&self.words[0], |word, sum| {
            of_first(word).for_each(|at| add(sum, slopes[at], images[1].unit.row(self.compared[at][1])));
        });
        let second = images[1].gradient(&self.words[1], |word, sum| {
            self.of_second[word].iter().for_each(|&at| add(sum, slopes[at], images[0].unit.row(self.compared[at][0])));
        });
        [first, second]
    }
}

impl Finisher {
    /// The slope of the mean loss for the cosine of each comparison.
    pub(super) fn slopes(&self, cosines: &[f64]) -> Vec<f32> {
        // Cosines are at most 1, so that nothing overflows.
        let exponentials: Vec<f64> = cosines.par_iter().map(|cosine| cosine.exp()).collect();
        let mut slopes = vec![0.0_f64; cosines.len()];
        for Softmax { right, wrong, weight } in &self.softmaxes {
            let all = || wrong.iter().chain([right]);
            let sum: f64 = all().map(|&comparison| exponentials[comparison]).sum();
            all().for_each(|&comparison| slopes[comparison] += weight * exponentials[comparison] / sum);
            slopes[*right] -= weight;
        }
        slopes.into_iter().map(|slope| slope as f32).collect()
    }
}

/// The hardest negatives of the words of one side.
struct Negatives {
    words: Vec<usize>,
    negatives: Vec<Vec<usize>>,
}

impl Negatives {
    fn of(&self, word: usize) -> &[usize] {
        &self.negatives[self.words.binary_search(&word).expect("all words of pairs have negatives")]
    }
}

/// The nearest words of the other side that are no known translations.
fn negatives(words: &[Matrix; 2], pairs: &[&TrainingPair], side: usize, observer: &dyn Observer) -> Result<Negatives> {
    let mut known: Vec<[usize; 2]> = pairs.iter().map(|pair| [pair.rows[side], pair.rows[1 - side]]).collect();
    known.sort_unstable();
    known.dedup();
    let groups: Vec<&[[usize; 2]]> = known.chunk_by(|a, b| a[0] == b[0]).collect();
    let most = groups.iter().map(|group| group.len()).max().unwrap_or(0);
    let queries: Vec<usize> = groups.iter().map(|group| group[0][0]).collect();
    let retriever = Retriever::new(words[side].clone(), words[1 - side].clone(), Criterion::Nn, observer)?;
    let mut hits = Vec::with_capacity(queries.len());
    for some in queries.chunks(QUERIES_AT_A_TIME) {
        hits.extend(retriever.rank(&words[side].select(some), NEGATIVES + most, observer)?);
    }
    let is_known = |group: &[[usize; 2]], row: usize| group.iter().any(|pair| pair[1] == row);
    let of_group = |(group, hits): (&&[[usize; 2]], Vec<crate::retrieve::Hit>)| {
        let wrong = hits.into_iter().map(|hit| hit.index).filter(|&row| !is_known(group, row));
        wrong.take(NEGATIVES).collect()
    };
    let negatives = groups.iter().zip(hits).map(of_group).collect();
    Ok(Negatives { words: queries, negatives })
}

/// Words after a map: their lengths, and the unit vectors.
struct Images {
    unit: Matrix,
    lengths: Vec<f32>,
}

impl Images {
    fn of(words: &Matrix, map: &[f32]) -> Self {
        let mut unit = words.mapped(map);
        let dim = words.cols();
        let scale = |row: &mut [f32]| {
            let length = (dot(row, row).sqrt() as f32).max(f32::MIN_POSITIVE);
            row.iter_mut().for_each(|x| *x /= length);
            length
        };
        let lengths = unit.as_mut_slice().par_chunks_exact_mut(dim).map(scale).collect();
        Images { unit, lengths }
    }

    /// The gradient for the map, where `add_slopes` adds the gradient for the unit vector of a word.
    fn gradient(&self, words: &Matrix, add_slopes: impl Fn(usize, &mut [f32]) + Sync) -> Vec<f32> {
        let dim = words.cols();
        let mut gradient = vec![0.0; dim * dim];
        let some = rows_for_all_threads();
        for (first, rows) in (0..).step_by(some).zip(words.as_slice().chunks(some * dim)) {
            let mut slopes = vec![0.0; rows.len()];
            slopes.par_chunks_exact_mut(dim).zip(first..first + some).for_each(|(slope, word)| {
                add_slopes(word, slope);
                // A unit vector only turns: its gradient has no part along it.
                let (unit, length) = (self.unit.row(word), self.lengths[word]);
                let along = dot(unit, slope) as f32;
                slope.iter_mut().zip(unit).for_each(|(slope, x)| *slope = (*slope - along * x) / length);
            });
            add_outer_products(&mut gradient, &slopes, rows, (dim, dim));
        }
        gradient
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Method, ViewModel};
    use crate::observe::Stage;
    use crate::random::Random;

    const WORDS: usize = 40;
    const DIM: usize = 5;

    /// Two views of Procrustes, whose latent vectors are compared as they are.
    fn model() -> Model {
        let view = |name: &str| ViewModel {
            name: name.to_owned(),
            mu: vec![0.0; DIM],
            projection: Mat::identity(DIM, DIM),
            emission: None,
        };
        Model {
            method: Method::Svd,
            views: vec![view("x"), view("y")],
            tuples: WORDS as f64,
            log_likelihood: None,
            rho: Vec::new(),
            shrinkage: vec![0.0; 2],
            trace: None,
            finishes: Vec::new(),
            spelling: None,
        }
    }

    fn finisher(random: &mut Random) -> Finisher {
        let rows = [0, 1].map(|_| (0..WORDS * DIM).map(|_| random.normal() as f32).collect());
        let [x, y] = rows.map(|values| Matrix::new(values, DIM));
        let pair = |word: usize| TrainingPair { rows: [word, word], weight: 1.0 + (word % 3) as f64 };
        let mut pairs: Vec<TrainingPair> = (0..15).map(pair).collect();
        pairs.push(TrainingPair { rows: [0, 20], weight: 1.0 });
        Finisher::new(&model(), [0, 1], [x, y], &pairs, &()).unwrap().unwrap()
    }

    /// The mean loss, by its definition.
    fn loss(finisher: &Finisher, maps: &Maps) -> f64 {
        let image = |side: usize, word: usize| -> Vec<f64> {
            let row = finisher.words[side].row(word);
            let entry = |i: usize| (0..DIM).map(|j| f64::from(maps[side][i * DIM + j]) * f64::from(row[j])).sum();
            (0..DIM).map(entry).collect()
        };
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let cosine = |comparison: usize| {
            let [a, b] = finisher.compared[comparison];
            let (a, b) = (image(0, a), image(1, b));
            inner(&a, &b) / (inner(&a, &a) * inner(&b, &b)).sqrt()
        };
        let of_softmax = |softmax: &Softmax| {
            let all = softmax.wrong.iter().chain([&softmax.right]);
            softmax.weight * (all.map(|&at| cosine(at).exp()).sum::<f64>().ln() - cosine(softmax.right))
        };
        finisher.softmaxes.iter().map(of_softmax).sum()
    }

    #[test]
    fn gradients_are_those_of_the_loss() {
        let mut random = Random::new(3);
        let finisher = finisher(&mut random);
        let mut map = || (0..DIM * DIM).map(|_| random.normal() as f32).collect::<Vec<f32>>();
        let maps = [map(), map()];
        let gradients = finisher.gradients(&maps);
        for side in 0..2 {
            for at in 0..DIM * DIM {
                let moved = |by: f32| {
                    let mut maps = maps.clone();
                    maps[side][at] += by;
                    loss(&finisher, &maps)
                };
                let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                let gradient = f64::from(gradients[side][at]);
                assert!((slope - gradient).abs() < 1e-4, "side {side}, entry {at}: {slope} and {gradient}");
            }
        }
    }

    #[test]
    fn other_known_translations_are_no_negatives() {
        let finisher = finisher(&mut Random::new(5));
        let right: Vec<usize> = finisher.softmaxes.iter().map(|softmax| softmax.right).collect();
        for softmax in &finisher.softmaxes {
            assert!(softmax.wrong.iter().all(|comparison| !right.contains(comparison)));
            assert_eq!(softmax.wrong.len(), NEGATIVES);
        }
    }

    #[test]
    fn steps_lower_the_loss_and_the_first_number_may_be_none() {
        let finisher = finisher(&mut Random::new(7));
        let finishes = finisher.train(&[0, 3, 6], &Meter::new(&(), Stage::Finishing, 1));
        let steps: Vec<usize> = finishes.iter().map(|finish| finish.steps).collect();
        assert_eq!(steps, [0, 3, 6]);
        assert_eq!(*finishes[0].maps[0], Mat::identity(DIM, DIM));
        let loss_of = |finish: &Finish| loss(&finisher, &[0, 1].map(|side| row_major(&finish.maps[side])));
        let losses: Vec<f64> = finishes.iter().map(loss_of).collect();
        assert!(losses.is_sorted_by(|before, after| before > after), "{losses:?}");
    }

    #[test]
    fn training_that_is_stopped_keeps_the_steps_so_far() {
        let finisher = finisher(&mut Random::new(9));
        let stop = |_: crate::observe::Event| std::ops::ControlFlow::Break(());
        let finishes = finisher.train(&[4], &Meter::new(&stop, Stage::Finishing, 1));
        assert_eq!(finishes.iter().map(|finish| finish.steps).collect::<Vec<_>>(), [0]);
    }
}
