//! The induced lexicon of the final fit: mutual nearest neighbours among many more words than the rounds use, weighted
//! by confidence.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::rounds::{Pairs, pairs_of_views};
use crate::error::Result;
use crate::prepare::scale_to_unit;
use crate::retrieve::{BothWays, Hit, Side, mutual_best};
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

/// What was found near the words of every two views, the lower one first.
pub type Near = BTreeMap<(usize, usize), BothWays>;

/// An induced lexicon.
pub struct Induced {
    /// The pairs of every two views.
    pub pairs: Vec<InducedPairs>,
    /// The mean CSLS of all words with their best translations.
    pub objective: f64,
}

/// Mutual nearest neighbours by CSLS of unit latent vectors, for every two views. What an earlier model found near these
/// words, or the first of them, spares most of the search, and becomes what this one finds.
pub fn induce(latent: &[Matrix], near: &mut Near) -> Result<Induced> {
    let views = latent.len();
    if views > 2 {
        let sides: Vec<Arc<Side>> = latent.iter().map(|latent| Side::new(latent.clone())).collect();
        for (a, b) in pairs_of_views(views) {
            let found = BothWays::find(&sides[a], &sides[b], CANDIDATES, near.get(&(a, b)), &())?;
            near.insert((a, b), found);
        }
    }
    let (mut induced, mut objective) = (Vec::new(), 0.0);
    for (a, b) in pairs_of_views(views) {
        let [x, y] = [(a, b), (b, a)].map(|(view, other)| Side::new(with_translations(latent, near, view, other)));
        let found = BothWays::find(&x, &y, CANDIDATES, near.get(&(a, b)), &())?;
        let (pairs, of_pair) = mutual(&found);
        induced.push(InducedPairs { views: [a, b], pairs });
        objective += of_pair;
        // Of several views it would be in memory twice.
        if views == 2 {
            near.insert((a, b), found);
        }
    }
    objective /= induced.len() as f64;
    Ok(Induced { pairs: induced, objective })
}

/// Latent vectors of a view's words, averaged with those of their translations into all views except `other`. Each has
/// independent noise, so the average has less.
fn with_translations(latent: &[Matrix], near: &Near, view: usize, other: usize) -> Matrix {
    let mut sums = latent[view].clone();
    let dim = sums.cols();
    for third in (0..latent.len()).filter(|&third| third != view && third != other) {
        let found = &near[&(view.min(third), view.max(third))];
        // Scores are compared only within one word's candidates.
        let candidates = if view < third { &found.forth } else { &found.back };
        let rows = sums.as_mut_slice().par_chunks_mut(dim).zip(candidates);
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

/// The pairs, and the mean CSLS of all words of the first view with their best translations.
fn mutual(BothWays { forth, back }: &BothWays) -> (Vec<InducedPair>, f64) {
    let best = |hits: &Vec<Hit>| Some(hits.first()?.index);
    let of_rows = forth.iter().enumerate().filter_map(|(row, hits)| Some((row, best(hits)?)));
    let with_weight = |rows: [usize; 2]| {
        let weight = probability(&forth[rows[0]]) * probability(&back[rows[1]]);
        InducedPair { rows, weight }
    };
    let pairs = mutual_best(of_rows, |row| best(&back[row])).into_iter().map(with_weight).collect();
    let scores: Vec<f64> = forth.iter().filter_map(|hits| Some(f64::from(hits.first()?.score))).collect();
    let objective = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    (pairs, objective)
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
            let found = induce(&latent[..views], &mut Near::new()).unwrap().pairs;
            found[0].pairs.iter().filter(|sure| sure.rows[0] == sure.rows[1]).count()
        };
        let (alone, together) = (right(2), right(3));
        assert!(together > alone + alone / 5, "{alone} became {together}");
    }
}
