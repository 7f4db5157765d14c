//! The induced lexicon of the final fit: mutual nearest neighbours among many more words than the rounds use, weighted
//! by confidence.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::rounds::{Pairs, pairs_of_views};
use crate::error::Result;
use crate::prepare::scale_to_unit;
use crate::retrieve::{Criterion, Hit, Retriever, Side, mutual_best};
use crate::vectors::Matrix;

/// Number of candidate translations of a word, and the temperature of their softmax.
const CANDIDATES: usize = 10;
const TEMPERATURE: f64 = 0.05;
/// Weight of a word's translation into a third view, relative to the word itself.
const THIRD_VIEW_WEIGHT: f32 = 0.3;

/// Two words and the confidence that they belong together.
#[derive(Debug, Clone, Copy)]
pub struct InducedPair {
    /// Indices of the frequent words.
    pub rows: [usize; 2],
    /// The product of the confidences of both directions, from 0 to 1.
    pub weight: f64,
}

/// The pairs induced between two views.
pub struct InducedPairs {
    /// The views, in increasing order.
    pub views: [usize; 2],
    /// Mutual nearest neighbours.
    pub pairs: Vec<InducedPair>,
}

impl InducedPairs {
    /// All pairs, without their weights.
    pub fn as_pairs(&self) -> Pairs {
        Pairs { views: self.views, rows: self.pairs.iter().map(|sure| sure.rows).collect() }
    }
}

/// An induced lexicon.
pub struct Induced {
    /// The pairs of every two views.
    pub pairs: Vec<InducedPairs>,
    /// The mean CSLS of all words with their best translations.
    pub objective: f64,
}

/// Mutual nearest neighbours by CSLS of unit latent vectors, for every two views.
pub fn induce(latent: &[Matrix]) -> Result<Induced> {
    let views = latent.len();
    let mut heard = BTreeMap::new();
    if views > 2 {
        let sides: Vec<Arc<Side>> = latent.iter().map(|latent| Side::new(latent.clone())).collect();
        for (a, b) in pairs_of_views(views) {
            heard.insert((a, b), candidates(&sides[a], &sides[b])?);
            heard.insert((b, a), candidates(&sides[b], &sides[a])?);
        }
    }
    let side = |view: usize, other: usize| with_translations(latent, &heard, view, other);
    let (mut induced, mut objective) = (Vec::new(), 0.0);
    for (a, b) in pairs_of_views(views) {
        let (pairs, of_pair) = mutual(side(a, b), side(b, a))?;
        induced.push(InducedPairs { views: [a, b], pairs });
        objective += of_pair;
    }
    objective /= induced.len() as f64;
    Ok(Induced { pairs: induced, objective })
}

/// Latent vectors of a view's words, averaged with those of their translations into all views except `other`. Each has
/// independent noise, so the average has less.
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
                let weight = THIRD_VIEW_WEIGHT * (first * odds(hit, hits)) as f32;
                row.iter_mut().zip(latent[third].row(hit.index)).for_each(|(sum, value)| *sum += weight * value);
            }
        });
    }
    scale_to_unit(&mut sums);
    sums
}

fn candidates(from: &Arc<Side>, to: &Arc<Side>) -> Result<Vec<Vec<Hit>>> {
    let retriever = Retriever::between(from, to, Criterion::CSLS).build(&())?;
    // Ranks are enough: scores are compared only within one word's candidates.
    retriever.rank(from.matrix(), CANDIDATES.min(to.matrix().rows()), &())
}

/// The pairs, and the mean CSLS of all words of the first view with their best translations.
fn mutual(x: Matrix, y: Matrix) -> Result<(Vec<InducedPair>, f64)> {
    let (x, y) = (Side::new(x), Side::new(y));
    let [of_x, of_y] = Retriever::both_ways(&x, &y, &())?;
    let forth = of_x.nearest(x.matrix(), CANDIDATES.min(y.matrix().rows()), &())?;
    let back = of_y.rank(y.matrix(), CANDIDATES.min(x.matrix().rows()), &())?;
    let best = |hits: &Vec<Hit>| Some(hits.first()?.index);
    let of_rows = forth.iter().enumerate().filter_map(|(row, hits)| Some((row, best(hits)?)));
    let with_weight = |rows: [usize; 2]| {
        let weight = probability(&forth[rows[0]]) * probability(&back[rows[1]]);
        InducedPair { rows, weight }
    };
    let pairs = mutual_best(of_rows, |row| best(&back[row])).into_iter().map(with_weight).collect();
    let scores: Vec<f64> = forth.iter().filter_map(|hits| Some(f64::from(hits.first()?.score))).collect();
    let objective = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    Ok((pairs, objective))
}

/// The softmax probability of the first candidate.
fn probability(hits: &[Hit]) -> f64 {
    1.0 / hits.iter().map(|hit| odds(hit, hits)).sum::<f64>()
}

/// The odds of a candidate relative to the first.
fn odds(hit: &Hit, hits: &[Hit]) -> f64 {
    (f64::from(hit.score - hits[0].score) / TEMPERATURE).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_third_view_helps_to_compare_two() {
        let mut random = Random::new(2);
        let (count, dim) = (300, 20);
        let meanings: Vec<f32> = (0..count * dim).map(|_| random.normal() as f32).collect();
        let latent = [1.2, 1.2, 0.6].map(|noise: f32| {
            let values = meanings.iter().map(|&meaning| meaning + noise * random.normal() as f32).collect();
            let mut view = Matrix::new(values, dim);
            scale_to_unit(&mut view);
            view
        });
        let right = |views: usize| {
            let found = induce(&latent[..views]).unwrap().pairs;
            found[0].pairs.iter().filter(|sure| sure.rows[0] == sure.rows[1]).count()
        };
        let (alone, together) = (right(2), right(3));
        assert!(together > alone + alone / 5, "{alone} became {together}");
    }
}
