//! The lexicon of the last fit: each other's best words among many more than rounds look at, and how sure they are.

use super::rounds::{Pairs, pairs_of_views};
use super::words::{Words, project};
use crate::error::Result;
use crate::model::Model;
use crate::retrieve::{Criterion, Hit, Pair, Retriever, nearest};
use crate::vectors::Matrix;

/// Candidates among which a word's translation is looked for, and the temperature of their probabilities.
const CANDIDATES: usize = 10;
const TEMPERATURE: f64 = 0.05;

/// Two words and how sure they belong together.
#[derive(Debug, Clone, Copy)]
pub struct Sure {
    /// Places among the words that are learned from.
    pub rows: [usize; 2],
    /// The geometric mean of what both sides say, from 0 to 1.
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
        let weight = (probability(hits) * probability(&back[best])).sqrt();
        is_mutual.then_some(Sure { rows: [row, best], weight })
    });
    Ok(both.collect())
}

/// How probable the first of some candidates is.
fn probability(hits: &[Hit]) -> f64 {
    let odds = |hit: &Hit| (f64::from(hit.score - hits[0].score) / TEMPERATURE).exp();
    1.0 / hits.iter().map(odds).sum::<f64>()
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
