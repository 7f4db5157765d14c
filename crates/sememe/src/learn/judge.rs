//! Whether self-learning did harm, by held-out entries, and which given entries look wrong.

use std::collections::BTreeMap;

use super::last::InducedPairs;
use super::rounds::{Learner, Pairs};
use super::words::FrequentWords;
use crate::align::is_clearly_positive;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::retrieve::csls::{self, NEIGHBOURS};
use crate::retrieve::kernel::dot;
use crate::retrieve::{Criterion, Hit, nearest};
use crate::threads::side_by_side;

/// Standard errors by which held-out entries must be harder to find for self-learning to count as harmful: a one-sided
/// test at the 2.5 % level.
const CLEARLY_WORSE: f64 = 1.96;
/// Number of candidates among which a right translation is ranked.
const DEPTH: usize = 100;

/// A given pair that looks wrong.
pub struct Wrong {
    pub views: [usize; 2],
    /// Indices of the frequent words.
    pub rows: [usize; 2],
    /// Its CSLS.
    pub score: f64,
}

/// Whether held-out entries are significantly harder to find with a model of given and induced pairs than with one of
/// the given pairs alone. They are retrieved among all frequent words by CSLS. The test is on the mean loss of their
/// reciprocal ranks.
pub fn does_harm(
    learner: &Learner,
    (induced, blend): (&[InducedPairs], f64),
    held_out: &[Pairs],
    shrinkage: f64,
) -> Result<bool> {
    let ranks = |model: &Model| held_out.iter().map(|pairs| reciprocal_ranks(&learner.words, model, pairs)).collect();
    let of_given = || {
        let plain = if_enough(learner.fit_given(&learner.given))?;
        plain.map(|plain| ranks(&plain)).transpose()
    };
    let of_all = || ranks(&learner.fit_weighted(induced, blend, shrinkage)?);
    let (before, after): (Result<Option<Vec<_>>>, Result<Vec<_>>) = side_by_side(of_given, of_all);
    let (Some(before), after) = (before?, after?) else { return Ok(false) };
    let losses: Vec<f64> = before.iter().flatten().zip(after.iter().flatten()).map(|(a, b)| a - b).collect();
    Ok(is_clearly_positive(&losses, CLEARLY_WORSE))
}

/// For every pair, the reciprocal rank of a right translation among the frequent words of the other view, summed over
/// both directions.
fn reciprocal_ranks(words: &[&FrequentWords], model: &Model, pairs: &Pairs) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; pairs.rows.len()];
    let [first, second] = pairs.views.map(|view| words[view].project(&model.views[view], usize::MAX));
    let latent = [first?, second?];
    for side in 0..2 {
        let rows: Vec<usize> = pairs.rows.iter().map(|rows| rows[side]).collect();
        let (queries, targets) = (latent[side].select(&rows), &latent[1 - side]);
        let mut right: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        pairs.rows.iter().for_each(|rows| right.entry(rows[side]).or_default().push(rows[1 - side]));
        let hits = nearest(&queries, targets, DEPTH.min(targets.rows()), Criterion::CSLS)?;
        for ((sum, row), hits) in sums.iter_mut().zip(&rows).zip(hits) {
            let rank = hits.iter().position(|hit| right[row].contains(&hit.index));
            *sum += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        }
    }
    Ok(sums)
}

/// Given pairs that look wrong, the worst first. Two-fold cross-validation: each half is scored by a model of the
/// induced pairs and of the other half, so that no entry vouches for itself.
pub fn doubtful(learner: &Learner, induced: &[Pairs], given: &[Pairs], shrinkage: f64) -> Result<Vec<Wrong>> {
    let of_half = |odd: usize| -> Result<Vec<Wrong>> {
        let others: Vec<Pairs> = learner.given.iter().map(|pairs| pairs.half(1 - odd)).collect();
        let model = learner.fit_pairs(induced.iter().chain(&others), shrinkage);
        let Some(model) = if_enough(model)? else { return Ok(Vec::new()) };
        let mut wrong = Vec::new();
        for pairs in given {
            wrong.extend(wrong_among(&learner.words, &model, &pairs.half(odd))?);
        }
        Ok(wrong)
    };
    let (first, second) = side_by_side(|| of_half(0), || of_half(1));
    let mut wrong = first?;
    wrong.extend(second?);
    wrong.sort_by(|a, b| a.score.total_cmp(&b.score));
    Ok(wrong)
}

