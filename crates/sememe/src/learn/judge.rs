//! What given entries say of the pairs that were found, and these of given entries.
//!
//! No entry is asked of a model that knows it: half of them are asked of a model of what was found and of the other half.

use super::rounds::{Learner, Pairs};
use super::similarity::NEIGHBOURS;
use super::words::Words;
use crate::align::log_ranks;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::retrieve::{Criterion, Hit, nearest};

/// Given pairs that can tell whether learning did any good.
const FEWEST: usize = 20;
/// Pairs whose ranks are worse by this factor, in logarithms, are much harder to find. With dictionaries of 5,000 words those of
/// frequent words are worse by one per cent, while rarer words are translated better.
const MUCH_HARDER: f64 = 1.1;

/// A given pair that looks wrong.
pub struct Wrong {
    pub views: [usize; 2],
    /// Places among the words that are learned from.
    pub rows: [usize; 2],
    /// Its CSLS.
    pub score: f64,
}

/// What was found out.
pub struct Verdict {
    /// Given pairs that look wrong, the worst first.
    pub wrong: Vec<Wrong>,
    /// False when what was found makes pairs that count much harder to find than their other half alone does.
    pub has_helped: bool,
}

/// Asks given pairs, some or none of which count, of what was found.
pub fn judge(learner: &Learner, found: &[Pairs], given: &[Pairs], shrinkage: f64) -> Result<Verdict> {
    let mut wrong = Vec::new();
    let can_tell = learner.kept.iter().map(|kept| kept.rows.len()).sum::<usize>() >= FEWEST;
    let (mut before, mut after) = (0.0, 0.0);
    for odd in 0..2 {
        let others: Vec<Pairs> = learner.kept.iter().map(|kept| kept.half(1 - odd)).collect();
        let Some(model) = if_enough(learner.fit_pairs(found.iter().chain(&others), shrinkage, None))? else { continue };
        for pairs in given {
            wrong.extend(wrong_among(&learner.words, &model, &pairs.half(odd))?);
        }
        let plain = if can_tell { if_enough(learner.fit_given(&others))? } else { None };
        for (plain, kept) in plain.iter().flat_map(|plain| learner.kept.iter().map(move |kept| (plain, kept))) {
            let asked: Vec<(usize, usize)> = kept.half(odd).rows.iter().map(|rows| (rows[0], rows[1])).collect();
            let vectors = kept.views.map(|view| &learner.words[view].vectors);
            before += log_ranks(plain, kept.views, vectors, &asked)?.0;
            after += log_ranks(&model, kept.views, vectors, &asked)?.0;
        }
    }
    wrong.sort_by(|a, b| a.score.total_cmp(&b.score));
    Ok(Verdict { wrong, has_helped: after <= MUCH_HARDER * before })
}

/// A half may be too little to fit anything to; then it says nothing.
fn if_enough(model: Result<Model>) -> Result<Option<Model>> {
    match model {
        Err(Error::NotEnoughData(_)) => Ok(None),
        model => model.map(Some),
    }
}

/// Which pairs are less like pairs than like words put together at random.
fn wrong_among(words: &[&Words], model: &Model, given: &Pairs) -> Result<Vec<Wrong>> {
    let count = given.rows.len();
    if count < 2 {
        return Ok(Vec::new());
    }
    let latent = |side: usize| words[given.views[side]].project(&model.views[given.views[side]], usize::MAX);
    let latent = [latent(0)?, latent(1)?];
    let side = |side: usize| {
        let rows: Vec<usize> = given.rows.iter().map(|rows| rows[side]).collect();
        let (own, other) = (latent[side].select(&rows), &latent[1 - side]);
        let near = nearest(&own, other, NEIGHBOURS.min(other.rows()), Criterion::Nn)?;
        let mean = |hits: &Vec<Hit>| hits.iter().map(|hit| f64::from(hit.score)).sum::<f64>() / hits.len() as f64;
        Ok::<_, Error>((own, near.iter().map(mean).collect::<Vec<f64>>()))
    };
    let ((x, r_x), (y, r_y)) = (side(0)?, side(1)?);
    let csls = |i: usize, j: usize| {
        let cosine: f64 = x.row(i).iter().zip(y.row(j)).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        2.0 * cosine - r_x[i] - r_y[j]
    };
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
    use super::super::rounds::Watch;
    use super::*;
    use crate::model;
    use crate::moments::Shape;
    use crate::random::Random;
    use crate::vectors::Matrix;

    #[test]
    fn wrong_pairs_do_not_help_and_right_ones_do() {
        let mut random = Random::new(1);
        let (count, dim) = (400, 16);
        let x: Vec<f32> = (0..count * dim).map(|_| random.normal() as f32).collect();
        let y = x.iter().map(|&value| value + random.normal() as f32).collect();
        let words = [x, y].map(|values| Words { rows: (0..count).collect(), vectors: Matrix::new(values, dim) });
        let pairs = |rows: std::ops::Range<usize>, by: usize| {
            let rows = rows.clone().map(|row| [row, rows.start + (row - rows.start + by) % rows.len()]).collect();
            Pairs { views: [0, 1], rows }
        };
        let mut watch = Watch { observer: &(), rounds: Vec::new(), is_stopped: false };
        let given = vec![pairs(0..60, 0)];
        let learner = Learner {
            shapes: ["x", "y"].map(|name| Shape { name: name.to_owned(), dim }).to_vec(),
            words: words.iter().collect(),
            fit: model::FitOptions::default(),
            kept: given.clone(),
            watch: &mut watch,
        };
        let has_helped = |by: usize| judge(&learner, &[pairs(60..count, by)], &given, 0.2).unwrap().has_helped;
        assert!(has_helped(0) && !has_helped(100));
    }
}
