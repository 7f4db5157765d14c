//! The lexicon of the last fit: each other's best words among many more than rounds look at, and how sure they are.

use super::rounds::{Learner, Pairs, pairs_of_views};
use super::words::{Words, project};
use crate::align::sum_of_log_ranks;
use crate::error::Result;
use crate::model::Model;
use crate::retrieve::{Criterion, Hit, Pair, Retriever, nearest};
use crate::vectors::Matrix;

/// Candidates among which a word's translation is looked for, and the temperature of their probabilities.
const CANDIDATES: usize = 10;
const TEMPERATURE: f64 = 0.05;
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

/// Each other's best words by CSLS, of every two views.
pub fn induce(words: &[&Words], model: &Model) -> Result<Vec<([usize; 2], Vec<Sure>)>> {
    let latent = project(words, model, usize::MAX)?;
    pairs_of_views(words.len()).map(|(a, b)| Ok(([a, b], mutual(&latent[a], &latent[b])?))).collect()
}

fn mutual(x: &Matrix, y: &Matrix) -> Result<Vec<Sure>> {
    let candidates = |from: &Matrix, to: &Matrix| {
        Retriever::new(Pair::new(from, to), Criterion::CSLS)?.nearest(from, CANDIDATES.min(to.rows()))
    };
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
    let odds = |hit: &Hit| (f64::from(hit.score - hits[0].score) / TEMPERATURE).exp();
    1.0 / hits.iter().map(odds).sum::<f64>()
}

/// Whether given pairs are harder to find by a model that went on to learn than by one that was fitted to the other half of
/// them and learned nothing.
pub fn is_worse(learner: &Learner, model: &Model, given: &[Pairs]) -> Result<bool> {
    if given.iter().map(|pairs| pairs.rows.len()).sum::<usize>() < FEWEST {
        return Ok(false);
    }
    let half = |pairs: &Pairs, odd: usize| {
        let rows = pairs.rows.iter().skip(odd).step_by(2).copied().collect();
        Pairs { views: pairs.views, rows }
    };
    let (mut before, mut after) = (0.0, 0.0);
    for odd in 0..2 {
        let fitted_to: Vec<Pairs> = given.iter().map(|pairs| half(pairs, 1 - odd)).collect();
        let plain = learner.fit_given(&fitted_to)?;
        for pairs in given {
            let looked_for = half(pairs, odd);
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
