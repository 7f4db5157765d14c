//! The lexicon of the last fit: each other's best words among many more than rounds look at, and how sure they are.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::rounds::{Learner, Pairs, pairs_of_views};
use super::words::{Words, project};
use crate::align::sum_of_log_ranks;
use crate::error::Result;
use crate::model::Model;
use crate::normalize::scale_to_unit;
use crate::retrieve::{Criterion, Hit, Pair, Retriever, nearest};
use crate::vectors::Matrix;

/// Candidates among which a word's translation is looked for, and the temperature of their probabilities.
const CANDIDATES: usize = 10;
const TEMPERATURE: f64 = 0.05;
/// What a word's translation into a third view counts beside the word itself.
const HEARSAY: f32 = 0.3;
/// Given pairs that can tell whether learning did any good, and how many of them are asked.
const FEWEST: usize = 20;
const QUERIES: usize = 1000;

/// Two words and how sure they belong together.
#[derive(Debug, Clone, Copy)]
pub struct Sure {
    /// Places among the words that are learned from.
    pub rows: [usize; 2],
    /// The product of what both sides say, from 0 to 1.
    pub weight: f64,
}

/// What was found between two views.
pub struct Induced {
    /// The views, increasing.
    pub views: [usize; 2],
    /// Each other's best words.
    pub pairs: Vec<Sure>,
}

impl Induced {
    /// All of it, whatever it weighs.
    pub fn as_pairs(&self) -> Pairs {
        Pairs { views: self.views, rows: self.pairs.iter().map(|sure| sure.rows).collect() }
    }
}

/// Each other's best words by CSLS, of every two views.
pub fn induce(words: &[&Words], model: &Model) -> Result<Vec<Induced>> {
    let latent = project(words, model, usize::MAX)?;
    let views = latent.len();
    let mut heard = BTreeMap::new();
    if views > 2 {
        for (a, b) in pairs_of_views(views) {
            heard.insert((a, b), candidates(&latent[a], &latent[b])?);
            heard.insert((b, a), candidates(&latent[b], &latent[a])?);
        }
    }
    let side = |view: usize, other: usize| with_translations(&latent, &heard, view, other);
    let of_views = |(a, b)| Ok(Induced { views: [a, b], pairs: mutual(&side(a, b), &side(b, a))? });
    pairs_of_views(views).map(of_views).collect()
}

/// Directions of a view's words and of what they are in all views but another one: each says the same with its own noise,
/// so that together they say it with less.
fn with_translations(
    latent: &[Matrix],
    candidates: &BTreeMap<(usize, usize), Vec<Vec<Hit>>>,
    view: usize,
    other: usize,
) -> Matrix {
    let mut sums = latent[view].clone();
    let dim = sums.cols();
    for third in (0..latent.len()).filter(|&third| third != view && third != other) {
        let rows = sums.as_mut_slice().par_chunks_mut(dim).zip(&candidates[&(view, third)]);
        rows.for_each(|(row, hits)| {
            let first = probability(hits);
            for hit in hits {
                let weight = HEARSAY * (first * odds(hit, hits)) as f32;
                row.iter_mut().zip(latent[third].row(hit.index)).for_each(|(sum, value)| *sum += weight * value);
            }
        });
    }
    scale_to_unit(&mut sums);
    sums
}

fn candidates(from: &Matrix, to: &Matrix) -> Result<Vec<Vec<Hit>>> {
    Retriever::new(Pair::new(from, to), Criterion::CSLS)?.nearest(from, CANDIDATES.min(to.rows()))
}

fn mutual(x: &Matrix, y: &Matrix) -> Result<Vec<Sure>> {
    let (forth, back) = (candidates(x, y)?, candidates(y, x)?);
    let both = forth.iter().enumerate().filter_map(|(row, hits)| {
        let best = hits.first()?.index;
        let is_mutual = back[best].first()?.index == row;
        let weight = probability(hits) * probability(&back[best]);
        is_mutual.then_some(Sure { rows: [row, best], weight })
    });
    Ok(both.collect())
}

/// How probable the first of some candidates is.
fn probability(hits: &[Hit]) -> f64 {
    1.0 / hits.iter().map(|hit| odds(hit, hits)).sum::<f64>()
}

/// How probable a candidate is beside the first.
fn odds(hit: &Hit, hits: &[Hit]) -> f64 {
    (f64::from(hit.score - hits[0].score) / TEMPERATURE).exp()
}

/// Whether given pairs are harder to find by a model that went on to learn than by one that was fitted to the other half of
/// them and learned nothing.
pub fn is_worse(learner: &Learner, model: &Model, given: &[Pairs]) -> Result<bool> {
    if given.iter().map(|pairs| pairs.rows.len()).sum::<usize>() < FEWEST {
        return Ok(false);
    }
    let (mut before, mut after) = (0.0, 0.0);
    for odd in 0..2 {
        let fitted_to: Vec<Pairs> = given.iter().map(|pairs| pairs.half(1 - odd)).collect();
        // A half may be too little to fit anything to.
        let Ok(plain) = learner.fit_given(&fitted_to) else { return Ok(false) };
        for pairs in given {
            let looked_for = pairs.half(odd);
            before += log_ranks(learner, &plain, &looked_for)?;
            after += log_ranks(learner, model, &looked_for)?;
        }
    }
    Ok(after > before)
}