/// `None` if a part of the entries is too small to fit a model.
fn if_enough(model: Result<Model>) -> Result<Option<Model>> {
    match model {
        Err(Error::NotEnoughData(_)) => Ok(None),
        model => model.map(Some),
    }
}

/// The pairs whose CSLS is nearer to that of random pairs than to that of given pairs.
fn wrong_among(words: &[&FrequentWords], model: &Model, given: &Pairs) -> Result<Vec<Wrong>> {
    let count = given.rows.len();
    if count < 2 {
        return Ok(Vec::new());
    }
    let latent = |side: usize| words[given.views[side]].project(&model.views[given.views[side]], usize::MAX);
    let latent = [latent(0)?, latent(1)?];
    let side = |side: usize| {
        let rows: Vec<usize> = given.rows.iter().map(|rows| rows[side]).collect();
        let (own, other) = (latent[side].select(&rows), &latent[1 - side]);
        let near = nearest(&own, other, NEIGHBOURS, Criterion::Nn)?;
        let mean = |hits: &Vec<Hit>| csls::mean(hits.iter().map(|hit| f64::from(hit.score)));
        Ok::<_, Error>((own, near.iter().map(mean).collect::<Vec<f64>>()))
    };
    let ((x, r_x), (y, r_y)) = (side(0)?, side(1)?);
    let csls = |i: usize, j: usize| csls::csls(dot(x.row(i), y.row(j)), r_x[i], r_y[j]);
    let own: Vec<f64> = (0..count).map(|i| csls(i, i)).collect();
    let mean = |scores: &mut dyn Iterator<Item = f64>| scores.sum::<f64>() / count as f64;
    let of_pairs = mean(&mut own.iter().copied());
    let at_random = mean(&mut (0..count).map(|i| csls(i, (i + count / 2) % count)));
    let middle = 0.5 * (of_pairs + at_random);
    let scored = given.rows.iter().zip(own).filter(|(_, score)| *score < middle);
    Ok(scored.map(|(&rows, score)| Wrong { views: given.views, rows, score }).collect())
}

#[cfg(test)]
mod tests {
    use super::super::last::InducedPair;
    use super::super::rounds::Watch;
    use super::*;
    use crate::model::FitOptions;
    use crate::moments::Shape;
    use crate::random::Random;
    use crate::vectors::Matrix;

    #[test]
    fn wrong_pairs_do_harm_and_right_ones_do_not() {
        let mut random = Random::new(1);
        let (count, dim) = (400, 16);
        let x: Vec<f32> = (0..count * dim).map(|_| random.normal() as f32).collect();
        let y = x.iter().map(|&value| value + random.normal() as f32).collect();
        let words = [x, y].map(|values| FrequentWords::new((0..count).collect(), Matrix::new(values, dim)));
        let pairs = |rows: std::ops::Range<usize>, by: usize| {
            let rows = rows.clone().map(|row| [row, rows.start + (row - rows.start + by) % rows.len()]).collect();
            Pairs { views: [0, 1], rows }
        };
        let mut watch = Watch { observer: &(), rounds: Vec::new(), is_stopped: false };
        let learner = Learner {
            shapes: ["x", "y"].map(|name| Shape { name: name.to_owned(), dim, outside: 0 }).to_vec(),
            words: words.iter().collect(),
            is_finished: false,
            fit: FitOptions::default(),
            given: vec![pairs(0..60, 0)],
            watch: &mut watch,
        };
        let harm = |by: usize| {
            let Pairs { views, rows } = pairs(100..count, by);
            let pairs_of_rows = rows.into_iter().map(|rows| InducedPair { rows, weight: 1.0 }).collect();
            let induced = InducedPairs { views, pairs: pairs_of_rows };
            does_harm(&learner, (&[induced], 1.0), &[pairs(60..100, 0)], 0.2).unwrap()
        };
        assert!(!harm(0) && harm(100));
    }

    #[test]
    fn one_slip_among_entries_that_all_ranked_first_is_no_harm() {
        let mut rises = vec![0.0; 50];
        rises[7] = 0.7;
        assert!(!is_clearly_positive(&rises, CLEARLY_WORSE));
        assert!(is_clearly_positive(&[0.7, 0.5, 0.9, 0.6, 0.0, 0.8], CLEARLY_WORSE));
        assert!([&[][..], &[3.0]].iter().all(|few| !is_clearly_positive(few, CLEARLY_WORSE)));
    }
}
