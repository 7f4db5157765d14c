//! How much to shrink, by what finds translations: fit to one half of the tuples, and look for the other half.
//!
//! Formulas such as oracle approximating shrinkage estimate a covariance well. What finds translations is another
//! question, and its answer is shrinking much more: with 2,000 English-Russian pairs of 300 dimensions the formula says
//! 0.03 and 0.07, held-out translations say 0.45 and are found a fifth more often.

use rayon::prelude::*;

use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::product_of_rows;
use crate::model::{self, FitOptions, LatentSize, Method, Model, Shrinkage};
use crate::moments::{Moments, Shape};
use crate::prepare::scale_to_unit;
use crate::vectors::{Matrix, View};

/// What is tried, beginning with `FIRST` and going where it gets better.
const CANDIDATES: [f64; 9] = [0.01, 0.03, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9];
const FIRST: usize = 2;
/// With more tuples than this for each dimension it makes little difference: for a closed form, and for an iterated fit.
pub(super) const MANY: f64 = 50.0;
const MANY_FOR_ITERATION: f64 = 10.0;
/// How far an iterated fit goes: enough to compare.
const EVALUATIONS: usize = 5;
/// Held-out tuples looked for between two views.
pub(super) const QUERIES: usize = 1000;

/// The shrinkage that is best for finding held-out tuples, which is what [`align`](super::align) fits with; automatic, as it
/// was, where that cannot or need not be asked.
pub fn shrinkage(moments: &Moments, views: &[View], tuples: &Tuples, options: &FitOptions) -> Result<Shrinkage> {
    let method = options.method_for(moments.views().len());
    if !method.shrinks() {
        return Ok(Shrinkage::Auto);
    }
    // The halves are tried both ways where that is cheap.
    let (many, tries) = if method == Method::Mbfa { (MANY_FOR_ITERATION, 1) } else { (MANY, 2) };
    let is_poor = |(view, shape): (usize, &Shape)| {
        let with_view = moments.patterns().iter().filter(|(pattern, _)| pattern.len() > 1 && pattern.contains(&view));
        with_view.map(|(_, moments)| moments.n).sum::<f64>() < many * shape.dim as f64
    };
    if !moments.views().iter().enumerate().any(is_poor) {
        return Ok(Shrinkage::Auto);
    }
    let halves = tuples.halves();
    // Monolingual rows are no translations: both halves keep them.
    let monolingual = moments.of_single_views();
    let of_half = |half: &Tuples| -> Result<Moments> {
        let mut moments = Moments::of(views, half)?;
        moments.merge(&monolingual)?;
        Ok(moments)
    };
    let of_halves = [of_half(&halves[0])?, of_half(&halves[1])?];
    let options = short_fit(options);
    let score = |by: f64| {
        let options = FitOptions { shrinkage: Shrinkage::By(by), ..options.clone() };
        let missed = |(moments, others): (&Moments, &Tuples)| -> Result<f64> {
            let (model, _) = model::fit(moments, &options, &())?;
            mean_log_rank(&model, views, others)
        };
        // A half may be too little to fit anything to.
        let tried = of_halves.iter().zip([&halves[1], &halves[0]]).take(tries);
        tried.map(missed).sum::<Result<f64>>().unwrap_or(f64::INFINITY)
    };
    Ok(match best(score) {
        Some(by) => Shrinkage::By(by),
        None => Shrinkage::Auto,
    })
}

/// The same fit, stopped as early as retrieval allows, in all dimensions: a part of the data cannot say how many
/// dimensions the whole has.
pub(crate) fn short_fit(options: &FitOptions) -> FitOptions {
    let mut options = options.clone();
    if options.latent == LatentSize::Auto {
        options.latent = LatentSize::Largest;
    }
    options.mbfa.evaluations = options.mbfa.evaluations.min(EVALUATIONS);
    options
}

/// Walks from the first candidate to a lowest score.
pub(super) fn best(score: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut at, mut lowest) = (FIRST, score(CANDIDATES[FIRST]));
    let mut walk = |step: isize| {
        let start = at;
        while let Some(next) = at.checked_add_signed(step).filter(|&next| next < CANDIDATES.len()) {
            let value = score(CANDIDATES[next]);
            // Not to be had by an accident of rounding.
            if value >= lowest {
                break;
            }
            (at, lowest) = (next, value);
        }
        at != start
    };
    // Where more was better, less is not.
    let _ = walk(1) || walk(-1);
    lowest.is_finite().then_some(CANDIDATES[at])
}

/// The mean logarithm of the rank of the right word among the held-out ones, by cosine, over all pairs of views.
fn mean_log_rank(model: &Model, views: &[View], tuples: &Tuples) -> Result<f64> {
    let mut sum = 0.0;
    let mut count = 0;
    for a in 0..views.len() {
        for b in a + 1..views.len() {
            let ranks = log_ranks(model, [a, b], [views[a].rows(), views[b].rows()], &tuples.pairs_of(a, b))?;
            sum += ranks.iter().sum::<f64>();
            count += 2 * ranks.len();
        }
    }
    Ok(if count > 0 { sum / count as f64 } else { f64::INFINITY })
}

/// [`log_ranks_of`] some of the pairs of rows of two views where a model puts them.
fn log_ranks(model: &Model, views: [usize; 2], vectors: [&Matrix; 2], pairs: &[(usize, usize)]) -> Result<Vec<f64>> {
    let pairs: Vec<(usize, usize)> = pairs.iter().step_by(pairs.len().div_ceil(QUERIES).max(1)).copied().collect();
    let side = |side: usize, rows: Vec<usize>| model.views[views[side]].project(&vectors[side].select(&rows));
    let x = side(0, pairs.iter().map(|pair| pair.0).collect())?;
    let y = side(1, pairs.iter().map(|pair| pair.1).collect())?;
    Ok(log_ranks_of(x, y, &pairs))
}

/// For every pair the logarithm of the rank of the right row among all of the other side, both ways added. Row `i` of `x`
/// and of `y` belong together and are the words `pairs[i]`.
pub(super) fn log_ranks_of(mut x: Matrix, mut y: Matrix, pairs: &[(usize, usize)]) -> Vec<f64> {
    scale_to_unit(&mut x);
    scale_to_unit(&mut y);
    let mut cosines = vec![0.0; pairs.len() * pairs.len()];
    product_of_rows(x.as_slice(), y.as_slice(), x.cols(), &mut cosines);
    let cosine = |i: usize, j: usize| cosines[i * pairs.len() + j];
    let log_rank = |i: usize| {
        // Another translation of the same word is not wrong.
        let others = || (0..pairs.len()).filter(|&j| pairs[j].0 != pairs[i].0 && pairs[j].1 != pairs[i].1);
        let forth = others().filter(|&j| cosine(i, j) > cosine(i, i)).count();
        let back = others().filter(|&j| cosine(j, i) > cosine(i, i)).count();
        ((1 + forth) as f64).ln() + ((1 + back) as f64).ln()
    };
    (0..pairs.len()).into_par_iter().map(log_rank).collect()
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn walks_to_the_lowest_score_and_gives_up_where_there_is_none() {
        for lowest in [0.01, 0.03, 0.1, 0.2, 0.6, 0.9] {
            assert_eq!(best(|by| (by - lowest).abs()), Some(lowest));
        }
        assert_eq!(best(|_| f64::INFINITY), None);
    }
}