/// The logarithms of the ranks of the right words among those of some pairs, summed.
fn log_ranks(learner: &Learner, model: &Model, pairs: &Pairs) -> Result<f64> {
    let step = pairs.rows.len().div_ceil(QUERIES).max(1);
    let chosen: Vec<(usize, usize)> = pairs.rows.iter().step_by(step).map(|rows| (rows[0], rows[1])).collect();
    let project = |side: usize, rows: Vec<usize>| {
        let view = pairs.views[side];
        model.views[view].project(&learner.words[view].vectors.select(&rows))
    };
    let x = project(0, chosen.iter().map(|pair| pair.0).collect())?;
    let y = project(1, chosen.iter().map(|pair| pair.1).collect())?;
    Ok(sum_of_log_ranks(x, y, &chosen))
}

/// Which of the given pairs are less like pairs than like words put together at random, with their CSLS, the worst first.
pub fn doubtful(words: &[&Words], model: &Model, given: &Pairs) -> Result<Vec<([usize; 2], f64)>> {
    if given.rows.len() < 2 {
        return Ok(Vec::new());
    }
    let latent = project(words, model, usize::MAX)?;
    let side = |side: usize| {
        let rows: Vec<usize> = given.rows.iter().map(|rows| rows[side]).collect();
        let (own, other) = (&latent[given.views[side]], &latent[given.views[1 - side]]);
        let own = own.select(&rows);
        let near = nearest(&own, other, CANDIDATES.min(other.rows()), Criterion::Nn)?;
        let mean = |hits: &Vec<Hit>| hits.iter().map(|hit| f64::from(hit.score)).sum::<f64>() / hits.len() as f64;
        Ok::<_, crate::Error>((own, near.iter().map(mean).collect::<Vec<f64>>()))
    };
    let ((x, r_x), (y, r_y)) = (side(0)?, side(1)?);
    let csls = |i: usize, j: usize| {
        let cosine: f64 = x.row(i).iter().zip(y.row(j)).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        2.0 * cosine - r_x[i] - r_y[j]
    };
    let count = given.rows.len();
    let own: Vec<f64> = (0..count).map(|i| csls(i, i)).collect();
    let mean = |scores: &mut dyn Iterator<Item = f64>| scores.sum::<f64>() / count as f64;
    let of_pairs = mean(&mut own.iter().copied());
    let at_random = mean(&mut (0..count).map(|i| csls(i, (i + count / 2) % count)));
    let middle = 0.5 * (of_pairs + at_random);
    let mut doubtful: Vec<([usize; 2], f64)> =
        given.rows.iter().copied().zip(own).filter(|(_, score)| *score < middle).collect();
    doubtful.sort_by(|a, b| a.1.total_cmp(&b.1));
    Ok(doubtful)
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Watch;
    use super::*;
    use crate::model;
    use crate::moments::Shape;
    use crate::random::Random;

    #[test]
    fn a_third_view_helps_to_compare_two() {
        let mut random = Random::new(2);
        let (count, dim) = (300, 20);
        let meanings: Vec<f32> = (0..count * dim).map(|_| random.normal() as f32).collect();
        let mut view = |noise: f32| {
            let values = meanings.iter().map(|&meaning| meaning + noise * random.normal() as f32);
            let mut rows = Matrix::new(values.collect(), dim);
            scale_to_unit(&mut rows);
            rows
        };
        let latent = [view(1.2), view(1.2), view(0.6)];
        let right = |x: &Matrix, y: &Matrix| mutual(x, y).unwrap().iter().filter(|s| s.rows[0] == s.rows[1]).count();
        let mut heard = BTreeMap::new();
        for view in 0..2 {
            heard.insert((view, 2), candidates(&latent[view], &latent[2]).unwrap());
        }
        let alone = right(&latent[0], &latent[1]);
        let side = |view: usize| with_translations(&latent, &heard, view, 1 - view);
        let together = right(&side(0), &side(1));
        assert!(together > alone + count / 20, "{alone} became {together}");
    }

    #[test]
    fn a_model_of_wrong_pairs_is_worse_than_half_of_the_given_ones() {
        let mut random = Random::new(1);
        let (count, dim) = (200, 8);
        let x: Vec<f32> = (0..count * dim).map(|_| random.normal() as f32).collect();
        let y = x.iter().map(|&value| 0.9 * value + 0.1 * random.normal() as f32).collect();
        let words = [x, y].map(|values| Words { rows: (0..count).collect(), vectors: Matrix::new(values, dim) });
        let mut watch = Watch { observer: &(), rounds: Vec::new(), is_stopped: false };
        let learner = Learner {
            shapes: ["x", "y"].map(|name| Shape { name: name.to_owned(), dim }).to_vec(),
            words: words.iter().collect(),
            fit: model::Options::default(),
            kept: Vec::new(),
            watch: &mut watch,
        };
        let pairs = |by: usize| {
            let rows = (0..100).map(|row| [row, (row + by) % 100]).collect();
            vec![Pairs { views: [0, 1], rows }]
        };
        let (right, wrong) = (learner.fit_given(&pairs(0)).unwrap(), learner.fit_given(&pairs(50)).unwrap());
        assert!(!is_worse(&learner, &right, &pairs(0)).unwrap());
        assert!(is_worse(&learner, &wrong, &pairs(0)).unwrap());
    }
}
